"""The attention view in Chromium, without Jupyter: its arithmetic, its page, themes, hostile tokens, drawings."""

import math

import numpy as np
import pytest
import torch

from attention_pages import drawn, language_model, mount_view, summary, translation
from test_attention_view import HOSTILE, random_weights
from tx_helpers.widgets import attention_data
from tx_helpers.widgets.attention_view import AttentionView


@pytest.fixture
def page(bare_page):
    return bare_page


# ------------------------------------------------------------------------------------------------------ the arithmetic


def test_softmax_mask_temperature_and_scale_are_pytorch_s(page):
    mount_view(page, translation())
    source = torch.Generator().manual_seed(5)

    def draw(low: int, high: int) -> int:
        return int(torch.randint(low, high + 1, (), generator=source))

    cases, expected = [], []
    for _ in range(200):
        T, extra = draw(1, 9), draw(0, 4)
        S, recorded, causal = T + extra, bool(draw(0, 1)), bool(draw(0, 1))
        temperature, factor = draw(1, 50) / 10, math.sqrt(draw(1, 64))
        scores = torch.randn(T, S, generator=source) * 10 ** draw(-2, 2)
        real = torch.rand(S, generator=source) < 0.8
        ahead = torch.ones(T, S, dtype=torch.bool).triu(S - T + 1)
        base = real & ~ahead if recorded else real.expand(T, S)
        allowed = real & ~ahead if causal else (base | ahead & base.any(0) if recorded else base)
        from_scores = bool(draw(0, 1))
        raw = scores if from_scores else torch.nan_to_num(scores.masked_fill(~base, -math.inf).softmax(-1))
        logits = raw.double() if from_scores else raw.double().log()
        logits = (logits * factor / temperature).masked_fill(~allowed, -math.inf)
        expected.append(torch.nan_to_num(logits.softmax(-1)).flatten().tolist())
        options = {"temperature": temperature, "causal": causal, "factor": factor}
        shape = {"T": T, "S": S, "fromScores": from_scores, "recorded": recorded}
        cases.append([raw.flatten().tolist(), base.int().flatten().tolist(), shape, options])
        if not from_scores and temperature == 1 and causal == recorded:  # as given: the factor belongs to scores
            expected[-1] = raw.flatten().tolist()
    got = page.evaluate(
        """(cases) => cases.map(([raw, base, shape, options]) =>
             [...module.recompute(Float32Array.from(raw), Uint8Array.from(base), shape, options)])""",
        cases,
    )
    for mine, theirs in zip(got, expected, strict=True):
        np.testing.assert_allclose(mine, theirs, atol=1e-5)


def test_python_and_browser_say_the_same_at_every_setting(page):
    view = language_model()
    mount_view(page, view)
    assert summary(page) == view.summary
    for change in (
        {"layer": 1, "head": 2}, {"temperature": 0.3}, {"causal": False}, {"token": 2}, {"scaled": False},
        {"side": "key", "token": 3}, {"temperature": 5.0, "token": -1}, {"causal": True},
    ):  # fmt: skip
        page.evaluate("(state) => tell('state', state)", view.set(**change).state)
        assert summary(page) == view.summary


def test_the_lines_are_the_recorded_weights_to_begin_with(page):
    view = language_model()
    mount_view(page, view)
    expected = [(t, s, w) for (t, s), w in np.ndenumerate(view.weights) if w >= 0.02]
    assert [(t, s) for t, s, _ in drawn(page)] == [(t, s) for t, s, _ in expected]
    np.testing.assert_allclose([w for *_, w in drawn(page)], [w for *_, w in expected], atol=6e-4)
    assert all(s <= t and s != 1 for t, s, _ in drawn(page))


def test_every_head_keeps_the_mask_of_its_own(page):
    window = torch.ones(5, 5, dtype=torch.bool).tril().triu(-1)
    masks = torch.stack([window, torch.ones(5, 5, dtype=torch.bool).tril(), torch.eye(5, dtype=torch.bool)])
    scores, tokens = torch.zeros(1, 3, 5, 5), list("abcde")
    weights = scores.masked_fill(~masks, -math.inf).softmax(-1)
    view = AttentionView([attention_data.attention_from_scores("windows", scores, tokens, tokens, weights=weights)])
    mount_view(page, view)
    for head in range(3):
        page.evaluate("(state) => tell('state', state)", view.set(head=head, temperature=2.0).state)
        assert {(t, s) for t, s, _ in drawn(page)} == set(map(tuple, masks[head].nonzero().tolist()))


def test_of_too_many_lines_the_strongest_are_kept(page):
    weights = torch.randn(20, 20, generator=torch.Generator().manual_seed(6)).softmax(-1)
    view = AttentionView.from_tensor(weights, [f"t{i}" for i in range(20)])
    mount_view(page, view)
    assert (view.weights >= 0.02).sum() > 200
    strongest = np.argsort(view.weights.flatten())[-200:]
    assert {(t, s) for t, s, _ in drawn(page)} == {divmod(int(i), 20) for i in strongest}


# ---------------------------------------------------------------------------------------------------- good and bad days


