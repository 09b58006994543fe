"""The attention stepper in Chromium, without Jupyter: its arithmetic, its words, keys, mouse, themes, hostile words."""

import pytest
import torch
from test_attention_stepper import SENTENCE, stepper

from browser_contrast import contrast_faults
from tx_helpers.lessons.self_attention.attention_stepper import STYLE, AttentionStepper, count_steps, steps_of
from widget_page import HOSTILE, mount

# An interval ticks when the test says so.
BY_HAND = """() => {
  window.setInterval = (call) => ((window.tick = call), 1);
  window.clearInterval = () => { window.tick = null };
}"""


def show(page, shown: AttentionStepper) -> None:
    mount(page, shown._esm, {"spec": dict(shown.spec), "state": dict(shown.state)}, sent="state")
    page.add_style_tag(content=STYLE)


@pytest.fixture
def page(bare_page):
    show(bare_page, stepper(query=1))
    return bare_page


def summary(page) -> str:
    return page.text_content(".tx-summary")


def arithmetic(page) -> str:
    return page.text_content(".tx-arithmetic span")


def cell(page, name: str):
    return page.get_by_role("button", name=name, exact=True)


def go(page, step: int) -> None:
    page.evaluate("(step) => tell('state', { ...window.saved ?? start, step })", step)


def test_the_browser_computes_what_pytorch_does(page):
    source = torch.Generator().manual_seed(0)
    for _ in range(50):
        T, D, K, V = torch.randint(1, 6, (4,), generator=source).tolist()
        state = {
            **{"x": torch.randn(T, D, generator=source).tolist(), "W_Q": torch.randn(D, K, generator=source).tolist()},
            **{
                "W_K": torch.randn(D, K, generator=source).tolist(),
                "W_V": torch.randn(D, V, generator=source).tolist(),
            },
            **{"root": T % 2 == 0, "temperature": 0.5 + T / 2},
        }
        got, right = page.evaluate("(state) => module.attend(state)", state), steps_of(state)
        for name in right._fields:
            torch.testing.assert_close(torch.tensor(got[name]).double(), getattr(right, name), atol=1e-5, rtol=1e-5)


@pytest.mark.parametrize("sentence", [SENTENCE, "one", "four four <b>& one hundred four"])
def test_python_and_browser_say_the_same_at_every_step(bare_page, sentence):
    shown = stepper(sentence, query=0)
    show(bare_page, shown)
    for temperature, root in ((1.0, True), (0.3, False)):
        for step in range(count_steps(shown.state)):
            shown.set(step=step, temperature=temperature, root=root)
            bare_page.evaluate("(state) => tell('state', state)", dict(shown.state))
            assert summary(bare_page) == shown.summary


def test_the_buttons_and_the_slider_turn_the_steps_by_keyboard(page):
    names = []
    for _ in range(6):
        page.keyboard.press("Tab")
        names.append(
            page.evaluate('(e => e.matches("button") ? e.innerText : e.labels[0].innerText)(document.activeElement)')
        )
    assert [name.split("\n")[0].strip() for name in names] == [
        *("Sentence (up to 6 words)", "Who asks", "Back", "Play", "Next", "Step"),
    ]
    page.get_by_role("button", name="Next").press("Enter")
    page.get_by_role("button", name="Next").press(" ")
    assert summary(page).startswith("Step 3 of 11. The keys")
    page.get_by_role("button", name="Back").press("Enter")
    assert summary(page).startswith("Step 2 of 11. The query of 'hundred'")
    page.get_by_label("Step", exact=True).press("End")
    assert summary(page).startswith("Step 11 of 11") and page.evaluate("saved.step") == 10
    page.get_by_role("button", name="Next").press("Enter")
    assert summary(page).startswith("Step 11 of 11")
    page.get_by_role("button", name="Start again").press("Enter")
    assert summary(page).startswith("Step 1 of 11")


def test_play_goes_to_the_end_and_pauses(page):
    page.evaluate(BY_HAND)
    page.get_by_role("button", name="Play").click()
    page.evaluate("() => { while (window.tick) window.tick() }")
    assert summary(page).startswith("Step 11 of 11")
    page.get_by_role("button", name="Play").click()  # from the start
    page.evaluate("() => window.tick()")
    assert summary(page).startswith("Step 2 of 11")
    page.get_by_role("button", name="Pause").click()
    assert page.evaluate("() => window.tick") is None and page.get_by_role("button", name="Play").count() == 1


