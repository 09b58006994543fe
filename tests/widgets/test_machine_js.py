"""The machine's arithmetic in Chromium: all that `capture` sees is PyTorch's, for 100 numbers and many models."""

import random
from itertools import islice

import numpy as np
import pytest
import torch

from machine_pages import Case, MachinePage, captured, largest, number_cases, outputs, random_case
from parity import randomise
from tx_helpers.generation.search import generate
from tx_helpers.nn.config import (
    AttentionConfig,
    EmbeddingConfig,
    FeedForwardConfig,
    NormConfig,
    PositionConfig,
    TransformerConfig,
)
from tx_helpers.nn.layers import ACTIVATIONS
from tx_helpers.nn.models import DecoderOnly, EncoderDecoder
from tx_helpers.plain import GPT, Transformer
from tx_helpers.text.number_words import number_pairs
from tx_helpers.zoo.parts.inputs import NormedInput, TokenShift
from tx_helpers.zoo.parts.outputs import BiasedOutput, ScaledOutput
from tx_helpers.zoo.recipes import Translator, number_translator
from tx_helpers.zoo.shipped import story_writer

CLOSE = 1e-4
STORY = "Once upon a time there was a little boat. It was red, and it lived by the sea with a dog. "


@pytest.fixture(scope="module")
def translator() -> Translator:
    return number_translator(progress=False)


@pytest.fixture(scope="module")
def numbers():
    """100 pairs: short and long ones from training, and long ones that training never saw."""
    pairs = number_pairs()
    return [*pairs.train[:20], *pairs.train[-30:], *pairs.held_out[:50]]


# ---------------------------------------------------------------------------------------------------- the whole pass


def test_every_tensor_of_the_translator_is_pytorch_s_for_100_numbers(bare_page, translator, numbers):
    gaps = MachinePage(bare_page, translator).compare(number_cases(translator, numbers), captured(translator.model))
    assert len(numbers) == 100 and len(gaps) == 57 and largest(gaps)[0] < CLOSE, largest(gaps)


def test_a_change_of_one_weight_would_be_seen(bare_page, translator, numbers):
    """The comparison itself: a model whose weights differ a little is told apart."""
    cases = number_cases(translator, numbers[-3:])
    page = MachinePage(bare_page, translator)
    with torch.no_grad():
        weight = translator.model.encoder.blocks[0].self_attention.value.weight
        weight[3, 5] += 0.01
        try:
            gaps = page.compare(cases, captured(translator.model))
        finally:
            weight[3, 5] -= 0.01
    assert gaps["encoder.blocks.0.self_attention.values"] > 1e-3 and gaps["encoder.input.hidden"] < CLOSE


def test_what_the_view_sees_besides_is_what_the_modules_return(bare_page, translator, numbers):
    page = MachinePage(bare_page, translator)
    names = page.page.evaluate("() => [...machine.run(model, { source: [3], target: [1] }).keys()]")
    cases, modules = number_cases(translator, numbers[::10]), outputs(translator.model)
    gaps = page.compare(cases, lambda case: {name: x for name, x in modules(case).items() if name in names})
    assert largest(gaps)[0] < CLOSE, largest(gaps)
    assert set(gaps) == {name for name in names if name.endswith(".output")} and len(gaps) == 32


@pytest.mark.parametrize("context", [64, 256])
def test_the_shipped_writers_up_to_their_full_context(bare_page, context):
    writer = story_writer(context)
    ids = writer.tokenizer.encode(STORY * 3)
    cases = [Case(ids[:length]) for length in (1, 2, 17, context)]
    gaps = MachinePage(bare_page, writer).compare(cases, captured(writer.model))
    assert len(gaps) == 42 and largest(gaps)[0] < CLOSE, largest(gaps)


def test_rounded_weights_compute_as_pytorch_does_on_the_same_rounded_weights(bare_page, translator, numbers):
    rounded = EncoderDecoder(translator.model.config).eval()
    rounded.load_state_dict({name: value.half().float() for name, value in translator.model.state_dict().items()})
    page = MachinePage(bare_page, translator, half=True)
    gaps = page.compare(number_cases(translator, numbers[::10]), captured(rounded))
    assert largest(gaps)[0] < CLOSE, largest(gaps)


