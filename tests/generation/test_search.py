import itertools
import math

import pytest
import torch
from torch import nn

from parity import D, S, V
from tx_helpers.generation.search import BeamStep, Hypothesis, beam_search, generate, ranked, stream
from tx_helpers.nn.config import AttentionConfig, EmbeddingConfig, PositionConfig, TransformerConfig
from tx_helpers.nn.models import DecoderOnly, EncoderDecoder

PAD, BOS, END = 0, 1, 2
SCHEMES = {
    "sinusoidal": PositionConfig("sinusoidal"),
    "learned": PositionConfig("learned"),
    "rotary half": PositionConfig("rotary"),
    "rotary interleaved": PositionConfig("rotary", layout="interleaved"),
    "t5": PositionConfig("t5", buckets=4, max_distance=8),
    "alibi": PositionConfig("alibi"),
    "none": PositionConfig("none"),
}
GREEDY = {}
SAMPLED = {"temperature": 1.3, "top_k": 7, "top_p": 0.9, "min_p": 0.02}


# ---- a model of a few lines, to test the loops without the Transformer


class Echo(nn.Module):
    """Logits from a decaying sum of the embeddings so far; padding adds nothing."""

    def __init__(self, vocab_size=V):
        super().__init__()
        generator = torch.Generator().manual_seed(29)  # a lively one: rows end early, late and never
        self.table, self.output = (
            nn.Parameter(torch.randn(vocab_size, vocab_size, generator=generator, dtype=torch.float64)) for _ in "ab"
        )
        self.dropout = nn.Dropout(0.5)
        self.fed = []

    def start(self, batch, *, cached=True):
        return EchoState(self, torch.zeros(batch, self.table.shape[0], dtype=torch.float64))


class EchoState:
    def __init__(self, model, memory):
        self.model, self.memory = model, memory

    def step(self, ids):
        self.model.fed.append(tuple(ids.shape))
        logits = []
        for new in ids.T:
            real = (new != PAD)[:, None]
            self.memory = torch.where(real, 0.7 * self.memory + self.model.table[new], self.memory)
            logits.append(self.model.dropout(self.memory @ self.model.output).index_fill(1, torch.tensor(PAD), -30.0))
        return torch.stack(logits, dim=1)

    def select(self, rows):
        self.memory = self.memory[rows]


def log_probability(model, prompt, ids):
    """ln P(ids | prompt) of one sequence, by feeding all of it."""
    with torch.no_grad():
        log_p = model.eval().start(1).step(torch.tensor([prompt + ids])).log_softmax(-1)[0]
    return sum(log_p[len(prompt) - 1 + i, new].item() for i, new in enumerate(ids))


# ---- greedy and sampled


def test_greedy_takes_the_likeliest_token_each_time():
    model = Echo()
    expected = [5, 3]
    for _ in range(6):
        logits = model.eval().start(1).step(torch.tensor([expected]))[0, -1]
        expected.append(logits.argmax().item())
    ids = generate(model, [5, 3], max_new_tokens=6)
    assert torch.equal(ids, torch.tensor([expected[2:]]))
    assert ids.dtype == torch.int64


def test_the_prompt_is_fed_once_and_then_each_new_id():
    model = Echo()
    generate(model, [[5, 3, 4], [6, 7, 8]], max_new_tokens=4)
    assert model.fed == [(2, 3), (2, 1), (2, 1), (2, 1)]


def test_prompts_may_be_an_id_a_row_rows_or_a_tensor():
    model = Echo()
    one = generate(model, [5], max_new_tokens=4)
    for prompt in (5, (5,), [[5]], torch.tensor([5]), torch.tensor([[5]]), [torch.tensor([5])]):
        assert torch.equal(generate(model, prompt, max_new_tokens=4), one)


def rows_until_the_end(model, prompt, **options) -> list[list[int]]:
    return [row[: row.index(END) + 1] if END in row else row for row in generate(model, prompt, **options).tolist()]