@pytest.mark.parametrize("scheme", ["light", "dark"])
def test_axe_finds_no_serious_fault_and_everything_can_be_read_in_either_theme(browser, tmp_path, scheme):
    from axe_playwright_python.sync_playwright import Axe

    from browser_contrast import contrast_faults

    path = language_model(40).save(tmp_path / "x.html")
    context = browser.new_context(color_scheme=scheme)
    page = context.new_page()
    page.goto(path.as_uri())
    page.get_by_role("listbox", name="Query tokens").press("ArrowDown")
    found = Axe().run(page).response["violations"]
    serious = [(each["id"], each["nodes"][0]["html"]) for each in found if each["impact"] in ("serious", "critical")]
    is_dark = page.evaluate("() => document.querySelector('.tx-explorer').classList.contains('tx-dark')")
    pale = contrast_faults(page, ".tx-explorer")
    page.get_by_label("Temperature", exact=True).press("ArrowRight")
    page.get_by_role("option", name="t3", exact=True).first.click()  # locked, recomputed, the button can be pressed
    pale += contrast_faults(page, ".tx-explorer")
    context.close()
    assert serious == []
    assert pale == []
    assert is_dark == (scheme == "dark")


def test_the_theme_of_the_notebook_is_followed(page):
    mount_view(page, translation())
    page.evaluate("() => { document.body.style.background = '#111'; }")
    page.wait_for_selector(".tx-explorer.tx-dark")
    page.evaluate("() => { document.body.style.background = 'white'; }")
    page.wait_for_selector(".tx-explorer:not(.tx-dark)")


def test_hostile_tokens_run_no_code_and_are_shown_as_text(page):
    view = AttentionView.from_tensor(random_weights(len(HOSTILE), len(HOSTILE)), HOSTILE)
    mount_view(page, view)
    page.get_by_role("listbox", name="Query tokens").press("ArrowDown")
    assert page.evaluate("() => window.hurt") is None
    assert page.locator("#place img, #place script").count() == 0
    options = page.get_by_role("listbox", name="Query tokens").get_by_role("option")
    texts = [options.nth(i).locator("bdi").text_content() for i in (0, 4, 6)]
    assert texts == ["<img␣src=x␣onerro…", "⟨0⟩", "⟨202E⟩gnp⟨200F⟩"]
    assert options.nth(7).get_attribute("title") == "x" * 10_000
    assert options.nth(7).bounding_box()["width"] < 250


@pytest.mark.parametrize("view", [translation, lambda: AttentionView.from_tensor(random_weights(9, 9), HOSTILE[:9])])
def test_the_saved_page_is_interactive_without_a_kernel_and_without_a_network(page, tmp_path, view):
    view = view()
    page.goto(view.set(token=0).save(tmp_path / "x.html").as_uri())
    assert summary(page) == view.summary
    page.get_by_label("Temperature", exact=True).press("ArrowLeft")
    assert summary(page) == view.set(temperature=0.9).summary
    assert page.evaluate("() => window.hurt") is None  # and the page fixture has seen no request and no complaint


@pytest.mark.parametrize(
    ("T", "S", "words"), [(1, 1, "a"), (2, 2, "alone"), (3, 9, "wwwwwwwwwwww"), (40, 40, "t"), (41, 2, "")]
)
def test_a_stored_drawing_names_rows_and_columns_and_cuts_no_word(page, tmp_path, T, S, words):
    queries, keys = [f"{words}{i}" for i in range(T)], [f"{words}:{i}" for i in range(S)]
    view = AttentionView.from_tensor(random_weights(T, S), queries, keys)
    drawing = view.save(tmp_path / "x.svg").read_text("utf-8")
    page.set_content(f'<!DOCTYPE html><html lang="en"><title>Test</title><body>{drawing}</body></html>')
    texts, outside = page.evaluate(
        """() => {
             const frame = document.querySelector("svg").getBoundingClientRect();
             const texts = [...document.querySelectorAll("text")];
             const cut = (text) => { const box = text.getBoundingClientRect();
               return box.left < frame.left || box.right > frame.right
                 || box.top < frame.top || box.bottom > frame.bottom };
             return [texts.map((text) => text.textContent), texts.filter(cut).map((text) => text.textContent)] }"""
    )
    assert outside == []
    assert {texts.count(name) for name in (*queries, *keys)} == {2 if max(T, S) <= 40 else 1}


def test_one_token_is_a_good_picture(page):
    mount_view(page, AttentionView.from_tensor([[1.0]], ["alone"]))
    assert summary(page) == "layer 1, head 1: 'alone' looks most at 'alone' (1.00)"
    assert drawn(page) == [(0, 0, 1.0)]


def test_a_sequence_longer_than_the_screen_scrolls_in_its_own_frame(page, tmp_path):
    page.goto(language_model(128, layers=12, heads=12).save(tmp_path / "x.html").as_uri())
    frame = page.locator(".tx-scroll", has=page.locator(".tx-lines"))
    assert frame.bounding_box()["height"] < 600
    page.get_by_role("listbox", name="Query tokens").press("End")
    assert summary(page).startswith("layer 1, head 1: 't127' looks most at")
    shown, around = page.locator("[id$=query-127]").bounding_box(), frame.bounding_box()
    assert around["y"] <= shown["y"] <= around["y"] + around["height"] - shown["height"] + 1
    assert len(drawn(page)) <= 128
    page.keyboard.press("Escape")
    assert len(drawn(page)) <= 200
    assert page.evaluate("document.documentElement.scrollWidth <= innerWidth")


def test_data_that_did_not_arrive_is_an_error_in_place(page):
    view = translation()
    view.widget.data = view.widget.data[:8]
    mount_view(page, view)
    assert "run its cell again" in page.text_content(".tx-error")
