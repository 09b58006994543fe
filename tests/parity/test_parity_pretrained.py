"""Checkpoints loaded into our own models against the library transformers: the same numbers, everywhere.

For each model of `public_models`: hidden states of every layer, logits, gradients of every parameter, with padding on
either side; greedy text; and the model written back and loaded by the library. In float32 to 1e-5. The run ends with a
table of what was compared.
"""

import copy
import re
from dataclasses import replace

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
from tx_helpers.zoo.presets import bert, gpt2, llama, t5
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


IN_BOTH_PRECISIONS = ("gpt2", "llama3", "llama-linear", "qwen3", "mistral", "bert", "t5", "t5-1.1")
GRADIENTS = [(case, side, torch.float32) for case in CASES.values() for side in ("none", "left", "right")]
GRADIENTS += [(CASES[name], "right", torch.float64) for name in IN_BOTH_PRECISIONS]


@pytest.mark.parametrize(("case", "side", "dtype"), GRADIENTS, ids=lambda value: getattr(value, "name", str(value)))
def test_gradients_are_the_library_s(case, side, dtype, checkpoints):
    theirs, loaded = checkpoints(case)
    close = TOLERANCE[dtype]
    if dtype == torch.float64:
        theirs, loaded = copy.deepcopy(theirs).double(), replace(loaded, model=copy.deepcopy(loaded.model).double())
    ids, real, target = inputs(case, side)
    here = real if target is None else ...
    theirs.zero_grad()
    loaded.model.zero_grad()
    outputs = case.output(loaded.model, ids, target)[here], case.run(theirs, ids, real, target)[-1][here]
    torch.testing.assert_close(*outputs, rtol=close, atol=close)
    direction = normal(*outputs[0].shape, dtype=dtype)
    for output in outputs:
        (output * direction).sum().backward()

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
    atol = close * max(1.0, *(gradient.abs().max().item() for gradient in its.values()))
    for name, gradient in its.items():
        torch.testing.assert_close(ours[name], gradient, rtol=close, atol=atol, msg=lambda text, n=name: f"{n}: {text}")


def test_bert_s_segments_are_the_library_s(checkpoints):
    case = CASES["bert"]
    theirs, loaded = checkpoints(case)
    ids, real, _ = inputs(case, "right")
    segments = (torch.arange(ids.shape[1]) > 3).long().expand_as(ids)
    with torch.no_grad():
        its = theirs.bert(ids, attention_mask=real.long(), token_type_ids=segments).last_hidden_state
        torch.testing.assert_close(loaded.model.encode(ids, segments=segments)[real], its[real], rtol=CLOSE, atol=CLOSE)


@pytest.mark.parametrize("name", ["llama3", "gpt2", "mistral"])
def test_the_cached_logits_are_the_library_s_cached_logits(name, checkpoints):
    """Prompt, then token by token, both with a cache of their own, two rows padded at the left."""
    theirs, loaded = checkpoints(CASES[name])
    ids, real, _ = inputs(CASES[name], "left")
    state, cache, positions = loaded.model.start(batch=len(ids)), None, (real.long().cumsum(-1) - 1).clamp(min=0)
    with torch.no_grad():
        for start, stop in ((0, 6), (6, 7), (7, 8), (8, 9)):
            new = slice(start, stop)
            reply = theirs(
                ids[:, new],
                attention_mask=real[:, :stop].long(),
                position_ids=positions[:, new],
                past_key_values=cache,
                use_cache=True,
            )
            cache = reply.past_key_values
            mine, its = state.step(ids[:, new])[real[:, new]], reply.logits[real[:, new]]
            torch.testing.assert_close(mine, its, rtol=CLOSE, atol=CLOSE)


WIDE = dict(vocab_size=290, hidden_size=96, num_attention_heads=6, intermediate_size=320)
LARGER = {
    "gpt2": dict(vocab_size=290, n_embd=96, n_head=6),
    "llama2": WIDE | dict(num_key_value_heads=2),
    "bert": WIDE,
    "t5": dict(vocab_size=290, d_model=96, num_heads=6, d_kv=16, d_ff=320),
}


@pytest.mark.parametrize("name", LARGER)
def test_first_values_spread_as_the_library_s_do(name, tmp_path):
    """Deviations of all parameters, the larger sizes for the statistics' sake: within 10 %."""
    torch.manual_seed(0)
    theirs = CASES[name].kind(CASES[name].config(**CASES[name].fields | LARGER[name]))
    theirs.save_pretrained(tmp_path)
    loaded = load_pretrained(tmp_path)
    preset = {"gpt2": gpt2, "llama2": llama, "bert": bert, "t5": t5}[name]
    fresh = type(loaded.model)(replace(loaded.config, init=preset().init))
    family, compared = FAMILIES[loaded.family], 0
    ours = {short(name, family): value for name, value in to_theirs(family, fresh).items()}
    for name, its in theirs.named_parameters():
        mine = ours[short(name, family)]
        if its.numel() > 300:
            assert mine.std().item() == pytest.approx(its.std().item(), rel=0.1), name
            compared += 1
        elif its.std() == 0:  # gains and biases
            torch.testing.assert_close(mine, its)
    assert compared > 8


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
