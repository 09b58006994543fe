"""The explorers of decoding: step by step, and beam search as a tree."""

import re
from itertools import pairwise

import pytest
import torch

from parity import randomise
from tx_helpers.generation.search import Candidate, Hypothesis, generate, ranked
from tx_helpers.lessons.decoding import beam_tree
from tx_helpers.lessons.decoding.beam_tree import beam_explorer, search
from tx_helpers.lessons.decoding.decoding_steps import Step, decoding_explorer, draw, greedy_steps
from tx_helpers.nn.capture import capture
from tx_helpers.nn.config import EmbeddingConfig
from tx_helpers.nn.models import EncoderDecoder
from tx_helpers.text.data import BOS, EOS, PAD, word_pairs
from tx_helpers.text.number_words import english, german
from tx_helpers.zoo.parts.outputs import BiasedOutput
from tx_helpers.zoo.recipes import Translator, translator_config

NUMBERS = (0, *range(1, 21), 21, *range(30, 100, 10), 100, 1000, 421)
DATA = word_pairs([(english(n), german(n)) for n in NUMBERS])
NAMES = DATA.target_tokenizer.tokens


def toy_translator(end: float = 1.5) -> Translator:
    """Random weights, and a bias towards the end sign, so that some texts end early and others late."""
    config = translator_config(DATA, d_model=24, embedding=EmbeddingConfig(output=BiasedOutput()))
    model = randomise(EncoderDecoder(config).double(), std=0.3).eval()
    with torch.no_grad():
        model.output.bias[EOS] += end
    return Translator(model, DATA)


def ids_of(translator: Translator, number: int) -> torch.Tensor:
    return torch.tensor([translator.data.source_tokenizer.encode(english(number))])


# --- step by step ----------------------------------------------------------------------------------------------------


@pytest.mark.parametrize("number", [421, 17, 6437])
def test_greedy_steps_are_those_of_one_pass_over_what_generate_writes(number):
    translator = toy_translator()
    source = ids_of(translator, number)
    ids = generate(translator.model, BOS, source=source, max_new_tokens=12, end_id=EOS, pad_id=PAD)
    fed = torch.cat([torch.tensor([[BOS]]), ids[:, :-1]], dim=1)
    name = "decoder.blocks.1.cross_attention.weights"
    with capture(translator.model, name) as seen, torch.no_grad():
        p = translator.model(source, fed)[0].softmax(-1)  # (T, V)
    attention = seen[name][0].mean(0)  # (H, T, S) -> (T, S)
    steps = greedy_steps(translator, english(number))
    assert [step.candidates[0][0] for step in steps] == [NAMES[i] for i in ids[0].tolist()]
    for t, step in enumerate(steps):
        best, order = p[t].topk(5)
        assert step.so_far == [NAMES[i] for i in ids[0, :t].tolist()]
        assert [word for word, _ in step.candidates] == [NAMES[i] for i in order.tolist()]
        assert [value for _, value in step.candidates] == pytest.approx(best.tolist())
        assert step.attention == pytest.approx(attention[t].tolist())


def test_greedy_steps_stop_at_the_limit_and_leave_the_model_as_it_was():
    translator = toy_translator(end=-50.0)
    translator.model.train()
    assert len(greedy_steps(translator, "one", longest=7)) == 7
    assert translator.model.training


STEPS = [
    Step([], [("vier", 0.75), ("<eos>", 0.125)], [0.1, 0.9]),
    Step(["vier"], [("<eos>", 0.5), ("hundert", 0.25)], [0.7, 0.3]),
]


def test_what_is_drawn_and_said(as_stored):
    """Bars as long as the numbers say; a tree with what was selected, ended, given up, and dropped at once."""
    as_stored(
        first=draw(STEPS, 1, ["twenty", "four"], ""),
        second=draw(STEPS, 2, ["twenty", "four"], "vier und zwanzig"),
        tree=beam_tree.draw(LEVELS, FOUND, Hypothesis([3, 2], -2.5, -2.5), TOKENS, "a"),
    )


@pytest.mark.parametrize("step", [0, 3])
def test_a_step_that_is_not_there_is_refused(step):
    with pytest.raises(ValueError, match=f"step {step}, but this translation has steps 1 to 2"):
        draw(STEPS, step, ["twenty", "four"], "")


def test_the_step_slider_ends_where_the_translation_ends():
    endless, brief = toy_translator(end=-50.0), toy_translator(end=50.0)
    explorer = decoding_explorer({"endless": endless, "brief": brief}, translator="endless", number=421)
    assert explorer.controls["step"].max == 12
    explorer.set(step=12)
    assert explorer.summary.startswith("Step 12 of 12")
    explorer.set(translator="brief")
    assert (explorer.values["step"], explorer.controls["step"].max) == (1, 1)
    assert explorer.summary.startswith("Step 1 of 1: '<eos>' 1.00")


