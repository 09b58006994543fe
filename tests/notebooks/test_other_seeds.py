"""What findings of the core path say at other seeds: the record of `tools/run_seeds.py` is whole and of today's cells.

nbval runs the notebook's own seeds; the nightly test here runs each notebook at one seed more. Try one notebook:

    python -m pytest -m thorough tests/notebooks/test_other_seeds.py -k masking
"""

import json
import re

import pytest

<<<<<<< HEAD
from notebook_frame import ROOT
from other_seeds import UNNAMED_SEEDS, fill, reseeded
from refresh_notebooks import load
from run_seeds import FILE, SEEDS, fingerprint, lines_of, recorded, rests_on, right_answer
=======
from claim_tests import no_traces, run
from claims import stands_in
from notebook_slice import needed_cells
from other_seeds import UNNAMED_SEEDS, reseeded
from test_claims import code_of
>>>>>>> wide
from tx_helpers.exercises.course import LESSONS

RECORD = json.loads(FILE.read_text(encoding="utf-8"))
AGAIN = "run `python tools/run_seeds.py {}`"
by_lesson = pytest.mark.parametrize("lesson", [lesson for lesson in LESSONS if lesson != "reference"])


<<<<<<< HEAD
def cells_of(lesson: str) -> list:
    return load(ROOT / "notebooks" / f"{LESSONS[lesson].stem}.ipynb").cells


def answers(found: dict) -> list[str]:
    """What a recorded finding calls right, at each of its seeds."""
    said = found["at"].values() if "at" in found else [found["the same at all"]]
    return [right_answer(lines[-1]) for lines in said]
