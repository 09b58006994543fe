"""What the machine says in Chromium, without Jupyter: its sentences, steps, parts and changes."""

import re

import pytest
import torch

from machine_view_page import CHANGED, HEAD, SEEN, open_machine, panel, part, summary, translator, writer
from notebook_frame import ROOT
from tx_helpers.nn.config import NormConfig, PositionConfig
from tx_helpers.widgets.machine import machine
from tx_helpers.zoo.recipes import number_translator
from widget_page import HOSTILE, mount

# ----------------------------------------------------------------------------------------------------- what it shows


@pytest.mark.parametrize("make", [lambda: machine(translator(), "one two three"), lambda: machine(writer(), "abc")])
def test_the_sentence_in_the_browser_begins_with_python_s(bare_page, make):
    view = open_machine(bare_page, make())
    assert summary(bare_page).startswith(view.summary)
    assert repr(view) == f"Machine 'machine': {view.summary}"


def test_the_probabilities_and_the_formula_are_pytorch_s(bare_page):
    view = open_machine(bare_page)
    seen = view._passed.seen
    chances, ids = seen["logits"][-1].softmax(-1).max(-1)
    named = bare_page.get_by_role("button", name=re.compile("^probabilities: ")).get_attribute("aria-label")
    assert named.startswith(f"probabilities: {view.spec['target']['tokens'][ids]} {chances:.2f}")
    part(bare_page, HEAD).focus()
    name = "decoder.blocks.0.cross_attention"
    weights, scores = seen[f"{name}.weights"][1, -1], seen[f"{name}.scores"][1, -1]
    best = int(weights.argmax())
    product = float(seen[f"{name}.queries"][1, -1] @ seen[f"{name}.keys"][1, best])
    signed = [f"{number:.2f}".replace("-", "−") for number in (product, 4.0, float(scores[best]))]
    assert f"score = q·k / √K = {signed[0]} / {signed[1]} = {signed[2]}" in panel(bare_page)
    assert f"with weight {weights[best]:.2f}" in panel(bare_page)
    T, S = weights.shape[0], len(seen[f"{name}.weights"][1])
    assert f"(H, T, S) = (4, {S}, {T}), K = 16" in panel(bare_page)
    assert "notebook 05 multi head attention" in panel(bare_page)


def test_each_notebook_that_is_named_exists():
    script = (ROOT / "tx_helpers/widgets/machine/view_say.js").read_text("utf-8")
    named = set(re.findall(r'"(\d\d_\w+)"', script))
    assert len(named) > 5 and {name for name in named if not (ROOT / f"notebooks/{name}.ipynb").exists()} == set()


def test_on_a_page_of_the_course_the_notebook_is_a_link(bare_page):
    bare_page.evaluate("() => { document.documentElement.dataset.notebooks = '../'; }")
    open_machine(bare_page)
    assert bare_page.locator(".tx-panel a").get_attribute("href") == "../08_full_model.html"


# ---------------------------------------------------------------------------------------------------------- the steps


def test_step_by_step_from_the_ids_to_the_next_word(bare_page):
    open_machine(bare_page, place=0)
    assert summary(bare_page).startswith("Step 1 of ") and "cut into 3 words" in summary(bare_page)
    said = []
    for _ in range(14):
        bare_page.get_by_role("button", name="Forward", exact=True).click()
        said.append(summary(bare_page))
    assert "becomes a vector of D = 64 numbers, and its position is added" in said[0]
    assert "begins with '<bos>'" in said[5] and "The word becomes a vector" in said[6]
    assert "The result is the memory." in said[4] and "look at the memory" in said[8]
    assert " comes '" in said[13]
    bare_page.get_by_role("button", name="Back", exact=True).click()
    assert summary(bare_page) == said[12]