def test_rows_that_have_ended_give_padding_and_the_loop_stops_with_the_last():
    model = Echo()
    prompts = [[i] for i in range(3, V)]
    free = generate(model, prompts, max_new_tokens=30).tolist()
    assert any(END in row for row in free) and {row.index(END) for row in free if END in row} != {0}
    ending = [prompt for prompt, row in zip(prompts, free, strict=True) if END in row]
    ids = generate(model, ending, max_new_tokens=30, end_id=END, pad_id=PAD).tolist()
    cut = [row[: row.index(END) + 1] for row in free if END in row]
    longest = max(map(len, cut))
    assert ids == [row + [PAD] * (longest - len(row)) for row in cut]
    assert len({len(row) for row in cut}) > 1
    filled = generate(model, ending, max_new_tokens=30, end_id=END).tolist()
    assert filled == [row + [END] * (longest - len(row)) for row in cut]


def test_sampling_follows_the_generator_given_or_torchs():
    model = Echo()
    options = {"max_new_tokens": 12, "temperature": 3.0}

    def draw(seed):
        return generate(model, [3, 4], generator=torch.Generator().manual_seed(seed), **options)

    state = torch.get_rng_state()
    assert torch.equal(draw(1), draw(1))
    assert not torch.equal(draw(1), draw(2))
    assert torch.equal(torch.get_rng_state(), state)
    torch.manual_seed(1)
    assert torch.equal(generate(model, [3, 4], **options), draw(1))
    assert torch.equal(
        generate(model, [3], temperature=3.0, top_k=1, max_new_tokens=9), generate(model, [3], max_new_tokens=9)
    )


def test_repetition_counts_all_ids_of_the_row_so_far():
    model, penalty = Echo().eval(), 3.0
    expected = [5, 3]
    for _ in range(8):
        logits = model.start(1).step(torch.tensor([expected]))[0, -1]
        for i in set(expected):
            logits[i] = logits[i] / penalty if logits[i] > 0 else logits[i] * penalty
        expected.append(logits.argmax().item())
    written = generate(model, [5, 3], max_new_tokens=8, repetition=penalty)[0].tolist()
    assert written == expected[2:]
    plain = generate(model, [5, 3], max_new_tokens=8)[0].tolist()
    assert written != plain
    assert generate(model, [5, 3], max_new_tokens=8, repetition=1.0)[0].tolist() == plain


def test_stream_gives_what_generate_gives_and_leaves_the_model_alone_between_the_steps():
    model = Echo().train()
    expected = generate(model, [3, 4], max_new_tokens=5)
    assert model.training and torch.is_grad_enabled()
    steps = stream(model, [3, 4], max_new_tokens=5)
    assert model.fed.count((1, 2)) == 1, "nothing is computed before the first id is asked for"
    for n, new in enumerate(steps):
        assert torch.equal(new, expected[:, n])
        assert model.training and model.dropout.training and torch.is_grad_enabled()
    assert n == 4


def test_generated_ids_may_be_trained_on():
    ids = generate(Echo(), [3], max_new_tokens=4)
    nn.Embedding(V, D)(ids).sum().backward()


# ---- beam search


@pytest.mark.parametrize("alpha", [0.0, 0.6, 1.5])
def test_one_beam_is_greedy(alpha):
    model = Echo()
    prompts = [[i, 5] for i in range(3, V)]
    found = beam_search(model, prompts, beams=1, length_penalty=alpha, max_new_tokens=8, end_id=END)
    greedy = rows_until_the_end(model, prompts, max_new_tokens=8, end_id=END)
    assert [[h.ids for h in row] for row in found] == [[row] for row in greedy]
    assert any(len(row) < 8 for row in greedy) and any(len(row) == 8 for row in greedy)


@pytest.mark.parametrize("alpha", [0.0, 0.6, 1.5])
def test_enough_beams_are_an_exhaustive_search(alpha):
    model, prompt, longest = Echo(vocab_size=4), [3, 1], 3
    everything = []
    for length in range(1, longest + 1):
        for ids in itertools.product(range(4), repeat=length):
            if END not in ids[:-1] and (ids[-1] == END or length == longest):
                p = log_probability(model, prompt, list(ids))
                everything.append(Hypothesis(list(ids), p, p / ((5 + length) / 6) ** alpha))
    everything.sort(key=lambda h: -h.score)
    assert len(everything) == 1 + 3 + 9 * 4
    (found,) = beam_search(
        model, prompt, beams=len(everything), length_penalty=alpha, max_new_tokens=longest, end_id=END
    )
    assert [h.ids for h in found] == [h.ids for h in everything]
    assert [h[1:] for h in found] == [pytest.approx(h[1:]) for h in everything]
    assert sum(math.exp(h.log_probability) for h in found) == pytest.approx(1.0)


