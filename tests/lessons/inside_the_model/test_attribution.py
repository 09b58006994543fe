"""Which source word decides a target word: the known answers, and the methods on models whose answer is clear."""

import pytest
import torch

from tx_helpers.lessons.inside_the_model import attribution
from tx_helpers.lessons.inside_the_model.attribution import (
    INPUT,
    KINDS,
    METHODS,
    Sentences,
    another,
    known_sentences,
    source_positions,
)
from tx_helpers.nn.capture import capture
from tx_helpers.text.data import PAD
from tx_helpers.text.number_words import english, german, number_pairs
from tx_helpers.zoo.recipes import Translator, train_translator

NUMBERS = [(n, english(n), german(n)) for n in (421, 17, 90_012, 300_045, 6)]


@pytest.fixture(scope="module")
def untrained() -> Translator:
    return train_translator(number_pairs(train=150, held_out=10).train, steps=1, progress=False)


@pytest.fixture(scope="module")
def known(untrained):
    return known_sentences(untrained, NUMBERS)


# -------------------------------------------------------------------------------------------------- the right answers
@pytest.mark.parametrize("number", [0, 1, 13, 20, 21, 100, 101, 421, 999, 1_000, 21_021, 654_321, 900_011, 999_999])
def test_every_word_but_und_has_its_source(number):
    source, target = english(number).replace("-", " ").split(), german(number).split()
    found = source_positions(source, target)
    assert [word for word, at in zip(target, found, strict=True) if at < 0] == ["und"] * target.count("und")
    assert sorted(at for at in found if at >= 0) == list(range(len(source)))
    if number == 421:
        assert found == [0, 1, 3, -1, 2]


def test_another_number_is_refused():
    with pytest.raises(ValueError, match="source_positions: 'ein und dreißig' is not 'twenty one', word by word"):
        source_positions(["twenty", "one"], ["ein", "und", "dreißig"])


def test_another_word_is_of_the_same_kind():
    for kind in KINDS:
        for word in kind:
            others = {another(word, turn) for turn in range(30)}
            assert others == set(kind) - {word}
    assert another("zero", 3) == "zero"


def test_the_batch_holds_the_answers_and_the_exchanged_words(untrained, known):
    assert known.source[0, :6].tolist() == [0, 1, 3, -1, 2, -1]
    tokens = untrained.data.source_tokenizer.tokens
    real = known.batch.source != PAD
    assert torch.equal(known.other != PAD, real)
    for row, words in enumerate(known.batch.source.tolist()):
        for at, word in enumerate(words):
            if word != PAD:
                assert tokens[known.other[row, at]] == another(tokens[word], row)


# ------------------------------------------------------------------------------------------------------- the measures
def test_planted_scores_are_right_and_others_wrong(known):
    planted = torch.nn.functional.one_hot(known.source.clamp(min=0), known.batch.source.shape[1]).double()
    assert known.right(planted) == known.share(planted) == 1
    assert known.right(-planted) < 0.2 and known.share(-planted) == 0
    assert known.share(planted + (known.batch.source != PAD)[:, None]) < 0.7
    padded = planted + 5.0 * (known.batch.source == PAD)[:, None]
    assert known.right(padded) == known.share(padded) == 1  # what padding gets does not count
    words = [(row != PAD).sum().item() for row in known.batch.source]
    counted = [1 / words[row] for row in range(len(words)) for _ in range(words[row])]
    assert known.chance == pytest.approx(sum(counted) / len(counted))


def test_the_ten_and_und_are_read_apart(known):
    shape = (*known.batch.target.shape, known.batch.source.shape[1])
    weights, effects = torch.zeros(shape), torch.zeros(shape)
    weights[0, 3, 2], weights[0, 3, 3], weights[0, 4, 2] = 0.5, 0.25, 1.0  # 421: "und", then "zwanzig"
    weights[3, 4, 3], weights[3, 5, 3] = 0.25, 0.5  # 300,045: "drei hundert tausend fünf und vierzig"
    effects[0, 3, 2], effects[0, 4, 3], effects[0, 4, 2] = 1.0, 2.0, 8.0
    assert known.joint(weights, effects) == {"ten": (0.75, 4.0), "und": (0.5, 0.5)}


# -------------------------------------------------------------------------------------------------------- the methods
def log_p(model, batch, edit):
    with capture(model, INPUT, edit=edit), torch.no_grad():
        logits = model(batch.source, batch.decoder_input)
    return logits.log_softmax(-1).gather(-1, batch.target[..., None])[..., 0]


