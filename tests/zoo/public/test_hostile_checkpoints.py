"""A checkpoint that is damaged, foreign or hostile: a ValueError names the file and both sides, and nothing changes."""

import json
import os
import re
from collections.abc import Callable
from pathlib import Path

import pytest
import torch
from safetensors.torch import load

from public_models import CASES, PublicModel
from tx_helpers.nn.config import AttentionConfig, EmbeddingConfig, FeedForwardConfig, PositionConfig, TransformerConfig
from tx_helpers.nn.models import DecoderOnly
from tx_helpers.training.checkpoints import save_tensors
from tx_helpers.zoo.public.families import FAMILIES
from tx_helpers.zoo.public.load import load_pretrained
from tx_helpers.zoo.public.save import save_pretrained

WEIGHTS, CONFIG, INDEX = "model.safetensors", "config.json", "model.safetensors.index.json"
GB = 10**9


def tiny() -> DecoderOnly:
    return DecoderOnly(
        TransformerConfig(
            11,
            12,
            n_layers=1,
            context_length=7,
            attention=AttentionConfig(3),
            feed_forward=FeedForwardConfig(20, "gelu_tanh"),
            positions=PositionConfig("learned"),
            embedding=EmbeddingConfig(scale=False),
        )
    )


@pytest.fixture
def folder(tmp_path) -> Path:
    return save_pretrained(tiny(), tmp_path / "checkpoint")


def fields(**changes) -> Callable[[Path], None]:
    """Change fields of config.json; None takes a field away."""

    def change(folder: Path) -> None:
        whole = json.loads((folder / CONFIG).read_text()) | changes
        (folder / CONFIG).write_text(json.dumps({name: value for name, value in whole.items() if value is not None}))

    return change


def text(name: str, pattern: str, replacement: str) -> Callable[[Path], None]:
    def change(folder: Path) -> None:
        before = (folder / name).read_text()
        after = before.replace(pattern, replacement, 1)
        assert after != before
        (folder / name).write_text(after)

    return change


def header(change_header: Callable[[dict], object]) -> Callable[[Path], None]:
    """Change the header of the weights, and leave the numbers."""

    def change(folder: Path) -> None:
        data = (folder / WEIGHTS).read_bytes()
        length = int.from_bytes(data[:8], "little")
        parsed = json.loads(data[8 : 8 + length])
        changed = change_header(parsed) or json.dumps(parsed)
        (folder / WEIGHTS).write_bytes(len(changed).to_bytes(8, "little") + changed.encode() + data[8 + length :])

    return change


def tensors(change_tensors: Callable[[dict], object]) -> Callable[[Path], None]:
    """Change the tensors of the weights, and write a sound file of them."""

    def change(folder: Path) -> None:
        values = load((folder / WEIGHTS).read_bytes())
        change_tensors(values)
        save_tensors(folder / WEIGHTS, values)

    return change


def data(change_bytes: Callable[[bytes], bytes]) -> Callable[[Path], None]:
    return lambda folder: (folder / WEIGHTS).write_bytes(change_bytes((folder / WEIGHTS).read_bytes()))


def index(*files: object, table: object = None) -> Callable[[Path], None]:
    """One file becomes several, which the index names; the tensors stay in `part.safetensors`."""

    def change(folder: Path) -> None:
        names = list(load((folder / WEIGHTS).read_bytes()))
        (folder / WEIGHTS).rename(folder / "part.safetensors")
        weight_map = {name: files[i % len(files)] for i, name in enumerate(names)} if table is None else table
        (folder / INDEX).write_text(json.dumps({"weight_map": weight_map}))

    return change


def pickle_alone(folder: Path) -> None:
    (folder / WEIGHTS).unlink()
    torch.save({"wte.weight": torch.zeros(11, 12)}, folder / "pytorch_model.bin")


def a_pipe(folder: Path) -> None:
    (folder / WEIGHTS).unlink()
    os.mkfifo(folder / WEIGHTS)


def a_folder(folder: Path) -> None:
    (folder / WEIGHTS).unlink()
    (folder / WEIGHTS).mkdir()


