"""The writing explorer: what is drawn from, what is marked, and the button that starts, stops and goes on."""

import asyncio
import math
import random
import re

import pytest
import torch

from drawn import texts
from parity import randomise
from toy_models import config
from tx_helpers.generation.sampling import filter_logits
from tx_helpers.lessons.a_model_that_writes.writing import (
    COLUMNS,
    SIDES,
    Pen,
    Writing,
    describe,
    draw,
    writing_explorer,
)
from tx_helpers.nn.models import DecoderOnly
from tx_helpers.text.grammar import Grammar
from tx_helpers.text.tokenizers import CharTokenizer
from tx_helpers.zoo.recipes import Writer

SETTINGS = {"left": (0.5, 1.0), "right": (1.0, 0.9)}
GRAMMAR = Grammar({"story": ["{a}{a}\n\n"], "a": ["ab ", "cd "]})


def toy_writer(std: float = 1.0) -> Writer:
    tokenizer = CharTokenizer.train("abcd \n")
    small = config(vocab_size=len(tokenizer), context_length=5, pad_id=None)
    return Writer(randomise(DecoderOnly(small), std=std).eval(), tokenizer)


def pen(written: str = "", p: float = 0.5, beginning: str = "ab ") -> Pen:
    made = Pen(toy_writer(), beginning)
    made.written, made.p = written, [p] * len(written)
    return made


def writing(longest: int = 12, grammar: Grammar | None = GRAMMAR) -> Writing:
    return Writing({"toy": toy_writer(), "other": toy_writer(0.5)}, "ab ", grammar, longest, 0.0)


async def ended(task):
    await asyncio.wait_for(asyncio.wrap_future(task), 60)


# --- compute ---------------------------------------------------------------------------------------------------------


@pytest.mark.parametrize(("temperature", "top_p"), [(1.0, 1.0), (0.3, 1.0), (2.0, 0.6)])
def test_each_character_is_drawn_from_the_filtered_distribution_and_has_the_models_own_probability(temperature, top_p):
    writer, uniform = toy_writer(), random.Random("writing 3").random
    made = Pen(writer, "ab ", seed=3, longest=30)
    while not made.done:
        with torch.no_grad():
            logits = writer.model(torch.tensor([writer.tokenizer.encode("\n\n" + made.text)[-5:]]))[0, -1].double()
        logits[:3] = -math.inf  # <pad>, <bos>, <eos>
        q = filter_logits(logits, temperature=temperature, top_p=top_p).softmax(-1)
        made.advance(temperature, top_p)
        chosen = writer.tokenizer.encode(made.written[-1])[0]
        assert q[:chosen].sum() <= (u := uniform()) <= q[: chosen + 1].sum() + 1e-12, u
        assert made.p[-1] == pytest.approx(logits.softmax(-1)[chosen].item(), rel=1e-6)
    assert made.surprise == pytest.approx(-sum(map(math.log, made.p)) / len(made.p))


def test_temperature_zero_takes_the_likeliest():
    writer, made = toy_writer(), Pen(toy_writer(), "ab ")
    made.advance(0.0)
    with torch.no_grad():
        best = writer.model(torch.tensor([writer.tokenizer.encode("\n\nab ")]))[0, -1, 3:].argmax().item() + 3
    assert made.written == writer.tokenizer.tokens[best]


def test_the_same_seed_writes_the_same_and_the_global_random_numbers_are_left_alone():
    writer, told = toy_writer(0.1), []
    state = torch.get_rng_state()
    for seed in (1, 1, 2):
        made = Pen(writer, "ab ", seed=seed, longest=20)
        while not made.done:
            made.advance()
        told.append(made.written)
    assert told[0] == told[1] != told[2] and torch.equal(torch.get_rng_state(), state)


def test_a_blank_line_or_the_longest_length_ends_it():
    assert pen("cd \n\n").done and not pen("cd \n").done
    assert Pen(toy_writer(), "ab ", longest=0).done


# --- draw and describe -----------------------------------------------------------------------------------------------


def test_what_is_drawn_and_said(as_stored):
    """The surprising is dark, the beginning underlined, the first slip framed and named."""
    made = pen("cd")
    made.p = [1.0, 0.25]
    cases = {"dark": (made, GRAMMAR), "slip": (pen("ca"), GRAMMAR), "story": (pen("cd \n\n"), GRAMMAR)}
    cases |= {"free": (pen("ca"), None), "nothing": (pen(), None)}
    as_stored(
        **{
            name: draw({"right": one}, SETTINGS, grammar, describe("right", one, *SETTINGS["right"], grammar))
            for name, (one, grammar) in cases.items()
        }
    )