POSITIONS = (
    *("none", "sinusoidal", "learned", "rotary", "rotary", "t5", "alibi"),
    PositionConfig("rotary", base=50.0, layout="interleaved", interpolation=3.0),
    PositionConfig("t5", buckets=8, max_distance=12),
)


def drawn_config(draw: random.Random, kind: type) -> TransformerConfig:
    """Any configuration at all, of sizes that are all different."""
    positions = draw.choice(POSITIONS)
    both = kind is EncoderDecoder
    return TransformerConfig(
        vocab_size=11,
        source_vocab_size=draw.choice([None, 13]) if both else None,
        d_model=14,
        n_layers=draw.choice([1, 2, 3]),
        n_encoder_layers=draw.choice([None, 1, 2]) if both else None,
        context_length=draw.choice([17, 23]),
        pad_id=draw.choice([None, 0, 4]),
        dropout=0.1,
        wiring=draw.choice(["pre_norm", "post_norm", "pre_norm_without_residual", "post_norm_without_residual"]),
        attention=AttentionConfig(
            6,
            n_kv_heads=draw.choice([None, 1, 2, 3]),
            d_head=10,
            bias=draw.random() < 0.5,
            qk_norm=draw.random() < 0.5,
            scale=draw.choice([None, 0.5]),
        ),
        feed_forward=FeedForwardConfig(19, draw.choice(list(ACTIVATIONS)), draw.random() < 0.5, draw.random() < 0.5),
        positions=PositionConfig(positions) if isinstance(positions, str) else positions,
        norm=NormConfig(draw.choice(["layer", "rms"]), draw.choice([1e-5, 0.01])),
        embedding=EmbeddingConfig(
            tied=draw.random() < 0.5,
            scale=draw.random() < 0.5,
            input=draw.choice([None, TokenShift(1), TokenShift(2), NormedInput(), NormedInput(2)]),
            output=draw.choice([None, BiasedOutput(), ScaledOutput(0.3)]),
        ),
    )


@pytest.mark.parametrize("kind", [EncoderDecoder, DecoderOnly])
def test_models_of_any_configuration(bare_page, kind):
    draw, generator = random.Random(5), torch.Generator().manual_seed(6)
    for number in range(20):
        model = randomise(kind(drawn_config(draw, kind)), seed=number, std=0.3).eval()
        page = MachinePage(bare_page, model)
        cases = [random_case(model, generator) for _ in range(3)]
        for expected in (captured(model), kept(page, cases[0], outputs(model))):
            gaps = page.compare(cases, expected)
            assert largest(gaps)[0] < CLOSE, (number, largest(gaps), model.config)


def kept(page: MachinePage, case: Case, expected):
    """Of what is expected, the names that the machine has: it has no output of a norm that is not there."""
    ids = {"source": case.source, "target": case.target}
    names = set(page.page.evaluate("(ids) => [...machine.run(model, ids).keys()]", ids))
    return lambda case: {name: tensor for name, tensor in expected(case).items() if name in names}


@pytest.mark.parametrize("plain", [Transformer(13, 11, 12, 3, 20), GPT(11, 12, 3, 20, n_layers=3)])
def test_the_classes_of_notebook_08(bare_page, plain):
    model, generator = randomise(plain).eval(), torch.Generator().manual_seed(0)
    both = isinstance(plain, Transformer)
    cases = [
        Case([1, 5, 3, 8, 10], torch.randint(3, 13, (7,), generator=generator).tolist() if both else None),
        Case([1, 0, 3, 9], [4, 3, 12, 0, 0] if both else None),  # with padding; GPT has none
    ]
    assert largest(MachinePage(bare_page, model).compare(cases, captured(model)))[0] < CLOSE


# ----------------------------------------------------------------------------------------------------------- decoding


def test_greedy_translations_of_100_numbers_are_python_s(bare_page, translator, numbers):
    page = MachinePage(bare_page, translator)
    cases = number_cases(translator, numbers)
    written = page.page.evaluate(
        """(sources) => sources.map((source) =>
             machine.decode(model.target, machine.greedy(model, { source, prompt: [model.target.bos] }, 32)))""",
        [case.source for case in cases],
    )
    assert written == translator.translate_all([pair.source for pair in numbers])


