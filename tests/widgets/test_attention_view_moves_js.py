"""The attention view in Chromium, without Jupyter: what keys and mouse do."""

import numpy as np
import pytest
import torch

from attention_pages import drawn, language_model, mount_view, summary, translation
from tx_helpers.show.shapes import WEIGHT, rgb
from tx_helpers.widgets.attention_view import AttentionView


@pytest.fixture
def page(bare_page):
    return bare_page


def test_every_control_is_reached_by_tab_and_has_its_name(page):
    mount_view(page, language_model())
    names = []
    for _ in range(8):
        page.keyboard.press("Tab")
        names.append(page.evaluate("() => document.activeElement.getAttribute('aria-label')"))
    assert names == [
        "Layer", "Head", "Temperature", "Causal mask", "Divide by √d_k", "layer 1, head 1", "Query tokens",
        "Key tokens",
    ]  # fmt: skip
    assert page.get_by_role("combobox", name="Layer", exact=True).count() == 1
    assert page.evaluate("document.activeElement.getAttribute('data-lm-suppress-shortcuts')") == "true"
    assert page.locator(".tx-explorer.tx-explorer-lm[data-lm-suppress-shortcuts=true] .tx-picture").count() == 1


def test_the_keyboard_turns_every_control_and_the_kernel_hears_of_it(page):
    view = language_model()
    mount_view(page, view)
    page.get_by_label("Layer", exact=True).focus()
    page.keyboard.press("ArrowDown")
    page.get_by_label("Head", exact=True).focus()
    page.keyboard.press("ArrowDown")
    page.keyboard.press("ArrowDown")
    page.get_by_label("Temperature", exact=True).focus()
    page.keyboard.press("ArrowRight")
    page.get_by_label("Causal mask", exact=True).focus()
    page.keyboard.press(" ")
    page.get_by_label("Divide by √d_k", exact=True).focus()
    page.keyboard.press(" ")
    turned = {"layer": 1, "head": 2, "temperature": 1.1, "causal": False, "scaled": False}
    assert summary(page) == view.set(**turned).summary
    assert "layer 2, head 3, temperature 1.10, causal mask off, not scaled" in summary(page)
    assert "everything before it frozen" in page.text_content(".tx-note")
    page.wait_for_function("() => window.saved?.scaled === false")
    assert page.evaluate("saved") == view.state
    page.get_by_role("button", name="As recorded").press("Enter")
    assert summary(page) == view.set(temperature=1.0, causal=True, scaled=True).summary
    assert page.text_content(".tx-note") == "The weights as they were recorded."


def test_as_recorded_leaves_off_a_mask_that_was_not_there(page):
    view = translation()
    mount_view(page, view)
    page.get_by_label("Temperature", exact=True).press("End")
    page.get_by_role("button", name="As recorded").click()
    assert summary(page) == view.summary
    assert page.text_content(".tx-note") == "The weights as they were recorded."


def test_arrow_keys_pick_a_token_and_escape_frees_it(page):
    view = translation()
    mount_view(page, view)
    everything = drawn(page)
    queries = page.get_by_role("listbox", name="Query tokens")
    queries.press("ArrowDown")
    assert summary(page) == view.set(token=0).summary
    assert {t for t, *_ in drawn(page)} == {0}
    active = page.evaluate(
        "document.getElementById(document.activeElement.getAttribute('aria-activedescendant')).innerText"
    )
    assert active == "ein"
    queries.press("End")
    assert summary(page) == view.set(token=2).summary
    queries.press("ArrowDown")  # the end stays the end
    assert summary(page) == view.summary
    queries.press("ArrowRight")  # over to the keys
    page.keyboard.press("ArrowUp")
    assert summary(page) == view.set(side="key", token=1).summary
    assert page.get_attribute(".tx-picture", "aria-label").endswith(view.summary)
    page.keyboard.press("Escape")
    assert summary(page) == view.set(side="query", token=-1).summary
    assert drawn(page) == everything


def test_hovering_picks_a_click_locks_and_escape_frees(page):
    view = translation()
    mount_view(page, view)
    page.get_by_role("option", name="und").hover()
    assert summary(page) == view.set(token=1).summary
    page.mouse.move(5, 5)
    assert summary(page) == view.set(token=-1).summary
    page.get_by_role("option", name="und").click()
    page.get_by_role("option", name="one").hover()
    assert summary(page) == view.set(token=1).summary
    page.keyboard.press("Escape")
    page.get_by_role("option", name="one").hover()
    assert summary(page) == view.set(side="key").summary


