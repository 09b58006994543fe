"""The data doctor: what is wrong with a text, or with pairs, before a model is trained on it.

    data_doctor(train, held_out)          # two texts, or two lists of (source, target)

Two lines (or sources) are the same if their letters and digits are: case, spaces and signs do not count. Of a text only
lines of LONG characters and more are compared, for short ones repeat in any dialogue.

What the limits rest on: the three sets of `sets` at seeds 0 to 2 give no alarm, three pages of this project none but
for their length and rare characters, and each fault that the tests plant gives its own and no other. No larger
collection was looked at: read what is found.
"""

import re
from collections import Counter
from collections.abc import Callable, Sequence
from dataclasses import dataclass
from functools import cached_property

from tx_helpers.diagnose.doctor import RunReport
from tx_helpers.diagnose.report import LOOK, RIGHT, WRONG, Reasons, Result
from tx_helpers.lessons.your_own_model.budget import EPOCHS, feeds
from tx_helpers.nn.arguments import described
from tx_helpers.text.data import text_pairs

LONG = 20  # characters of a line that is compared
REPEATED, LEAKED = 0.05, 0.01  # shares of the compared lines or pairs
RARE = 5  # occurrences
LITTLE = {"characters": (20_000, 100_000), "pairs": (200, 1_000)}  # below: too little; little
SHOWN = 12  # rare characters that are listed
CONTROL = re.compile(r"[\x00-\x08\x0b\x0e-\x1f\x7f-\x9f]")
NOT_ASCII = re.compile(r"[^\x00-\x7f]{2,}")


@dataclass(frozen=True)
class Data:
    """Training and held-out part: two texts, or two lists of pairs."""

    train: str | list[tuple[str, str]]
    held_out: str | list[tuple[str, str]]

    @property
    def of_pairs(self) -> bool:
        return not isinstance(self.train, str)

    @property
    def unit(self) -> str:
        return "pairs" if self.of_pairs else "lines"

    @cached_property
    def units(self) -> list[list[str]]:
        """What is looked for twice, in training and held-out part: pairs as texts, or the long lines."""
        return [_units(part) for part in (self.train, self.held_out)]

    @cached_property
    def keys(self) -> list[list[str]]:
        """What may not stand in both parts, made plain: sources, or the long lines."""
        return [[plain(one.split("\t")[0]) for one in units] for units in self.units]

    @cached_property
    def texts(self) -> list[str]:
        """Each part as one text."""
        return [
            part if isinstance(part, str) else "\n".join(map("\n".join, part)) for part in (self.train, self.held_out)
        ]


def _units(part: str | list[tuple[str, str]]) -> list[str]:
    if isinstance(part, str):
        return [line.replace("\t", " ") for line in part.splitlines() if len(line) >= LONG]
    return ["\t".join(one.replace("\t", " ") for one in pair) for pair in part]


def plain(text: str) -> str:
    """Letters and digits alone, in lower case, one space between words."""
    return " ".join(re.findall(r"[^\W_]+", text.casefold()))


# --- the checks -------------------------------------------------------------------------------------------------------
def duplicates(data: Data) -> Result:
    """How many lines or pairs of training came before, to the letter or nearly so?"""
    units = data.units[0]
    same = len(units) - len({*units})
    near = len({*units}) - len({"\t".join(map(plain, one.split("\t"))) for one in units})
    share = (same + near) / max(1, len(units))
    figure = f"{same:,} of {len(units):,} {data.unit} come again, {near:,} more but for case and signs ({share:.1%})"
    return Result(WRONG if share > REPEATED else RIGHT, figure, share, ("same",) if same >= near else ("near",))


def leaks(data: Data) -> Result:
    """How many held-out lines or sources stand in training?"""
    known, held = {*data.keys[0]}, data.keys[1]
    found = [one for one in held if one in known]
    share = len(found) / max(1, len(held))
    example = f", e.g. {found[0][:40]!r}" if found else ""
    name = "sources" if data.of_pairs else "lines"
    return Result(
        WRONG if share > LEAKED else RIGHT,
        f"{len(found):,} of {len(held):,} held-out {name} stand in training ({share:.1%}){example}",
        share,
    )


def rare(data: Data) -> Result:
    """Which characters come too seldom to be learned, or in the held-out part alone?"""
    counts = Counter(data.texts[0])
    seldom = sorted((one for one in counts if counts[one] < RARE), key=lambda one: (counts[one], one))
    unseen = sorted({*data.texts[1]} - counts.keys())
    figure = f"{len(seldom)} of {len(counts)} characters come fewer than {RARE} times{_listed(seldom)}"
    if unseen:
        return Result(
            WRONG, f"{figure}; {len(unseen)} in the held-out part alone{_listed(unseen)}", len(unseen), ("unseen",)
        )
    return Result(LOOK if seldom else RIGHT, figure, len(seldom), ("seldom",))


def encodings(data: Data) -> Result:
    """Does the text bear marks of a wrong encoding?"""
    text = "\n".join(data.texts)
    found = {
        "lost": text.count("\ufffd"),
        "twice": len(garbled(text)),
        "control": len(CONTROL.findall(text)),
        "ends": min(text.count("\r\n"), len(re.findall(r"(?<!\r)\n", text))) if not data.of_pairs else 0,
    }
    names = dict(
        lost="lost characters (U+FFFD)", twice="garbled ones", control="control characters", ends="mixed line ends"
    )
    causes = tuple(name for name, count in found.items() if count)
    example = f", e.g. {garbled(text)[0]!r}" if found["twice"] else ""
    figure = ", ".join(f"{found[name]:,} {names[name]}" for name in found) + example
    return Result(WRONG if causes else RIGHT, figure, sum(found.values()), causes)