def test_only_the_words_that_are_there_have_a_line_of_the_stream(bare_page):
    open_machine(bare_page)
    lanes = bare_page.locator(".tx-decoder .tx-row-words .tx-chip").count()
    shown = "() => getComputedStyle(document.querySelector('.tx-decoder .tx-lines')).getPropertyValue('--shown')"
    for place in ("end", "start"):
        words = bare_page.locator(".tx-decoder .tx-row-words .tx-chip:not(.tx-none)").count()
        assert float(bare_page.evaluate(shown)) == pytest.approx(words / lanes, abs=1e-3)
        if place == "end":
            bare_page.get_by_role("button", name="Play").click()  # begins at the first step
            bare_page.get_by_role("button", name="Pause").click()
    assert words == 1


ROWS = "() => [...document.querySelectorAll('.tx-stack .tx-row')].filter((row) => row.offsetHeight).length"


def test_at_the_first_step_it_is_folded_and_grows(bare_page):
    open_machine(bare_page, machine(translator(), "one two three", step=1))
    rows = [bare_page.evaluate(ROWS)]
    assert summary(bare_page).startswith("Step 1 of ")
    for _ in range(13):
        bare_page.get_by_role("button", name="Forward", exact=True).click()
        rows.append(bare_page.evaluate(ROWS))
    assert rows[0] == 1 and rows[1] == 3 and rows == sorted(rows)
    bare_page.get_by_role("button", name="Back", exact=True).click()
    assert bare_page.evaluate(ROWS) == rows[-1]  # what was reached stays
    bare_page.keyboard.press("End")


@pytest.mark.parametrize("how", ["End", "Positions"])
def test_the_end_or_a_change_opens_all_of_it(bare_page, how):
    open_machine(bare_page, machine(translator(), "one two three"))
    whole, where = bare_page.evaluate(ROWS), bare_page.text_content(".tx-where")
    bare_page.evaluate("() => document.getElementById('place').replaceChildren()")
    open_machine(bare_page, machine(translator(), "one two three", step=1))
    assert bare_page.evaluate(ROWS) < whole
    if how == "End":
        bare_page.get_by_role("button", name="End", exact=True).click()
    else:
        bare_page.get_by_label("Positions").uncheck()
    assert bare_page.evaluate(ROWS) == whole and bare_page.text_content(".tx-where") == where


def test_play_goes_on_by_itself_and_pauses(bare_page):
    open_machine(bare_page)
    bare_page.get_by_role("button", name="Play").click()
    bare_page.wait_for_function("() => /^Step [2-9] of/.test(document.querySelector('.tx-summary').textContent)")
    bare_page.get_by_role("button", name="Pause").click()
    before = summary(bare_page)
    bare_page.wait_for_timeout(1500)
    assert summary(bare_page) == before


def test_an_unknown_word_is_an_error_in_place_and_the_picture_stays(bare_page):
    open_machine(bare_page)
    before = bare_page.evaluate(SEEN)
    for text in ("one nine", HOSTILE, "x" * 10_000, "\u202eone", ""):
        bare_page.get_by_label("Translate").fill(text)
        bare_page.get_by_label("Translate").press("Enter")
        assert bare_page.text_content(".tx-error")
        assert bare_page.evaluate(SEEN) == before
    bare_page.get_by_label("Translate").fill("four-five")
    bare_page.get_by_label("Translate").press("Enter")
    assert bare_page.text_content(".tx-error") == "" and summary(bare_page).startswith("'four five' becomes '")


# ------------------------------------------------------------------------------------------------------- what if?


def test_a_removed_head_changes_what_comes_after_it_and_reset_takes_it_back(bare_page):
    open_machine(bare_page)
    before = bare_page.evaluate(SEEN)
    assert bare_page.evaluate(CHANGED) == []
    part(bare_page, HEAD).click()
    assert "the intact machine says" in summary(bare_page)
    assert "without head 2 in the cross-attention of decoder block 1" in summary(bare_page)
    changed = set(bare_page.evaluate(CHANGED))
    assert not any(row.startswith("encoder") or row.endswith("blocks.0.self_attention") for row in changed)
    assert {"decoder.blocks.0.feed_forward", "decoder.blocks.1.cross_attention", "logits"} <= changed
    assert part(bare_page, HEAD).get_attribute("aria-pressed") == "true"
    assert "This head is removed" in panel(bare_page)
    bare_page.wait_for_function("() => document.querySelector('.tx-writes').textContent.includes('without head 2')")
    bare_page.get_by_role("button", name="Reset").click()
    bare_page.keyboard.press("Escape")
    assert bare_page.evaluate(SEEN) == before


