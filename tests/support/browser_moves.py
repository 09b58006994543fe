"""Explorers on a page: found, moved as a learner moves them, and checked by what the page then shows.

`check` does it all: it takes an opened and executed notebook with the cases of its explorers and returns the faults, a
line each.
"""

import re
import time
from pathlib import Path

from playwright.sync_api import Error, Locator

from browser_contrast import contrast_faults
from browser_harness import Sheet
from explorer_cases import Case, Move
from lesson_files import FOLDER, lesson_files

PATIENCE = 60  # seconds in which the picture must follow a move, even on a busy machine
# What a learner can operate, in the order in which a name is looked up: a slider has its name, and so may its number.
ROLES = (
    *("slider", "combobox", "listbox", "checkbox", "switch", "radio", "button", "textbox", "searchbox", "spinbutton"),
    *("option", "tab", "menuitem", "link", "img", "group"),
)
CONTROLS = "slider|combobox|listbox|checkbox|switch|radio|button|textbox|searchbox|spinbutton|tab|menuitem|link"
NAMELESS = re.compile(rf"^\s*- ((?:{CONTROLS})(?! \")\b.*)$", re.MULTILINE)  # a line of Playwright's accessibility tree

NAMES_OF_EXPLORERS = """() => [...document.querySelectorAll(".tx-explorer")].map(root =>
    [...root.classList].filter(c => c.startsWith("tx-explorer-")).map(c => c.slice("tx-explorer-".length)).join(" "))"""
# What can be seen of the pictures: the image's bytes or the drawing's markup, without the texts for a screen reader.
PICTURE = """root => [...root.querySelectorAll(".tx-picture")].map(place => {
    const seen = place.matches("img, svg, canvas") ? place : place.querySelector("img, svg, canvas") ?? place
    if (seen.matches("img")) return seen.naturalWidth > 0 ? seen.src : ""
    if (seen.matches("canvas")) return seen.toDataURL()
    const copy = seen.cloneNode(true)
    for (const part of [copy, ...copy.querySelectorAll("*")])
        for (const name of ["aria-label", "alt", "id"]) part.removeAttribute(name)
    copy.querySelectorAll("title, desc").forEach(part => part.remove())
    return copy.childElementCount ? copy.outerHTML : ""
}).join("\\n")"""


def cases_of(folder: Path = FOLDER) -> list[Case]:
    """The cases of all lessons."""
    modules = lesson_files("explorers.py", folder)
    return [Case(module.NOTEBOOK, explorer, moves) for module in modules for explorer, moves in module.MOVES.items()]


def faults_of(opened, notebook: str, cases: list[Case] | None = None, *, from_menu: bool = False) -> list[str]:
    """Open the notebook in the front end, run it, and check it by its cases (by default those of the files)."""
    if cases is None:
        cases = [case for case in cases_of() if case.notebook == notebook.removesuffix(".ipynb")]
    with opened(notebook) as sheet:
        sheet.run_all(from_menu=from_menu)
        sheet.show_what_waits()
        return [*sheet.count_faults(), *check(sheet, cases)]


def check(sheet: Sheet, cases: list[Case], themes: tuple[str, ...] = ("Light", "Dark")) -> list[str]:
    """Faults of the notebook's explorers: missing ones, forgotten ones, nameless controls, moves that go wrong."""
    faults = []
    present, expected = sheet.page.evaluate(NAMES_OF_EXPLORERS), [case.explorer for case in cases]
    faults += [f"explorer {name!r} is not on the page" for name in expected if name not in present]
    faults += [f"explorer {name!r} has no case" for name in present if name not in expected]
    faults += [
        f"explorer {name!r} is there {present.count(name)} times" for name in {*present} if present.count(name) > 1
    ]
    if present:
        for name in dict.fromkeys(present):
            faults += [f"{name}: {fault}" for fault in nameless_controls(root_of(sheet, name))]
        for theme in themes:
            sheet.set_theme(theme)
            rules = () if theme == themes[0] else ("color-contrast",)  # the others look at no colour
            found = sheet.axe_faults(".tx-explorer", rules) + contrast_faults(sheet.page, ".tx-explorer")
            faults += [f"{theme}: {fault}" for fault in found]
    for case in cases:
        if case.explorer in present:
            root = root_of(sheet, case.explorer)
            faults += [f"{case.explorer}: {fault}" for move in case.moves for fault in perform(root, move)]
    pale = contrast_faults(sheet.page, ".tx-explorer")
    return [*faults, *(f"after the moves: {fault}" for fault in pale), *sheet.faults()]


def root_of(sheet: Sheet, name: str) -> Locator:
    """The explorer's outermost element."""
    return sheet.page.locator(f".tx-explorer-{name}").first


def nameless_controls(root: Locator) -> list[str]:
    """Controls that a screen reader could not name, as Playwright's accessibility tree shows them."""
    deadline = time.monotonic() + PATIENCE  # ipywidgets names a slider a little after it has drawn it
    while (lines := NAMELESS.findall(root.aria_snapshot())) and time.monotonic() < deadline:
        root.page.wait_for_timeout(100)
    return [f"control without a name: {line.strip()}" for line in lines]