def test_moving_the_step_runs_no_model_and_a_wrong_number_is_told():
    translator, runs = toy_translator(end=-50.0), []
    translator.model.encoder.register_forward_hook(lambda *_: runs.append(1))
    explorer = decoding_explorer({"toy": translator}, translator="toy", number=421)
    for step in (2, 5, 3):
        explorer.set(step=step)
        assert explorer.summary.startswith(f"Step {step} of 12")
    assert len(runs) == 1
    explorer.set(number=-1)
    assert explorer.error == "-1 is not a whole number from 0 to 999,999"
    explorer.set(number=17)
    assert explorer.error == "" and len(runs) == 2


# --- beams -----------------------------------------------------------------------------------------------------------


def test_a_level_holds_the_likeliest_continuations_and_then_those_dropped():
    translator = toy_translator()
    source = ids_of(translator, 421)
    levels = search(translator.model, source, 3).levels
    with torch.no_grad():
        best, ids = translator.model(source, torch.tensor([[BOS]]))[0, 0].log_softmax(-1).topk(5)
    assert [one.ids for one in levels[0]] == [(i,) for i in ids.tolist()]
    assert [one.log_probability for one in levels[0]] == pytest.approx(best.tolist())
    assert [one.selected for one in levels[0]] == [True] * 3 + [False] * 2
    for before, level in pairwise(levels):
        open_ones = {one.ids for one in before if one.selected and one.ids[-1] != EOS}
        assert {one.ids[:-1] for one in level} <= open_ones
        assert sum(one.selected for one in level) == len(open_ones)
        assert [one.log_probability for one in level] == sorted((one.log_probability for one in level), reverse=True)


def test_the_search_leaves_the_model_as_it_was():
    translator = toy_translator()
    translator.model.train()
    searched = search(translator.model, ids_of(translator, 421), 2, longest=3)
    assert translator.model.training and len(searched.levels) <= 3


TOKENS = ["<pad>", "<bos>", "<eos>", "a", "b"]
LEVELS = [
    [Candidate((3,), -1.0, True), Candidate((4,), -1.25, True), Candidate((2,), -3.0, False)],
    [Candidate((4, 2), -1.5, True), Candidate((4, 3), -1.75, True), Candidate((3, 2), -2.5, False)],
    [Candidate((4, 3, 2), -2.0, True), Candidate((4, 3, 3), -2.75, False)],
]


FOUND = [Hypothesis([4, 2], -1.5, -1.5), Hypothesis([4, 3, 2], -2.0, -2.0)]


@pytest.mark.parametrize("steps", [1, 13, 60])
def test_a_hypothesis_of_any_length_has_boxes_inside_the_picture(steps):
    levels = [
        [Candidate((3,) * (n + 1), -1.0 - n, True), Candidate((3,) * n + (4,), -9.0, False)] for n in range(steps)
    ]
    found = Hypothesis([3] * steps, -float(steps), -float(steps))
    svg = beam_tree.draw(levels, [found], found, TOKENS, "a").svg
    width = float(re.search(r'<svg [^>]*width="([\d.]+)"', svg)[1])
    boxes = re.findall(r'<rect x="([-\d.]+)" y="[-\d.]+" width="([-\d.]+)" height="32"', svg)
    assert len(boxes) == 1 + 2 * steps
    assert all(float(size) > 20 and 0 <= float(x) <= width - float(size) for x, size in boxes)


def test_the_length_penalty_only_ranks_and_runs_no_model():
    translator, runs = toy_translator(), []
    translator.model.encoder.register_forward_hook(lambda *_: runs.append(1))
    explorer = beam_explorer({"toy": translator}, translator="toy", number=421)
    assert explorer.values == {"number": 421, "translator": "toy", "beams": 2, "length_penalty": 0.0}
    found = ranked(search(translator.model, ids_of(translator, 421), 2).found, 2.0)[0]
    runs.clear()
    explorer.set(length_penalty=2.0)
    assert f"ln P {found.log_probability:.2f}, score {found.score:.2f}; greedy" in explorer.summary and not runs
    explorer.set(beams=1, length_penalty=0.0)
    ours, greedy = explorer.summary.removeprefix("1 beam finds ").removesuffix(".").split("; greedy ")
    assert ours == greedy
    explorer.set(beams=3)
    assert len(runs) == 1 and explorer.summary.startswith("3 beams find ")
    explorer.set(number=1_000_000)
    assert explorer.error == "1000000 is not a whole number from 0 to 999,999"