def test_long_texts_are_cut_behind_spaces():
    drawn = texts(draw({"left": pen("abc " * 30 + "d" * 60)}, SETTINGS, None, "words").svg)[2:-2]
    assert all(len(line) <= COLUMNS for line in drawn)
    assert "".join(drawn).replace("\N{NO-BREAK SPACE}", " ") == "ab " + "abc " * 30 + "d" * 60
    assert all(line.endswith("\N{NO-BREAK SPACE}") for line in drawn[:3])


# --- bind ------------------------------------------------------------------------------------------------------------


def test_a_story_is_there_and_write_begins_the_next():
    explorer = writing_explorer({"toy": toy_writer()}, "ab ", grammar=GRAMMAR, longest=12)
    first = explorer.summary
    assert first.startswith("Story 0 by toy, done. left (temperature 0.5, top-p 1.00): ")
    explorer.set(writing=True)  # no event loop here: to the end at once
    assert explorer.summary.startswith("Story 1 by toy, done. ") and explorer.summary[7:] != first[7:]
    assert explorer.controls["writing"].description == "Write" and not explorer.controls["writing"].value


def test_both_sides_write_the_same_with_the_same_settings():
    made = writing()
    made.explore.set(left_temperature=1.0)
    made.explore.set(writing=True)
    assert made.pens["left"].text == made.pens["right"].text
    assert list(made.pens) == list(SIDES)


def test_it_stops_goes_on_and_takes_new_settings_while_it_writes():
    async def learner():
        made = writing(longest=400)
        made.explore.set(beginning="cd ")
        cleared = made.explore.summary
        made.explore.set(writing=True)
        while len(made.pens["left"].p) < 5:
            await asyncio.sleep(0)
        busy, said = made.explore.summary, made.button.description
        made.button.value = False
        await ended(made.work.task)
        stopped, name = made.explore.summary, made.button.description
        so_far, state = made.pens["left"].text, made.pens["left"]
        made.explore.set(left_temperature=0.0)
        made.longest = state.longest = made.pens["right"].longest = len(state.written) + 3
        made.button.value = True
        await ended(made.work.task)
        assert made.pens["left"] is state and state.text.startswith(so_far) and state.done
        return cleared, busy, said, stopped, name, made.explore.summary

    cleared, busy, said, stopped, name, done = asyncio.run(learner())
    assert cleared.startswith("Story 0 by toy, press Write. left (temperature 0.5, top-p 1.00): nothing written yet;")
    assert busy == "Story 0 by toy: writing." and said == "Stop"
    assert stopped.startswith("Story 0 by toy, stopped. ") and name == "Continue"
    assert re.match(r"Story 0 by toy, done\. left \(temperature 0\.0", done)


def test_another_writer_stops_the_one_that_writes():
    async def learner():
        made = writing(longest=400)
        made.explore.set(writing=True)
        while len(made.pens["left"].p) < 5:
            await asyncio.sleep(0)
        made.explore.set(writer="other")
        await ended(made.work.task)
        return made.explore.summary, made.button.value

    summary, going = asyncio.run(learner())
    assert summary.startswith("Story 1 by other, press Write. ") and not going


def test_without_a_beginning_a_story_begins_behind_a_blank_line():
    explorer = writing_explorer({"toy": toy_writer()}, grammar=GRAMMAR, longest=3)
    assert explorer.summary.startswith("Story 0 by toy, done. ") and explorer.error == ""


def test_a_beginning_of_unknown_characters_is_named():
    explorer = writing_explorer({"toy": toy_writer()}, "ab ", longest=3)
    before = explorer.summary
    explorer.set(beginning="xyz")
    assert "'x' is not among" in explorer.error and explorer.summary == before
    explorer.set(writing=True)
    assert explorer.summary == before and not explorer.controls["writing"].value
    explorer.set(beginning="cd ")
    assert explorer.error == "" and "press Write" in explorer.summary


def test_without_writers_there_is_nothing_to_explore():
    with pytest.raises(ValueError, match="writers is empty, expected a dictionary that is not"):
        writing_explorer({})
