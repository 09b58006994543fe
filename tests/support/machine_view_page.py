"""The machine in a bare page of Chromium: made of untrained models, opened, and read."""

import re

from parity import randomise
from tx_helpers.nn.models import DecoderOnly, EncoderDecoder
from tx_helpers.text.data import word_pairs
from tx_helpers.text.tokenizers import CharTokenizer
from tx_helpers.widgets.machine import Machine, machine
from tx_helpers.zoo.recipes import Translator, Writer, translator_config, writer_config
from widget_page import mount

PAIRS = [("one two three", "eins zwei drei"), ("four five", "vier und fünf"), ("six seven", "sechs sieben acht")]
HEAD = "cross-attention of decoder block 1, head 2"
# All that is seen, for comparisons: the pictures' pixels, the words and the bars.
SEEN = """() => [[...document.querySelectorAll("canvas:not(.tx-zoom)")].map((one) => one.toDataURL()).join(),
  document.querySelector(".tx-flow").textContent, document.querySelector(".tx-summary").textContent].join()"""
# Which parts have changed: the names of those whose bar has a width.
CHANGED = """() => [...document.querySelectorAll(".tx-change")].filter((bar) => parseFloat(bar.style.width))
  .map((bar) => bar.parentNode.dataset.row)"""


def translator(pairs=PAIRS, **changes) -> Translator:
    data = word_pairs(pairs)
    return Translator(randomise(EncoderDecoder(translator_config(data, **changes)), std=0.15).eval(), data)


def writer(context: int = 64) -> Writer:
    tokenizer = CharTokenizer("abcdefgh <&")
    return Writer(
        randomise(DecoderOnly(writer_config(len(tokenizer), context_length=context)), std=0.15).eval(), tokenizer
    )


def open_machine(page, view: Machine | None = None, **state) -> Machine:
    view = view or machine(translator(), "one two three")
    page.add_style_tag(content=view._css)
    mount(page, view._esm, {"spec": view.spec, "data": view.data, "state": view.state | state}, "state")
    page.wait_for_timeout(100)  # the picture is drawn once more when its size is known
    return view


def summary(page) -> str:
    return page.text_content(".tx-summary")


def part(page, name: str):
    return page.get_by_role("button", name=re.compile(rf"^{re.escape(name)}"))


def panel(page) -> str:
    return page.text_content(".tx-panel")
