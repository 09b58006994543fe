"""What a checkpoint may look like: precisions, several files, older names and fields, the hub, memory."""

import json
import os
import shutil
import subprocess
import sys
import types
from pathlib import Path

import huggingface_hub
import pytest
import torch
from safetensors.torch import load_file, save_file

from public_models import CASES, LLAMA3
from tx_helpers.nn.models import TransformerModel
from tx_helpers.zoo.parts.yarn import WavelengthStretch
from tx_helpers.zoo.public.load import load_pretrained
from tx_helpers.zoo.public.save import save_pretrained

WEIGHTS, CONFIG = "model.safetensors", "config.json"


@pytest.fixture
def folder(tmp_path) -> Path:
    return tmp_path / "checkpoint"


def rewrite(folder: Path, change) -> None:
    """Change the tensors of a checkpoint; `change` gets and gives them by name."""
    tensors = load_file(folder / WEIGHTS)
    save_file(change(tensors) or tensors, folder / WEIGHTS, metadata={"format": "pt"})


def refield(folder: Path, take: tuple[str, ...] = (), **changes) -> None:
    fields = json.loads((folder / CONFIG).read_text()) | changes
    (folder / CONFIG).write_text(json.dumps({name: value for name, value in fields.items() if name not in take}))


def assert_same(one: TransformerModel, other: TransformerModel) -> None:
    ours, theirs = one.state_dict(), other.state_dict()
    assert ours.keys() == theirs.keys()
    assert all(torch.equal(ours[name], theirs[name]) for name in ours)


@pytest.mark.parametrize("name", ["gpt2", "llama3", "minilm", "t5", "marian"])
@pytest.mark.parametrize("kept", [torch.float32, torch.bfloat16, torch.float16, torch.float64])
def test_a_checkpoint_keeps_its_precision_or_gets_the_wanted_one(folder, name, kept):
    theirs = CASES[name].make().to(kept)
    theirs.save_pretrained(folder)
    model = load_pretrained(folder).model
    assert {parameter.dtype for parameter in model.parameters()} == {kept}
    assert not any(parameter.is_meta for parameter in model.parameters())
    wanted = load_pretrained(folder, dtype=torch.float32).model
    for own, other in zip(model.parameters(), wanted.parameters(), strict=True):
        assert other.dtype == torch.float32 and torch.equal(own.float(), other)


def test_mixed_precisions_load_in_the_widest(folder):
    CASES["gpt2"].save(folder)
    rewrite(folder, lambda old: {name: value.half() if "ln" in name else value for name, value in old.items()})
    assert {parameter.dtype for parameter in load_pretrained(folder).model.parameters()} == {torch.float32}


@pytest.mark.parametrize(
    ("dtype", "kept"), [(None, torch.float32), (torch.bfloat16, torch.float32), (torch.float64, torch.float64)]
)
def test_the_bias_for_the_choice_of_experts_is_never_rounded(folder, dtype, kept):
    """As in transformers: in bfloat16 another expert could be chosen."""
    CASES["deepseek-v3"].save(folder)
    bias = "model.layers.1.mlp.gate.e_score_correction_bias"
    exact = load_file(folder / WEIGHTS)[bias]
    assert not torch.equal(exact.bfloat16().float(), exact)
    rewrite(folder, lambda old: {name: value if name == bias else value.bfloat16() for name, value in old.items()})
    model = load_pretrained(folder, dtype=dtype).model
    assert {parameter.dtype for parameter in model.parameters()} == {dtype or torch.bfloat16}
    found = model.decoder.blocks[1].feed_forward.router.bias
    assert found.dtype == kept and torch.equal(found, exact.to(kept))
    save_pretrained(model, folder / "back", family="deepseek_v3")
    assert torch.equal(load_file(folder / "back" / WEIGHTS)[bias], found)


@pytest.mark.parametrize("name", ["gpt2", "mistral", "bert", "t5-1.1", "bart"])
def test_several_files_hold_the_same_model_as_one(tmp_path, name):
    CASES[name].save(tmp_path / "one")
    CASES[name].save(tmp_path / "several", max_shard_size="4KB")
    assert len(list((tmp_path / "several").glob("*.safetensors"))) > 1
    assert_same(load_pretrained(tmp_path / "one").model, load_pretrained(tmp_path / "several").model)


