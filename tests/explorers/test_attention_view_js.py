"""The attention view in Chromium, without Jupyter: its arithmetic, its keys and mouse, its page, hostile tokens."""

import base64
import json
import math

import numpy as np
import pytest
import torch

pytest.importorskip("axe_playwright_python", reason="no axe: the attention view is not tested in a browser")
pytest.importorskip("playwright", reason="no playwright: the attention view is not tested in a browser")

from axe_playwright_python.sync_playwright import Axe

from browser_contrast import contrast_faults
from browser_harness import chromium
from test_attention_view import HOSTILE, random_weights
from tx_helpers.widgets import attention_data
from tx_helpers.widgets.attention_view import ESM, AttentionView

pytestmark = pytest.mark.slow
MOUNT = """async ({ esm, spec, state, data }) => {
  const bytes = Uint8Array.from(atob(data), (c) => c.charCodeAt(0));
  const stored = { spec, state, data: new DataView(bytes.buffer) }, heard = {};
  const model = {
    get: (key) => stored[key], set: (key, value) => { stored[key] = value; },
    on: (event, call) => { heard[event] = call; }, off: (event) => { delete heard[event]; },
    save_changes: () => { window.saved = structuredClone(stored.state); },
  };
  window.module = await import(URL.createObjectURL(new Blob([esm], { type: "text/javascript" })));
  window.tell = (state) => { stored.state = state; heard["change:state"](); };
  window.heard = heard;
  document.body.innerHTML = '<main id="view"></main>';
  window.close_ = module.default.render({ model, el: document.getElementById("view") });
}"""
PICTURE = """() => JSON.stringify([...document.querySelectorAll(".tx-picture line")]
  .filter((line) => line.style.display !== "none")
  .map((line) => ["y1", "y2", "stroke-opacity"].map((name) => Number(line.getAttribute(name)))))"""


@pytest.fixture(scope="module")
def browser():
    with chromium() as browser:
        yield browser


@pytest.fixture
def page(browser):
    page = browser.new_page(viewport={"width": 1000, "height": 900})
    page.complaints = []
    page.on("console", lambda message: message.type in ("error", "warning") and page.complaints.append(message.text))
    page.on("pageerror", lambda error: page.complaints.append(str(error)))
    page.on("request", lambda request: page.complaints.append(request.url) if request.url[:4] == "http" else None)
    page.set_content('<!DOCTYPE html><html lang="en"><title>Test</title><body style="background: white"></body></html>')
    yield page
    page.close()
    assert page.complaints == []


def mount(page, view: AttentionView) -> None:
    message = {"esm": ESM, "spec": view.widget.spec, "state": view.state}
    page.evaluate(MOUNT, message | {"data": base64.b64encode(view.widget.data).decode()})


def summary(page) -> str:
    return page.text_content(".tx-summary")


def drawn(page) -> list[tuple[int, int, float]]:
    """The lines to be seen: (query, key, opacity)."""
    rows = page.evaluate(f"({PICTURE})()")
    return [(round(y1 / 22 - 0.5), round(y2 / 22 - 0.5), w) for y1, y2, w in json.loads(rows)]


def translation() -> AttentionView:
    """Two layers of two heads, 'ein und zwanzig' on 'twenty one', scores given; d_k is 4."""
    scores = torch.randn(2, 2, 3, 2, generator=torch.Generator().manual_seed(3))
    return AttentionView.from_tensor(scores, ["ein", "und", "zwanzig"], ["twenty", "one"], scores=True, d_head=4)


def language_model(n: int = 4, layers: int = 2, heads: int = 3) -> AttentionView:
    """Causal self-attention with a padded key: scores and the weights that a real pass would make of them."""
    scores = torch.randn(layers, heads, n, n, generator=torch.Generator().manual_seed(4)) * 2
    mask = torch.ones(n, n, dtype=torch.bool).tril()
    mask[:, 1] = n < 2
    tokens = [f"t{i}" for i in range(n)]
    weights = scores.masked_fill(~mask, -math.inf).softmax(-1)
    made = attention_data.attention_from_scores("Self-attention", scores, tokens, tokens, weights=weights, d_head=4)
    return AttentionView([made], "lm")


