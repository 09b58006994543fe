"""Checkpoints loaded into our own models against the library transformers: the same numbers, everywhere.

For each model of `public_models`: hidden states of every layer, logits, gradients of every parameter, with padding on
either side; greedy text; and the model written back and loaded by the library. In float32 to 1e-5. The run ends with a
table of what was compared.
"""

import re

import pytest
import tokenizers
import torch
import transformers
from torch import Tensor, nn

from parity import TOLERANCE, normal, randomise, tokens
from public_models import CASES, PublicModel, hidden_states
from tx_helpers.generation.search import generate
from tx_helpers.nn.capture import capture
from tx_helpers.nn.config import AttentionConfig, EmbeddingConfig, PositionConfig, TransformerConfig
from tx_helpers.nn.models import EncoderDecoder
from tx_helpers.zoo.parts.inputs import NormedInput
from tx_helpers.zoo.public.config_paths import differences, resolved
from tx_helpers.zoo.public.families import FAMILIES
from tx_helpers.zoo.public.load import Pretrained, load_pretrained
from tx_helpers.zoo.public.save import save_pretrained, to_theirs

CLOSE = TOLERANCE[torch.float32]
every_model = pytest.mark.parametrize("case", CASES.values(), ids=CASES)
NEW = 5  # ids generated


@pytest.fixture(scope="module")
def checkpoints(tmp_path_factory):
    """Each model is saved and loaded once: name -> (theirs, ours)."""
    made: dict[str, tuple[nn.Module, Pretrained]] = {}

    def get(case: PublicModel) -> tuple[nn.Module, Pretrained]:
        if case.name not in made:
            folder = tmp_path_factory.mktemp(case.name)
            theirs = case.save(folder)
            made[case.name] = theirs, load_pretrained(folder)
        return made[case.name]

    return get


def inputs(case: PublicModel, side: str, seed: int = 0) -> tuple[Tensor, Tensor, Tensor | None]:
    ids, real = case.ids(side, seed=seed)
    target = case.ids("none", T=8, seed=1)[0] if "encoder_layers" in case.fields or "d_kv" in case.fields else None
    return ids, real, target


@every_model
@pytest.mark.parametrize("side", ["none", "left", "right"])
def test_hidden_states_and_logits_are_the_library_s(case, side, checkpoints, record_property):
    theirs, loaded = checkpoints(case)
    ids, real, target = inputs(case, side)
    with torch.no_grad():
        *their_hidden, their_logits = case.run(theirs, ids, real, target)
        with capture(loaded.model, "*.hidden") as captured:
            logits = case.output(loaded.model, ids, target)
    hidden = hidden_states(loaded.model, captured)
    assert len(hidden) == len(their_hidden)
    for ours, its in zip([*hidden, logits], [*their_hidden, their_logits], strict=True):
        here = real if ours.shape[1] == real.shape[1] else ...
        torch.testing.assert_close(ours[here], its[here], rtol=CLOSE, atol=CLOSE)
    record_property("compared", sizes(case, loaded))


@every_model
@pytest.mark.parametrize("side", ["none", "left", "right"])
def test_gradients_are_the_library_s(case, side, checkpoints):
    theirs, loaded = checkpoints(case)
    ids, real, target = inputs(case, side)
    here = real if target is None else ...
    theirs.zero_grad()
    loaded.model.zero_grad()
    their_output = case.run(theirs, ids, real, target)[-1]
    direction = normal(*their_output[here].shape, dtype=torch.float32)
    (their_output[here] * direction).sum().backward()
    (case.output(loaded.model, ids, target)[here] * direction).sum().backward()

    family = FAMILIES[loaded.family]
    gradients = {
        name: torch.zeros_like(parameter) if parameter.grad is None else parameter.grad
        for name, parameter in loaded.model.named_parameters()
    }
    ours = {short(name, family): value for name, value in to_theirs(family, loaded.model, gradients).items()}
    its = {short(name, family): gradient for name, gradient in case.gradients(theirs).items()}
    assert its.keys() - ours.keys() == set()
    unused = {name for name in ours.keys() - its.keys() if ours[name].any()}
    assert unused <= {"final_logits_bias"}, "a buffer of theirs is a parameter of ours"
    atol = CLOSE * max(1.0, *(gradient.abs().max().item() for gradient in its.values()))
    for name, gradient in its.items():
        torch.testing.assert_close(ours[name], gradient, rtol=CLOSE, atol=atol, msg=lambda text, n=name: f"{n}: {text}")


def short(name: str, family) -> str:
    return name.removeprefix(family.prefix).replace("predictions.decoder.bias", "predictions.bias")


WRITERS = [case for case in CASES.values() if not re.search("bert|minilm|body", case.name)]