def test_the_model_is_ready_to_be_used_and_trained(folder):
    CASES["gpt2"].save(folder)
    model = load_pretrained(folder).model
    assert not model.training
    assert all(parameter.requires_grad and parameter.is_contiguous() for parameter in model.parameters())
    assert model.output.weight is model.decoder.input.tokens.weight


# --- older names and fields -------------------------------------------------------------------------------------------


def gpt2_as_published(old):
    """Without the prefix, and with the causal masks as tensors."""
    mask = torch.ones(1, 1, 31, 31).tril()
    masks = {f"h.{i}.attn.{name}": mask.clone() for i in range(2) for name in ("bias", "masked_bias")}
    return {name.removeprefix("transformer."): value for name, value in old.items()} | masks


def bert_as_published(old):
    names = {name: name.replace("LayerNorm.weight", "LayerNorm.gamma") for name in old}
    names = {name: new.replace("LayerNorm.bias", "LayerNorm.beta") for name, new in names.items()}
    return {names[name]: value for name, value in old.items()} | {
        "bert.embeddings.position_ids": torch.arange(31)[None],
        "cls.predictions.decoder.weight": old["bert.embeddings.word_embeddings.weight"].clone(),
        "cls.seq_relationship.weight": torch.zeros(2, 21),
    }


def t5_as_published(old):
    bias = "decoder.block.0.layer.1.EncDecAttention.relative_attention_bias.weight"
    copies = {f"{stack}.embed_tokens.weight": old["shared.weight"].clone() for stack in ("encoder", "decoder")}
    return old | copies | {bias: torch.zeros(32, 3), "lm_head.weight": old["shared.weight"].clone()}


def llama_as_published(old):
    return old | {"model.layers.0.self_attn.rotary_emb.inv_freq": torch.ones(3)}


def marian_as_published(old):
    tables = {f"model.{stack}.embed_positions.weight": torch.zeros(31, 18) for stack in ("encoder", "decoder")}
    return old | tables | {"lm_head.weight": old["model.shared.weight"].clone()}


PUBLISHED = {
    "gpt2": (gpt2_as_published, {"h.0.attn.bias", "h.0.attn.masked_bias", "h.1.attn.bias", "h.1.attn.masked_bias"}),
    "bert": (
        bert_as_published,
        {"embeddings.position_ids", "cls.predictions.decoder.weight", "cls.seq_relationship.weight"},
    ),
    "t5": (
        t5_as_published,
        {
            "encoder.embed_tokens.weight",
            "decoder.embed_tokens.weight",
            "lm_head.weight",
            "decoder.block.0.layer.1.EncDecAttention.relative_attention_bias.weight",
        },
    ),
    "llama2": (llama_as_published, {"layers.0.self_attn.rotary_emb.inv_freq"}),
    "marian": (
        marian_as_published,
        {"encoder.embed_positions.weight", "decoder.embed_positions.weight", "lm_head.weight"},
    ),
}


@pytest.mark.parametrize(("name", "published"), PUBLISHED.items(), ids=PUBLISHED)
def test_tensors_of_published_checkpoints_are_left_out_with_a_reason(folder, name, published):
    change, left_out = published
    CASES[name].save(folder)
    today = load_pretrained(folder).model
    rewrite(folder, change)
    loaded = load_pretrained(folder)
    assert_same(today, loaded.model)
    assert loaded.left_out.keys() == left_out
    assert all(len(why) > 10 for why in loaded.left_out.values())


def test_the_module_for_the_token_after_next_is_named_and_no_other_layer_is_left_out(folder):
    CASES["deepseek-v3"].save(folder)
    today = load_pretrained(folder).model
    module = {f"model.layers.3.{name}.weight": torch.zeros(18) for name in ("eh_proj", "enorm", "mlp.gate")}
    rewrite(folder, lambda old: old | module)
    loaded = load_pretrained(folder)
    assert_same(today, loaded.model)
    assert loaded.left_out.keys() == {name.removeprefix("model.") for name in module}
    assert all("predicts the token after next" in why for why in loaded.left_out.values())
    refield(folder, num_hidden_layers=2)
    with pytest.raises(ValueError, match="num_hidden_layers is 2, but the checkpoint has a layer 2 that is no predict"):
        load_pretrained(folder)