DAMAGED = "model.safetensors: is damaged, or not in the format safetensors"
WTE, LN = "transformer.wte.weight", "transformer.h.0.ln_1.weight"
HOSTILE: dict[str, tuple[Callable[[Path], object], str]] = {
    "only a pickle": (pickle_alone, "only pytorch_model.bin, a pickle, .* expected model.safetensors"),
    "no weights": (lambda folder: (folder / WEIGHTS).unlink(), "has no weights; expected model.safetensors or"),
    "no config": (lambda folder: (folder / CONFIG).unlink(), "config.json: no such file"),
    "weights are a folder": (a_folder, "model.safetensors: no such file"),
    "empty": (data(lambda old: b""), DAMAGED),
    "three bytes": (data(lambda old: b"abc"), DAMAGED),
    "not safetensors": (data(lambda old: b"PK\x03\x04" * 50), DAMAGED),
    "a header of 10 GB": (data(lambda old: (10 * GB).to_bytes(8, "little") + old[8:]), DAMAGED),
    "truncated": (data(lambda old: old[:-5]), DAMAGED),
    "bytes too many": (data(lambda old: old + b"12345"), DAMAGED),
    "a header that is no JSON": (header(lambda old: '{"a": '), DAMAGED),
    "a header that is a list": (header(lambda old: "[1, 2]"), DAMAGED),
    "a header nested deep": (header(lambda old: '{"a":' + "[" * 100_000), DAMAGED),
    "a name twice in the header": (
        header(lambda old: json.dumps(old)[:-1] + f', "{WTE}": {json.dumps(old[WTE])}}}'),
        f"'{WTE}' occurs twice",
    ),
    "offsets that overlap": (
        header(lambda old: old[LN].update(data_offsets=old[WTE]["data_offsets"][:1] * 2, shape=[0])),
        DAMAGED,
    ),
    "offsets backwards": (header(lambda old: old[LN].update(data_offsets=[96, 48])), DAMAGED),
    "negative sizes": (header(lambda old: old[LN].update(shape=[-12])), DAMAGED),
    "sizes of another kind": (header(lambda old: old[LN].update(shape="12")), DAMAGED),
    "a tensor of 10 GB": (
        header(lambda old: old[LN].update(shape=[10 * GB], data_offsets=[0, 40 * GB])),
        DAMAGED,
    ),
    "an unknown dtype": (header(lambda old: old[LN].update(dtype="F4")), DAMAGED),
    "numbers of 8 bits": (
        tensors(lambda old: old.update({LN: old[LN].to(torch.float8_e4m3fn)})),
        f"'{LN}' is of torch.float8_e4m3fn, expected at least 16 bits",
    ),
    "whole numbers": (
        tensors(lambda old: old.update({LN: old[LN].int()})),
        f"'{LN}' is of torch.int32, expected float",
    ),
    "another shape": (
        tensors(lambda old: old.update({WTE: old[WTE].T.contiguous()})),
        rf"'{WTE}' has shape \(12, 11\), but config.json makes it \(11, 12\)",
    ),
    "a tensor too few": (
        tensors(lambda old: old.pop(LN)),
        r"has no tensor 'h.0.ln_1.weight', expected \(12,\) for decoder.blocks.0.self_attention_norm.weight",
    ),
    "a tensor too many": (
        tensors(lambda old: old.update({"transformer.h.0.attn.gate": torch.zeros(3)})),
        r"'transformer.h.0.attn.gate' \(3,\) is not understood: our DecoderOnly of the family gpt2",
    ),
    "one tensor under two names": (
        tensors(lambda old: old.update({"wte.weight": old[WTE]})),
        f"tensors '{WTE}' and 'wte.weight' are the same one",
    ),
    "an index that leaves the folder": (index("part.safetensors", "../part.safetensors"), "'../part.safetensors', exp"),
    "an index into a subfolder": (index("a/part.safetensors"), "'a/part.safetensors', expected the name of a"),
    "an absolute path": (index("/etc/passwd"), "'/etc/passwd', expected the name of a .safetensors file in the same"),
    "an index with a pickle": (index("pytorch_model.bin"), "'pytorch_model.bin', expected the name"),
    "an index with a number": (index(3), "is in the file '3', expected"),
    "a file that is missing": (index("part.safetensors", "other.safetensors"), r"other.safetensors: no such file"),
    "an index without a table": (index(table=[1]), r"weight_map is \[1\], expected tensor name -> file name"),
    "a tensor only in the index": (
        index(table={"x": "part.safetensors", WTE: "part.safetensors"}),
        r"part.safetensors: tensor '.*' is only in part.safetensors, expected in both",
    ),
    "not a number": (text(CONFIG, '"n_embd": 12', '"n_embd": NaN'), "config.json is no valid JSON: NaN stands for a"),
    "an infinite number": (
        text(CONFIG, '"resid_pdrop": 0.0', '"resid_pdrop": 1e999'),
        "is no valid JSON: 1e999 stands for a number, expected a finite",
    ),
    "a field twice": (text(CONFIG, '"n_embd": 12', '"n_embd": 12, "n_embd": 24'), "'n_embd' occurs twice"),
    "a config that is no object": (lambda folder: (folder / CONFIG).write_text("3"), "config.json is int in JSON"),
    "a config that is not text": (lambda folder: (folder / CONFIG).write_bytes(b"\xff\xfe"), "is no valid JSON"),
    "another family": (fields(model_type="mamba"), "model_type is 'mamba', expected one of gpt2, llama"),
    "no family": (fields(model_type=None), "model_type is 'None', expected one of"),
    "another task": (fields(architectures=["GPT2ForTokenClassification"]), "expected GPT2Model or GPT2LMHeadModel"),
    "an unknown field": (fields(rope_theta=3.0), "field 'rope_theta' is 3.0, which gpt2 here does not know"),
    "a quantized model": (fields(quantization_config={"bits": 4}), "field 'quantization_config' is {'bits': 4}, which"),
    "a field too few": (fields(n_embd=None), "has no field 'n_embd', expected one for d_model"),
    "a value we do not have": (
        fields(scale_attn_by_inverse_layer_idx=True),
        "field 'scale_attn_by_inverse_layer_idx' is True, expected False",
    ),
    "an unknown activation": (
        fields(activation_function="mish"),
        "'activation_function' is mish, expected one of relu",
    ),
    "a text for a number": (fields(n_embd="12"), "d_model is '12', expected a whole number"),
    "a yes for true": (fields(tie_word_embeddings="no"), "embedding.tied is no, expected true or false"),
    "heads that do not divide": (fields(n_head=5), "d_model=12 is not divisible by n_heads=5"),
    "negative layers": (fields(n_layer=-1), "n_layers=-1, expected at least 1"),
    "a billion layers": (fields(n_layer=GB), r"1000000000 layers, but the checkpoint has \d+ tensors"),
    "a width without bounds": (
        fields(n_embd=3 * 10**30),
        "no model of these sizes can be made|but config.json makes it",
    ),
    "a vocabulary of 10 GB": (
        fields(vocab_size=GB),
        r"has shape \(11, 12\), but config.json makes it \(1000000000, 12\)",
    ),
}
if hasattr(os, "mkfifo"):  # not on Windows
    HOSTILE["weights are a pipe"] = (a_pipe, "model.safetensors: no such file")