@pytest.mark.parametrize("case", WRITERS, ids=lambda case: case.name)
def test_greedy_text_is_the_library_s(case, checkpoints, tmp_path):
    theirs, loaded = checkpoints(case)
    words = tokenizers.Tokenizer(
        tokenizers.models.WordLevel({f"w{i}": i for i in range(loaded.config.vocab_size)}, unk_token="w0")
    )
    words.pre_tokenizer = tokenizers.pre_tokenizers.Whitespace()
    start = loaded.ids.get("decoder_start_token_id", case.pad)
    options = dict(max_new_tokens=NEW, do_sample=False, use_cache=False, pad_token_id=case.pad)
    theirs.generation_config = transformers.GenerationConfig(**options, decoder_start_token_id=start)
    for seed in range(40):  # our model never sees the id of padding, the library's may: a text without it
        ids, real, target = inputs(case, "left" if case.positions != "absolute" else "right", seed)
        its = theirs.generate(ids, attention_mask=real.long())[:, 1 if target is not None else ids.shape[1] :]
        if not (its == case.pad).any():
            break
    if target is None:
        ours = generate(loaded.model, ids, max_new_tokens=NEW)
    else:
        ours = generate(loaded.model, start, source=ids, max_new_tokens=NEW)
    assert its.shape == (3, NEW)
    assert [words.decode(row) for row in ours.tolist()] == [words.decode(row) for row in its.tolist()]


@every_model
def test_a_model_written_back_is_loaded_by_the_library_with_the_same_logits(case, checkpoints, tmp_path):
    theirs, loaded = checkpoints(case)
    save_pretrained(loaded.model, tmp_path, family=loaded.family, ids=loaded.ids)
    kind = theirs.__class__ if case.kind is not transformers.BertForPreTraining else transformers.BertForMaskedLM
    again, info = kind.from_pretrained(tmp_path, output_loading_info=True)
    unused = ("pooler", "predictions.bias", "lm_head.bias")
    missing = {name for name in info["missing_keys"] if not any(part in name for part in unused)}
    assert not missing and not info["unexpected_keys"] and not info["mismatched_keys"]
    ids, real, target = inputs(case, "right")
    with torch.no_grad():
        one, other = (case.run(model.eval(), ids, real, target)[-1] for model in (theirs, again))
    here = real if target is None else ...
    torch.testing.assert_close(one[here], other[here], rtol=0, atol=0)
    assert differences(resolved(load_pretrained(tmp_path).config), resolved(loaded.config)) == {}


@pytest.mark.parametrize(
    ("family", "kind", "positions"),
    [
        ("bart", transformers.BartForConditionalGeneration, "learned"),
        ("marian", transformers.MarianMTModel, "sinusoidal_halves"),
    ],
)
def test_an_output_of_its_own_leaves_the_library_no_embedding_to_draw(family, kind, positions, tmp_path):
    """Untied, BART and Marian have three embeddings in the library, where we have one."""
    config = TransformerConfig(
        **dict(vocab_size=11, d_model=12, context_length=9, pad_id=1, wiring="post_norm"),
        **dict(attention=AttentionConfig(3), positions=PositionConfig(positions)),
        embedding=EmbeddingConfig(tied=False, input=NormedInput() if family == "bart" else None),
    )
    ours = randomise(EncoderDecoder(config)).eval()
    save_pretrained(ours, tmp_path)
    theirs, info = kind.from_pretrained(tmp_path, output_loading_info=True)
    assert not info["missing_keys"] - {"final_logits_bias"} and not info["unexpected_keys"]
    source, target = tokens(2, 7, low=3, high=11), tokens(2, 5, seed=1, low=3, high=11)
    with torch.no_grad():
        logits = theirs.eval()(source, decoder_input_ids=target).logits
        torch.testing.assert_close(ours(source, target), logits, rtol=CLOSE, atol=CLOSE)
    assert not load_pretrained(tmp_path).config.embedding.tied


def sizes(case: PublicModel, loaded: Pretrained) -> str:
    """A row of the table: the model, its sizes in the legend's letters, and whether the output is tied."""
    config = loaded.config
    layers = config.n_layers if not config.n_encoder_layers else f"{config.n_encoder_layers}+{config.n_layers}"
    heads = config.attention.n_kv_heads or config.attention.n_heads
    return (
        f"{loaded.family:<13}{case.name:<25}V {config.vocab_size:<4}D {config.d_model:<4}layers {layers!s:<5}"
        f"H {config.attention.n_heads:<3}of keys {heads:<3}K {config.d_head:<4}F {config.d_ff:<4}"
        f"{'tied' if config.embedding.tied else 'untied'}"
    )
