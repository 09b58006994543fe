"""What a page needs so that every explorer can be used by keyboard, heard by a screen reader, and read on a dark page.

JupyterLab takes arrow keys and letters away from dropdowns, and Notebook 7 even from sliders, unless the focused
element carries `data-lm-suppress-shortcuts`. A hidden widget in each explorer listens for the focus and sets it: inside
widgets only, and once a page, however many explorers there are. It also gives a slider's label to its handle:
the handle takes the focus, and ipywidgets leaves it without a name. It reports a click on a part of the picture that
sets a control (`show.shapes.setting`), a drag of one that turns sliders (`show.shapes.dragging`), and it brings the
style sheet of the drawings.
"""

from pathlib import Path

import anywidget

from tx_helpers.show.shapes import sheet

# A live region is announced if it was there before its text changed. ipywidgets replaces everything inside an HTML
# widget, so its lasting outer element (`tx-live`) is made the region.
_ESM = """
const prepare = (explorer) => {
  for (const region of explorer?.querySelectorAll(".tx-live") ?? []) region.setAttribute("aria-live", "polite");
  for (const slider of explorer?.querySelectorAll(".widget-slider") ?? []) {
    const name = slider.querySelector(".widget-label")?.textContent ?? "";
    const handles = [...slider.querySelectorAll("[role=slider]")];
    const ends = handles.length === 2 ? [" from", " to"] : [""];
    handles.forEach((handle, i) => handle.setAttribute("aria-label", name + (ends[i] ?? "")));
  }
};

const focused = ({ target }) => {
  if (!target.closest?.(".jupyter-widgets, .widget-output")) return;
  target.setAttribute("data-lm-suppress-shortcuts", "true");
  prepare(target.closest(".tx-explorer"));
};

const render = ({ model, el }) => {
  el.hidden = true;
  let listening = false;
  const clicked = ({ target }) => {
    const part = target.closest("[data-sets]");
    if (part) model.send({ sets: part.dataset.sets });
  };
  const wait = (turns) => {  // the page puts an explorer together piece by piece
    const explorer = el.closest(".tx-explorer");
    prepare(explorer);
    if (explorer && !listening) {
      explorer.addEventListener("click", clicked);
      dragging(explorer, () => model.send({ drags: null }), (added) => model.send({ drags: added }));
    }
    listening ||= Boolean(explorer);
    if (turns) setTimeout(wait, 200, turns - 1);
  };
  wait(10);
  if (window.txHelpersKeyboard) return;
  window.txHelpersKeyboard = true;
  document.addEventListener("focusin", focused, true);
};

export default { render };
"""


class Keyboard(anywidget.AnyWidget):
    """The hidden widget; it shows nothing."""

    _esm = Path(__file__).with_name("drag.js").read_text("utf-8") + _ESM
    _css = sheet()

    def __repr__(self) -> str:
        return "Keyboard()"