@pytest.mark.parametrize(("change", "message"), HOSTILE.values(), ids=HOSTILE)
def test_what_is_wrong_is_named_and_nothing_changes(folder, change, message):
    change(folder)
    before = {path.name: path.read_bytes() for path in folder.iterdir() if path.is_file()}
    random = torch.get_rng_state()
    with pytest.raises(ValueError, match=message) as error:
        load_pretrained(folder)
    assert re.match(re.escape(str(folder)), str(error.value)), "the message does not begin with the file"
    assert {path.name: path.read_bytes() for path in folder.iterdir() if path.is_file()} == before
    assert torch.equal(torch.get_rng_state(), random)


def test_what_is_right_is_loaded(folder):
    """The unchanged checkpoint, so that none of the above fails for another reason."""
    model = load_pretrained(folder).model
    assert model.config.d_model == 12


@pytest.mark.parametrize(
    ("call", "message"),
    [
        (lambda folder: load_pretrained(None), "path_or_id is None, expected a text or a Path"),
        (lambda folder: load_pretrained(folder / "nothing"), "is no folder, and no id"),
        (lambda folder: load_pretrained("x" * 300), "'x+' is neither a folder nor in the local cache"),
        (lambda folder: load_pretrained(folder, revision="main"), "revision='main', but .* is a folder"),
        (
            lambda folder: load_pretrained(folder, dtype=torch.int8),
            "dtype=torch.int8, expected a torch.dtype of floating",
        ),
        (lambda folder: load_pretrained(folder, dtype="float16"), "dtype='float16', expected a torch.dtype"),
        (lambda folder: load_pretrained(folder, pad_id=11), "pad_id=11 is outside the vocabulary of 11"),
        (lambda folder: load_pretrained(folder, pad_id="eos"), "pad_id is 'eos', expected a whole number"),
    ],
)
def test_wrong_arguments_are_named(folder, call, message):
    with pytest.raises(ValueError, match=message):
        call(folder)