@pytest.mark.parametrize("kind", [EncoderDecoder, DecoderOnly])
def test_decoding_with_the_cache_is_the_whole_pass(bare_page, kind):
    """Position by position, every tensor of the step is the last row of the whole pass; also with edits."""
    draw, generator = random.Random(7), torch.Generator().manual_seed(8)
    edits = [
        {},
        {"heads": {"decoder.blocks.0.self_attention": [1, 4]}, "norms": {"decoder.blocks.0.feed_forward_norm": False}},
        {"positions": False, "residuals": {"decoder.blocks.0.self_attention": False}},
        {"masks": {"decoder.blocks.0.self_attention": "open"}},
        {"masks": {"decoder.blocks.0.self_attention": [[True, True], [False, True], [True, False, True]]}},
        {"replace": [{"side": "target", "position": 2, "id": 5}]},
        {"patches": PATCHES},
        {"patches": PATCHES, "masks": {"decoder.blocks.0.self_attention": "open"}},
    ]
    for number, edit in zip(range(24), edits * 3, strict=True):
        model = randomise(kind(drawn_config(draw, kind)), seed=number, std=0.3).eval()
        case = random_case(model, generator)
        gap = MachinePage(bare_page, model).page.evaluate(STEPPED, [case.source, case.target, edit])
        assert gap < 1e-5, (number, edit, model.config)


PATCHES = [{"side": "decoder", "position": at, "block": 0, "id": 5} for at in (0, 2)]
STEPPED = """([source, target, given]) => {
  const edits = machine.forRun({ edits: { positions: true, replace: [], patches: [], ...given } });
  const gap = (one, other) => Math.max(...one.map((number, i) => Math.abs(number - other[i])));
  // The rows of the last `count` positions of a tensor (T, X) or (H, T, X), as one list.
  const rows = ({ shape, data }, count) => {
    const [T, X] = shape.slice(-2), heads = Array.from({ length: data.length / (T * X) }, (_, h) => h);
    return heads.flatMap((h) => [...data.slice((h * T + T - count) * X, (h * T + T) * X)]);
  };
  const state = machine.start(model, { source }, edits);
  let worst = 0;
  target.forEach((id, t) => {
    const seen = machine.step(state, id), whole = machine.run(model, { source, target: target.slice(0, t + 1) }, edits);
    const known = /^encoder|cross_attention.(key_norm.*|keys|values)$/;  // computed once
    for (const name of whole.keys()) if (!seen.has(name) && !known.test(name)) worst = Infinity;
    for (const [name, tensor] of seen)
      worst = Math.max(worst, gap(rows(tensor, tensor.shape.at(-2)), rows(whole.get(name), tensor.shape.at(-2))));
  });
  return worst;
}"""


@pytest.mark.parametrize("context", [64, 256])
def test_the_shipped_writers_write_what_they_write_in_python(bare_page, context):
    writer = story_writer(context)
    prompt = writer.tokenizer.encode("Once upon a time")
    expected = generate(writer.model, prompt, max_new_tokens=context - len(prompt))[0].tolist()
    arguments = [prompt, context - len(prompt)]
    written = MachinePage(bare_page, writer).page.evaluate(
        "([prompt, most]) => machine.greedy(model, { prompt }, most)", arguments
    )
    assert written == expected[: len(written)] and len(written) == len(expected)


def test_too_many_ids_and_unknown_ones_are_refused(bare_page):
    page = MachinePage(bare_page, story_writer(64)).page
    said = (
        """(target) => { try { machine.run(model, { target }); return ""; } catch (error) { return error.message; } }"""
    )
    assert page.evaluate(said, [3] * 65) == "65 ids, expected 1 to 64"
    assert page.evaluate(said, []) == "0 ids, expected 1 to 64"
    assert page.evaluate(said, [3, 53]) == "id 53, but the vocabulary has 53"
    assert page.evaluate(said, [3] * 64) == ""


# --------------------------------------------------------------------------------------------------- text and numbers