# ------------------------------------------------------------------------------------------------------ the arithmetic


def test_softmax_mask_temperature_and_scale_are_pytorch_s(page):
    mount(page, translation())
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
    mount(page, view)
    assert summary(page) == view.summary
    for change in (
        {"layer": 1, "head": 2}, {"temperature": 0.3}, {"causal": False}, {"token": 2}, {"scaled": False},
        {"side": "key", "token": 3}, {"temperature": 5.0, "token": -1}, {"causal": True},
    ):  # fmt: skip
        page.evaluate("(state) => tell(state)", view.set(**change).state)
        assert summary(page) == view.summary


def test_the_lines_are_the_recorded_weights_to_begin_with(page):
    view = language_model()
    mount(page, view)
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
    mount(page, view)
    for head in range(3):
        page.evaluate("(state) => tell(state)", view.set(head=head, temperature=2.0).state)
        assert {(t, s) for t, s, _ in drawn(page)} == set(map(tuple, masks[head].nonzero().tolist()))


def test_of_too_many_lines_the_strongest_are_kept(page):
    weights = torch.randn(20, 20, generator=torch.Generator().manual_seed(6)).softmax(-1)
    view = AttentionView.from_tensor(weights, [f"t{i}" for i in range(20)])
    mount(page, view)
    assert (view.weights >= 0.02).sum() > 200
    strongest = np.argsort(view.weights.flatten())[-200:]
    assert {(t, s) for t, s, _ in drawn(page)} == {divmod(int(i), 20) for i in strongest}


# --------------------------------------------------------------------------------------------------- keyboard and mouse


def test_every_control_is_reached_by_tab_and_has_its_name(page):
    mount(page, language_model())
    names = []
    for _ in range(8):
        page.keyboard.press("Tab")
        names.append(page.evaluate("() => document.activeElement.getAttribute('aria-label')"))
    assert names == [
        "Layer", "Head", "Temperature", "Causal mask", "Scale by sqrt(d_k)", "layer 1, head 1", "Query tokens",
        "Key tokens",
    ]  # fmt: skip
    assert page.get_by_role("combobox", name="Layer", exact=True).count() == 1
    assert page.evaluate("document.activeElement.getAttribute('data-lm-suppress-shortcuts')") == "true"
    assert page.locator(".tx-explorer.tx-explorer-lm[data-lm-suppress-shortcuts=true] .tx-picture").count() == 1


def test_the_keyboard_turns_every_control_and_the_kernel_hears_of_it(page):
    view = language_model()
    mount(page, view)
    page.get_by_label("Layer", exact=True).focus()
    page.keyboard.press("ArrowDown")
    page.get_by_label("Head", exact=True).focus()
    page.keyboard.press("ArrowDown")
    page.keyboard.press("ArrowDown")
    page.get_by_label("Temperature", exact=True).focus()
    page.keyboard.press("ArrowRight")
    page.get_by_label("Causal mask", exact=True).focus()
    page.keyboard.press(" ")
    page.get_by_label("Scale by sqrt(d_k)", exact=True).focus()
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
    mount(page, view)
    page.get_by_label("Temperature", exact=True).press("End")
    page.get_by_role("button", name="As recorded").click()
    assert summary(page) == view.summary
    assert page.text_content(".tx-note") == "The weights as they were recorded."