@pytest.mark.parametrize("copy", ["encoder.embed_tokens.weight", "decoder.embed_tokens.weight"])
def test_a_copy_that_is_none_is_refused(folder, copy):
    CASES["t5"].save(folder)
    rewrite(folder, lambda old: old | {copy: old["shared.weight"] + 1})
    with pytest.raises(ValueError, match=f"tensors 'shared.weight' and '{copy}' differ, expected the same"):
        load_pretrained(folder)


@pytest.mark.parametrize("name", ["gpt2", "llama3"])
@pytest.mark.parametrize("prefix", ["", "_orig_mod.", "module.", "module._orig_mod."])
def test_a_tied_matrix_under_its_other_name_and_wrapped_names_are_read(folder, name, prefix):
    """safetensors' save_model leaves one of two names; torch.compile and DistributedDataParallel prefix all."""
    theirs = CASES[name].save(folder)
    refield(folder, tie_word_embeddings=True)
    rest = {
        key: value for key, value in theirs.state_dict().items() if key.split(".")[-2] not in ("wte", "embed_tokens")
    }
    embedding = theirs.get_input_embeddings().weight.detach().clone()
    rewrite(
        folder, lambda _: {prefix + key: value.clone() for key, value in (rest | {"lm_head.weight": embedding}).items()}
    )
    loaded = load_pretrained(folder)
    assert loaded.config.embedding.tied and torch.equal(loaded.model.decoder.input.tokens.weight, embedding)


def test_labels_of_other_tools_are_passed_over_and_others_can_be(folder):
    CASES["llama3"].save(folder)
    refield(folder, unsloth_version="1", _attn_implementation_autoset=True, quantization_config=None)
    load_pretrained(folder)
    refield(folder, made_by="me")
    with pytest.raises(ValueError, match=r"'made_by' is me, which llama here .* load with ignore=\('made_by',\)"):
        load_pretrained(folder)
    load_pretrained(folder, ignore=("made_by",))


@pytest.mark.parametrize(("name", "output"), [("gpt2", "lm_head"), ("llama3", "lm_head"), ("t5", "lm_head")])
def test_an_output_that_differs_from_the_embedding_is_untied(folder, name, output):
    """As in transformers, whatever config.json says."""
    theirs = CASES[name].save(folder)
    changed = theirs.get_input_embeddings().weight.detach() + 1
    rewrite(folder, lambda old: old | {f"{output}.weight": changed})
    loaded = load_pretrained(folder)
    assert not loaded.config.embedding.tied
    assert torch.equal(loaded.model.output.weight, changed)
    theirs = type(theirs).from_pretrained(folder)
    assert torch.equal(theirs.lm_head.weight, changed)


OLDER_ROPE = {
    "plain": (dict(rope_theta=300.0), (300.0, 1.0, None)),
    "nothing": ({}, (10000.0, 1.0, None)),
    "linear": (dict(rope_theta=7.0, rope_scaling={"type": "linear", "factor": 2.5}), (7.0, 2.5, None)),
    "llama3": (
        dict(rope_theta=50.0, rope_scaling={name: value for name, value in LLAMA3.items() if name != "rope_theta"}),
        (50.0, 1.0, WavelengthStretch(8.0, 1.0, 4.0, 11)),
    ),
}


@pytest.mark.parametrize(("fields", "expected"), OLDER_ROPE.values(), ids=OLDER_ROPE)
def test_the_rotation_is_read_from_older_fields(folder, fields, expected):
    CASES["llama2"].save(folder)
    refield(folder, take=("rope_parameters",), **fields)
    positions = load_pretrained(folder).config.positions
    assert (positions.base, positions.interpolation, positions.stretch) == expected