# --- values of config.json, in all families ---------------------------------------------------------------------------

VALUES = (0, -1, 0.5, 1e308, 10**30, "8", "false", "", None, True, [], [1], {}, {"a": 1})
ROPES = {  # fields of rotations
    "llama-yarn": ("rope_type", "rope_theta", "factor", "original_max_position_embeddings"),
    "llama3": ("rope_theta", "factor", "low_freq_factor", "high_freq_factor"),
    "deepseek-v3-yarn": ("rope_theta", "factor", "mscale", "mscale_all_dim"),
    "gemma3-two-ropes": ("full_attention", "sliding_attention"),
}
FIRST = {case.config.model_type: case.name for case in reversed(CASES.values())}  # the first case of each family


def reader(case: PublicModel) -> tuple[dict, Callable[..., TransformerConfig]]:
    """The fields of a case's config.json, and a function that reads them with changes, beside the case's tensors."""
    theirs = case.make()
    family = FAMILIES[case.config.model_type]
    given = {**json.loads(theirs.config.to_json_string(use_diff=False)), "model_type": family.name}
    names = {name.removeprefix(family.prefix) for name in theirs.state_dict()} | {f"expert {i}" for i in range(20)}
    return given, lambda **changes: family.read_config({**given, **changes}, names, "config.json")


@pytest.mark.parametrize("name", sorted({*FIRST.values(), *ROPES}))
def test_any_value_of_any_field_is_read_or_refused_by_name(name):
    given, changed = reader(CASES[name])
    changes = [{field: value} for field in given for value in VALUES]
    for field in ROPES.get(name, ()):
        changes += [{"rope_parameters": {**given["rope_parameters"], field: value}} for value in VALUES]
    raw = []
    for change in changes:
        try:
            changed(**change)
        except Exception as error:
            if not isinstance(error, ValueError) or not str(error).startswith("config.json: "):
                raw.append((change, error))
    assert not raw


@pytest.mark.parametrize(
    ("name", "field"),
    [
        ("qwen2-window", "use_sliding_window"),
        ("qwen3-moe", "use_sliding_window"),
        ("deepseek-v3", "norm_topk_prob"),
        ("deepseek-v3", "rope_interleave"),
        ("marian", "share_encoder_decoder_embeddings"),
        ("t5", "tie_word_embeddings"),
        ("bert", "tie_word_embeddings"),
    ],
)
def test_the_text_false_is_not_true(name, field):
    _, changed = reader(CASES[name])
    with pytest.raises(ValueError, match=f"config.json: field '{field}' is false, expected true or false"):
        changed(**{field: "false"})


@pytest.mark.parametrize(
    ("name", "change", "message"),
    [
        (
            "deepseek-v3",
            {"n_routed_experts": GB},
            r"1000000000 experts in each of 2 layers, but the checkpoint",
        ),
        (
            "qwen3-moe",
            {"num_experts": GB},
            r"1000000000 experts in each of 2 layers, but",
        ),
        ("gemma2", {"query_pre_attn_scalar": 0}, "field 'query_pre_attn_scalar' is 0, expected a number above 0"),
        ("gemma2", {"query_pre_attn_scalar": "8"}, "field 'query_pre_attn_scalar' is 8, expected a number above 0"),
        ("phi3", {"num_attention_heads": 0}, "field 'num_attention_heads' is 0, expected a whole number of at least 1"),
        ("t5", {"d_model": 0}, "field 'd_model' is 0, expected a whole number of at least 1"),
        ("gemma3", {"rope_parameters": 3}, "rope_parameters is 3, expected an object"),
        ("roberta", {"pad_token_id": None}, "field 'pad_token_id' is None, expected a whole number"),
    ],
)
def test_a_hostile_value_is_refused_with_what_was_expected(name, change, message):
    _, changed = reader(CASES[name])
    with pytest.raises(ValueError, match=f"config.json: {message}"):
        changed(**change)