@pytest.mark.parametrize(
    ("name", "words"),
    [
        ("norm of the feed-forward of encoder block 2", "without the norm of the feed-forward of encoder block 2"),
        ("residual of the self-attention of decoder block 1", "without the residual of the self-attention of decoder"),
        ("causal mask of the self-attention of decoder block 2", "with an open mask in the self-attention of decoder"),
        ("causal mask of the self-attention of encoder block 1", "with a causal mask in the self-attention of encoder"),
    ],
)
def test_norms_residuals_and_masks_are_switched_beside_the_part(bare_page, name, words):
    open_machine(bare_page)
    switch = bare_page.get_by_role("button", name=name, exact=True)
    was = switch.get_attribute("aria-pressed")
    switch.click()
    assert words in summary(bare_page) and switch.get_attribute("aria-pressed") != was
    switch.press("Enter")
    assert "intact" not in summary(bare_page) and switch.get_attribute("aria-pressed") == was


def test_all_residuals_and_norms_are_named_together(bare_page):
    open_machine(bare_page)
    bare_page.get_by_label("All residuals").uncheck()
    bare_page.get_by_role("button", name="norm of the feed-forward of encoder block 2", exact=True).click()
    assert "without any of the 10 residuals and without the norm of" in summary(bare_page)


def test_without_positions_the_order_of_the_words_means_nothing(bare_page):
    open_machine(bare_page)
    bare_page.get_by_label("Positions").uncheck()
    written = []
    for text in ("one two three", "three one two"):
        bare_page.get_by_label("Translate").fill(text)
        bare_page.get_by_label("Translate").press("Enter")
        bare_page.wait_for_timeout(400)
        written.append(bare_page.text_content(".tx-to-text"))
    assert "without positions it says" in summary(bare_page)
    assert written[0] == written[1] != ""


def test_the_headline_is_what_the_changed_machine_writes(bare_page):
    open_machine(bare_page)
    part(bare_page, "source: two").click()
    bare_page.get_by_label("Vector of", exact=True).select_option(label="seven")
    bare_page.get_by_label("All residuals").uncheck()
    said = "() => document.querySelector('.tx-writes').textContent.includes('any of the 10 residuals')"
    bare_page.wait_for_function(said)
    told, broken = bare_page.text_content(".tx-writes"), bare_page.text_content(".tx-to-text")
    same = bare_page.locator(".tx-wrong").count() == 0
    assert broken != "…" and told.startswith("The same, " if same else "This comes ")
    bare_page.get_by_role("button", name="Back", exact=True).click()
    assert bare_page.text_content(".tx-to-text") == broken  # whatever step is shown
    bare_page.get_by_role("button", name="Reset").click()
    assert bare_page.locator(".tx-wrong").count() == 0


def test_a_word_gets_the_vector_of_another(bare_page):
    open_machine(bare_page)
    part(bare_page, "source: two").click()
    bare_page.get_by_label("Vector of", exact=True).select_option(label="seven")
    assert "with the vector of 'seven' in place of 'two'" in summary(bare_page)
    changed = bare_page.evaluate(CHANGED)
    assert changed.count("encoder.embedding") == 1 and changed.count("encoder.positions") == 0
    bare_page.get_by_label("Vector of", exact=True).select_option(label="two (its own)")
    assert bare_page.evaluate(CHANGED) == []


STREAM = "stream of encoder block 1: two"
CHOICE = re.compile("^Patch: take it from a run in which this word is")
LABEL = "() => document.activeElement.labels?.[0]?.textContent ?? ''"