@pytest.mark.parametrize(
    ("fields", "message"),
    [
        (
            {"rope_type": "dynamic", "factor": 4.0},
            "rope_type is 'dynamic', expected one of default, linear, llama3, yarn",
        ),
        (
            {"rope_type": "yarn", "factor": 4.0},
            "rope_parameters: 'original_max_position_embeddings' is missing where rope_type is 'yarn'",
        ),
        ({"rope_type": ["llama3"]}, "expected one of default, linear, llama3"),
        ({"rope_type": "llama3", "factor": 4.0}, "rope_parameters: 'high_freq_factor' is missing where rope_type is"),
        (
            {"rope_type": "default", "beta": 4.0},
            "rope_parameters: 'beta' is not understood where rope_type is 'default'",
        ),
        ({**LLAMA3, "low_freq_factor": 9.0}, "WavelengthStretch: high=4.0, expected more than 9.0"),
    ],
)
def test_another_rotation_is_refused(folder, fields, message):
    CASES["llama2"].save(folder)
    refield(folder, rope_parameters={"rope_theta": 10000.0, **fields})
    with pytest.raises(ValueError, match=message):
        load_pretrained(folder)


def test_two_values_for_one_thing_are_refused(folder):
    CASES["llama2"].save(folder)
    refield(folder, rope_theta=3.0)
    with pytest.raises(ValueError, match=r"rope_theta is 3.0, but rope_parameters say 10000.0"):
        load_pretrained(folder)
    CASES["bart"].save(folder)
    refield(folder, decoder_ffn_dim=29)
    with pytest.raises(ValueError, match="encoder_ffn_dim is 23, but decoder_ffn_dim is 29"):
        load_pretrained(folder)


def test_a_layer_of_an_unknown_kind_is_refused(folder):
    CASES["qwen2-window"].save(folder)
    refield(folder, layer_types=["full_attention", "sliding_attention", "chunked_attention"])
    with pytest.raises(ValueError, match=r"layer_types is .*chunked.*, expected 3 times 'sliding_attention' or"):
        load_pretrained(folder)


# --- padding, ids, tokenizer ------------------------------------------------------------------------------------------


def test_the_id_of_padding(folder):
    CASES["gpt2"].save(folder)
    assert load_pretrained(folder).config.pad_id == 0
    assert load_pretrained(folder, pad_id=5).model.decoder.pad_id == 5
    assert load_pretrained(folder, pad_id=None).config.pad_id is None
    refield(folder, pad_token_id=2)
    loaded = load_pretrained(folder)
    assert loaded.config.pad_id is None, "the end of a text would be masked"
    assert loaded.ids == {"bos_token_id": 1, "eos_token_id": 2, "pad_token_id": 2}


def test_roberta_s_padding_is_part_of_its_positions(folder):
    CASES["roberta"].save(folder)
    loaded = load_pretrained(folder, pad_id=1)
    assert loaded.config.context_length == 31 - 2
    with pytest.raises(ValueError, match="pad_id=4, but positions of roberta need 1"):
        load_pretrained(folder, pad_id=4)


def test_the_tokenizer_is_read(folder, monkeypatch):
    from tokenizers import Tokenizer, models

    CASES["gpt2"].save(folder)
    assert load_pretrained(folder).tokenizer is None
    Tokenizer(models.WordLevel({"a": 0, "b": 1}, unk_token="a")).save(str(folder / "tokenizer.json"))
    assert load_pretrained(folder).tokenizer.encode("b").ids == [1]
    assert load_pretrained(folder, tokenizer=False).tokenizer is None
    monkeypatch.setitem(sys.modules, "tokenizers", None)
    with pytest.raises(ValueError, match=r"the library tokenizers is needed to read it: pip install 'tx-helpers\[pre"):
        load_pretrained(folder)
    monkeypatch.undo()
    (folder / "tokenizer.json").write_text('{"version": 7}')
    with pytest.raises(ValueError, match=r"tokenizer.json: the library tokenizers cannot read it"):
        load_pretrained(folder)


# --- the hub ----------------------------------------------------------------------------------------------------------