def test_only_what_has_been_computed_is_shown(page):
    numbers = "() => [...document.querySelectorAll('.tx-cell text')].filter((t) => t.textContent).length"
    given, projected = 9 + 12 + 12 + 6, (12, 12, 6)
    expected = [given + sum(projected[:n]) for n in range(4)]
    expected += [expected[3] + n for n in (1, 2, 3, 6, 9, 11)] + [expected[3] + 9 * 3 + 6]
    got = []
    for _ in expected:
        got.append(page.evaluate(numbers))
        page.get_by_role("button", name="Next").dispatch_event("click")
    assert got == expected


def test_what_multiplies_lights_up_and_what_flows_is_drawn_as_thick_as_its_weight(page):
    lit = "() => [...document.querySelectorAll('.tx-lit')].map((g) => g.getAttribute('aria-label'))"
    page.get_by_label("Step", exact=True).fill("5")
    query = [f"Q, hundred, column {n}: {v}" for n, v in zip((1, 2, 3, 4), ("1", "0", "−1", "1"), strict=True)]
    key = [f"K, four, column {n}: {v}" for n, v in zip((1, 2, 3, 4), "2002", strict=True)]
    assert page.evaluate(lit) == [*query, *key, "scores, hundred, four: 4"]
    page.get_by_label("Step", exact=True).fill("10")
    widths = page.eval_on_selector_all(".tx-flow", "(all) => all.map((p) => Number(p.getAttribute('stroke-width')))")
    weights = steps_of(stepper().state).weights[1]
    assert widths == pytest.approx([1 + 7 * weight for weight in weights.tolist()])


def test_a_click_or_enter_shows_the_arithmetic_of_a_cell(page):
    assert arithmetic(page).startswith("Click a number")
    cell(page, "Q, hundred, column 3: not yet computed").click()
    assert arithmetic(page) == "This number is not computed yet: go on with Next."
    page.get_by_label("Step", exact=True).press("End")
    cell(page, "Q, hundred, column 3: −1").click()
    assert arithmetic(page) == (
        "q of 'hundred', entry 3: row 'hundred' of x times column 3 of W_Q, 0·0 + 1·(−1) + 0·1 = −1."
    )
    assert page.locator(".tx-operand").count() == 3 + 3
    page.keyboard.press("ArrowDown")
    page.keyboard.press("Enter")
    assert arithmetic(page).startswith("q of 'one', entry 3:")
    cell(page, "weights, hundred, four: 0.67").press("Enter")
    assert arithmetic(page) == (
        "Weight of 'four' for 'hundred': e to the power 2 is 7.39; divided by the sum of its row, "
        "7.39 + 2.72 + 1 = 11.11, it is 0.67."
    )
    cell(page, "out, hundred, column 1: 3.02").click()
    assert arithmetic(page).endswith("0.67·4 + 0.24·0 + 0.09·4 = 3.02.")
    page.keyboard.press("Escape")
    assert arithmetic(page).startswith("Click a number") and page.locator(".tx-operand").count() == 0


def test_arrow_keys_reach_every_matrix_and_tab_only_one_cell(page):
    reached = set()
    cell(page, "x, four, column 1: 1").focus()
    for key in (
        *["ArrowRight"] * 12,
        *["ArrowUp"] * 5,
        *["ArrowLeft"] * 8,
        *["ArrowDown"] * 9,
        *["ArrowLeft"] * 14,
        *["ArrowRight"] * 12,
    ):
        page.keyboard.press(key)
        reached.add(page.evaluate("document.activeElement.getAttribute('aria-label').split(',')[0]"))
    assert reached == set(steps_of(stepper().state)._fields)
    assert page.locator(".tx-cell[tabindex='0']").count() == 1


def test_a_given_number_is_changed_by_hand_and_everything_follows(page):
    page.get_by_label("Step", exact=True).press("End")
    cell(page, "W_K, row 1, column 1: 2").press("Enter")
    assert page.evaluate("document.activeElement.type") == "number"
    page.keyboard.type("-3")
    page.keyboard.press("Enter")
    saved = page.evaluate("saved")
    assert saved["W_K"][0] == [-3, 0, 0, 2]
    assert page.evaluate("document.activeElement.getAttribute('aria-label')") == "W_K, row 1, column 1: −3"
    cell(page, "scores, hundred, four: −1").click()  # was 4
    assert page.get_by_label("Change it:").is_hidden()
    cell(page, "x, one, column 2: 0").click()
    page.get_by_label("Change it:").fill("99")  # more than may be
    assert page.evaluate("saved.x") == saved["x"]
    page.get_by_label("Change it:").fill("1")
    assert page.evaluate("saved.x")[2] == [1, 1, 1]
    page.get_by_role("button", name="Start again").click()
    assert page.evaluate("saved") == stepper(query=1).state