def test_text_becomes_the_ids_of_python_and_back(bare_page, translator, numbers):
    texts = [pair.source for pair in islice(numbers, 0, None, 10)] + [" four\thundred\n twenty-one ", "one"]
    page = MachinePage(bare_page, translator).page
    ids = page.evaluate("(texts) => texts.map((text) => machine.encode(model.source, text))", texts)
    tokenizer = translator.data.source_tokenizer
    assert ids == [{"ids": tokenizer.encode(text), "error": ""} for text in texts]
    back = page.evaluate("(rows) => rows.map((ids) => machine.decode(model.source, ids))", [one["ids"] for one in ids])
    assert back == [tokenizer.decode(tokenizer.encode(text)) for text in texts]
    assert page.evaluate("machine.decode(model.target, [0, 1, 3, 2])") == "acht"


def test_characters_become_the_ids_of_python(bare_page):
    writer = story_writer(64)
    page = MachinePage(bare_page, writer).page
    read = page.evaluate("(text) => machine.encode(model.target, text)", STORY[:60])
    assert read == {"ids": writer.tokenizer.encode(STORY[:60]), "error": ""}
    assert page.evaluate("machine.decode(model.target, [20, 3, 4])") == writer.tokenizer.decode([20, 3, 4])


@pytest.mark.parametrize(
    ("text", "error"),
    [
        ("four hundert", "The model does not know the word “hundert”."),
        ("<eos>", "The model does not know the word “<eos>”."),
        ("<script>alert(1)</script>", "The model does not know the word “<script>alert(1)</sc…”."),
        ("\u202eone", "The model does not know the word “\u202eone”."),
        ("x" * 10_000, f"The model does not know the word “{'x' * 20}…”."),
        ("one " * 10_000, "10000 words, but at most 64 fit."),
        (" -\n", "Write at least one word."),
    ],
)
def test_a_text_that_cannot_be_read_is_explained(bare_page, translator, text, error):
    page = MachinePage(bare_page, translator).page
    assert page.evaluate("(text) => machine.encode(model.source, text)", text) == {"ids": [], "error": error}


def test_every_float16_is_read_as_numpy_reads_it(bare_page, translator):
    page = MachinePage(bare_page, translator).page
    got = page.evaluate(
        """() => {
             const bits = Uint16Array.from({ length: 65536 }, (_, i) => i);
             const spec = { dtype: "float16", tensors: { all: { shape: [65536], offset: 0 } } };
             return [...machine.load(spec, bits).tensors("all").data].map(String);
           }"""
    )
    expected = np.arange(65536, dtype=np.uint16).view(np.float16)
    np.testing.assert_array_equal(np.array(got, dtype=float), expected.astype(float))


@pytest.mark.parametrize("positions", [PositionConfig("t5"), PositionConfig("t5", buckets=8, max_distance=50)])
def test_far_distances_fall_into_the_buckets_of_pytorch(bare_page, positions):
    sizes = dict(d_model=6, n_layers=1, attention=AttentionConfig(2), feed_forward=FeedForwardConfig(5))
    model = randomise(EncoderDecoder(TransformerConfig(11, positions=positions, **sizes))).eval()
    ids = torch.randint(11, (2, 300), generator=torch.Generator().manual_seed(0)).tolist()
    gaps = MachinePage(bare_page, model).compare([Case(*ids)], captured(model, "*.scores", "*.output"))
    assert largest(gaps)[0] < CLOSE, largest(gaps)


def test_probabilities_at_a_temperature_are_pytorch_s(bare_page, translator):
    page = MachinePage(bare_page, translator).page
    logits = 5 * torch.randn(35, generator=torch.Generator().manual_seed(0))
    got = page.evaluate(
        "(row) => [0, 0.3, 1, 4].map((t) => [...machine.probabilities(Float32Array.from(row), t)])", logits.tolist()
    )
    expected = [
        torch.nn.functional.one_hot(logits.argmax(), 35).float(),
        *((logits / t).softmax(-1) for t in (0.3, 1, 4)),
    ]
    torch.testing.assert_close(torch.tensor(got), torch.stack(expected), rtol=1e-5, atol=1e-6)
