"""`AttentionView` and bertviz 1.4.1 side by side: size of the page, time to show it, time to change a head.

    pip install --no-deps bertviz==1.4.1                 # it needs torch and IPython only, for its head view
    python tools/bench_attention_view.py [--cdn FOLDER]

Both get the same tensor, 12 layers × 12 heads × 64 and 128 tokens, as a saved page. bertviz loads three libraries from
a network; FOLDER holds them as require.min.js, jquery.min.js and d3.min.js, so that no download is timed.

"shown" is from the start of the navigation to the frame after the last change of the page. Of a head's change "changed"
is from the event's time stamp to the changed page, "painted" to the end of the next frame: median and 95 % of 30
(of fewer where they take long).
"""

import argparse
import statistics
import sys
import tempfile
import time
from pathlib import Path

import torch
from playwright.sync_api import Page, sync_playwright

from notebook_frame import ROOT
from tx_helpers.widgets.attention_view import AttentionView

sys.path.insert(0, str(ROOT / "tests/support"))

from browser_harness import LAUNCH, WINDOW, find_chromium

LAYERS, HEADS = 12, 12
PRESSES, SECONDS = 30, 30  # changes of a head, fewer (but at least 4) where they take longer than this altogether
WATCH = """() => {
    window.txEvent = 0; window.txTimes = []; window.txShown = 0
    const afterFrame = done => requestAnimationFrame(() => {
        const channel = new MessageChannel()
        channel.port1.onmessage = done
        channel.port2.postMessage(0)
    })
    for (const kind of ["keydown", "mousedown"])
        document.addEventListener(kind, event => { window.txEvent = event.timeStamp }, true)
    new MutationObserver(() => {
        afterFrame(() => { window.txShown = performance.now() })
        const start = window.txEvent
        if (!start) return
        window.txEvent = 0
        const times = {changed: performance.now() - start, painted: 0}
        window.txTimes.push(times)
        afterFrame(() => { times.painted = performance.now() - start })
    }).observe(document, {subtree: true, childList: true, attributes: true, characterData: true})
}"""


def our_page(weights: torch.Tensor, tokens: list[str], file: Path) -> None:
    AttentionView.from_tensor(weights, tokens, name="bench").save(str(file))


def bertviz_page(weights: torch.Tensor, tokens: list[str], file: Path) -> None:
    from bertviz import head_view

    page = head_view([layer[None] for layer in weights], tokens, html_action="return")
    file.write_text(f"<!DOCTYPE html><meta charset='utf-8'><body>{page.data}</body>", encoding="utf-8")


def press_head(page: Page, turn: int) -> None:
    """Ours: the next head, or the one before, by keyboard."""
    page.get_by_label("Head", exact=True).focus()
    page.keyboard.press("ArrowDown" if turn % 2 == 0 else "ArrowUp")


def click_head(page: Page, turn: int) -> None:
    """bertviz: the last head off or on, by its coloured square."""
    box = page.locator("svg > g:last-of-type > rect").last.bounding_box()
    page.mouse.click(box["x"] + box["width"] / 2, box["y"] + box["height"] / 2)


def measured(page: Page, file: Path, lines: str, change) -> dict[str, list[float]]:
    """Milliseconds of showing the page, and of each change of a head."""
    page.add_init_script(f"({WATCH})()")
    page.goto(file.as_uri(), wait_until="load", timeout=300_000)
    page.wait_for_selector(lines, state="attached", timeout=300_000)
    page.wait_for_function("window.txShown && performance.now() - window.txShown > 1500", timeout=300_000)
    shown = page.evaluate("window.txShown")
    start = time.monotonic()
    for turn in range(PRESSES + 2):  # the first two warm up
        if turn >= 6 and time.monotonic() - start > SECONDS:
            break
        page.evaluate("window.txEvent = 0")
        change(page, turn)
        page.wait_for_function(f"window.txTimes.length > {turn} && window.txTimes[{turn}].painted", timeout=300_000)
        page.wait_for_timeout(60)
    times = page.evaluate("window.txTimes")[2:]
    return {"shown": [shown], **{kind: [one[kind] for one in times] for kind in ("changed", "painted")}}


def serve_libraries(page: Page, folder: Path | None) -> None:
    """Give the three libraries from the folder, if there is one."""
    if folder is not None:
        names = {"require": "require.min.js", "jquery": "jquery.min.js", "d3": "d3.min.js"}
        for part, name in names.items():
            script = (folder / name).read_text(encoding="utf-8")
            page.route(
                f"https://cdnjs.cloudflare.com/ajax/libs/{part}*/**",
                lambda route, _, script=script: route.fulfill(body=script, content_type="text/javascript"),
            )


def both(times: list[float]) -> str:
    """Median and 95 %."""
    p95 = statistics.quantiles(times, n=20, method="inclusive")[-1]
    return f"{statistics.median(times):.0f} / {p95:.0f}"


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--cdn", type=Path, help="folder of the libraries that bertviz loads")
    parser.add_argument("--tokens", type=int, nargs="+", default=[64, 128], help="lengths (default: 64 128)")
    options = parser.parse_args()
    rivals = {"AttentionView": (our_page, ".tx-picture line", press_head)}
    try:
        import bertviz  # noqa: F401
    except ModuleNotFoundError:
        print("bertviz is missing, so there is no comparison; get it by: pip install --no-deps bertviz==1.4.1")
    else:
        rivals["bertviz"] = (bertviz_page, "#attention line", click_head)
    print(f"{'':16}{'tokens':>7}{'page MB':>9}{'shown ms':>10}{'changed ms':>14}{'painted ms':>14}   (median / 95 %)")
    with tempfile.TemporaryDirectory() as folder, sync_playwright() as playwright:
        for tokens in options.tokens:
            scores = torch.randn(LAYERS, HEADS, tokens, tokens, generator=torch.Generator().manual_seed(0))
            weights, words = (2 * scores).softmax(-1), [f"token{i}" for i in range(tokens)]
            for name, (make, lines, change) in rivals.items():
                file = Path(folder) / f"{name}{tokens}.html"
                make(weights, words, file)
                browser = playwright.chromium.launch(executable_path=find_chromium(), args=LAUNCH)
                page = browser.new_page(viewport=WINDOW, bypass_csp=True)  # our page forbids what Playwright evaluates
                serve_libraries(page, options.cdn)
                times = measured(page, file, lines, change)
                browser.close()
                two = [both(times[kind]) for kind in ("changed", "painted")]
                size = file.stat().st_size / 1e6
                print(f"{name:16}{tokens:>7}{size:>9.2f}{times['shown'][0]:>10.0f}{two[0]:>14}{two[1]:>14}", flush=True)


if __name__ == "__main__":
    main()
