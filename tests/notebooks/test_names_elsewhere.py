"""The table "Names elsewhere" of the reference: ours exist here, and PyTorch's and those of transformers there.

nanoGPT is no package, so its column is not looked up.
"""

import dataclasses
import importlib
import inspect
import pkgutil
import re
from functools import cache

import nbformat
import pytest
import torch
from torch import nn

import tx_helpers.nn
from notebook_frame import ROOT
from tx_helpers.exercises.course import LESSONS
from tx_helpers.nn import models
from tx_helpers.nn.config import FeedForwardConfig, NormConfig, TransformerConfig

REFERENCE = nbformat.read(ROOT / "notebooks" / f"{LESSONS['reference'].stem}.ipynb", as_version=4)
(SECTION,) = (cell.source for cell in REFERENCE.cells if cell.source.startswith("## 12 Names elsewhere"))
ROWS = [
    [entry.strip() for entry in line.strip("|").split("|")] for line in SECTION.split("\n") if line.startswith("| `")
]
WORD = re.compile(r"`([\w.]+)(?:\((\w+)\))?`")


@cache
def public() -> dict[str, object]:
    """Every public class and function of the maths, by name."""
    found = {}
    for info in pkgutil.iter_modules(tx_helpers.nn.__path__):
        module = importlib.import_module(f"tx_helpers.nn.{info.name}")
        found |= {k: v for k, v in vars(module).items() if getattr(v, "__module__", "") == module.__name__}
    return found


@cache
def parts() -> list[nn.Module]:
    """All modules of three small models, so that the attributes made in `__init__` can be seen."""
    with torch.device("meta"):
        plain = TransformerConfig(11, d_model=8, n_layers=1)
        gated = dataclasses.replace(plain, feed_forward=FeedForwardConfig(gated=True), norm=NormConfig("rms"))
        built = [models.EncoderDecoder(plain), models.DecoderOnly(gated)]
    return [part for model in built for part in model.modules()]


def is_ours(owner: str, attribute: str, parameter: str) -> bool:
    """Does the class have this field or attribute, and its method this parameter?"""
    kind = public().get(owner)
    if kind is None or not attribute:
        return kind is not None
    if dataclasses.is_dataclass(kind):
        return attribute in {field.name for field in dataclasses.fields(kind)}
    if parameter:
        return parameter in inspect.signature(getattr(kind, attribute)).parameters
    return any(isinstance(part, kind) and hasattr(part, attribute) for part in parts()) or hasattr(kind, attribute)


def entries(column: str) -> list[tuple[str, str, str]]:
    """(owner, attribute, parameter) of each name; "`A.b`, `c`" means A.b and A.c, or two things of the package."""
    found = []
    for name, parameter in WORD.findall(column):
        owner, _, attribute = name.partition(".")
        if not attribute and found and found[0][1] and name not in public():
            owner, attribute = found[0][0], name
        found.append((owner, attribute, parameter))
    return found


@pytest.mark.parametrize("row", ROWS, ids=lambda row: row[0])
def test_ours_exist(row):
    assert entries(row[0])
    assert [entry for entry in entries(row[0]) if not is_ours(*entry)] == []


@cache
def of_pytorch() -> set[str]:
    """Parameters and attributes of `nn.Transformer`, its layers and attention, and of `nn.RMSNorm`."""
    layer = nn.TransformerDecoderLayer(4, 2)
    stack = nn.TransformerDecoder(layer, 1, nn.LayerNorm(4))
    kinds = (nn.Transformer, nn.TransformerDecoderLayer, nn.MultiheadAttention)
    names = {name for kind in kinds for call in (kind, kind.forward) for name in inspect.signature(call).parameters}
    return names.union(dir(layer), dir(stack), dir(layer.self_attn), dir(nn.RMSNorm(4)))


@cache
def of_transformers() -> set[str]:
    """Options, parameters of the call, and names of the parts of a small GPT-2 (with an encoder) and a small Llama."""
    library = pytest.importorskip("transformers")
    gpt2 = library.GPT2Config(n_embd=4, n_layer=1, n_head=1, vocab_size=5, n_positions=4, add_cross_attention=True)
    llama = library.LlamaConfig(
        hidden_size=4, intermediate_size=4, num_hidden_layers=1, num_attention_heads=1, vocab_size=5
    )
    names = {"rope_theta"} & set(llama.rope_parameters)
    for kind, config in ((library.GPT2LMHeadModel, gpt2), (library.LlamaForCausalLM, llama)):
        model = kind(config)
        names |= set(config.to_dict()) | set(inspect.signature(model.forward).parameters)
        names |= {part for path, _ in model.named_parameters() for part in path.split(".")}
        names |= {part for path, _ in model.named_modules() for part in path.split(".")}
    return names


@pytest.mark.parametrize("row", ROWS, ids=lambda row: row[0])
def test_theirs_exist(row):
    assert {name for name, _ in WORD.findall(row[3])} - of_pytorch() == set()
    assert {name for name, _ in WORD.findall(row[5])} - of_transformers() == set()


def test_the_table_is_whole_and_a_wrong_name_is_seen():
    assert len(ROWS) >= 30 and all(len(row) == 6 for row in ROWS)
    assert not is_ours("TransformerConfig", "width", "") and not is_ours("NoSuchClass", "", "")
    assert not is_ours("MultiHeadAttention", "forward", "masks") and not is_ours("RMSNorm", "bias", "")
    assert "d_ff" not in of_pytorch() | of_transformers()
