"""Induction heads: the task, the scores, the interventions, what was recorded, and the explorer."""

import pytest
import torch

from tx_helpers.lessons.inside_the_model import induction, induction_runs, induction_views
from tx_helpers.lessons.inside_the_model.exercises_induction import induction_score
from tx_helpers.lessons.inside_the_model.induction import (
    CONTEXT,
    WORD,
    Copying,
    Rows,
    ids_of,
    learn_copying,
    look_back,
    looking_back,
    new_copier,
    recall,
    run_with,
    scores,
    unseen_rows,
    without,
)
from tx_helpers.lessons.inside_the_model.induction_runs import VARIANTS, at_seeds
from tx_helpers.nn.models import count_parameters


@pytest.fixture(scope="module")
def untrained():
    models = {step: new_copier(seed=step).eval() for step in (0, 20)}
    return Copying(models[20], models, {name: [0.1, 0.6] for name in ("recall", *scores(models[0], count=2))})


class Periodic(torch.nn.Module):
    """Says what stood `length` − `ahead` positions before: right in a repeat for ahead = 1."""

    def __init__(self, length, ahead=1):
        super().__init__()
        self.back = length - ahead

    def forward(self, ids):
        return torch.nn.functional.one_hot(ids.roll(self.back, dims=1), 26).float()


# ------------------------------------------------------------------------------------------------------------ the task


def test_a_row_is_a_block_again_and_again():
    ids, lengths = induction.rows(200, 3)
    assert ids.shape == (200, CONTEXT + 1)
    assert sorted(set(lengths.flatten().tolist())) == list(range(8, 17))
    for row, length in zip(ids.tolist(), lengths.flatten().tolist(), strict=True):
        assert row[length:] == row[:-length]
    assert torch.equal(ids, induction.rows(200, 3).ids)
    assert not torch.equal(ids, induction.rows(200, 4).ids)
    assert not torch.equal(ids, induction.rows(200, 3, seed=1).ids)


def test_in_unseen_rows_no_letter_stands_twice_in_a_block():
    for ids, length in ((row, int(n)) for row, n in zip(*unseen_rows(50), strict=True)):
        assert len(set(ids[:length].tolist())) == length
    assert unseen_rows(5, length=20).lengths.flatten().tolist() == [20] * 5


def test_rivals_have_as_many_parameters():
    two = count_parameters(new_copier())
    assert two == 39_040
    for name in ("one layer, wider", "one layer, feed-forward"):
        how = {key: value for key, value in VARIANTS[name].items() if key != "steps"}
        assert count_parameters(new_copier(**how)) == pytest.approx(two, rel=0.005), name


def test_without_feed_forward_only_attention_adds_to_the_stream():
    model, ids = new_copier().eval(), unseen_rows(3).ids[:, :-1]
    with torch.no_grad():
        alone = model(ids)
        for block in model.decoder.blocks:
            block.self_attention.output.weight.zero_()
        said = model.output(model.decoder.norm(model.decoder.input(ids, torch.arange(CONTEXT))))
        assert torch.allclose(model(ids), said, atol=1e-6)
    assert not torch.allclose(alone, said, atol=1e-2)


# ------------------------------------------------------------------------------------------------------------- measure


@pytest.mark.parametrize("ahead", [1, 2, 3])
def test_recall_counts_the_letters_of_the_repeat(ahead):
    test = unseen_rows(20, length=9)
    assert recall(Periodic(9, ahead), test, ahead=ahead) == 1
    assert recall(Periodic(9, ahead), test, ahead=ahead - 1) == 0
    mixed = Rows(*(torch.cat(parts) for parts in zip(test, unseen_rows(20, length=12), strict=True)))
    assert 0.5 < recall(Periodic(9), mixed) < 0.6  # 23 of 32 positions of a row are in a repeat, or 20: 460 of 860


def test_recall_begins_with_the_first_letter_of_the_repeat():
    class Late(Periodic):
        def forward(self, ids):
            said = super().forward(ids)
            said[:, 9] = torch.nn.functional.one_hot(ids[:, 9], 26)  # the letter just read
            return said

    assert recall(Late(9), unseen_rows(20, length=9)) == pytest.approx(22 / 23)


def test_scores_are_those_of_the_exercise_and_of_the_formula():
    model, length = new_copier(seed=3).eval(), 12
    found = scores(model, length, count=4)
    _, seen = run_with(model, unseen_rows(4, length=length).ids[:, : 2 * length])
    for layer in (1, 2):
        A = seen[f"decoder.blocks.{layer - 1}.self_attention.weights"]
        before = torch.stack([A[:, :, t, t - 1] for t in range(1, length)]).mean((0, 1))
        for head in (1, 2):
            assert found[f"induction {layer}.{head}"] == pytest.approx(induction_score(A, length)[head - 1].item())
            assert found[f"previous {layer}.{head}"] == pytest.approx(before[head - 1].item())


# ----------------------------------------------------------------------------------------------------------- intervene


def test_looking_back_is_one_place_alone():
    weights = look_back(torch.rand(2, 3, 5, 5), 2)
    assert weights.shape == (2, 3, 5, 5)
    assert weights[1, 2].nonzero().tolist() == [[2, 0], [3, 1], [4, 2]]
    assert weights.sum() == 2 * 3 * 3
    model = new_copier().eval()
    _, seen = run_with(model, unseen_rows(2).ids[:, :-1], looking_back(1, layer=2))
    assert seen["decoder.blocks.1.self_attention.weights"][0, 0].diagonal(-1).eq(1).all()
    assert seen["decoder.blocks.0.self_attention.weights"][0, 0].diagonal(-1).lt(1).any()


