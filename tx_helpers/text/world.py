"""A little world to pretrain on: texts of some sentences about people, animals, fruit and firms, with all that is true
of them.

    texts = list(little_world().texts(1000, seed=0))
    truth = little_world().truth(texts[0])      # who is meant, what it says, a summary, a paraphrase, questions

A text is lower-case words and signs, one space between two, so that *apple* and *Apple* are one token, whose sense the
context decides; `truth.english` is the text as people write it. Texts are drawn from a mixture of tales, each of which
is a `Grammar`. No two tales can tell the same text, so the entropy of a text, in nats, is exactly

    H(text) = Σ p(tale) (−ln p(tale) + H(tale)).

What is counted: all words and signs of a text, and one token that marks its end. So in a stream of independent texts no
model has an expected loss per token below

    H(text) / (E[words and signs of a text] + 1),

and a model that sees each text from its beginning can reach this floor. `next_words` gives the distribution that
reaches it, `gap_words` the one of a word that was hidden in a text.

Some combinations, such as a hero and what she lost, are held out: `little_world("train")` never tells of them,
`little_world("test")` of nothing else, and each has its own exact entropy. A model that knows the world, and not by
heart who goes with what, has a loss of −little_world().log_probability(text) on a text of either. On held-out texts
a model may be above it: it has noticed which combinations were missing.
"""

import math
import random
import re
import zlib
from collections.abc import Iterator, Mapping
from functools import cache
from itertools import combinations, product
from typing import NamedTuple

from tx_helpers.nn.arguments import check_numbers, check_one_of, described
from tx_helpers.text.grammar import Grammar, Part
from tx_helpers.text.world_senses import TALES_OF_SENSES
from tx_helpers.text.world_tales import TALES
from tx_helpers.text.world_truth import Line, Lines, Truth, one_word_changed, truth_of
from tx_helpers.text.world_words import SHARED, WORDS, Record, Tale

SPLITS = ("all", "train", "test")
HELD_OUT = 6  # one combination in six is held out
SLOT = re.compile(r"(\{[\w.]+\})")


class Told(NamedTuple):
    """A tale with its grammar, and what each alternative of a rule means."""

    tale: Tale
    grammar: Grammar
    lines: Lines


