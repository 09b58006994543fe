"""The writing explorer: press Write, and two copies of a model write, character by character, each in its own way.

    writing_explorer({"context 256": story_writer(256)}, "Mia the ", grammar=story_grammar())

Both sides get the same random numbers, so that only temperature and top-p differ; both can be moved while it writes. A
character is shaded by its probability p under the model itself (temperature 1, all tokens): the bluer, the more of a
surprise. With a grammar, the first character at which a text leaves it is framed.

The writing goes on character by character, as `steps.py` says.
"""

import math
import random
from collections.abc import Mapping
from dataclasses import dataclass, field

import ipywidgets as widgets
from torch import Tensor

from tx_helpers.generation.sampling import filter_logits, pick
from tx_helpers.nn.arguments import check_numbers, check_types
from tx_helpers.show.charts import Panel, side_by_side
from tx_helpers.show.controls import choice, typed
from tx_helpers.show.explore import Explore
from tx_helpers.show.plots import Svg
from tx_helpers.show.shapes import BLUE, GREEN, MONO, MUTED, ORANGE, shape, visible, words
from tx_helpers.show.steps import Steps
from tx_helpers.text.grammar import Grammar
from tx_helpers.text.stories import END
from tx_helpers.training.contexts import cpu_threads, in_mode
from tx_helpers.widgets.sampling import next_character
from tx_helpers.zoo.recipes import Writer

LONGEST, EVERY, REST = 480, 2, 0.02  # characters of a text; of a picture; seconds between two characters
SIZE, COLUMNS, ROW, ADVANCE = (352, 376), 44, 22, 7.8  # a side, its characters a line, and the size of a character
SIDES = ("left", "right")
TOLD = 48  # characters of a text that the description quotes
RECORDED = {  # for pages without a kernel
    **{"left_temperature": [0.5, 1.0], "left_top_p": [1.0]},
    **{"right_temperature": [0.5, 1.0, 1.5], "right_top_p": [0.8, 1.0]},
}


# --- compute ----------------------------------------------------------------------------------------------------------
@dataclass
class Pen:
    """A text that a writer goes on with; `p` holds its own probability of each written character.

    The n-th character is drawn with the n-th random number of the seed, whatever temperature and top-p are.
    """

    writer: Writer
    beginning: str
    seed: int = 0
    longest: int = LONGEST
    written: str = ""
    p: list[float] = field(default_factory=list)
    known: dict[tuple[int, str], Tensor] = field(
        default_factory=dict
    )  # (version of the weights, text) -> logits after it

    def __post_init__(self) -> None:
        self.logits, tokens, _ = next_character(self.writer)
        self.tokens = list(tokens)
        self.before = END if "\n" in self.tokens else ""  # what the writer reads before the beginning: a story ended
        self.uniform = random.Random(f"writing {self.seed}").random

    @property
    def text(self) -> str:
        """All of it, the beginning included."""
        return self.beginning + self.written

    @property
    def done(self) -> bool:
        """A blank line ends a story."""
        return self.written.endswith(END) or len(self.written) >= self.longest

    def advance(self, temperature: float = 1.0, top_p: float = 1.0) -> None:
        """One more character. Special tokens, which an untrained model may choose, are never drawn."""
        text = self.before + self.text
        asked = sum(weight._version for weight in self.writer.model.parameters()), text
        if asked not in self.known:
            with cpu_threads(1), in_mode(self.writer.model, training=False):
                self.known[asked] = self.logits(text).double()
        logits = self.known[asked].clone()
        logits[[i for i, token in enumerate(self.tokens) if len(token) > 1]] = -math.inf
        u = self.uniform()
        if temperature:
            chosen = pick(filter_logits(logits, temperature=temperature, top_p=top_p), u)
        else:
            chosen = int(logits.argmax())
        self.p.append(logits.softmax(-1)[chosen].item())
        self.written += self.tokens[chosen]

    @property
    def surprise(self) -> float:
        """Mean −ln p of the written characters, in nats."""
        return -sum(map(math.log, self.p)) / len(self.p) if self.p else 0.0


# --- draw -------------------------------------------------------------------------------------------------------------
def draw(
    pens: Mapping[str, Pen], settings: Mapping[str, tuple[float, float]], grammar: Grammar | None, alt: str
) -> Svg:
    """The sides, each with its (temperature, top-p)."""
    return side_by_side([_side(name, pen, *settings[name], grammar) for name, pen in pens.items()], alt=alt)


