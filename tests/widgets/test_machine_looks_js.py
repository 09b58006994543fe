"""How the machine looks in Chromium, without Jupyter: keys, themes, widths, other models, its state."""

import pytest

from browser_contrast import contrast_faults
from machine_view_page import HEAD, SEEN, open_machine, panel, part, summary, translator, writer
from tx_helpers.widgets.machine import machine
from widget_page import focused, mount

# ---------------------------------------------------------------------------------------------- keys, names, themes


def test_arrow_keys_go_from_part_to_part_and_shift_goes_inside_a_map(bare_page):
    open_machine(bare_page)
    assert bare_page.locator(".tx-flow [tabindex='0']").count() == 1
    part(bare_page, "source: one").focus()
    bare_page.keyboard.press("ArrowRight")
    assert focused(bare_page) == "source: two" and panel(bare_page).startswith("'two', word 2 of 3")
    for _ in range(3):
        bare_page.keyboard.press("ArrowDown")
    assert focused(bare_page).startswith("self-attention of encoder block 1, head 2")
    before = panel(bare_page)
    bare_page.keyboard.press("Shift+ArrowUp")
    assert panel(bare_page) != before and focused(bare_page).startswith("self-attention of encoder block 1, head 2")
    bare_page.keyboard.press("Enter")
    assert "without head 2" in summary(bare_page)
    assert bare_page.locator(".tx-flow [tabindex='0']").count() == 1
    bare_page.keyboard.press("End")
    assert focused(bare_page).startswith("probabilities")


def test_pointing_at_a_cell_tells_its_weight(bare_page):
    view = open_machine(bare_page)
    weights, (_, target, written, _) = view._passed.seen["decoder.blocks.0.cross_attention.weights"][1], view._passed
    first = max(0, len(weights) - 16)  # the last 16 are shown
    box = part(bare_page, HEAD).bounding_box()
    bare_page.mouse.move(box["x"] + 3, box["y"] + 3)
    bare_page.wait_for_timeout(300)
    word = view.spec["target"]["tokens"][[*target, *written][first]]
    told = f"{weights[first, 0]:.2f}" if weights[first, 0] >= 0.005 else "under 0.01"
    assert panel(bare_page).startswith(f"Head 2: '{word}' looks at 'one' with weight {told}")


@pytest.mark.parametrize("scheme", ["light", "dark"])
def test_axe_finds_no_serious_fault_and_everything_can_be_read_in_either_theme(browser, scheme):
    from axe_playwright_python.sync_playwright import Axe

    context = browser.new_context(color_scheme=scheme, viewport={"width": 1066, "height": 900})
    page = context.new_page()
    page.set_content(
        '<!DOCTYPE html><html lang="en" style="color-scheme: light dark"><title>x</title><main id="place"></main>'
    )
    open_machine(page)
    part(page, HEAD).click()
    found = Axe().run(page).response["violations"]
    serious = [(each["id"], each["nodes"][0]["html"]) for each in found if each["impact"] in ("serious", "critical")]
    pale = contrast_faults(page, ".tx-explorer")
    page.get_by_role("button", name="Back", exact=True).click()
    pale += contrast_faults(page, ".tx-explorer")
    paper = page.evaluate("() => getComputedStyle(document.querySelector('.tx-machine')).backgroundColor")
    context.close()
    assert (serious, pale) == ([], [])
    assert paper == {"light": "rgb(252, 252, 250)", "dark": "rgb(27, 33, 39)"}[scheme]


def test_on_a_laptop_headline_probabilities_and_heads_are_in_sight_together(bare_page):
    bare_page.set_viewport_size({"width": 960, "height": 720})  # what JupyterLab leaves of 1280 x 800
    open_machine(bare_page)
    boxes = [
        bare_page.locator(one).last.bounding_box() for one in (".tx-headline", ".tx-words-out", ".tx-encoder .tx-map")
    ]
    assert all(box["y"] >= 0 and box["y"] + box["height"] <= 720 for box in boxes)


def test_beside_an_open_notebook_the_panel_links_to_the_next(browser):
    page = browser.new_page()
    page.route(
        "**/*", lambda route: route.fulfill(body="<!DOCTYPE html><main id=place></main>", content_type="text/html")
    )
    page.goto("http://course.test/lab/tree/notebooks/00_start_here.ipynb")
    open_machine(page)
    link = page.locator(".tx-panel a")
    assert link.evaluate("(a) => a.pathname") == "/lab/tree/notebooks/08_full_model.ipynb"
    assert link.get_attribute("rel") == "noopener"
    page.close()


def test_on_a_telephone_play_stays_in_sight(bare_page):
    bare_page.set_viewport_size({"width": 390, "height": 700})
    open_machine(bare_page)
    bare_page.evaluate("() => document.querySelector('.tx-decoder .tx-row:last-child').scrollIntoView()")
    top = bare_page.get_by_role("button", name="Play").bounding_box()["y"]
    assert 0 <= top < 100 and bare_page.evaluate("() => scrollY") > 300