=======
# A notebook -> for each cell that tests an experiment, a piece of source that stands in that cell alone.
EXPERIMENTS = {
    "limits_of_recurrence": (
        "not isfinite(free[1]) and clipped[-1] < 5",
        'assert arrives["RNN"] < 1e-14',
        "assert mixed > 0.9",
        "bottle[6] < 0.1 < bottle[3]",
        "assert swapped >= 0.8",
        "assert share > 0.8 if len(dilations) == 3",
        "1e-8 and gain > 1e9",
        "assert gained > 0.4",
        "assert known > 0.95",
    ),
    "tokens_and_embeddings": (
        "first = min(step for step, count",
        'moved["Adam"] > 0.01',
        "seven @ three > 0.7",
        "assert min(exact.values()) >= 0.9",
    ),
    "positional_encodings": (
        'assert share["fast"][0] > share["slow"][0] + 0.2',
        'assert 0.11 < models["no positions"].right() < 0.18',
        'assert torch.equal(masked[0][0], masked[1][0]) and models["causal mask"].right() > 0.9',
        'assert max(right["added, loud"]) < 0.5',
        'assert beyond["causal mask"] > beyond["sinusoids"] + 0.3',
    ),
    "self_attention": (
        'assert right["two matrices"] > 0.9',
        "bare[-1] < 0.6",
        'assert tokens[crossing[2].argmax()] == "one"',
        "and min(learned) > 0.7",
        "assert layer.key is layer.query",
        "assert apart < 0.5 and together > 0.7",
    ),
    "multi_head_attention": (
        "assert one.both[-1] < 0.35",
        "assert deep.both[-1] > 0.97",
        "assert found > 0.97 and blind == 0.5",
        "(swapped > 0.8).all()",
        "assert len(harmless) >= 16",
        "assert min(exact.values()) > 0.9",
        "mostly_self <= 6 and",
        "assert max(by_distance)",
        "assert max(counts) >= 3",
        "assert 0.6 < related",
        "assert min(kept) > 0.6",
        "assert min(right_alive",
        "assert same < 1e-3",
        "assert min(alive_turned",
    ),
    "masking": ("assert at_once_gaps[0] < 1e-9", "assert packed_gaps[2] < 1e-9"),
    "feed_forward": (
        "assert all(0.15 < share",
        "assert min(fit) > 0.8",
        "assert likeness[nearest] > 0.85",
        'assert fires["both"] > 4',
        "assert spared > 0.9",
        "mean(digits[2:], writes_after",
        "assert right[2] < 0.5 < right[3]",
        "assert wide.kept == 50",
        'assert reach["neither"] < 1e-3',
        'assert works == ["pre-norm"',
        "and cold - warm > 0.15 and",
        "norm_in_the_branch < 2.55",
        "max(four.values()) < 1.4",
        'assert tilt["pre-norm"] < 0.7',
        "assert ratio > 0.01",
        "assert without_memory > 0.5",
    ),
    "full_model": (
        "difference = decoder(changed",
        "next_word < 1 / V < same_word",
        "assert gap < 1e-3",
        "masked < 1e-3 and moved[0] > 0.1",
        'notices["open"] < 1e-4',
    ),
    "training": (
        "assert last < 1",
        "assert losses[-1] < 0.05",
        'assert ends["seeing"] < 0.1',
        'assert at_60["0.003"] < 1',
        "assert difference < 1e-3",
        "assert share >= 0.95",
        'assert off < 1e-5 or name == "means averaged"',
        'assert {"vier", "zwanzig"} <= set(agreed)',
        "assert reports[0][0] < reports[1][0]",
    ),
    "debugging": (
        "assert 2 * loss_b < loss_a < 0.2",
        "assert 0.008 < max(moved) < 0.04",
        "assert len(ill) > 80",
        "assert layers[1].spread < 3",
        'assert hurt == ["no positions"]',
        'assert gaps["no positions"] < 1e-3',
        "assert all(bool(moving[name])",
        "assert [report.wrong[0] for report",
        'assert lost["no padding mask"] > 5',
        "assert share > 0.55 and loss < 0.4",
    ),
    "decoding": (
        "assert share > 0.6",
        "assert abs(sampled - exact) < 0.05",
        "assert in_search < 0.05",
        'assert share["top-k"] < share["top-p"]',
        "assert list(same.values())",
    ),
    "a_model_that_writes": (
        "assert floor < checked",
        "assert fluent > 0.9 and forgot < 0.25",
        "assert gains[0] > 0.5",
        "assert real_1 < real_07",
        "assert of_greedy < of_real",
    ),
    "positions_inside_attention": (
        'assert best_inside == "rotary"',
        "gained > 0.4 and lost > 1 and won_back > 0.8",
        "Wrong: beyond the trained length",
        'assert fixed == ["sinusoidal", "rotary", "ALiBi"]',
        "assert inside_gain > 0.3",
        "assert 0.05 < gap < 0.4",
        "assert 0.5 < undivided.std() < 2",
        "assert right > 0.95 and on_echo",
        "near.max() < -0.2 and asked_for > 0.3",
        "assert known < -0.03",
    ),
    "families": ("assert 0.15 < of_words < 0.55",),
    "adapting": (
        'assert learned.trained == recorded()["trained"]["lora"]',
        "assert new_rows > 0.6",
    ),
    "learning_from_reward": (
        'assert 0.1 < found["right"] < 0.4',
        'assert trained["right"] > 0.85',
        'assert hints.right > trained["right"] - 0.1',
    ),
    "what_changed": (
        'assert 3 < sides["2017"]',
        'assert min(explained["word"].share)',
    ),
    "cheaper_and_longer": (
        "assert 1.5 < drafted.tokens_per_pass",
        "assert with_rounding < 2 < 4",
    ),
    "scaling_up": ("abs(live.loss / expected_loss - 1) < 0.1",),
}
WITH_THE_TRANSLATOR = ("self_attention", "multi_head_attention", "masking", "feed_forward", "full_model")
by_lesson = pytest.mark.parametrize("lesson", EXPERIMENTS)