def _side(name: str, pen: Pen, temperature: float, top_p: float, grammar: Grammar | None) -> Panel:
    slip = None if grammar is None else grammar.slip(pen.text)
    text, parts, at = pen.text, [words(0, 14, name.capitalize(), font_weight="bold")], 0
    parts.append(words(46, 14, f"temperature {temperature:.1f}, top-p {top_p:.2f}", fill=MUTED))
    for row, line in enumerate(_lines(text)):
        y = 46 + ROW * row
        for x, place in enumerate(range(at, at + len(line))):
            parts += _shade(x, y, pen, place)
            if place == slip:
                parts.append(_cell(x, y, fill="none", stroke=ORANGE.full, stroke_width=2.5))
        shown = line.replace("\n", "↵").replace(" ", "\N{NO-BREAK SPACE}")
        parts.append(
            words(0, y, shown, size=13, font_family=MONO, textLength=len(line) * ADVANCE, lengthAdjust="spacing")
        )
        at += len(line)
    mark, said = _state(pen, slip, grammar)
    parts.append(words(0, SIZE[1] - 24, mark, fill=ORANGE.shade if slip is not None else GREEN.shade))
    parts.append(words(0, SIZE[1] - 4, said, fill=MUTED))
    return Panel(SIZE, "".join(parts))


def _cell(x: int, y: float, **style: object) -> str:
    """The ground behind the character in column x of the line at y."""
    return shape("rect", x=x * ADVANCE, y=y - 15, width=ADVANCE, height=20, **style)


def _shade(x: int, y: float, pen: Pen, place: int) -> list[str]:
    at = place - len(pen.beginning)
    if at < 0:
        return [shape("rect", x=x * ADVANCE, y=y + 4, width=ADVANCE, height=1.5, fill=MUTED)]
    opacity = round(0.6 * (1 - pen.p[at]), 1)
    return [_cell(x, y, fill=BLUE.full, fill_opacity=opacity)] if opacity else []


def _lines(text: str) -> list[str]:
    """The text in lines of at most COLUMNS characters, cut behind spaces where there are any."""
    lines = []
    while text:
        end = len(text) if len(text) <= COLUMNS else text.rfind(" ", 0, COLUMNS) + 1 or COLUMNS
        lines.append(text[:end])
        text = text[end:]
    return lines


def _state(pen: Pen, slip: int | None, grammar: Grammar | None) -> tuple[str, str]:
    """Two lines below a text: how far it keeps to the grammar, and how surprising it was."""
    said = f"mean surprise {pen.surprise:.2f} nats a character" if pen.p else "Press Write."
    if grammar is None:
        return f"{len(pen.written)} characters", said
    if slip is not None:
        return f"✗ leaves the grammar at character {slip + 1}", said
    full = grammar.read(pen.text)[1] > -math.inf
    return f"✓ {'a full story' if full else 'keeps to the grammar'}: {len(pen.text)} characters", said


# --- describe ---------------------------------------------------------------------------------------------------------
def describe(name: str, pen: Pen, temperature: float, top_p: float, grammar: Grammar | None) -> str:
    """One side: its settings, its first slip, its mean surprise, and how its text begins: the page shows the rest."""
    settings = f"{name} (temperature {temperature:.1f}, top-p {top_p:.2f})"
    if not pen.p:
        return f"{settings}: nothing written yet"
    mark, said = _state(pen, None if grammar is None else grammar.slip(pen.text), grammar)
    text = pen.text.replace("\n", visible("\n"))
    begun = text if len(text) <= TOLD else text[: TOLD - 2].rstrip() + " …"
    return f"{settings}: {mark.lstrip('✓✗ ')}, {said}: {begun!r}"