def test_on_a_telephone_the_strip_of_a_position_is_no_block_of_pink(bare_page):
    bare_page.set_viewport_size({"width": 360, "height": 900})
    open_machine(bare_page, machine(translator(), "one two three four five six"))  # fewer pixels than numbers
    pink = bare_page.evaluate(
        """() => { const canvas = document.querySelector(".tx-encoder .tx-row-positions canvas");
             const colours = canvas.getContext("2d").getImageData(0, 0, canvas.width, 1).data;
             const gaps = Array.from({ length: canvas.width }, (_, x) => colours[4 * x] - colours[4 * x + 1]);
             return gaps.reduce((sum, gap) => sum + gap) / gaps.length }"""
    )
    assert 5 < pink < 35  # the strongest of each few numbers would nearly always be a cosine near 1


@pytest.mark.parametrize("width", [360, 620, 1066, 1600])
def test_from_a_telephone_to_a_wide_screen_nothing_is_cut_off_or_tiny(bare_page, width):
    bare_page.set_viewport_size({"width": width, "height": 900})
    open_machine(bare_page)
    assert bare_page.evaluate("() => document.documentElement.scrollWidth <= innerWidth")
    sizes = bare_page.evaluate(
        """() => [...document.querySelectorAll(".tx-machine *")]
             .filter((one) => [...one.childNodes].some((child) => child.nodeType === 3 && child.data.trim()))
             .filter((one) => !["SUP", "SUB", "OPTION"].includes(one.tagName))
             .map((one) => parseFloat(getComputedStyle(one).fontSize))"""
    )
    assert min(sizes) >= 11


# ------------------------------------------------------------------------------------------------- other models, states


def test_a_model_that_only_writes_shows_its_last_positions(bare_page):
    view = open_machine(bare_page, machine(writer(), "abcdefgh abcdefgh"))
    assert bare_page.locator(".tx-encoder").count() == 0
    assert bare_page.get_by_label("Continue").input_value() == "abcdefgh abcdefgh"
    assert part(bare_page, "so far: ").count() == 16 < len(view._passed.target) + len(view._passed.written)
    assert "the last 16" in bare_page.text_content(".tx-flow")


def test_hostile_words_of_a_vocabulary_run_no_code_and_are_shown_as_text(bare_page):
    tokens = ["<img/src=x/onerror=alert(1)>", "</script><script>alert(2)</script>", "\u202egnp\u200f", "y" * 10_000]
    open_machine(bare_page, machine(translator([(" ".join(tokens), " ".join(tokens))]), " ".join(tokens)))
    assert bare_page.locator("#place img, #place script").count() == 0
    chips = bare_page.locator(".tx-encoder .tx-chip")
    assert chips.nth(0).text_content() == "<img/src=x/oner…" and chips.nth(2).text_content() == "⟨202E⟩gnp⟨200F⟩"
    for index in range(4):
        chips.nth(index).focus()
        assert bare_page.evaluate("() => document.documentElement.scrollWidth <= innerWidth")


def test_a_view_that_is_attached_after_it_was_rendered_looks_the_same(bare_page):
    view = open_machine(bare_page)
    attached = bare_page.evaluate(SEEN)
    bare_page.evaluate("() => { window.place = document.getElementById('place'); place.remove(); }")
    mount(bare_page, view._esm, {"spec": view.spec, "data": view.data, "state": view.state})  # JupyterLab does so
    bare_page.evaluate("() => document.body.append(place)")
    bare_page.wait_for_function(f"before => ({SEEN})() === before", arg=attached)


def test_the_state_is_told_and_taken(bare_page):
    view = open_machine(bare_page)
    part(bare_page, HEAD).click()
    bare_page.wait_for_function("() => window.saved?.edits?.heads['decoder.blocks.0.cross_attention']")
    told = bare_page.evaluate("() => window.saved")
    before = summary(bare_page)
    assert told["edits"]["heads"] == {"decoder.blocks.0.cross_attention": [1]} and told["text"] == "one two three"
    bare_page.evaluate("() => { document.getElementById('place').replaceChildren(); }")
    mount(bare_page, view._esm, {"spec": view.spec, "data": view.data, "state": told}, "state")
    assert summary(bare_page) == before


def test_the_still_picture_has_every_head_and_word(bare_page):
    view = machine(translator(), "one two three")
    bare_page.set_content(f'<!DOCTYPE html><html lang="en"><title>x</title>{view.drawn().svg}</html>')
    shown = bare_page.locator("svg text").all_text_contents()
    last = view.spec["target"]["tokens"][view._passed.written[-2]]
    assert {"one", "two", "three", last, "Encoder: reads", "Decoder: writes"} <= set(shown)
    assert bare_page.locator("svg image").count() == 6 * 4 + 2 + 2 * 4
    outside = bare_page.evaluate(
        """() => { const frame = document.querySelector("svg").getBoundingClientRect();
             return [...document.querySelectorAll("svg text, svg image")].filter((one) => {
               const box = one.getBoundingClientRect(); return box.right > frame.right || box.bottom > frame.bottom;
             }).map((one) => one.textContent) }"""
    )
    assert outside == []