def test_the_length_penalty_changes_the_order_as_equation_14_says():
    model = Echo()
    orders = set()
    for alpha in (0.0, 3.0):
        (found,) = beam_search(model, [4, 3], beams=9, length_penalty=alpha, max_new_tokens=7, end_id=END)
        assert len({len(h.ids) for h in found}) > 1
        for h in found:
            assert h.log_probability == pytest.approx(log_probability(model, [4, 3], h.ids))
            assert h.score == pytest.approx(h.log_probability / ((5 + len(h.ids)) ** alpha / (5 + 1) ** alpha))
        assert [h.score for h in found] == sorted((h.score for h in found), reverse=True)
        orders.add(tuple(tuple(h.ids) for h in found))
    assert len(orders) == 2


def test_more_beams_find_likelier_sequences():
    """Wider is not always better, but here, summed over many prompts, it is; and no hypothesis comes twice."""
    model = Echo()
    prompts = [[i, j] for i in range(3, V) for j in range(3, V)]
    best = []
    for beams in (1, 5):
        found = beam_search(model, prompts, beams=beams, length_penalty=0.0, max_new_tokens=6, end_id=END)
        assert all(len({tuple(h.ids) for h in row}) == beams == len(row) for row in found)
        best.append(sum(row[0].log_probability for row in found))
    assert best[1] > best[0] + 1


def test_beams_of_a_batch_do_not_meet():
    model = Echo()
    prompts = [[5], [3, 9, 4], [7, 8]]
    options = {"beams": 3, "max_new_tokens": 6, "end_id": END, "pad_id": PAD}
    together = beam_search(model, prompts, **options)
    for prompt, found in zip(prompts, together, strict=True):
        assert_same_hypotheses(found, beam_search(model, prompt, **options)[0])


def assert_same_hypotheses(found, expected) -> None:
    assert [h.ids for h in found] == [h.ids for h in expected]
    assert [h[1:] for h in found] == [pytest.approx(h[1:], rel=1e-6) for h in expected]


@pytest.mark.parametrize("beams", [1, 2, 3, 5])
def test_what_a_watched_search_reports_is_what_it_does(beams):
    """From the reported steps alone the same hypotheses follow, and nobody's number is touched by watching."""
    model, prompts, longest = Echo(), [[5, 9], [3, 4], [7, 8]], 6
    steps: list[BeamStep] = []
    options = {"beams": beams, "length_penalty": 0.6, "max_new_tokens": longest, "end_id": END}
    found = beam_search(model, prompts, watch=steps.append, **options)
    assert found == beam_search(model, prompts, **options)
    for row, prompt in enumerate(prompts):
        levels = [step.candidates(row) for step in steps]
        done = []
        for number, level in enumerate(levels, 1):
            for one in level:
                assert one.log_probability == pytest.approx(log_probability(model, prompt, list(one.ids)))
            assert [one.log_probability for one in level] == sorted((one[1] for one in level), reverse=True)
            selected = [one for one in level if one.selected]
            assert len(level) == len(selected) + 2 * (len(selected) > 0)
            done += [one for one in selected if one.ids[-1] == END or number == longest]
        hypotheses = [Hypothesis(list(one.ids), one.log_probability, 0.0) for one in done]
        assert ranked(hypotheses, 0.6) == found[row]


def test_ranking_anew_is_searching_with_another_length_penalty():
    model, options = Echo(), {"beams": 4, "max_new_tokens": 7, "end_id": END}
    (plain,) = beam_search(model, [4, 3], length_penalty=0.0, **options)
    (other,) = beam_search(model, [4, 3], length_penalty=2.0, **options)
    assert ranked(plain, 2.0) == other != plain


# ---- the real models


def decoder(scheme: str) -> DecoderOnly:
    return _real(DecoderOnly, scheme)


def encoder_decoder(scheme: str) -> EncoderDecoder:
    return _real(EncoderDecoder, scheme)


def _real(kind, scheme):
    config = TransformerConfig(
        V,
        D,
        2,
        context_length=16,
        pad_id=PAD,
        dropout=0.1,
        attention=AttentionConfig(3),
        positions=SCHEMES[scheme],
        embedding=EmbeddingConfig(tied=False, scale=False),
    )
    model, generator = kind(config).double(), torch.Generator().manual_seed(180)  # a lively one, too
    with torch.no_grad():
        for parameter in model.parameters():
            draw = torch.randn(parameter.shape, generator=generator, dtype=torch.float64)
            parameter.copy_(0.9 * draw if parameter.ndim == 2 else (parameter.mean() > 0.5) + 0.2 * draw)
    return model