# --- bind -------------------------------------------------------------------------------------------------------------
class Writing:
    """Two pens, the button that starts and stops both, and the story's number, from which the random numbers come.

    At first story 0 is there. Write begins the next one, Stop stops it, Continue goes on. Another writer or beginning
    stops it, too, and clears the page. Where no event loop runs (in a script) it writes to the end at once.
    """

    def __init__(
        self, writers: Mapping[str, Writer], beginning: str, grammar: Grammar | None, longest: int, rest: float
    ):
        self.writers, self.grammar, self.longest = dict(writers), grammar, longest
        self.story, self.busy, self.work = 0, False, Steps(rest)
        first = next(iter(self.writers))
        self.writer = choice("Writer", list(self.writers), first)
        self.beginning = typed("Beginning", beginning, at_once=False)
        self.button = widgets.ToggleButton(description="Write", layout={"width": "120px"})
        self.knobs = {
            "left_temperature": _slider(0.5, 2.0, 0.1, "Left temperature", least=0.0),
            "left_top_p": _slider(1.0, 1.0, 0.05, "Left top-p", least=0.05),
            "right_temperature": _slider(1.0, 2.0, 0.1, "Right temperature", least=0.0),
            "right_top_p": _slider(1.0, 1.0, 0.05, "Right top-p", least=0.05),
        }
        self.known: dict[str, dict] = {name: {} for name in writers}
        self._new_page(self.story)
        self._to_the_end()
        self.explore = Explore(
            self.picture,
            name="writing",
            told=True,
            writer=self.writer,
            beginning=self.beginning,
            **self.knobs,
            writing=self.button,
            recorded=RECORDED,
        )
        self.explore.begin_again = lambda: self._new_page(1)
        for control in (self.writer, self.beginning):
            control.observe(lambda _: self._clear(), "value")
        self.button.observe(lambda change: self._start() if change["new"] else self._stop(), "value")

    def settings(self) -> dict[str, tuple[float, float]]:
        """Side -> its temperature and top-p now."""
        return {name: (self.knobs[f"{name}_temperature"].value, self.knobs[f"{name}_top_p"].value) for name in SIDES}

    def picture(self, writer: str, beginning: str, writing: bool, **_knobs: object) -> Svg:
        """Both texts as they are now. While they grow, the words stay the same: a screen reader would read each."""
        self.writers[writer].tokenizer.encode(beginning)  # a character that it does not know is named
        settings = self.settings()
        told = [describe(name, pen, *settings[name], self.grammar) for name, pen in self.pens.items()]
        if self.busy:
            alt = f"Story {self.story} by {writer}: writing."
        else:
            state = "done" if self.done else "stopped" if self.started else "press Write"
            alt = f"Story {self.story} by {writer}, {state}. {'; '.join(told)}."
        return draw(self.pens, settings, self.grammar, alt)

    @property
    def done(self) -> bool:
        return all(pen.done for pen in self.pens.values())

    @property
    def started(self) -> bool:
        return any(pen.written for pen in self.pens.values())

    def _new_page(self, story: int) -> None:
        self.story = story
        name = self.writer.value
        text = dict(beginning=self.beginning.value, seed=self.story, longest=self.longest, known=self.known[name])
        self.pens = {side: Pen(self.writers[name], **text) for side in SIDES}

    def _clear(self) -> None:
        self._stop()
        self._new_page(self.story)
        self.button.description = "Write"

    def _step(self) -> None:
        for name, setting in self.settings().items():
            if not self.pens[name].done:
                self.pens[name].advance(*setting)

    def _to_the_end(self) -> None:
        while not self.done:
            self._step()

    def _start(self) -> None:
        self.button.description = "Stop"
        if self.done:
            self._new_page(self.story + 1)
        self.busy = True
        self.work.start(self._one, self._ended)

    def _stop(self) -> None:
        self.work.stop()
        self.busy, self.button.value = False, False
        self.button.description = "Write" if self.done or not self.started else "Continue"

    def _one(self) -> bool:
        """A character on each side."""
        if self.done or self.explore.error:
            return False
        self._step()
        if max(len(pen.written) for pen in self.pens.values()) % EVERY == 0:
            self.explore.redraw()
        return not self.done

    def _ended(self, whole: bool) -> None:
        if whole:
            self._stop()
        self.explore.redraw()


def _slider(value: float, most: float, step: float, name: str, *, least: float) -> widgets.FloatSlider:
    return widgets.FloatSlider(
        value, min=least, max=most, step=step, description=name, style={"description_width": "140px"}
    )


def writing_explorer(
    writers: Mapping[str, Writer],
    beginning: str = "",
    *,
    grammar: Grammar | None = None,
    longest: int = LONGEST,
    rest: float = REST,
) -> Explore:
    """The explorer of a `Writing`: a choice of writers, a beginning, and two pairs of settings.

    A blank line ends a text, or its `longest` length; rest: seconds between two characters.
    """
    check_types("writing_explorer", Mapping, writers=writers)
    check_types("writing_explorer", Writer, **{f"writers[{name!r}]": writer for name, writer in writers.items()})
    check_types("writing_explorer", str, **({"beginning": beginning} if beginning != "" else {}))
    check_types("writing_explorer", (Grammar, type(None)), grammar=grammar)
    check_numbers("writing_explorer", least=1, most=LONGEST, whole=True, longest=longest)
    check_numbers("writing_explorer", least=0, rest=rest)
    return Writing(writers, beginning, grammar, longest, rest).explore