def test_all_methods_give_a_score_for_each_pair_of_words(untrained, known):
    shape = (*known.batch.target.shape, known.batch.source.shape[1])
    for method in METHODS.values():
        scores = method(untrained.model, known)
        assert scores.shape == shape and torch.isfinite(scores).all()


def test_integrated_gradients_add_up_to_the_difference(untrained, known, monkeypatch):
    monkeypatch.setattr(attribution, "IG_STEPS", 60)
    way = attribution._difference(untrained.model, known)
    clean = log_p(untrained.model, known.batch, {INPUT: lambda x: x})
    baseline = log_p(untrained.model, known.batch, {INPUT: lambda x: x - way})
    total = METHODS["integrated gradients"](untrained.model, known).sum(-1)
    torch.testing.assert_close(total, clean - baseline, atol=3e-3, rtol=1e-2)


def test_the_gradient_is_the_slope(untrained, known):
    model, way = untrained.model.double(), 1e-5
    with capture(model, INPUT) as seen, torch.no_grad():
        model(known.batch.source, known.batch.decoder_input)
    direction = torch.randn(seen[INPUT].shape[-1], dtype=torch.double, generator=torch.Generator().manual_seed(0))

    def moved(sign):
        step = torch.zeros_like(seen[INPUT])
        step[:, 1] = sign * way * direction
        return log_p(model, known.batch, {INPUT: lambda x: x + step})

    gradients = attribution._gradients(model, known, lambda x: x)
    slope = (moved(1) - moved(-1)) / (2 * way)
    torch.testing.assert_close(gradients[:, :, 1] @ direction, slope, atol=1e-7, rtol=1e-5)
    untrained.model.float()


def test_what_is_left_out_has_the_mean_embedding(untrained, known):
    model = untrained.model
    way = attribution._difference(model, known)
    table = model.encoder.input.tokens.weight.detach() * model.encoder.input.factor
    torch.testing.assert_close(way[0, 2] + table[3:].mean(0), table[known.batch.source[0, 2]])
    place = torch.zeros(way.shape[1], 1)
    place[2] = 1
    lost = log_p(model, known.batch, None) - log_p(model, known.batch, {INPUT: lambda x: x - way * place})
    torch.testing.assert_close(METHODS["leave one out"](model, known)[..., 2], lost)


def test_patching_by_a_run_on_the_other_word(untrained, known):
    model, last = untrained.model, "encoder.blocks.1.hidden"
    ids = known.batch.source.clone()
    ids[:, 1] = known.other[:, 1]
    with capture(model, last) as seen, torch.no_grad():
        model(ids, known.batch.decoder_input)

    def put(x):
        return torch.cat([x[:, :1], seen[last][:, 1:2], x[:, 2:]], 1)

    lost = log_p(model, known.batch, None) - log_p(model, known.batch, {last: put})
    torch.testing.assert_close(METHODS["patching"](model, known)[..., 1], lost)


def test_rollout_of_attention_that_stays_at_its_word(untrained, known):
    """With an encoder that looks at itself alone, the rollout is that of the decoder."""
    model = untrained.model
    found = METHODS["attention rollout"](model, known)
    S = known.batch.source.shape[1]
    with capture(model, "*.weights", edit={"encoder.*.weights": lambda w: torch.eye(S).expand_as(w)}) as seen:
        model(known.batch.source, known.batch.decoder_input)
    assert (found >= 0).all() and (found.sum(-1) < 1).all()
    cross = [seen[name].detach().mean(1) for name in seen.names("*.cross_attention.weights")]
    own = [seen[name].detach().mean(1) for name in seen.names("decoder.*.self_attention.weights")]
    held = 0.5 * cross[0]
    held = 0.5 * (own[1] @ held + held)
    expected = 0.5 * (cross[1] + held)
    with pytest.MonkeyPatch.context() as patch:
        patch.setattr(
            attribution,
            "capture",
            lambda *a, **k: capture(*a, edit={"encoder.*.weights": lambda w: torch.eye(S).expand_as(w)}),
        )
        torch.testing.assert_close(METHODS["attention rollout"](model, known), expected)


def test_the_sentences_are_a_batch(known):
    assert isinstance(known, Sentences) and known.batch.source.shape == known.other.shape