PROMPTS = [[5], [3, 9, 4, 6], [7, 8]]
SOURCES = [[5, 3, 9], [4, 6, 7, 8, 3, 10, 9], [4]]


def padded(rows: list[list[int]]) -> torch.Tensor:
    return torch.tensor([row + [PAD] * (S - len(row)) for row in rows])


@pytest.mark.parametrize("scheme", SCHEMES)
@pytest.mark.parametrize("method", ["greedy", "sampled", "beams"])
def test_cached_is_uncached_and_a_batch_is_one_by_one(scheme, method):
    def write(model, prompt, source, cached):
        options = {"source": source, "max_new_tokens": 9, "end_id": END, "pad_id": PAD, "cached": cached}
        if method == "beams":
            return beam_search(model, prompt, beams=3, **options)
        settings = SAMPLED | {"generator": torch.Generator().manual_seed(3)} if method == "sampled" else GREEDY
        return generate(model, prompt, **settings, **options)

    for model, prompts, sources in (
        (decoder(scheme), PROMPTS, None),
        (encoder_decoder(scheme), [[5, 3], [4, 6], [7, 8]], padded(SOURCES)),
        (encoder_decoder(scheme), BOS, padded(SOURCES)),
    ):
        together = write(model, prompts, sources, cached=True)
        uncached = write(model, prompts, sources, cached=False)
        if method == "beams":
            for found, again in zip(together, uncached, strict=True):
                assert_same_hypotheses(found, again)
        else:
            assert torch.equal(together, uncached)
            assert len({tuple(row) for row in together.tolist()}) == 3, "rows alike would prove nothing"
        if method == "sampled":
            continue  # a batch draws other numbers than its rows alone
        for i in range(3):
            prompt = prompts if prompts == BOS else prompts[i]
            alone = write(model, prompt, None if sources is None else torch.tensor([SOURCES[i]]), cached=True)
            if method == "beams":
                assert_same_hypotheses(together[i], alone[0])
            else:
                row, own = together[i].tolist(), alone[0].tolist()
                assert row == own + [PAD] * (len(row) - len(own))


@pytest.mark.parametrize("wrap", [nn.DataParallel, lambda model: torch.compile(model, backend="eager")])
def test_a_wrapped_model_writes_what_the_model_writes(wrap):
    decoder = DecoderOnly(TransformerConfig(V, D, attention=AttentionConfig(3))).eval()
    expected = generate(decoder, [1, 2], max_new_tokens=3)
    assert torch.equal(generate(wrap(decoder), [1, 2], max_new_tokens=3), expected)


def test_the_source_is_encoded_once():
    model, calls = encoder_decoder("rotary half"), []
    model.encoder.register_forward_hook(lambda *_: calls.append(1))
    generate(model, BOS, source=padded(SOURCES), max_new_tokens=5)
    assert len(calls) == 1
    beam_search(model, BOS, source=padded(SOURCES), max_new_tokens=5, end_id=END)
    assert len(calls) == 2


@pytest.mark.parametrize("training", [True, False])
def test_dropout_is_off_and_the_mode_restored(training):
    model = decoder("rotary half").train(training)
    expected = generate(model.eval(), PROMPTS, max_new_tokens=6, pad_id=PAD)
    model.train(training)
    assert torch.equal(generate(model, PROMPTS, max_new_tokens=6, pad_id=PAD), expected)
    beam_search(model, 3, max_new_tokens=3, end_id=END)
    assert {module.training for module in model.modules()} == {training}


@pytest.mark.parametrize("dtype", [torch.float32, torch.bfloat16])
def test_every_precision_writes(dtype):
    model = decoder("rotary half").to(dtype)
    assert generate(model, PROMPTS, max_new_tokens=3, pad_id=PAD, **SAMPLED).shape == (3, 3)
    (found,) = beam_search(model, 3, max_new_tokens=3, end_id=END)
    assert len(found) == 4