def test_a_removed_head_hands_on_nothing():
    x = torch.ones(2, 3, 4, 5)
    (edit,) = without(2, 3).values()
    assert edit(x).sum((0, 2, 3)).tolist() == [40, 40, 0]
    assert list(without(2, 3)) == ["decoder.blocks.1.self_attention.heads"]
    assert next(iter(without(1).values()))(x).eq(0).all()


@pytest.mark.slow
@pytest.mark.parametrize("seed", [0, 1, 2])
def test_two_layers_copy_and_the_answer_moves_with_layer_one(seed):
    run, test = learn_copying(seed=seed), unseen_rows()
    assert list(run.models) == list(range(0, 301, 20))
    assert run.curves["recall"][0] < 0.1 < 0.95 < run.curves["recall"][-1]
    assert recall(run.model, test) == run.curves["recall"][-1]
    assert max(run.curves["induction 2.1"][-1], run.curves["induction 2.2"][-1]) > 0.5
    for layer in (1, 2):
        assert recall(run.model, test, without(layer)) < 0.2
    for by in range(4):
        moved = [recall(run.model, test, looking_back(by), ahead=ahead) for ahead in range(4)]
        assert moved.index(max(moved)) == by
        assert max(moved) > 0.4


@pytest.mark.slow
def test_one_layer_does_not_copy():
    assert learn_copying(layers=1, width=88, seed=0).curves["recall"][-1] < 0.45


@pytest.mark.parametrize(
    ("call", "said"),
    [
        (lambda: induction.rows(0, 1), "rows: count=0"),
        (lambda: induction.rows(1, 1, length=27), "rows: length=27"),
        (lambda: ids_of("a b"), "' ' in 'a b', expected letters a to z"),
        (lambda: learn_copying(steps=30, every=20), "steps=30 is not divisible by every=20"),
        (lambda: look_back(torch.ones(3, 3), 1), r"look_back: weights of shape \(3, 3\)"),
        (lambda: look_back(torch.ones(1, 1, 3, 3), -1), "look_back: by=-1"),
        (lambda: without(0), "without: layer=0"),
        (lambda: recall(Periodic(9), unseen_rows(2), without(3)), "nothing was observed that matches"),
        (lambda: run_with(Periodic(9), torch.tensor([[26]])), "the vocabulary has 26"),
        (lambda: induction_views.induction_explorer(None), "induction_explorer: run is None"),
    ],
)
def test_bad_input_is_named(call, said):
    with pytest.raises(ValueError, match=said):
        call()


# ------------------------------------------------------------------------------------------------------------ recorded


def test_what_the_notebook_tells_is_recorded():
    assert min(at_seeds("recall")) > 0.97
    assert max(at_seeds("without", "1")) < 0.2
    assert max(at_seeds("without", "2")) < 0.1
    for by in range(4):
        assert min(at_seeds("moved", by, by)) > 0.5
    for name in ("one layer", "one layer, wider", "one layer, feed-forward"):
        assert max(at_seeds("recall", variant=name)) < 0.6, name


# ------------------------------------------------------------------------------------------------------------ explorer


def test_the_explorer_shows_the_head_and_what_is_said(untrained):
    explored = induction_views.induction_explorer(untrained)
    assert explored.values == {"step": 20, "head": "2.1", "looks": "as learned"}
    said, seen = run_with(untrained.model, ids_of(WORD * 2))
    weights = seen["decoder.blocks.1.self_attention.weights"][0, 0]
    score = sum(weights[t, t - 9].item() for t in range(10, 20)) / 10
    assert f"{score:.2f} on the letter after the last match" in explored.summary
    spoken = "".join(induction.LETTERS[i] for i in said[0, 10:])
    assert f"the model says {spoken}: " in explored.summary
    explored.set(step=0, head="1.2", looks="2 letters back")
    assert explored.summary.startswith("Step 0, layer 1 looks 2 letters back. Layer 1, head 2: weight 0.00 on the ")


def test_what_is_drawn(as_stored, untrained):
    """The map with its frames and what is said next, the curves beside it."""
    T = 2 * len(WORD)
    weights = torch.zeros(T, T)
    weights[range(len(WORD), T), range(1, len(WORD) + 1)] = 0.8
    moved = WORD + WORD[2:] + "zx"  # two that the word does not have
    as_stored(
        copying=induction_views.draw(untrained, 20, 2, 1, "as learned", (weights, WORD + WORD[1:] + WORD[0])),
        moved=induction_views.draw(untrained, 0, 1, 2, "2 letters back", (weights, moved)),
    )
    text = induction_views.describe(untrained, 0, 2, 2, "2 letters back", (weights, moved))
    assert text == (
        "Step 0, layer 1 looks 2 letters back. Layer 2, head 2: weight 0.00 on the letter before (first copy), "
        "0.80 on the letter after the last match (second copy). Reading quickbrown again, the model says ickbrownzx: "
        "0 of 10 are the next letter, 8 are 2 on."
    )


def test_rivals_are_told_seed_by_seed():
    alt = induction_runs.rivals_picture().alt
    assert alt.count(";") == 5
    assert f"one layer {', '.join(f'{value:.2f}' for value in at_seeds('recall', variant='one layer'))};" in alt
