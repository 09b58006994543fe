"""Predict, then reveal, in Chromium without Jupyter: by mouse and by keyboard, with and without an answering kernel."""

import pytest

from tx_helpers.exercises.predictions import STYLE, Finding
from widget_page import HOSTILE, mount

WORDS = f"Which `T`? {HOSTILE}"
QUESTION = {"key": "hot", "question": WORDS, "choices": ["low", HOSTILE], "unit": "", "answer": None}
FINDING = {"key": "hot", "finding": "The answer is “low”.", "right": "low", "text": "Since `T` is 0.", "unit": ""}
NUMBER = {"key": "share", "question": "How many?", "choices": [], "unit": "%", "answer": None}
IN_RANGE = "Any answer from 15 % to 35 % counts as right."
SHARE = {"key": "share", "finding": IN_RANGE, "right": [15, 35], "text": "So.", "unit": "%"}
SAVED = "window.saved"


def both(page, question: dict, finding: dict) -> None:
    """The question and its finding; what the question sends is in `window.saved`."""
    page.add_style_tag(content=STYLE)
    mount(page, Finding._esm, finding | {"answer": None})
    mount(page, Finding._esm, question, sent="answer")


def finding(page) -> str:
    return page.locator(".tx-finding").inner_text()


def noted(page) -> str:
    return page.locator(".tx-predict [role=status]").inner_text()


def test_a_click_answers_and_the_finding_unfolds_at_once(bare_page):
    both(bare_page, QUESTION, FINDING)
    assert "Since" not in finding(bare_page) and noted(bare_page) == ""
    bare_page.get_by_role("button", name="low", exact=True).click()
    assert bare_page.evaluate(SAVED) == "low" and noted(bare_page) == "Your answer is noted."
    assert finding(bare_page).split("\n\n") == ["✓ You said “low”. That is right.", "Since T is 0."]
    assert bare_page.locator(".tx-finding code").inner_text() == "T"
    assert bare_page.get_by_role("button", name="Show it").count() == 0


def test_the_first_answer_is_kept_and_another_may_be_tried(bare_page):
    both(bare_page, QUESTION, FINDING)
    for name in (HOSTILE, "low"):
        bare_page.get_by_role("button", name=name, exact=True).click()
    assert bare_page.evaluate(SAVED) == HOSTILE
    assert noted(bare_page) == f"Noted is your first answer, “{HOSTILE}”."
    assert finding(bare_page).startswith(f"You said “{HOSTILE}”. The answer is “low”.")
    assert bare_page.get_by_role("button", pressed=True).inner_text() == "low"
    assert bare_page.locator("#place img, #place script").count() == 0


def test_the_keyboard_answers_and_asks_for_the_finding(bare_page):
    both(bare_page, QUESTION, FINDING)
    for key in ("Tab", "Space"):
        bare_page.keyboard.press(key)
    assert finding(bare_page) == "The answer is “low”.\n\nSince T is 0."
    assert bare_page.evaluate("document.activeElement.getAttribute('role')") == "status"
    for key in ("Tab", "Tab", "Enter"):
        bare_page.keyboard.press(key)
    assert bare_page.evaluate(SAVED) == HOSTILE
    assert finding(bare_page).startswith(f"You said “{HOSTILE}”.")


@pytest.mark.parametrize(
    ("typed", "begins"),
    [
        ("40", f"You said 40 %. {IN_RANGE}"),
        ("15", f"✓ You said 15 %. {IN_RANGE}"),
        ("0.5", "You said 0.5 %. Any answer"),
    ],
)
def test_a_number_is_given_by_enter_or_by_the_button(bare_page, typed, begins):
    both(bare_page, NUMBER, SHARE)
    bare_page.get_by_role("button", name="That is my guess").click()  # nothing yet: to the field
    assert bare_page.evaluate(SAVED) is None and bare_page.evaluate("document.activeElement.type") == "number"
    bare_page.keyboard.type(typed)
    bare_page.keyboard.press("Enter")
    assert bare_page.evaluate(SAVED) == float(typed) and finding(bare_page).startswith(begins)
    bare_page.get_by_label("Your guess").fill("7")
    bare_page.get_by_role("button", name="That is my guess").click()
    assert bare_page.evaluate(SAVED) == float(typed) and noted(bare_page).startswith("Noted is your first answer, ")


def test_an_answer_from_another_day_unfolds_the_finding(bare_page):
    mount(bare_page, Finding._esm, FINDING | {"answer": "low"})
    assert finding(bare_page).startswith("✓ You said “low”.")
    mount(bare_page, Finding._esm, QUESTION | {"answer": "low"}, sent="answer")
    assert bare_page.get_by_role("button", pressed=True).inner_text() == "low"
    assert noted(bare_page) == "Your answer is noted." and bare_page.evaluate(SAVED) is None


def test_a_finding_shown_after_the_answer_is_unfolded_and_after_a_restart_it_is_folded(bare_page):
    mount(bare_page, Finding._esm, dict(QUESTION), sent="answer")
    bare_page.get_by_role("button", name="low", exact=True).click()
    mount(bare_page, Finding._esm, FINDING | {"answer": None})
    assert "✓ You said" in finding(bare_page)
    bare_page.evaluate("() => document.getElementById('place').replaceChildren()")
    mount(bare_page, Finding._esm, dict(QUESTION), sent="answer")
    mount(bare_page, Finding._esm, FINDING | {"answer": None})
    assert "Show it" in finding(bare_page)


@pytest.mark.parametrize("name", ["Show me", "Show it"])
def test_who_asks_for_the_answer_at_one_end_is_not_offered_it_at_the_other(bare_page, name):
    both(bare_page, QUESTION, FINDING)
    bare_page.get_by_role("button", name=name).click()
    assert bare_page.get_by_role("button", name="Show").count() == 0
    assert noted(bare_page) == "The answer stands below." and finding(bare_page).startswith("The answer is “low”.")
    bare_page.get_by_role("button", name="low", exact=True).click()
    assert noted(bare_page) == "Your answer is noted."


def test_the_kernel_answers_too(bare_page):
    mount(bare_page, Finding._esm, SHARE | {"answer": None})
    bare_page.evaluate("tell('answer', 20)")
    assert finding(bare_page).startswith("✓ You said 20 %.")


def test_both_let_go_at_the_end(bare_page):
    mount(bare_page, Finding._esm, SHARE | {"answer": None})
    bare_page.evaluate("close_()")
    assert bare_page.evaluate("Object.keys(heard)") == []
    mount(bare_page, Finding._esm, dict(NUMBER), sent="answer")
    bare_page.keyboard.press("Tab")
    bare_page.get_by_label("Your guess").fill("20")
    bare_page.keyboard.press("Enter")
    assert bare_page.evaluate(SAVED) == 20 and "Show it" in finding(bare_page)
    bare_page.evaluate("close_()")
    assert bare_page.evaluate("Object.keys(heard)") == []