def garbled(text: str) -> list[str]:
    """Stretches that were UTF-8 and were read as cp1252, such as 'Ã¤' for 'ä': read backwards, they make sense."""
    found = []
    for stretch in NOT_ASCII.findall(text):
        try:
            stretch.encode("cp1252").decode("utf-8")
        except UnicodeError:
            continue
        found.append(stretch)
    return found


def little(data: Data) -> Result:
    """Is there enough to learn from?"""
    count, unit = (len(data.train), "pairs") if data.of_pairs else (len(data.train), "characters")
    least, some = LITTLE[unit]
    figure = f"{count:,} {unit}; read {EPOCHS} times they feed some {feeds(len(data.texts[0])):,.0f} parameters"
    state = WRONG if count < least else LOOK if count < some else RIGHT
    return Result(state, figure, count, values={"unit": unit})


def lines(data: Data) -> Result:
    """Does a text have lines, does a pair have two sides?"""
    if data.of_pairs:
        empty = sum(not (source.strip() and target.strip()) for source, target in [*data.train, *data.held_out])
        return Result(WRONG if empty else RIGHT, f"{empty:,} pairs have an empty side", empty, ("empty",))
    count = len(data.train.splitlines())
    mean = len(data.train) / max(1, count)
    return Result(
        WRONG if count < 2 else RIGHT, f"{count:,} line{'s' * (count != 1)} of {mean:,.0f} characters", count, ("one",)
    )


def _listed(characters: Sequence[str]) -> str:
    """: 'q', 'é' …"""
    shown = ", ".join(map(repr, characters[:SHOWN]))
    return f": {shown}{' …' if len(characters) > SHOWN else ''}" if characters else ""


CHECKS: dict[str, tuple[Callable[[Data], Result], Reasons]] = {
    "duplicates": (
        duplicates,
        Reasons(
            "Does training have the same things again and again?",
            {
                "same": "a page header, a file pasted twice, or pairs drawn with repetition",
                "near": "the same with other capitals or signs: two editions, or a list of variants",
            },
            "keep each once: list(dict.fromkeys(…)); the model learns repeated lines by heart first",
        ),
    ),
    "leaks": (
        leaks,
        Reasons(
            "Is what is held out new to the model?",
            {"split": "the parts were cut before duplicates went, or at random among wordings of the same thing"},
            "split by paragraph or by meaning, equal ones on the same side; until then the held-out loss is too good",
        ),
    ),
    "rare": (
        rare,
        Reasons(
            "Does each character come often enough?",
            {
                "seldom": "signs of another language, emoji, or traces of a layout",
                "unseen": "the held-out part has characters that no training step shows",
            },
            "replace or delete them, or take a tokenizer of bytes: each has a row of the embedding to itself",
        ),
    ),
    "encodings": (
        encodings,
        Reasons(
            "Was the file read in its own encoding?",
            {
                "lost": "a reader replaced bytes that it could not read by U+FFFD: what stood there is gone",
                "twice": "UTF-8 that was read as cp1252, and saved so",
                "control": "pieces of a binary file, or of a terminal's colours",
                "ends": "files of two systems pasted together: \\r\\n and \\n",
            },
            "go back to the source and read it with `read_text`; text.encode('cp1252').decode('utf-8') mends what is "
            "garbled throughout",
        ),
    ),
    "little": (
        little,
        Reasons(
            "Is there enough?",
            {"few": "{unit} are few: the model learns them by heart before it learns the rule"},
            "collect 100,000 characters or 1,000 pairs; or take a small model, stop early, begin with a pretrained one",
        ),
    ),
    "lines": (
        lines,
        Reasons(
            "Does the text have lines, does each pair have two sides?",
            {
                "one": "the line ends were lost, as by a join with spaces: lines cannot be compared",
                "empty": "a column was missing, or a line was read as two",
            },
            "go back to the source, and keep its line ends; leave out pairs with an empty side",
        ),
    ),
}  # fmt: skip


class DataReport(RunReport):
    """A report about data; its last line says what the limits rest on."""

    last_line = "Limits from the course's three sets and planted faults: look at your data, too."


def data_doctor(train: str | Sequence[tuple[str, str]], held_out: str | Sequence[tuple[str, str]]) -> DataReport:
    """Say what is wrong with a text or with pairs (source, target). -> a report with a line for each check"""
    if isinstance(train, str) != isinstance(held_out, str):
        raise ValueError(
            f"data_doctor: train is {described(train)}, but held_out is {described(held_out)}: "
            "expected two texts or two lists of pairs"
        )
    if not isinstance(train, str):
        train, held_out = text_pairs("data_doctor", train), text_pairs("data_doctor", held_out)
    for name, part in (("train", train), ("held_out", held_out)):
        if not part:
            raise ValueError(f"data_doctor: {name} is empty, expected a text")
    data = Data(train, held_out)
    name = "Pairs" if data.of_pairs else "Text"
    unit = "" if data.of_pairs else " characters"
    about = f"{name}: {len(train):,}{unit} to train on, {len(held_out):,} held out"
    return DataReport(about, tuple(why.explain(check, look(data)) for check, (look, why) in CHECKS.items()))