def test_a_second_click_frees_and_a_click_elsewhere_moves_the_lock(page):
    view = translation()
    mount_view(page, view)
    und, one = page.get_by_role("option", name="und"), page.get_by_role("option", name="one")
    und.click()
    one.click()
    assert summary(page) == view.set(side="key", token=1).summary
    assert page.locator(".tx-locked").all_text_contents() == ["one"]
    one.click()
    assert page.locator(".tx-locked").count() == 0
    page.mouse.move(5, 5)
    assert summary(page) == view.set(side="query", token=-1).summary


def test_the_matrix_and_the_enter_key_lock_too(page):
    view = translation()
    mount_view(page, view)
    box = page.locator("canvas[role=img]").bounding_box()
    page.mouse.click(box["x"] + box["width"] - 40, box["y"] + box["height"] - 11)
    page.get_by_role("option", name="one").hover()
    assert summary(page) == view.set(token=2).summary
    queries = page.get_by_role("listbox", name="Query tokens")
    queries.press("Enter")
    assert page.locator(".tx-locked").count() == 0
    queries.press("Home")
    queries.press("Enter")
    page.get_by_role("option", name="one").hover()
    assert summary(page) == view.set(token=0).summary


def test_each_token_of_the_other_side_has_its_weight_beside_it(page):
    view = translation()
    mount_view(page, view)
    page.get_by_role("listbox", name="Query tokens").press("ArrowDown")
    beside = page.get_by_role("listbox", name="Key tokens").locator(".tx-weight").all_text_contents()
    assert [float(text or 0) for text in beside] == pytest.approx(view.weights[0], abs=0.0051)
    page.get_by_role("listbox", name="Key tokens").press("ArrowDown")
    beside = page.get_by_role("listbox", name="Query tokens").locator(".tx-weight").all_text_contents()
    assert [float(text or 0) for text in beside] == pytest.approx(view.weights[:, 0], abs=0.0051)
    assert [(t, s) for t, s, _ in drawn(page)] == [(t, 0) for t in range(3) if view.weights[t, 0] >= 0.02]


def test_the_matrix_has_its_rows_and_its_frame_in_their_places(page):
    view = language_model()
    mount_view(page, view)
    page.get_by_role("listbox", name="Query tokens").press("End")
    matrix, band = page.locator("canvas[role=img]").bounding_box(), page.locator(".tx-band").bounding_box()
    assert band["y"] + band["height"] == pytest.approx(matrix["y"] + matrix["height"], abs=2)  # the last of four rows
    opacities = page.evaluate(
        """([left, top, size]) => {
             const canvas = document.querySelector("canvas[role=img]"), { width, height } = canvas;
             const { data } = canvas.getContext("2d").getImageData(0, 0, width, height);
             return [0, 1, 2, 3].map((t) => [0, 1, 2, 3].map((s) =>
               data[4 * (Math.round(top + (t + 0.5) * size) * width + Math.round(left + (s + 0.5) * size)) + 3])) }""",
        [band["x"] - matrix["x"], band["y"] - matrix["y"] - 3 * band["height"], band["height"]],
    )
    assert opacities == pytest.approx(255 * view.weights, abs=1)  # gold, as opaque as the weight is large


@pytest.mark.parametrize("theme", ["light", "dark"])
def test_a_full_weight_is_gold_and_no_weight_is_the_page_in_both_themes(page, theme):
    page.evaluate("colour => { document.body.style.background = colour }", {"light": "#fff", "dark": "#111"}[theme])
    mount_view(page, AttentionView.from_tensor(torch.eye(2), ["a", "b"]))
    page.wait_for_selector(".tx-dark" if theme == "dark" else ".tx-attention:not(.tx-dark)")
    full, none = page.evaluate(
        """() => { const canvas = document.querySelector("canvas[role=img]"), { width, height } = canvas;
             const { data } = canvas.getContext("2d").getImageData(0, 0, width, height);
             const at = (x, y) => [...data.slice(4 * (y * width + x), 4 * (y * width + x) + 4)];
             return [at(width - 20, height - 8), at(width - 20, height - 30)]; }"""
    )
    assert full == [*rgb(WEIGHT.full), 255] and none[3] == 0


@pytest.mark.parametrize(
    ("role", "name", "key"),
    [
        *(("slider", "Temperature", "End"), ("checkbox", "Causal mask", " ")),
        *(("checkbox", "Divide by √d_k", " "), ("button", "As recorded", " ")),
    ],
)
def test_thumbnails_follow_every_setting(page, role, name, key):
    view = language_model()
    mount_view(page, view.set(temperature=3.0) if name == "As recorded" else view)
    page.wait_for_function("() => [...document.querySelectorAll('.tx-heads canvas')].every((c) => c.width === 4)")
    last = "() => document.querySelectorAll('.tx-heads canvas')[5].toDataURL()"
    before = page.evaluate(last)
    page.get_by_role(role, name=name, exact=True).press(key)
    page.wait_for_function(f"(before) => ({last})() !== before", arg=before, timeout=5000)


