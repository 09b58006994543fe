"""Latency of the explorers: from the press of a key to the changed picture, in JupyterLab or Notebook 7.

    python tools/bench_explorers.py                          all notebooks, JupyterLab
    python tools/bench_explorers.py 08 10 --front notebook   these, Notebook 7

Every explorer that has a case (explorers.py of its lesson's tests) is measured: of the case's moves it takes the first
whose control changes the picture at an arrow key, or at the space bar, and presses that key and its opposite in turn.
Two presses to find that out are not counted. Times are measured in the page: from the time stamp of the key's event to
the moment when
the picture in the page has changed (an image: has been decoded). "settled" is the time from the last of 21 quick
presses to the last change of the picture, with the summary of the newest value. Aims, on two cores for itself: 80 ms
in the median, 120 ms for 95 %, 200 ms to settle; 20 and 33 ms for `AttentionView`.
"""

import argparse
import statistics
import sys
import tempfile
from pathlib import Path

from notebook_frame import ROOT

sys.path.insert(0, str(ROOT / "tests/support"))  # the browser suite's own hands and eyes

from browser_harness import copy_notebooks, front_end
from browser_moves import cases_of, control_of, root_of, text_of

OPPOSITE = {"ArrowRight": "ArrowLeft", "ArrowLeft": "ArrowRight", "ArrowUp": "ArrowDown", "ArrowDown": "ArrowUp"}
WATCH = """root => {
    window.txTimes = {pressed: 0, changed: 0}
    window.txStop?.()
    const pressed = event => { window.txTimes = {pressed: event.timeStamp, changed: 0} }
    document.addEventListener("keydown", pressed, true)
    const inPicture = node => (node.nodeType === 1 ? node : node.parentElement)?.closest(".tx-picture")
    const holds = node => inPicture(node) || node.querySelector?.(".tx-picture")
    const observer = new MutationObserver(changes => {  // the focus changes attributes of what is around the picture
        if (!changes.some(change => inPicture(change.target) || [...change.addedNodes].some(holds))) return
        const times = window.txTimes, note = () => { times.changed = performance.now() }
        const image = root.querySelector("img.tx-picture")
        image ? image.decode().then(note, () => {}) : note()
    })
    observer.observe(root, {subtree: true, childList: true, attributes: true, characterData: true})
    window.txStop = () => { observer.disconnect(); document.removeEventListener("keydown", pressed, true) }
}"""
WAIT = 1500  # milliseconds for a picture to change at all
QUIET = 400  # milliseconds without a change of the picture, after which it has settled


def latencies(sheet, root, control, pair: tuple[str, str], presses: int) -> list[float]:
    """Milliseconds of each press that changed the picture."""
    root.evaluate(WATCH)
    control.focus()
    found = []
    for press in range(presses):
        sheet.page.keyboard.press(pair[press % 2])
        sheet.page.wait_for_timeout(120)
        try:
            sheet.page.wait_for_function("window.txTimes.changed > 0", timeout=WAIT)
        except Exception:
            continue
        found.append(sheet.page.evaluate("window.txTimes.changed - window.txTimes.pressed"))
    return found


def settling(sheet, root, control, pair: tuple[str, str]) -> float | None:
    """Milliseconds from the last of 21 quick presses to the last change; None if another value stands there at last."""
    control.focus()
    sheet.page.keyboard.press(pair[0])
    sheet.page.wait_for_timeout(3 * QUIET)
    expected = text_of(root, ".tx-summary")
    sheet.page.keyboard.press(pair[1])
    sheet.page.wait_for_timeout(3 * QUIET)
    for press in range(21):
        sheet.page.keyboard.press(pair[press % 2])
    sheet.page.wait_for_timeout(3 * QUIET)
    times = sheet.page.evaluate("window.txTimes")
    if text_of(root, ".tx-summary") != expected:
        return None
    return max(0.0, times["changed"] - times["pressed"])


def pairs_of(move) -> list[tuple[str, str]]:
    """Keys that may turn the move's control there and back: its own first, then those of a slider or of a dropdown."""
    own = [(key, OPPOSITE[key]) for key in move.keys[:1] if key in OPPOSITE]
    others = [("ArrowRight", "ArrowLeft"), ("ArrowLeft", "ArrowRight"), ("ArrowDown", "ArrowUp"), (" ", " ")]
    return [] if move.text is not None else list(dict.fromkeys([*own, *others]))


def way_to_measure(sheet, case, root):
    """(control, its name, keys) of the first move by which the picture changes there and back."""
    moves = sorted(case.moves, key=lambda move: not (move.keys and move.keys[0] in OPPOSITE))  # arrow keys first
    for move in moves:
        for pair in pairs_of(move):
            control = control_of(root, move.control)
            for _ in range(2):  # if it stood at its end, the second press has moved it, and the first now moves it back
                changed = len(latencies(sheet, root, control, pair, 2))
                if changed == 2:
                    return control, move.control, pair
                if not changed:
                    break
    raise LookupError("no key changes the picture there and back")


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("notebooks", nargs="*", help="numbers; all where none is given")
    parser.add_argument("--front", choices=("lab", "notebook"), default="lab")
    parser.add_argument("--presses", type=int, default=30)
    options = parser.parse_args()
    cases = cases_of()
    names = dict.fromkeys(case.notebook for case in cases)
    names = [name for name in names if not options.notebooks or name.startswith(tuple(options.notebooks))]
    with tempfile.TemporaryDirectory() as folder:
        copy_notebooks(Path(folder), whole=False)
        with front_end(options.front, Path(folder)) as opened:
            print(f"{'explorer':44}{'presses':>8}{'median ms':>11}{'p95 ms':>8}{'settled ms':>12}", flush=True)
            for name in names:
                with opened(f"{name}.ipynb") as sheet:
                    sheet.run_all(600)
                    for case in (case for case in cases if case.notebook == name):
                        print(line(sheet, case, options.presses), flush=True)


def line(sheet, case, presses: int) -> str:
    """A row of the table."""
    root, title = root_of(sheet, case.explorer), f"{case.notebook[:2]} {case.explorer}"
    try:
        control, name, pair = way_to_measure(sheet, case, root)
        title += f": {name}, {pair[0]}"
        found = latencies(sheet, root, control, pair, presses)
        settled = settling(sheet, root, control, pair)
    except Exception as error:  # a broken explorer must not hide the others' times
        return f"{title:44} {type(error).__name__}: {str(error).splitlines()[0]}"
    if len(found) < 2:
        return f"{title:44}{len(found):>8} the picture did not change"
    p95 = statistics.quantiles(found, n=20, method="inclusive")[-1]
    last = "wrong value" if settled is None else f"{settled:.0f}"
    return f"{title:44}{len(found):>8}{statistics.median(found):>11.0f}{p95:>8.0f}{last:>12}"


if __name__ == "__main__":
    main()