class World:
    """All texts of the little world, or those of its training or its test part ("all", "train", "test").

    Use `little_world`, which makes each of them only once.
    """

    def __init__(self, split: str = "all"):
        check_one_of("World", SPLITS, split=split)
        self.split = split
        self.tales = {name: _told(tale, split) for name, tale in (TALES | TALES_OF_SENSES).items()}
        _check_that_texts_differ(self.tales)

    def texts(self, count: int, *, seed: int = 0) -> Iterator[str]:
        """`count` texts, drawn independently. More texts of a seed begin with the fewer."""
        check_numbers("World.texts", least=0, whole=True, count=count)
        check_numbers("World.texts", whole=True, seed=seed)
        uniform = random.Random(f"tales {seed}").random
        drawn = [
            told.grammar.texts(count, seed=zlib.crc32(f"{name} {seed}".encode())) for name, told in self.tales.items()
        ]
        for _ in range(count):
            yield next(drawn[int(uniform() * len(drawn))]).rstrip()

    def truth(self, text: str) -> Truth:
        """What is true of a text. Raises ValueError, naming where it goes wrong, if the world has no such text."""
        name, told, choices, cast = self._read("World.truth", text)
        return truth_of(name, told.tale, told.grammar, told.lines, choices, cast)

    def changed(self, text: str, *, seed: int = 0) -> str | None:
        """The text with one word exchanged for one of another meaning; None if it has no word that may be exchanged."""
        _, told, choices, cast = self._read("World.changed", text)
        return one_word_changed(told.grammar, told.lines, choices, cast, seed)

    def _read(self, where: str, text: str) -> tuple[str, Told, list[tuple[str, int]], dict[str, Record]]:
        """The tale of a text, what was chosen in it, and its cast."""
        spaced = _spaced(where, text)
        readings = {name: told.grammar.follow(spaced) for name, told in self.tales.items()}
        name = max(readings, key=lambda name: (math.isfinite(readings[name].log_p), readings[name].end))
        reading = readings[name]
        if not math.isfinite(reading.log_p) or reading.end < len(spaced):
            raise ValueError(f"{where}: no text of the world goes on like this: {spaced[reading.end :].strip()!r}")
        return name, self.tales[name], reading.choices, {member: found[0] for member, found in reading.cast.items()}

    def log_probability(self, text: str) -> float:
        """ln p of a text; −∞ if this part of the world has no such text."""
        spaced = _spaced("World.log_probability", text)
        log_p = max(told.grammar.log_probability(spaced) for told in self.tales.values())
        return log_p - math.log(len(self.tales))

    def next_words(self, beginning: str) -> dict[str, float]:
        """The exact probability of each word that may follow a beginning, the most probable first; "" ends the text.

        Empty if no text begins so.
        """
        spaced = _spaced("World.next_words", beginning)
        found: dict[str, float] = {}
        for told in self.tales.values():
            for part, p in told.grammar.next_parts(spaced).items():
                word = part.split(" ")[0]
                found[word] = found.get(word, 0) + p
        total = math.fsum(found.values())
        return {word: p / total for word, p in sorted(found.items(), key=lambda entry: (-entry[1], entry[0]))}

    def gap_words(self, text: str, place: int) -> dict[str, float]:
        """The exact probability of each word at `place` (from 0), given all other words, the most probable first."""
        words = _spaced("World.gap_words", text).split()
        check_numbers("World.gap_words", least=0, less_than=len(words), whole=True, place=place)
        tried = self.next_words(" ".join(words[:place]))
        found = {w: self.log_probability(" ".join([*words[:place], w, *words[place + 1 :]])) for w in tried if w}
        found = {word: math.exp(log_p) for word, log_p in found.items()}
        total = math.fsum(found.values()) or 1.0
        return {w: p / total for w, p in sorted(found.items(), key=lambda entry: (-entry[1], entry[0])) if p}

    def entropy(self, base: float = math.e) -> float:
        """The exact mean of −log p of a text: in nats, or with base=2 in bits."""
        inside = math.fsum(told.grammar.entropy() for told in self.tales.values()) / len(self.tales)
        return (math.log(len(self.tales)) + inside) / math.log(base)

    def mean_length(self) -> float:
        """The exact mean number of words and signs of a text, its end not counted."""
        return math.fsum(told.grammar.mean_length() for told in self.tales.values()) / len(self.tales)

    def entropy_per_token(self, base: float = math.e) -> float:
        """The floor under the loss per token of a stream of texts, each with one token for its end."""
        return self.entropy(base) / (self.mean_length() + 1)

    def vocabulary(self) -> list[str]:
        """All words and signs of the texts, summaries, questions and answers, in alphabetical order."""
        spoken = ["yes", "no"]
        for told in self.tales.values():
            spoken += [
                part for a in told.grammar.rules.values() for b in a for part in b.parts if isinstance(part, str)
            ]
            spoken += [value for records in told.grammar.cast.values() for r in records for value in r.values()]
            spoken += [told.tale.summary, *told.tale.questions, *told.tale.questions.values()]
            spoken += [value for line in told.lines.values() for key, value in line.says.items() if key == "gist"]
        return sorted(set(SLOT.sub(" ", " ".join(spoken)).split()))

    def first_fault(self, text: str, given: int = 0) -> int | None:
        """The place of the first word, behind the first `given`, that the world never writes there, or None."""
        if math.isfinite(self.log_probability(text)):
            return None
        found = text.split()
        places = range(given, len(found))
        return next((at for at in places if found[at] not in self.next_words(" ".join(found[:at]))), len(found))


@cache
def little_world(split: str = "all") -> World:
    """The world as a whole ("all"), or its part for training ("train") or for testing ("test")."""
    return World(split)