def cells_of(lesson: str) -> dict[int, str]:
    """Number and source of each code cell that the testing ones need."""
    sources, pieces = code_of(LESSONS[lesson].stem), EXPERIMENTS[lesson]
    places = {piece: [n for n, source in enumerate(sources) if stands_in(piece, source)] for piece in pieces}
    assert {piece: found for piece, found in places.items() if len(found) != 1} == {}, (
        "a testing cell is not where it was"
    )
    needed = needed_cells(sources, lambda source: any(stands_in(piece, source) for piece in pieces))
    return {index: sources[index] for index in needed}
>>>>>>> wide


def is_one_voice(said: list[str]) -> bool:
    """Is it the same choice, or the same numbers within a tenth?"""
    numbers = [[float(one) for one in re.findall(r"-?\d+(?:\.\d+)?", text)] for text in said]
    if said[0].startswith("The answer"):
        return len({*said}) == 1
    return all(max(each) - min(each) <= 0.1 * abs(max(each)) for each in zip(*numbers, strict=True))


@by_lesson
def test_each_finding_was_run_at_three_seeds_with_todays_cells(lesson):
    cells = cells_of(lesson)
    now = {key: fingerprint(cells, places) for key, places in rests_on(cells).items()}
    assert {key: found["code"] for key, found in RECORD[lesson]["findings"].items()} == now, AGAIN.format(lesson)
    assert all(len(found["seeds"]) >= SEEDS for found in RECORD[lesson]["findings"].values())


@by_lesson
def test_no_cell_failed_and_no_right_answer_turned_with_the_seed(lesson):
    cells = cells_of(lesson)
    for key, places in rests_on(cells).items():
        stored = right_answer(lines_of(cells[places[-1]])[-1])
        assert is_one_voice([stored, *answers(RECORD[lesson]["findings"][key])]), key
    assert RECORD[lesson]["fails"] == {}


@pytest.mark.thorough
@by_lesson
def test_so_it_is_at_a_fourth_seed(lesson, tmp_path):
    fill(tmp_path, SEEDS)
    found = recorded(lesson, range(SEEDS, SEEDS + 1), {SEEDS: tmp_path})
    assert found["fails"] == {}
    for key, one in RECORD[lesson]["findings"].items():
        assert is_one_voice([*answers(one), *answers(found["findings"][key])]), key


@by_lesson
<<<<<<< HEAD
def test_calls_that_use_a_default_seed_are_where_they_were(lesson):
    code = "\n".join(cell.source for cell in cells_of(lesson) if cell.cell_type == "code")
    assert [old for old in UNNAMED_SEEDS.get(lesson, {}) if old not in code] == []
=======
def test_testing_cells_and_seeds_are_where_they_were(lesson):
    together = "\n".join(cells_of(lesson).values())
    assert [old for old in UNNAMED_SEEDS.get(lesson, {}) if not stands_in(old, together)] == []
    assert (CACHED in together) == (lesson in WITH_THE_TRANSLATOR)
>>>>>>> wide


def test_every_seed_is_raised():
    source = "manual_seed(0); RandomStream(7); f(seed=10**6, n=3); Generator().manual_seed(step); data.batches(64)"
    assert reseeded(source, "limits_of_recurrence", 2) == (
        "manual_seed(2); RandomStream(9); f(seed=12**6, n=3); Generator().manual_seed(step); data.batches(64, seed=2)"
    )


def test_a_right_answer_is_read_off_its_finding():
    assert right_answer("The answer is “0.5”. Half of it.") == "The answer is “0.5”"
    assert right_answer("It is 0.5 nats. So it is.") == "It is 0.5 nats."
    assert right_answer("Any answer from 45 to 56 counts as right. 51 on average.").endswith(
        "from 45 to 56 counts as right"
    )


def test_numbers_may_differ_by_a_tenth_and_choices_not_at_all():
    assert is_one_voice(["It is 12.2 %.", "It is 12.7 %."]) and not is_one_voice(["It is 12 %.", "It is 14 %."])
    assert not is_one_voice(["The answer is “two”", "The answer is “one”"])