def test_arrow_keys_pick_a_token_and_escape_frees_it(page):
    view = translation()
    mount(page, view)
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
    mount(page, view)
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
    mount(page, view)
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
    mount(page, view)
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
    mount(page, view)
    page.get_by_role("listbox", name="Query tokens").press("ArrowDown")
    beside = page.get_by_role("listbox", name="Key tokens").locator(".tx-weight").all_text_contents()
    assert [float(text or 0) for text in beside] == pytest.approx(view.weights[0], abs=0.0051)
    page.get_by_role("listbox", name="Key tokens").press("ArrowDown")
    beside = page.get_by_role("listbox", name="Query tokens").locator(".tx-weight").all_text_contents()
    assert [float(text or 0) for text in beside] == pytest.approx(view.weights[:, 0], abs=0.0051)
    assert [(t, s) for t, s, _ in drawn(page)] == [(t, 0) for t in range(3) if view.weights[t, 0] >= 0.02]


def test_the_matrix_has_its_rows_and_its_frame_in_their_places(page):
    view = language_model()
    mount(page, view)
    page.get_by_role("listbox", name="Query tokens").press("End")
    matrix, band = page.locator("canvas[role=img]").bounding_box(), page.locator(".tx-band").bounding_box()
    assert band["y"] + band["height"] == pytest.approx(matrix["y"] + matrix["height"], abs=2)  # the last of four rows
    reds = page.evaluate(
        """([left, top, size]) => {
             const canvas = document.querySelector("canvas[role=img]"), { width, height } = canvas;
             const { data } = canvas.getContext("2d").getImageData(0, 0, width, height);
             return [0, 1, 2, 3].map((t) => [0, 1, 2, 3].map((s) =>
               data[4 * (Math.round(top + (t + 0.5) * size) * width + Math.round(left + (s + 0.5) * size))])) }""",
        [band["x"] - matrix["x"], band["y"] - matrix["y"] - 3 * band["height"], band["height"]],
    )
    assert np.array(reds).argmax(1).tolist() == view.weights.argmax(1).tolist()  # brighter is more
    assert np.array(reds)[0].tolist() == [max(reds[0]), 0, 0, 0]


@pytest.mark.parametrize(
    ("role", "name", "key"),
    [
        *(("slider", "Temperature", "End"), ("checkbox", "Causal mask", " ")),
        *(("checkbox", "Scale by sqrt(d_k)", " "), ("button", "As recorded", " ")),
    ],
)
def test_thumbnails_follow_every_setting(page, role, name, key):
    view = language_model()
    mount(page, view.set(temperature=3.0) if name == "As recorded" else view)
    page.wait_for_function("() => [...document.querySelectorAll('.tx-heads canvas')].every((c) => c.width === 4)")
    last = "() => document.querySelectorAll('.tx-heads canvas')[5].toDataURL()"
    before = page.evaluate(last)
    page.get_by_role(role, name=name, exact=True).press(key)
    page.wait_for_function(f"(before) => ({last})() !== before", arg=before, timeout=5000)