def _spaced(where: str, text: str) -> str:
    """The text with one space behind each word, as the grammars have it."""
    if not isinstance(text, str):
        raise ValueError(f"{where}: text is {described(text)}, expected a str")
    return "".join(f"{word} " for word in text.split())


def _told(tale: Tale, split: str) -> Told:
    """The grammar of a tale. Those who take part together are one member of its cast, so that some can be held out."""
    written = {**SHARED, **{rule: words.split() for rule, words in WORDS.items()}, **tale.rules}
    rules: dict[str, dict[str, float]] = {}
    lines = {}
    for rule, entries in written.items():
        rules[rule] = {}
        for entry in entries:
            entry, *says = entry.split(" | ")
            ways = re.split(r" ?~ ?", entry)
            first = len(rules[rule])
            for number, way in enumerate(ways):
                rules[rule][_compiled(way, tale)] = 1 / len(ways)
                other = first + (len(ways) - 1 - number)
                lines[rule, first + number] = Line(other, dict(pair.split("=") for pair in says))
            if len(rules[rule]) < first + len(ways):
                raise ValueError(
                    f"World: in the rule {rule!r}, {entry!r} repeats what is there, expected entries that differ"
                )
    cast = {"cast": list(_together(tale, split))}
    for role, records in tale.alone.items():
        cast[role] = [{field: f"{value} " for field, value in record.items()} for record in records]
    return Told(tale, Grammar(rules, cast, "text", size=lambda text: text.count(" ")), lines)


def _compiled(way: str, tale: Tale) -> str:
    """A line as the grammar needs it: a space behind each word, none behind a slot."""
    parts = []
    for part in SLOT.split(way.replace("_", " ") if "{" not in way else way):
        role, _, field = part.strip("{}").partition(".")
        if field and role in tale.together:
            part = f"{{cast.{role}_{field}}}"
        parts.append(part if part.startswith("{") else "".join(f"{word} " for word in part.split()))
    return "".join(parts)


def _together(tale: Tale, split: str) -> Iterator[Record]:
    """Those who can take part together, as one record. A hero with the last of the others may be held out."""
    for numbered in product(*map(enumerate, tale.together.values())):
        chosen = {role: record for role, (_, record) in zip(tale.together, numbered, strict=True)}
        hero, friend = chosen["hero"], chosen.get("friend")
        if friend and (friend["name"] == hero["name"] or (tale.alike and friend["they"] != hero["they"])):
            continue
        held_out = (numbered[0][0] + numbered[-1][0]) % HELD_OUT == 0  # the hero's number and the last one's
        if split == "all" or held_out == (split == "test"):
            yield {f"{role}_{field}": f"{value} " for role, record in chosen.items() for field, value in record.items()}


def _check_that_texts_differ(tales: Mapping[str, Told]) -> None:
    """No text may belong to two tales: one of them always has a word that the other one never has."""
    words = {name: _words(told.grammar, told.grammar.start) for name, told in tales.items()}
    for (one, (always, ever)), (other, (always_there, ever_there)) in combinations(words.items(), 2):
        if always <= ever_there and always_there <= ever:
            raise ValueError(
                f"World: a text of the tale {one!r} could be one of {other!r}, expected tales that differ in a word"
            )


def _words(grammar: Grammar, part: Part) -> tuple[set[str], set[str]]:
    """The words that all texts of a part have, and those that some of them have."""
    if part in grammar.rules:
        found = [[_words(grammar, piece) for piece in chosen.parts] for chosen in grammar.rules[part]]
        always = [set().union(*(all_of for all_of, _ in pieces)) for pieces in found]
        return set.intersection(*always), set().union(*(some for pieces in found for _, some in pieces))
    if isinstance(part, str):
        return set(part.split()), set(part.split())
    values = [set(record[part[1]].split()) for record in grammar.cast[part[0]]]
    return set.intersection(*values), set().union(*values)