def control_of(root: Locator, name: str) -> Locator:
    """The control with this accessible name; a slider of ipywidgets, which has none, by the description beside it."""
    for role in ROLES:
        found = root.get_by_role(role, name=name, exact=True)
        if found.count():
            return found.first
    beside = root.locator(".widget-inline-hbox").filter(has=root.page.get_by_text(name, exact=True))
    found = beside.locator("[role=slider], input, select, textarea, button").first
    if not found.count():
        raise LookupError(f"no control named {name!r} in:\n{root.aria_snapshot()}")
    return found


def perform(root: Locator, move: Move) -> list[str]:
    """Do the move. The picture must change and the summary match. Returns a list of one fault or none."""
    done = move.mouse or (f"typing {move.text!r}" if move.text is not None else " ".join(move.keys))
    before, said = root.evaluate(PICTURE), text_of(root, ".tx-summary")
    try:
        act(root.page, control_of(root, move.control), move)
    except (LookupError, Error) as error:
        ended = move.ends and re.search(move.summary, text_of(root, ".tx-summary"))
        return [] if ended else [f"{move.control}, {done}: {error}"]
    deadline = time.monotonic() + PATIENCE
    while True:
        after, summary = root.evaluate(PICTURE), text_of(root, ".tx-summary")
        matches = re.search(move.summary, summary)
        if after and after != before and matches and move.holds(said, summary):
            return []
        if time.monotonic() > deadline:
            break
        root.page.wait_for_timeout(30)
    seen = "the picture is gone" if not after else "the picture is the same" if after == before else "a new picture"
    wanted = f"what must hold after {said!r}" if matches else repr(move.summary)
    alarm = text_of(root, ".tx-error")
    return [
        f"{move.control}, {done}: {seen}; the summary is {summary!r}, expected {wanted}"
        + (f"; the error says {alarm!r}" if alarm else "")
    ]


def text_of(root: Locator, selector: str) -> str:
    """What stands in the first such element, scrolled into view or not; "" if there is none."""
    return " ".join((root.locator(selector).all_text_contents() or [""])[0].split())


def act(page, control: Locator, move: Move) -> None:
    """The move alone: keys, text or mouse."""
    if move.keys:
        control.focus(timeout=30_000)
        for key in move.keys:
            page.keyboard.press(key)
    elif move.text is not None:
        control.focus(timeout=30_000)
        page.keyboard.press("ControlOrMeta+a")
        page.keyboard.type(move.text)
        page.keyboard.press("Enter")
    elif move.mouse == "click":
        control.click(timeout=30_000)
    elif move.mouse == "drag":
        drag_to_the_right_end(page, control)
    elif move.mouse and move.mouse.startswith("choose:"):
        control.select_option(label=move.mouse.removeprefix("choose:"), timeout=30_000)
    elif move.mouse and move.mouse.startswith("point:"):
        page.locator(f'[data-sets="{move.mouse.removeprefix("point:")}"]').first.click(timeout=30_000)
    elif move.mouse and move.mouse.startswith("pull:"):
        pull(page, *move.mouse.split(":")[1:])
    else:
        raise LookupError(f"{move} names neither keys nor text nor a known move of the mouse")


def pull(page, slider: str, across: str, down: str) -> None:
    """Drag the last part of a picture that turns this slider by so many pixels."""
    part = page.locator(f'[data-drags^="{slider}:"]').last
    part.scroll_into_view_if_needed(timeout=30_000)
    box = part.bounding_box()
    x, y = box["x"] + box["width"] / 2, box["y"] + box["height"] / 2
    page.mouse.move(x, y)
    page.mouse.down()
    page.mouse.move(x + float(across), y + float(down), steps=8)
    page.mouse.up()


TRACK = """e => {
    const track = (e.closest("input, .noUi-target") ?? e.parentElement).getBoundingClientRect()
    const own = e.getBoundingClientRect()
    const share = (e.value - (e.min || 0)) / ((e.max || 100) - (e.min || 0))
    const thumb = 8  // half the width of a native one
    const x = e.matches("input") ? own.left + thumb + share * (own.width - 2 * thumb) : own.left + own.width / 2
    return [x, own.top + own.height / 2, track.right]
}"""


def drag_to_the_right_end(page, slider: Locator) -> None:
    """Drag the thumb, of a native slider or of one made of elements, to the right end of its track."""
    place = None
    while place != (place := slider.evaluate(TRACK)):  # a page that was scrolled may still be moving
        slider.scroll_into_view_if_needed(timeout=30_000)
        page.wait_for_timeout(200)
    left, y, right = place
    page.mouse.move(left, y)
    page.mouse.down()
    page.mouse.move((left + right) / 2, y, steps=4)
    page.mouse.move(right + 2, y, steps=4)
    page.mouse.up()
