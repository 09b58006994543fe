"""Draw the animations: the README's, of the machine that translates a number, then loses a head and writes another
word; and that of the first notebook's header, of the words that come one by one.

    python tools/draw_machine.py            # figures/machine.webp, its last picture machine_still.webp, translator.webp

It drives the machine in Chromium by its own buttons and takes a picture after each move. Which head is removed is found
out here: the first one in the decoder without which the translation is another.
"""

import argparse
import io
import sys
from collections.abc import Iterator
from pathlib import Path

from PIL import Image
from playwright.sync_api import Locator, Page

import draw_figures
from notebook_frame import ROOT
from tx_helpers.show.stored import PageForm
from tx_helpers.widgets.machine import machine
from tx_helpers.zoo.recipes import number_translator

sys.path.insert(0, str(ROOT / "tests/support"))

from browser_harness import chromium
from widget_page import mount

FIGURES = ROOT / "figures"
TEXT = "four hundred twenty-one"
WINDOW = {"width": 830, "height": 890}  # a README on GitHub is 830 pixels wide
STAGE, WORD, CHANGE, END = 500, 900, 3000, 6000  # milliseconds that a picture stays
# The controls above and the sentence below take room and show nothing that moves.
STYLE = """html { color-scheme: light; background: #fff } body { margin: 0 } .tx-machine { border: 0 }
.tx-machine > .tx-bar, .tx-summary { display: none }"""


class Shown:
    """The machine in a page, at the step that writes the last word."""

    def __init__(self, page: Page, form: PageForm):
        self.page = page
        page.set_content(f"<!DOCTYPE html><style>{form.css}{STYLE}</style><main id=place></main>")
        mount(page, form.script, form.state)

    def press(self, part: Locator) -> None:
        """Press a button, one that is hidden here, too."""
        part.evaluate("(button) => button.click()")
        self.page.wait_for_timeout(250)  # what the changed machine would write follows a little later

    def step(self, way: str, until: str) -> None:
        """Go Back or Forward until these words are written, with the one that this step writes."""
        button = self.page.locator(f".tx-bar [aria-label={way}]")
        while self.words() != until:
            button.evaluate("(button) => button.click()")

    def words(self) -> str:
        """The words written so far, with the one that this step writes; "…" ends them where it writes none yet."""
        return " ".join(self.page.locator(".tx-to-text").text_content().split())

    def picture(self) -> Image.Image:
        """The machine as it is now."""
        self.page.wait_for_timeout(250)
        return picture_of(self.page)


def picture_of(shown: Page | Locator) -> Image.Image:
    """A screenshot."""
    return Image.open(io.BytesIO(shown.screenshot())).convert("RGB")


def pictures(shown: Shown) -> Iterator[tuple[Image.Image, int]]:
    """Each picture and its milliseconds: all stages of the first word, each further word, then a head removed."""
    words = shown.words().split()
    head, written = needed_head(shown)
    shown.step("Back", words[0])  # the steps before this one are those of the first word
    back, forward = (shown.page.locator(f".tx-bar [aria-label={way}]") for way in ("Back", "Forward"))
    while back.is_enabled() and "step 1 " not in shown.page.locator(".tx-where").text_content():
        shown.press(back)
    while shown.words() != words[0]:
        yield shown.picture(), STAGE
        shown.press(forward)
    for count in range(len(words)):
        shown.step("Forward", " ".join(words[: count + 1]))
        yield shown.picture(), WORD
    same = next(n for n, pair in enumerate(zip(words, [*written, *words], strict=False)) if pair[0] != pair[1])
    shown.step("Back", " ".join(words[: same + 1]))
    head.focus()
    yield shown.picture(), CHANGE
    shown.press(head)
    yield shown.picture(), END


def needed_head(shown: Shown) -> tuple[Locator, list[str]]:
    """The first head of the decoder without which the machine writes something else, and what that is."""
    for head in shown.page.locator(".tx-decoder .tx-map").all():
        shown.press(head)
        written = shown.words().split()
        shown.press(head)
        if written != shown.words().split():
            return head, written
    raise ValueError(f"draw_machine: without any single head, {TEXT!r} becomes {shown.words()!r} all the same")


def words_come(page: Page) -> Iterator[tuple[Image.Image, int]]:
    """The drawing `translator_attention` with no German word yet, with one, with two … and its milliseconds."""
    drawing = draw_figures.script("translator_attention")
    english, german, weights = drawing.measured(TEXT)
    for count in range(len(german) + 1):
        page.set_content(f"<style>body {{ margin: 0 }}</style>{drawing.picture(english, german, weights, count).svg()}")
        yield picture_of(page.locator("svg")), CHANGE if count == len(german) else WORD


def main(arguments: list[str] | None = None) -> int:
    """Command line; returns the exit code."""
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    parser.add_argument("--to", type=Path, default=FIGURES, help="folder (default %(default)s)")
    options = parser.parse_args(arguments)
    form = machine(number_translator(), TEXT).page_form()
    with chromium() as browser:
        page = browser.new_page(viewport=WINDOW, device_scale_factor=1.5)
        moving = {
            "machine": (0, [*pictures(Shown(page, form))]),  # for ever
            "translator": (3, [*words_come(browser.new_page(viewport=WINDOW))]),  # three times, then it is whole
        }
    options.to.mkdir(parents=True, exist_ok=True)
    how = {"lossless": True, "quality": 80, "method": 4}
    files = [options.to / "machine_still.webp"]
    moving["machine"][1][-1][0].save(files[0], **how)
    for name, (loop, timed) in moving.items():
        (first, *others), milliseconds = zip(*timed, strict=True)
        files.append(options.to / f"{name}.webp")
        first.save(
            files[-1], save_all=True, append_images=others, duration=milliseconds, loop=loop, minimize_size=True, **how
        )
    for file in files:
        print(f"{file.name}  {file.stat().st_size / 1000:.0f} kB")
    return 0


if __name__ == "__main__":
    sys.exit(main())
