"""Three small sets of our own making, the same bytes for a seed, and a text file of one's own, read with care.

text = story_text()                       # 200,000 characters of little stories
train, held_out = time_split()            # ("quarter past three", "03:15"): no held-out time stands in training
chat_pairs(1000)                          # ("… who has a cat ?", "mia"): questions about texts of the little world
text, encoding, notes = read_text(path)
"""

import random
from codecs import BOM_UTF8, BOM_UTF16_BE, BOM_UTF16_LE
from collections.abc import Iterator
from pathlib import Path
from typing import NamedTuple

from tx_helpers.nn.arguments import check_numbers, check_types
from tx_helpers.text.number_words import english
from tx_helpers.text.stories import END, mean_length, stories
from tx_helpers.text.world_tasks import answer

TextPair = tuple[str, str]
LARGEST = 20_000_000  # bytes of a file
HELD_OUT_SEEDS = 1_000_000  # where the seeds of held-out chats begin
PARTS_OF_DAY = {"in the morning": range(1, 12), "in the afternoon": range(12, 18), "in the evening": range(18, 24)}


# --- three sets -------------------------------------------------------------------------------------------------------
def story_text(characters: int = 200_000, seed: int = 0) -> str:
    """Whole stories of `text.stories`, as many as fit into so many characters."""
    check_numbers("story_text", least=2_000, whole=True, characters=characters)
    text = stories(int(characters / mean_length() * 1.1) + 5, seed=seed)[:characters]
    return text[: text.rindex(END) + len(END)]


def time_pairs(count: int = 3000, seed: int = 0) -> list[TextPair]:
    """Pairs of a spoken time and its digits, all different: ("twenty to eleven", "10:40"). One time has several."""
    known = [*_spoken_times()]
    check_numbers("time_pairs", least=1, most=len(known), whole=True, count=count)
    return _shuffled(known, f"times {seed}")[:count]


def time_split(seed: int = 0, count: int = 3000, share: float = 0.1) -> tuple[list[TextPair], list[TextPair]]:
    """The pairs as (training, held-out): all wordings of this share of the times are held out, and no others."""
    check_numbers("time_split", above=0, less_than=1, share=share)
    pairs = time_pairs(count, seed)
    times = _shuffled(sorted({digits for _, digits in pairs}), f"held out {seed}")
    held = set(times[: max(1, round(share * len(times)))])
    return [pair for pair in pairs if pair[1] not in held], [pair for pair in pairs if pair[1] in held]


def chat_pairs(count: int = 3000, seed: int = 0, *, split: str = "train") -> list[TextPair]:
    """A text of the little world with a question behind it, and the answer.

    split="test": about texts with combinations that those of "train" never have, and drawn from other random numbers.
    """
    seed += HELD_OUT_SEEDS * (split != "train")  # the same numbers would tell the same stories about other people
    return [*zip(*answer(count, split=split, seed=seed), strict=True)]


def _spoken_times() -> Iterator[TextPair]:
    """Every wording of every time, with its digits; without a part of the day it is that of a 12-hour clock."""
    for hours, suffix in [(range(1, 13), ""), *((hours, f" {part}") for part, hours in PARTS_OF_DAY.items())]:
        for hour in hours:
            for minute in range(60):
                for words in _wordings(hour, minute):
                    yield words + suffix, f"{hour:02}:{minute:02}"


def _wordings(hour: int, minute: int) -> list[str]:
    this, following = (english((one - 1) % 12 + 1) for one in (hour, hour + 1))
    if minute == 0:
        return [f"{this} o'clock", f"{this} sharp"]
    named = {15: f"quarter past {this}", 30: f"half past {this}", 45: f"quarter to {following}"}
    said = english(minute) if minute > 9 else f"oh {english(minute)}"
    if minute < 30:
        side, count, of = "past", minute, this
    else:
        side, count, of = "to", 60 - minute, following
    plain = [] if minute == 30 else [f"{english(count)} minute{'s' * (count > 1)} {side} {of}"]
    return [f"{this} {said}", *([named[minute]] if minute in named else [f"{english(count)} {side} {of}"]), *plain]


def _shuffled(items: list, seed: str) -> list:
    """In a random order; only random() is promised the same results in every version of Python."""
    uniform = random.Random(seed).random
    return [item for _, _, item in sorted((uniform(), place, item) for place, item in enumerate(items))]


# --- a file of one's own ----------------------------------------------------------------------------------------------
class Read(NamedTuple):
    """A file's text, the encoding that it was read with, and what was noticed or changed, a sentence each."""

    text: str
    encoding: str
    notes: list[str]


def read_text(path: str | Path) -> Read:
    """Read a text file: UTF-8 with or without a mark, UTF-16 with one, or else Windows' cp1252; line ends become \\n.

    Raises ValueError, naming the file, for one that is missing, empty, larger than 20 MB or no text.
    """
    check_types("read_text", (str, Path), path=path)
    file = Path(path)
    if not file.is_file():
        raise ValueError(f"read_text: {file}: no such file; this folder is {Path.cwd().name!r}")
    if file.stat().st_size > LARGEST:
        size = file.stat().st_size / 1e6
        raise ValueError(f"read_text: {file} has {size:.1f} MB, expected at most 20: cut a part out")
    text, encoding = _decoded(file)
    notes = [f"read as {encoding}"]
    if encoding == "cp1252":
        notes[0] += ", for it is no UTF-8: look whether its accents are right"
    if "\r" in text:
        text = text.replace("\r\n", "\n").replace("\r", "\n")
        notes.append("the line ends \\r are now \\n")
    if not text.strip():
        raise ValueError(f"read_text: {file} is empty, expected a text")
    return Read(text, encoding, notes)


def _decoded(file: Path) -> tuple[str, str]:
    """A file's text and its encoding."""
    raw = file.read_bytes()
    marks = {BOM_UTF8: "utf-8-sig", BOM_UTF16_LE: "utf-16", BOM_UTF16_BE: "utf-16"}
    marked = next((encoding for mark, encoding in marks.items() if raw.startswith(mark)), None)
    for encoding in [marked] if marked else ["utf-8", "cp1252"]:
        try:
            text = raw.decode(encoding)
        except UnicodeDecodeError:
            continue
        strange = sum(one < " " and one not in "\t\n\r\f" for one in text)
        if "\0" not in text and strange <= 0.01 * len(text):
            return text, encoding
    raise ValueError(f"read_text: {file} is no text, but binary or damaged: save it as plain text (.txt), in UTF-8")