def test_another_sentence_has_another_picture(page):
    page.get_by_label("Sentence").fill("one hundred")
    page.get_by_label("Sentence").press("Enter")
    assert summary(page) == stepper("one hundred", query=1).summary
    page.get_by_label("Who asks").select_option("one")
    page.get_by_label("Step", exact=True).press("End")
    shown = stepper("one hundred")
    shown.set(step=9)
    assert summary(page) == shown.summary
    page.get_by_label("Sentence").fill("four constructor")
    page.get_by_label("Sentence").press("Enter")
    assert page.text_content(".tx-error").startswith("'constructor' has no vector yet: its row of x is 0.")
    assert page.evaluate("saved.x") == [[1, 0, 0], [0, 0, 0]]
    page.get_by_label("Sentence").fill("one " * 7)
    page.get_by_label("Sentence").press("Enter")
    assert page.text_content(".tx-error") == "7 words, expected 1 to 6"


def test_root_and_temperature_change_the_weights_without_the_kernel(page):
    shown = stepper(query=1)
    page.get_by_label("Step", exact=True).fill("9")
    page.get_by_label("Divide by √d_k").press(" ")
    page.get_by_label("Temperature").press("End")
    shown.set(step=8, root=False, temperature=4.0)
    assert summary(page) == shown.summary
    page.evaluate("close_()")
    assert page.evaluate("Object.keys(heard)") == []


def test_marks_travel_unless_less_motion_is_asked_for(page):
    page.get_by_label("Step", exact=True).fill("9")
    for motion, count in (("no-preference", 3), ("reduce", 0)):
        page.emulate_media(reduced_motion=motion)
        page.get_by_label("Step", exact=True).fill("9")
        page.get_by_role("button", name="Next").click()
        assert page.locator(".tx-picture g:last-child .tx-value").count() == count


def test_a_hostile_word_stays_text(bare_page):
    table = {HOSTILE.lower().split()[0]: (1.0,), "b": (2.0,)}
    W = torch.ones(1, 1)
    show(bare_page, AttentionStepper(table, " ".join(table), W, W, W))
    assert bare_page.locator("#place img, #place script").count() == 0
    bare_page.get_by_label("Sentence").fill('<img/src=x/onerror=alert(1)> "><b>')
    bare_page.get_by_label("Sentence").press("Enter")
    assert bare_page.locator("#place img, #place b").count() == 0


@pytest.mark.parametrize("dark", [False, True])
@pytest.mark.parametrize("width", [650, 1000])
def test_it_can_be_read_in_either_theme_and_fits_the_page(page, dark, width):
    from axe_playwright_python.sync_playwright import Axe

    page.set_viewport_size({"width": width, "height": 900})
    page.evaluate("(dark) => { document.documentElement.style.colorScheme = dark ? 'dark' : 'light' }", dark)
    for step in ("1", "5", "10", "11"):
        page.get_by_label("Step", exact=True).fill(step)
        assert contrast_faults(page, ".tx-stepper") == []
    found = Axe().run(page).response["violations"]
    assert [each["id"] for each in found if each["impact"] in ("serious", "critical")] == []
    assert page.evaluate("document.documentElement.scrollWidth") <= width
    light = page.evaluate("getComputedStyle(document.querySelector('.tx-stepper')).backgroundColor")
    assert (light == "rgb(27, 33, 39)") is dark


def test_a_redraw_is_fast(page):  # a bound far above what it takes, so that it holds on a busy machine
    page.get_by_label("Sentence").fill("four hundred one four hundred one")
    page.get_by_label("Sentence").press("Enter")
    page.get_by_label("Temperature").focus()
    taken = page.evaluate(
        """() => { const input = document.activeElement, times = [];
        for (let i = 0; i < 20; i++) { const begin = performance.now(); input.value = 0.5 + i / 10;
          input.dispatchEvent(new Event("input")); times.push(performance.now() - begin) }
        return times.sort((a, b) => a - b)[10] }"""
    )
    assert taken < 500