def test_a_cell_of_a_thumbnail_is_the_strongest_of_those_it_stands_for(page):
    weights = torch.zeros(1, 2, 96, 96)
    rows = torch.arange(96)
    weights[:, :, rows, rows // 2 * 2] = 1.0  # of each 2 × 2 cells the left two
    mount(page, AttentionView.from_tensor(weights, [f"t{i}" for i in range(96)]))
    page.wait_for_function("() => [...document.querySelectorAll('.tx-heads canvas')].every((c) => c.width === 48)")
    reds = page.evaluate(
        """() => { const canvas = document.querySelector(".tx-heads canvas");
             return [...canvas.getContext("2d").getImageData(0, 0, 48, 48).data].filter((_, i) => i % 4 === 0) }"""
    )
    assert np.array_equal(np.array(reds).reshape(48, 48) > 0, np.eye(48, dtype=bool))


def test_the_matrix_picks_the_query_under_the_mouse(page):
    view = translation()
    mount(page, view)
    box = page.locator("canvas[role=img]").bounding_box()
    page.mouse.move(box["x"] + box["width"] - 40, box["y"] + box["height"] - 11)
    assert summary(page) == view.set(token=2).summary


def test_thumbnails_show_every_head_and_choose_one(page):
    view = language_model()
    mount(page, view)
    page.wait_for_function("() => [...document.querySelectorAll('.tx-heads canvas')].every((c) => c.width === 4)")
    brightest = page.evaluate(
        """() => [...document.querySelectorAll(".tx-heads canvas")].map((canvas) => {
             const { data } = canvas.getContext("2d").getImageData(0, 3, 4, 1);
             return [0, 1, 2, 3].reduce((best, s) => data[4 * s] > data[4 * best] ? s : best, 0); })"""
    )
    last_rows = [view.attention.weights(layer, head)[3].argmax() for layer in range(2) for head in range(3)]
    assert brightest == last_rows
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
    mount(page, view)
    page.get_by_label("Attention", exact=True).select_option(label="Attention")
    assert page.get_by_role("listbox", name="Key tokens").inner_text().split() == ["twenty", "one"]
    assert summary(page) == view.set(attention=1).summary
    assert page.get_by_label("Causal mask").is_disabled()
    assert "another sequence" in page.text_content(
        "#" + page.get_by_label("Causal mask").get_attribute("aria-describedby")
    )


def test_the_kernel_can_turn_to_another_attention(page):
    view = AttentionView([v.attention for v in (language_model(), translation())], "two")
    mount(page, view)
    page.evaluate("(state) => tell(state)", view.set(attention=1).state)
    assert page.get_by_role("listbox", name="Key tokens").inner_text().split() == ["twenty", "one"]
    assert summary(page) == view.summary


def test_from_weights_alone_nothing_is_unmasked_and_the_view_says_why(page):
    mount(page, AttentionView.from_tensor(torch.eye(3), ["a", "b", "c"]))
    assert page.get_by_label("Causal mask").is_checked()
    assert page.get_by_label("Causal mask").is_disabled()
    assert page.get_by_label("Scale by sqrt(d_k)").is_disabled()
    assert "from weights alone nothing can be unmasked" in page.inner_text(".tx-explorer")
    page.get_by_label("Temperature", exact=True).press("ArrowRight")
    assert "logarithms of its weights" in page.text_content(".tx-note")


def test_a_view_that_is_closed_leaves_nothing_behind(page):
    mount(page, translation())
    page.evaluate("close_()")
    assert page.evaluate("Object.keys(heard)") == []


# ---------------------------------------------------------------------------------------------------- good and bad days


@pytest.mark.parametrize("scheme", ["light", "dark"])
def test_axe_finds_no_serious_fault_and_everything_can_be_read_in_either_theme(browser, tmp_path, scheme):
    axe = Axe()
    path = language_model(40).save(tmp_path / "x.html")
    context = browser.new_context(color_scheme=scheme)
    page = context.new_page()
    page.goto(path.as_uri())
    page.get_by_role("listbox", name="Query tokens").press("ArrowDown")
    found = axe.run(page).response["violations"]
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
    mount(page, translation())
    page.evaluate("() => { document.body.style.background = '#111'; }")
    page.wait_for_selector(".tx-explorer.tx-dark")
    page.evaluate("() => { document.body.style.background = 'white'; }")
    page.wait_for_selector(".tx-explorer:not(.tx-dark)")


def test_hostile_tokens_run_no_code_and_are_shown_as_text(page):
    view = AttentionView.from_tensor(random_weights(len(HOSTILE), len(HOSTILE)), HOSTILE)
    mount(page, view)
    page.get_by_role("listbox", name="Query tokens").press("ArrowDown")
    assert page.evaluate("() => window.hurt") is None
    assert page.locator("#view img, #view script").count() == 0
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
    mount(page, AttentionView.from_tensor([[1.0]], ["alone"]))
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
    mount(page, view)
    assert "run its cell again" in page.text_content(".tx-error")