@pytest.mark.skipif(not torch.cuda.is_available(), reason="no CUDA")
@pytest.mark.parametrize("scheme", SCHEMES)
def test_generation_on_cuda_is_that_on_the_cpu(scheme):
    on_cpu, on_cuda = encoder_decoder(scheme), encoder_decoder(scheme).cuda()
    options = {"source": padded(SOURCES), "max_new_tokens": 9, "end_id": END, "pad_id": PAD}
    ids = generate(on_cuda, BOS, **options)
    assert ids.device.type == "cuda"
    assert torch.equal(ids.cpu(), generate(on_cpu, BOS, **options))
    for found, expected in zip(beam_search(on_cuda, BOS, **options), beam_search(on_cpu, BOS, **options), strict=True):
        assert_same_hypotheses(found, expected)


# ---- bad input


@pytest.mark.parametrize("write", [generate, stream, beam_search])
@pytest.mark.parametrize(
    ("prompt", "options", "message"),
    [
        (3, {"max_new_tokens": 0}, "generation: max_new_tokens=0, expected at least 1"),
        ([], {}, "generation: prompts of lengths [0], expected at least one id in each"),
        ([[3], []], {}, "generation: prompts of lengths [1, 0], expected at least one id in each"),
        (
            torch.empty(2, 0).long(),
            {},
            "generation: prompt of shape (2, 0), expected at least one id in each row",
        ),
        (torch.ones(2, 3), {}, "generation: prompt is a tensor of torch.float32, expected int (B, T)"),
        (
            [[3], [4, 5]],
            {},
            "generation: prompts of lengths [1, 2] need padding: pad_id=None, but DecoderOnly knows 0; "
            "expected the same id",
        ),
        (
            [[3], [4, 5]],
            {"pad_id": 7},
            "generation: prompts of lengths [1, 2] need padding: pad_id=7, but DecoderOnly knows 0; "
            "expected the same id",
        ),
        (3, {"source": torch.tensor([[3]])}, "generation: a source is given, but DecoderOnly.start takes none"),
        (3, {"end_id": V}, "generation: the special id 11 is outside the vocabulary, expected 0 to 10"),
        (3, {"pad_id": -1}, "generation: the special id -1 is outside the vocabulary, expected 0 to 10"),
        ([[V]], {}, "model: ids 11 … 11, but the vocabulary has 11"),
        ([3] * 17, {}, "model: a sequence of 17 ids, but context_length is 16"),
        ([3] * 10, {"max_new_tokens": 30, "end_id": 9}, "model: a sequence of 17 ids, but context_length is 16"),
    ],
)
def test_generation_refuses(write, prompt, options, message):
    options = {"max_new_tokens": 2, "end_id": END} | options
    with pytest.raises(ValueError) as error:
        list(write(decoder("alibi"), prompt, **options))
    assert str(error.value) == message


@pytest.mark.parametrize(
    ("prompt", "source", "message"),
    [
        (BOS, None, "generation: source=None, but EncoderDecoder.start needs a source (B, S)"),
        (BOS, torch.tensor([3, 4]), "generation: source of shape (2,), expected int (B, S)"),
        (
            [[3], [4, 5]],
            torch.tensor([[3, 4, 5]] * 2),
            "generation: prompts of lengths [1, 2], but EncoderDecoder takes its target as it comes; "
            "expected one length",
        ),
        ([[3], [4]], torch.tensor([[3, 4, 5]] * 3), "generation: 2 prompts for 3 rows of the source, expected 1 or 3"),
    ],
)
def test_an_encoder_decoder_refuses(prompt, source, message):
    with pytest.raises(ValueError) as error:
        generate(encoder_decoder("none"), prompt, source=source, max_new_tokens=2)
    assert str(error.value) == message


def test_settings_are_checked_at_the_call_not_at_the_first_token():
    with pytest.raises(ValueError, match=r"^filter_logits: top_p=1\.5, expected more than 0 and at most 1$"):
        stream(Echo(), 3, max_new_tokens=2, temperature=1.0, top_p=1.5)
    with pytest.raises(ValueError, match=r"^sampler: temperature=-1, expected at least 0$"):
        stream(Echo(), 3, max_new_tokens=2, temperature=-1)
    with pytest.raises(ValueError, match=r"^generation: repetition=0, expected more than 0$"):
        stream(Echo(), 3, max_new_tokens=2, repetition=0)
    with pytest.raises(ValueError, match=r"^beam_search: beams=0, expected at least 1$"):
        beam_search(Echo(), 3, beams=0, max_new_tokens=2, end_id=END)