def test_a_cell_of_a_thumbnail_is_the_strongest_of_those_it_stands_for(page):
    weights = torch.zeros(1, 2, 96, 96)
    rows = torch.arange(96)
    weights[:, :, rows, rows // 2 * 2] = 1.0  # of each 2 × 2 cells the left two
    mount_view(page, AttentionView.from_tensor(weights, [f"t{i}" for i in range(96)]))
    page.wait_for_function("() => [...document.querySelectorAll('.tx-heads canvas')].every((c) => c.width === 48)")
    opacities = page.evaluate(
        """() => { const canvas = document.querySelector(".tx-heads canvas");
             return [...canvas.getContext("2d").getImageData(0, 0, 48, 48).data].filter((_, i) => i % 4 === 3) }"""
    )
    assert np.array_equal(np.array(opacities).reshape(48, 48) > 0, np.eye(48, dtype=bool))


def test_the_matrix_picks_the_query_under_the_mouse(page):
    view = translation()
    mount_view(page, view)
    box = page.locator("canvas[role=img]").bounding_box()
    page.mouse.move(box["x"] + box["width"] - 40, box["y"] + box["height"] - 11)
    assert summary(page) == view.set(token=2).summary


def test_thumbnails_show_every_head_and_choose_one(page):
    view = language_model()
    mount_view(page, view)
    page.wait_for_function("() => [...document.querySelectorAll('.tx-heads canvas')].every((c) => c.width === 4)")
    strongest = page.evaluate(
        """() => [...document.querySelectorAll(".tx-heads canvas")].map((canvas) => {
             const { data } = canvas.getContext("2d").getImageData(0, 3, 4, 1);
             return [0, 1, 2, 3].reduce((best, s) => data[4 * s + 3] > data[4 * best + 3] ? s : best, 0); })"""
    )
    last_rows = [view.attention.weights(layer, head)[3].argmax() for layer in range(2) for head in range(3)]
    assert strongest == last_rows
    page.get_by_role("button", name="layer 2, head 2").click()
    assert summary(page) == view.set(layer=1, head=1).summary
    page.keyboard.press("ArrowUp")
    page.keyboard.press("ArrowRight")
    assert summary(page) == view.set(layer=0, head=2).summary
    assert page.get_by_label("Head", exact=True).input_value() == "2"
    assert page.get_by_role("button", pressed=True).get_attribute("aria-label") == "layer 1, head 3"


def test_another_attention_brings_its_own_tokens_and_controls(page):
    views = language_model(), translation()
    view = AttentionView([v.attention for v in views], "two")
    mount_view(page, view)
    page.get_by_label("Attention", exact=True).select_option(label="Attention")
    assert page.get_by_role("listbox", name="Key tokens").inner_text().split() == ["twenty", "one"]
    assert summary(page) == view.set(attention=1).summary
    assert page.get_by_label("Causal mask").is_disabled()
    assert "another sequence" in page.text_content(
        "#" + page.get_by_label("Causal mask").get_attribute("aria-describedby")
    )


def test_the_kernel_can_turn_to_another_attention(page):
    view = AttentionView([v.attention for v in (language_model(), translation())], "two")
    mount_view(page, view)
    page.evaluate("(state) => tell('state', state)", view.set(attention=1).state)
    assert page.get_by_role("listbox", name="Key tokens").inner_text().split() == ["twenty", "one"]
    assert summary(page) == view.summary


def test_from_weights_alone_nothing_is_unmasked_and_the_view_says_why(page):
    mount_view(page, AttentionView.from_tensor(torch.eye(3), ["a", "b", "c"]))
    assert page.get_by_label("Causal mask").is_checked()
    assert page.get_by_label("Causal mask").is_disabled()
    assert page.get_by_label("Divide by √d_k").is_disabled()
    assert "from weights alone nothing can be unmasked" in page.inner_text(".tx-explorer")
    page.get_by_label("Temperature", exact=True).press("ArrowRight")
    assert "logarithms of its weights" in page.text_content(".tx-note")


def test_a_view_that_is_closed_leaves_nothing_behind(page):
    mount_view(page, translation())
    page.evaluate("close_()")
    assert page.evaluate("Object.keys(heard)") == []
