"""Make the page that one sees first: docs/index.html, a trained translator at work, in one file that needs no network.

    python tools/make_first_page.py             # the page anew, with the weights that it holds
    python tools/make_first_page.py --train     # with the weights of the translator that is trained on this machine
    python tools/make_first_page.py --check     # write nothing; exit code 1 if the file would change
    python tools/make_first_page.py --picture   # docs/preview.png too, which is shown beside a shared link (Chromium)

The weights are stored once, in the page itself: another machine would train other bits. The site shows the same stage.
"""

import argparse
import json
import re
import sys
from pathlib import Path

from jinja2 import Environment, FileSystemLoader, StrictUndefined

from notebook_frame import ROOT, repository_address
from tx_helpers.exercises.course import LESSONS
from tx_helpers.publish.packing import inert, opening, packed, unpacked
from tx_helpers.show.stored import PageForm
from tx_helpers.widgets.scripts import FOLDER, joined

FILE = ROOT / "docs" / "index.html"
HERE = Path(__file__).parent / "site"
COURSE = "The Transformer, built and measured"
DESCRIPTION = "Watch a trained Transformer translate, take one of its heads away, and see what it writes then."
ENGINE = [
    FOLDER / "machine" / f"{name}.js"
    for name in ("tensors", "positions", "transformer", "tokenizers", "decode", "view_make", "view_paint")
]
SCRIPT = joined(*ENGINE, HERE / "stage.js")
CSS = (HERE / "stage.css").read_text("utf-8")


def stored() -> dict:
    """The model in the committed page: its spec, and its weights as text."""
    return json.loads(re.search(r'id="model">(.*?)</script>', FILE.read_text("utf-8"))[1])


def trained() -> dict:
    """The translator of this machine."""
    from tx_helpers.widgets.machine_data import machine_data
    from tx_helpers.zoo.recipes import number_translator

    spec, data = machine_data(number_translator(), half=True)
    return {"spec": spec, "weights": packed(data)}


def stage(model: dict) -> PageForm:
    """The stage for a page of the site."""
    state = {"spec": model["spec"], "data": unpacked(model["weights"]), "keeps": True}
    return PageForm(SCRIPT, CSS, state, "A Transformer at work.")


def page(model: dict, address: str = "") -> str:
    """The whole file; `address` is the repository's, where it is known."""
    script, policy = opening(SCRIPT)
    template = Environment(loader=FileSystemLoader(HERE), undefined=StrictUndefined, trim_blocks=True).get_template
    return template("first_page.html.j2").render(
        course=COURSE,
        description=DESCRIPTION,
        policy=policy,
        css=CSS,
        lessons=len(LESSONS),
        address=address,
        model=inert(model),
        script=script,
    )


def picture() -> bytes:
    """The page as it is at the end of its guided minute."""
    sys.path.insert(0, str(ROOT / "tests" / "support"))
    from browser_harness import chromium

    with chromium() as browser:
        page = browser.new_page(viewport={"width": 1000, "height": 525}, device_scale_factor=1.2)
        page.goto(f"{FILE.as_uri()}#text=four+hundred+twenty-one&step=99")
        page.wait_for_selector(".st-tries button")
        return page.screenshot()


def main(arguments: list[str] | None = None) -> int:
    """Command line; returns the exit code."""
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--train", action="store_true", help="take the weights of this machine's translator")
    parser.add_argument("--check", action="store_true", help="write nothing; exit code 1 if the file would change")
    parser.add_argument("--picture", action="store_true", help="take the picture for shared links, too")
    options = parser.parse_args(arguments)
    made = page(trained() if options.train else stored(), repository_address())
    if options.check:
        return int(not FILE.exists() or FILE.read_text("utf-8") != made)
    FILE.parent.mkdir(exist_ok=True)
    FILE.write_text(made, "utf-8")
    if options.picture:
        FILE.with_name("preview.png").write_bytes(picture())
    print(f"{FILE.relative_to(ROOT)}  {FILE.stat().st_size / 1000:.0f} kB")
    return 0


if __name__ == "__main__":
    sys.exit(main())
