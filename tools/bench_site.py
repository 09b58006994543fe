"""The site's first page in Chromium: milliseconds until it moves, and bytes loaded; beside it what others publish.

    python tools/bench_site.py [--rounds 7] [--site build/site]        # after `make site`

Each round is a new browser profile, so that nothing is cached; a line is the median of all rounds. The server is on
this machine and sends every file compressed (gzip), as GitHub Pages does; a real line adds its own time for the bytes.

    picture    the first text or picture is painted
    machine    the machine stands there, computed and drawn
    step       it was told to go one step back, and that step is drawn

The figures of Transformer Explainer and of bbycroft's LLM visualisation are those that their repositories publish. They
were NOT measured here, and neither project publishes a time.
"""

import argparse
import gzip
import http.server
import mimetypes
import statistics
import sys
import threading
from pathlib import Path
from urllib.parse import unquote, urlsplit

from notebook_frame import ROOT

sys.path.insert(0, str(ROOT / "tests/support"))

from browser_harness import chromium

WATCH = """(() => {
  const times = (window.txTimes = {});
  const look = () => {
    const back = document.querySelector("[data-lives=yes] .tx-machine [aria-label=Back]");
    if (!back) return requestAnimationFrame(look);
    times.machine = performance.now();
    back.click();
    requestAnimationFrame(() => requestAnimationFrame(() => (times.step = performance.now())));
  };
  requestAnimationFrame(look);
})()"""
DONE = """() => {
  const paint = performance.getEntriesByName("first-contentful-paint")[0];
  return txTimes.step && paint && { picture: paint.startTime, ...txTimes };
}"""
MB = 1e6
PUBLISHED = (  # name, bytes, how that is known, source
    (
        "Transformer Explainer (GPT-2)",
        63 * 10 * 2**20,
        "at most: the model in ONNX alone, 63 pieces of up to 10 MiB, fetched before it computes",
        "github.com/poloclub/transformer-explainer, src/routes/+page.svelte at f2b4c64: chunkNum = 63",
    ),
    (
        "bbycroft's LLM visualisation (nano-gpt)",
        466_124 + 222_352,
        "uncompressed: weights and one pass alone; a font atlas, native.wasm and the scripts come on top",
        "github.com/bbycroft/llm-viz, public/gpt-nano-sort-model.json and gpt-nano-sort-t0-partials.json",
    ),
)


class Compressing(http.server.BaseHTTPRequestHandler):
    """Serves the files of `folder`, compressed; `sent` counts the bytes of their bodies."""

    folder: Path
    kept: dict[Path, bytes] = {}  # noqa: RUF012
    sent = 0

    def do_GET(self) -> None:
        path = self.folder / unquote(urlsplit(self.path).path).lstrip("/")
        if not path.is_file():
            self.send_error(404)
            return
        if path not in self.kept:
            self.kept[path] = gzip.compress(path.read_bytes(), mtime=0)
        self.send_response(200)
        self.send_header("Content-Type", mimetypes.guess_type(path)[0] or "application/octet-stream")
        self.send_header("Content-Encoding", "gzip")
        self.send_header("Content-Length", str(len(self.kept[path])))
        self.end_headers()
        self.wfile.write(self.kept[path])
        type(self).sent += len(self.kept[path])

    def log_message(self, *_) -> None:
        """Say nothing."""


def measured(browser, address: str, rounds: int) -> dict[str, float]:
    """Median milliseconds from the beginning of the navigation, by what is then seen."""
    found = []
    for _ in range(rounds + 1):  # the first warms up the browser itself
        context = browser.new_context(viewport={"width": 1280, "height": 900})
        page = context.new_page()
        page.add_init_script(WATCH)
        page.goto(address)
        found.append(page.wait_for_function(DONE, timeout=60_000).json_value())
        context.close()
    return {name: statistics.median(times[name] for times in found[1:]) for name in found[0]}


def main(arguments: list[str] | None = None) -> int:
    """Command line; returns the exit code."""
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--rounds", type=int, default=7)
    parser.add_argument("--site", type=Path, default=ROOT / "build" / "site", help="folder (default %(default)s)")
    options = parser.parse_args(arguments)
    if not (options.site / "index.html").exists():
        sys.exit(f"no site in {options.site}: run `make site` first")
    Compressing.folder = options.site.resolve()
    with (
        chromium() as browser,
        http.server.ThreadingHTTPServer(("127.0.0.1", 0), Compressing) as server,
    ):
        threading.Thread(target=server.serve_forever, daemon=True).start()
        places = {
            "from the disk": (Compressing.folder / "index.html").as_uri(),
            "from a server": f"http://127.0.0.1:{server.server_port}/index.html",
        }
        times = {name: measured(browser, address, options.rounds) for name, address in places.items()}
        server.shutdown()
    loaded = Compressing.sent / (options.rounds + 1)
    columns = "  ".join(f"{name:>10}" for name in ("picture", "machine", "step"))
    print(f"{'our first page, median':30}  {columns}  loaded")
    for name, row in times.items():
        size = f"{loaded / MB:.2f} MB (gzip)" if name == "from a server" else "nothing sent"
        print(f"  {name:30}  {'  '.join(f'{value:7.0f} ms' for value in row.values())}  {size}")
    print("\npublished, not measured here; no time to the first picture is published by either")
    for name, size, told, source in PUBLISHED:
        print(f"  {name:40} {size / MB:6.1f} MB  {told}\n{'':53}{source}")
    return 0


if __name__ == "__main__":
    sys.exit(main())
