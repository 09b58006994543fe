"""Can it be read? The contrast of every text and line of an explorer or a picture, as WCAG 2.2 counts it.

axe-core leaves most of a notebook's texts undecided, so this compares the colour of a text with what lies beneath it:
the topmost filled shape of its drawing, or else the backgrounds of the elements around it. A stored picture must have
a background of its own, since in an <img> it cannot follow a theme.
"""

import json
from pathlib import Path

from playwright.sync_api import Page

from tx_helpers.show.charts import GRID
from tx_helpers.show.shapes import DARK, EDGE, PAPER

TEXT, LINE = 4.5, 3.0  # the least contrast
QUIET = (EDGE, GRID, PAPER)  # frames, grids and gaps, which say nothing
DECORATION = (*QUIET, *(DARK[colour] for colour in QUIET))
CHECK = Path(__file__).with_suffix(".js").read_text("utf-8").partition("\n")[2]  # without its first line, a comment
# Drawings put into the page, out of sight, where no style of the page reaches them.
TAKEN_OUT = """(svgs, scheme) => svgs.map(text => {
  const host = document.body.appendChild(document.createElement("div"))
  host.className = "tx-taken-out"
  host.style = "position: absolute; left: -10000px; top: 0; width: 1000px; color-scheme: " + scheme
  host.attachShadow({mode: "open"}).append(new DOMParser().parseFromString(text, "image/svg+xml").documentElement)
  return host.shadowRoot.firstElementChild
})"""


def contrast_faults(page: Page, selector: str) -> list[str]:
    """What is too pale in the elements of a page as it stands, a line each."""
    return _check(page, f"[...document.querySelectorAll({json.dumps(selector)})]")


def picture_faults(page: Page, svgs: list[str]) -> list[str]:
    """What is too pale in drawings, which may stand on a page of any colour, light or dark."""
    found = {}
    for scheme in ("light", "dark"):
        try:
            found |= dict.fromkeys(_check(page, f"({TAKEN_OUT})({json.dumps(svgs)}, '{scheme}')"))
        finally:
            page.evaluate("() => document.querySelectorAll('.tx-taken-out').forEach(host => host.remove())")
    return list(found)


def _check(page: Page, roots: str) -> list[str]:
    return page.evaluate(f"() => ({CHECK})([{roots}, {TEXT}, {LINE}, {json.dumps(DECORATION)}])")