def test_a_state_is_patched_by_keys_from_a_run_with_another_word(bare_page):
    """It says so, is kept in the state, and reset takes it back; a state of before has no patches."""
    view = open_machine(bare_page, edits={"replace": [{"side": "target", "position": 1, "id": 5}]})
    bare_page.get_by_role("button", name="Reset").click()
    before = bare_page.evaluate(SEEN)
    part(bare_page, STREAM).focus()
    bare_page.keyboard.press("Enter")
    assert CHOICE.match(bare_page.evaluate(LABEL))
    bare_page.keyboard.type("seven")
    assert CHOICE.match(bare_page.evaluate(LABEL))  # the next choice is as near
    assert "with the vector of 'seven' after encoder block 1 in place of that of 'two'" in summary(bare_page)
    assert "Patched: it comes from a run in which this word is 'seven'." in panel(bare_page)
    assert part(bare_page, STREAM).get_attribute("aria-label").endswith("two, patched with the vector of seven")
    changed = bare_page.evaluate(CHANGED)
    assert changed.count("encoder.blocks.0.hidden") == 1 and "encoder.blocks.0.feed_forward" not in changed
    assert changed.count("encoder.blocks.1.hidden") == 3 and "logits" in changed
    bare_page.wait_for_function("() => document.querySelector('.tx-writes').textContent.includes('of that of')")
    bare_page.wait_for_function("() => window.saved?.edits?.patches.length")
    told, said = bare_page.evaluate("() => window.saved"), summary(bare_page)
    seven = view.spec["source"]["tokens"].index("seven")
    assert told["edits"]["patches"] == [{"side": "encoder", "position": 1, "block": 0, "id": seven}]
    bare_page.get_by_label(CHOICE).select_option(label="two (its own)")
    assert bare_page.evaluate(CHANGED) == []
    bare_page.evaluate("() => document.getElementById('place').replaceChildren()")
    mount(bare_page, view._esm, {"spec": view.spec, "data": view.data, "state": told}, "state")
    assert summary(bare_page) == said
    bare_page.get_by_role("button", name="Reset").click()
    bare_page.keyboard.press("Escape")
    assert bare_page.evaluate(SEEN) == before


def test_the_memory_and_the_words_that_are_written_are_patched(bare_page):
    """A patch of the decoder is kept with the state, too; another text takes it back."""
    view = open_machine(bare_page)
    part(bare_page, "memory of encoder block 2: two").click()
    bare_page.get_by_label(CHOICE).select_option(label="seven")
    assert "with the vector of 'seven' after encoder block 2 in place of that of 'two'" in summary(bare_page)
    bare_page.get_by_role("button", name="Reset").click()
    part(bare_page, "stream of decoder block 1: ").nth(1).click()
    own = bare_page.get_by_label(CHOICE).locator("option", has_text="(its own)").text_content().split()[0]
    other = next(word for word in ("eins", "zwei") if word != own)
    bare_page.get_by_label(CHOICE).select_option(label=other)
    words = f"with the vector of '{other}' after decoder block 1 in place of that of '{own}'"
    assert words in summary(bare_page)
    bare_page.wait_for_function("() => window.saved?.edits?.patches.length")
    told = bare_page.evaluate("() => window.saved")
    bare_page.evaluate("() => document.getElementById('place').replaceChildren()")
    mount(bare_page, view._esm, {"spec": view.spec, "data": view.data, "state": told}, "state")
    assert words in summary(bare_page)
    bare_page.get_by_label("Translate").fill("four five")
    bare_page.get_by_label("Translate").press("Enter")  # other words are written there
    assert "with the vector" not in summary(bare_page)