def test_only_download_uses_the_network(folder, monkeypatch):
    """The cache of the hub is made here: links (on Windows, copies) in a folder named after the commit."""
    CASES["gpt2"].save(folder / "blobs")
    commit = folder / "snapshots" / "607a30d7"
    commit.mkdir(parents=True)
    for name in (WEIGHTS, CONFIG):
        place = shutil.copy if os.name == "nt" else os.symlink
        place(folder / "blobs" / name, commit / name)
    calls = []

    def snapshot_download(hub_id, **options):
        calls.append((hub_id, options.pop("allow_patterns") and options))
        if hub_id == "somebody/nothing":
            raise FileNotFoundError("not there")
        return str(commit)

    monkeypatch.setattr(huggingface_hub, "snapshot_download", snapshot_download)
    loaded = load_pretrained("somebody/gpt2")
    load_pretrained("somebody/gpt2", revision="main", download=True)
    assert calls == [
        ("somebody/gpt2", {"revision": None, "local_files_only": True}),
        ("somebody/gpt2", {"revision": "main", "local_files_only": False}),
    ]
    assert (loaded.source.hub_id, loaded.source.commit) == ("somebody/gpt2", "607a30d7")
    assert loaded.source.sha256.keys() == {WEIGHTS, CONFIG}
    assert all(len(digest) == 64 for digest in loaded.source.sha256.values())
    with pytest.raises(
        ValueError, match=r"'somebody/nothing' is neither a folder nor in the local cache; download=True"
    ):
        load_pretrained("somebody/nothing")
    for path in ("../somebody", "a/b/c", "http://x/y", "~/x", ".hidden"):
        with pytest.raises(ValueError, match="is no folder, and no id"):
            load_pretrained(path, download=True)
    assert len(calls) == 3


def test_without_the_hub_s_library_an_id_is_refused(monkeypatch):
    monkeypatch.setitem(sys.modules, "huggingface_hub", types.ModuleType("huggingface_hub"))
    with pytest.raises(ValueError, match=r"'somebody/gpt2' is no folder; .* pip install 'tx-helpers\[pretrained\]'"):
        load_pretrained("somebody/gpt2", download=True)


# --- memory -----------------------------------------------------------------------------------------------------------

MEASURE = """
import sys, torch
from pathlib import Path
from tx_helpers.zoo.public.load import load_pretrained
folder = Path(sys.argv[1])
load_pretrained(folder / "small")
rss = lambda key: next(int(line.split()[1]) for line in open("/proc/self/status") if line.startswith(key)) * 1024
Path("/proc/self/clear_refs").write_text("5")  # the peak begins anew
before = rss("VmRSS")
loaded = load_pretrained(folder / "large")
print((rss("VmHWM") - before) / (folder / "large" / "model.safetensors").stat().st_size)
"""


@pytest.mark.slow
@pytest.mark.skipif(not Path("/proc/self/clear_refs").exists(), reason="the peak is read from Linux's /proc")
@pytest.mark.parametrize("name", ["gpt2", "llama"])
def test_half_precision_loads_without_a_copy_in_float32(tmp_path, name):
    """At most 1.4 times the file at the peak: 75 MB in bfloat16, a third of it the embedding.

    While a tensor is copied, its pages of the file count, too; a copy in float32 would be twice the file.
    """
    from tx_helpers.nn.config import AttentionConfig, FeedForwardConfig
    from tx_helpers.nn.models import DecoderOnly
    from tx_helpers.zoo.presets import gpt2, llama

    make = gpt2 if name == "gpt2" else llama
    narrow = {} if name == "gpt2" else {"feed_forward": FeedForwardConfig(1700, "silu", gated=True, bias=False)}
    for size, D, V in (("small", 16, 30), ("large", 640, 20_000)):
        sizes = dict(
            vocab_size=V, d_model=D, n_layers=5, context_length=64, attention=AttentionConfig(4, bias=name == "gpt2")
        )
        with torch.device("meta"):
            model = DecoderOnly(make(**sizes, **narrow))
        save_pretrained(model.to_empty(device="cpu").bfloat16(), tmp_path / size, family=name)
    done = subprocess.run([sys.executable, "-c", MEASURE, str(tmp_path)], capture_output=True, text=True, check=False)
    assert done.returncode == 0, done.stderr
    assert 0.9 < float(done.stdout) <= 1.4, f"the peak was {float(done.stdout):.2f} times the file"