@pytest.mark.parametrize("config", [{}, {"wiring": "post_norm"}])
def test_the_lens_shows_what_a_state_of_the_decoder_would_say(bare_page, config):
    model = translator(**config)
    view = open_machine(bare_page, machine(model, "one two three"))
    seen, tokens, last = view._passed.seen, view.spec["target"]["tokens"], len(view._passed.seen["logits"]) - 1
    shown = """() => [...document.querySelectorAll(".tx-panel .tx-bars > :is(b, span:not(.tx-track))")]
      .map((one) => one.textContent)"""
    for block in (0, 1):
        part(bare_page, f"stream of decoder block {block + 1}: ").last.focus()
        with torch.no_grad():
            logits = model.model.logits(model.model.decoder.norm(seen[f"decoder.blocks.{block}.hidden"][last]))
        chances, ids = logits.softmax(-1).topk(4)
        expected = [[tokens[i], f"{p:.2f}" if p >= 0.005 else "<0.01"] for p, i in zip(chances, ids, strict=True)]
        assert bare_page.evaluate(shown) == [one for pair in expected for one in pair]
        assert "Read as the last state (logit lens), it says:" in panel(bare_page)
    torch.testing.assert_close(logits, seen["logits"][last])
    part(bare_page, STREAM).focus()
    assert "lens" not in panel(bare_page)  # an encoder says nothing


def test_on_a_telephone_a_trained_translator_is_patched_by_touch(bare_page):
    """The finding of notebook 21; the panel keeps within the screen, and above the picture all is as high as before."""
    bare_page.set_viewport_size({"width": 390, "height": 844})
    open_machine(bare_page, machine(number_translator(progress=False), "four hundred twenty-one"))
    fits = "() => document.documentElement.scrollWidth <= innerWidth"
    inside = "() => { const p = document.querySelector('.tx-panel'); return p.scrollWidth <= p.clientWidth; }"
    top = "() => document.querySelector('.tx-encoder').getBoundingClientRect().top + scrollY"
    height = bare_page.evaluate(top)
    part(bare_page, "stream of encoder block 1: twenty").click()
    bare_page.get_by_label(CHOICE).select_option(label="thirty")
    bare_page.wait_for_function("() => document.querySelector('.tx-to-text').textContent.endsWith('und dreißig')")
    assert bare_page.text_content(".tx-wrong") == "dreißig"
    assert bare_page.evaluate(fits) and bare_page.evaluate(inside)
    part(bare_page, "stream of decoder block 1: ").last.click()
    assert bare_page.locator(".tx-panel .tx-track").count() == 4
    assert bare_page.evaluate(fits) and bare_page.evaluate(inside)
    bare_page.get_by_role("button", name="Reset").click()
    assert bare_page.evaluate(top) == height


def test_a_high_temperature_makes_the_probabilities_alike(bare_page):
    open_machine(bare_page)
    chance = "() => Number(document.querySelector('.tx-words-out .tx-bars span:last-of-type').textContent)"
    first = "() => document.querySelector('.tx-words-out .tx-track i').style.width"
    before = float(bare_page.evaluate(first).rstrip("%"))
    bare_page.get_by_label("Temperature").press("End")
    assert float(bare_page.evaluate(first).rstrip("%")) < before and bare_page.evaluate(chance) >= 0


def test_a_model_without_residuals_and_positions_has_no_switches_for_them(bare_page):
    config = {"wiring": "pre_norm_without_residual", "positions": PositionConfig("none")}
    open_machine(bare_page, machine(translator(**config), "one two three"))
    assert bare_page.get_by_role("button", name=re.compile("^residual")).count() == 0
    assert bare_page.get_by_label("All residuals").is_disabled() and bare_page.get_by_label("Positions").is_disabled()


@pytest.mark.parametrize(
    ("config", "norm", "block"),
    [
        ({}, "mean 0 and variance 1", "x ← x + self-attention + feed-forward"),
        (
            {"wiring": "post_norm", "norm": NormConfig("rms")},
            "root mean square",
            "x ← norm(x + f(x)),   f = self-attention, then feed-forward",
        ),
    ],
)
def test_the_panel_says_which_norm_and_which_wiring_the_model_has(bare_page, config, norm, block):
    open_machine(bare_page, machine(translator(**config), "one two three"))
    part(bare_page, "norm of the feed-forward of encoder block 1").focus()
    assert norm in panel(bare_page)
    part(bare_page, "stream of encoder block 1").first.focus()
    assert block in panel(bare_page)
