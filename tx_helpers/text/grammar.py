"""Random texts whose entropy is known exactly.

A grammar first draws a *cast* (a hero, a number of apples), then writes a text by its rules, choice after choice. The
text may mention the cast anywhere. With p the probability of a text, the entropy H = E[−ln p], in nats, is a sum over
the choices that make a text,

    H(rule) = Σᵢ pᵢ (−ln pᵢ + Σ H(slots of alternative i)),        H(text) = H(cast) + H(first rule),

and the mean length follows by the same recursion. This is exact under two conditions. First, no choice depends on
another one: the cast changes what is written, never a probability. Second, no two draws give the same text. `Grammar`
checks the second when it is made: the texts of two alternatives of a rule never begin alike. So a reader who knows the
grammar can tell from the text alone, from left to right, what was drawn, and no text is a prefix of another one.
"""

import math
import random
import re
from collections.abc import Callable, Collection, Iterator, Mapping, Sequence
from itertools import chain, combinations, product
from typing import NamedTuple

from tx_helpers.nn.arguments import check_types

Part = str | tuple[str, ...]  # literal text, or a slot: (rule,) or (member, field)
Alternatives = Sequence[str] | Mapping[str, float]  # equally likely, or with their weights
Record = Mapping[str, str]


class Facts(NamedTuple):
    """What is true of all texts that a part may become."""

    openings: frozenset[str]  # each text begins with one of these
    entropy: float  # nats, the cast left out
    length: float  # mean number of characters, or of what is counted instead
    told: frozenset[Part]  # the fields of the cast that each text mentions


class Alternative(NamedTuple):
    """One of the texts that a rule may become."""

    probability: float
    parts: list[Part]
    openings: tuple[str, ...]


class Reading(NamedTuple):
    """What a text turned out to be, as far as it could be read."""

    end: int  # how many characters fit the grammar
    log_p: float  # ln p if they are a full text, else −∞
    expected: Collection[str]  # the parts of which one would have had to come here
    choices: list[tuple[str, int]]  # (rule, number of its alternative), from left to right
    cast: dict[str, list[Record]]  # the records that agree with what was read


class Grammar:
    """Texts drawn by rules, their entropy and mean length, and the probability of a given text.

    rules: name → alternatives, equally likely if in a list, by weight if in a dict {alternative: weight}. A slot {rule}
        in an alternative is written anew each time; a slot {member.field} repeats what the cast holds.
    cast: member → records (dicts of the same fields), one of which is drawn for a text, all being equally likely.
    start: the rule of the full text.
    size: what `mean_length` counts in a piece of text; characters, if nothing else is given.

    Raises ValueError, naming the rule, if a slot has no rule, if rules refer to each other in a circle, or if two draws
    could give the same text.
    """

    def __init__(
        self,
        rules: Mapping[str, Alternatives],
        cast: Mapping[str, Sequence[Record]] | None = None,
        start: str = "story",
        size: Callable[[str], int] = len,
    ):
        check_types("Grammar", Mapping, rules=rules)
        check_types("Grammar", str, start=start)
        if cast:
            check_types("Grammar", Mapping, cast=cast)
        self.start: Part = (start,)
        self._size = size
        self.cast = {member: list(records) for member, records in (cast or {}).items()}
        self.rules: dict[Part, list[Alternative]] = {}
        self._facts: dict[Part, Facts] = {}
        for member, records in self.cast.items():
            if not records or any(record.keys() != records[0].keys() for record in records):
                raise ValueError(f"Grammar: {member!r} needs records, all with the same fields")
            for field in records[0]:
                values = [record[field] for record in records]
                self._facts[member, field] = _field_facts(member, field, values, sum(map(size, values)) / len(values))
        self._add(start, rules, above=())
        for member, records in self.cast.items():
            fields = [field for field in records[0] if (member, field) in self._facts[self.start].told]
            if len({tuple(record[field] for field in fields) for record in records}) < len(records):
                raise ValueError(
                    f"Grammar: every text must tell which record of {member!r} was drawn, but tells only {fields}"
                )

    def texts(self, count: int, *, seed: int = 0) -> Iterator[str]:
        """`count` texts, drawn independently of each other and of any global state."""
        uniform = random.Random(f"texts {seed}").random
        for _ in range(count):
            cast = {member: records[int(uniform() * len(records))] for member, records in self.cast.items()}
            text, ahead = [], [self.start]
            while ahead:
                part = ahead.pop()
                if part in self.rules:
                    ahead += reversed(_draw(self.rules[part], uniform()).parts)
                else:
                    text.append(part if isinstance(part, str) else cast[part[0]][part[1]])
            yield "".join(text)

    def read(self, text: str) -> tuple[int, float]:
        """How many characters at the beginning of `text` fit the grammar, and ln p if they are a full text, else −∞.

        Reading stops before the first part (usually a word) that cannot follow what was read so far.
        """
        reading = self.follow(text)
        return reading.end, reading.log_p

    def slip(self, text: str) -> int | None:
        """The first place of `text` where no text of the grammar has this character; None if the text may go on.

        What follows a full text is a slip, too.
        """
        at, _, expected, *_ = self.follow(text)
        common = max(_in_common(text[at:], part) for part in expected)
        return at + common if at + common < len(text) else None

    def follow(self, text: str) -> Reading:
        """All that can be told from a text by reading it from left to right."""
        at, ahead = 0, [self.start]
        choices: list[tuple[str, int]] = []
        possible = dict(self.cast)  # the records that agree with the text so far
        log_p = -sum(math.log(len(records)) for records in self.cast.values())
        while ahead:
            part = ahead.pop()
            if part in self.rules:
                fitting = (n for n, a in enumerate(self.rules[part]) if text.startswith(a.openings, at))
                number = next(fitting, None)
                if number is None:
                    return Reading(at, -math.inf, self._facts[part].openings, choices, possible)
                chosen = self.rules[part][number]
                choices.append((part[0], number))
                log_p += math.log(chosen.probability)
                ahead += reversed(chosen.parts)
                continue
            if not isinstance(part, str):
                member, field = part
                values = {record[field] for record in possible[member]}
                word = next((value for value in values if text.startswith(value, at)), None)
                if word is None:
                    return Reading(at, -math.inf, values, choices, possible)
                possible[member] = [record for record in possible[member] if record[field] == word]
                part = word
            elif not text.startswith(part, at):
                return Reading(at, -math.inf, [part], choices, possible)
            at += len(part)
        return Reading(at, log_p, [""], choices, possible)

    def next_parts(self, beginning: str) -> dict[str, float]:
        """What may follow `beginning`, up to the end of a part, and p(beginning and this); "" is the end of the text.

        The probabilities sum to that of all texts that begin so. Two keys may begin alike.
        """
        found: dict[str, float] = {}
        ways = [(1.0, 0, [self.start], self.cast)]
        while ways:
            p, at, ahead, possible = ways.pop()
            if not ahead:
                if at == len(beginning):
                    found[""] = found.get("", 0) + p
                continue
            part, ahead = ahead[-1], ahead[:-1]
            if part in self.rules:
                for chosen in self.rules[part]:
                    if any(_agree(beginning, at, opening) for opening in chosen.openings):
                        ways.append((p * chosen.probability, at, [*ahead, *reversed(chosen.parts)], possible))
                continue
            if isinstance(part, str):
                options = {part: (p, possible)}
            else:
                member, field = part
                options = {}
                for value in {record[field] for record in possible[member]}:
                    records = [record for record in possible[member] if record[field] == value]
                    options[value] = p * len(records) / len(possible[member]), {**possible, member: records}
            for value, (q, left) in options.items():
                if beginning.startswith(value, at):
                    ways.append((q, at + len(value), ahead, left))
                elif value.startswith(beginning[at:]):
                    rest = value[len(beginning) - at :]
                    found[rest] = found.get(rest, 0) + q
        return found

    def log_probability(self, text: str) -> float:
        """ln p of a text; −∞ if the grammar does not write it."""
        end, log_p = self.read(text)
        return log_p if end == len(text) else -math.inf

    def entropy(self, base: float = math.e) -> float:
        """The exact mean of −log p over the texts: in nats, or with base=2 in bits."""
        cast = sum(math.log(len(records)) for records in self.cast.values())
        return (cast + self._facts[self.start].entropy) / math.log(base)

    def mean_length(self) -> float:
        """The exact mean number of characters (or of what `size` counts) of a text."""
        return self._facts[self.start].length

    def _add(self, name: str, rules: Mapping[str, Alternatives], above: tuple[str, ...]) -> None:
        """Add a rule, after the rules that it refers to."""
        if name in above or name not in rules:
            wrong = "leads back to itself, expected no circle" if name in above else "is missing, expected one"
            raise ValueError(f"Grammar: rule {name!r} {wrong}")
        if (name,) in self.rules:
            return
        given = rules[name]
        weights = given if isinstance(given, Mapping) else dict.fromkeys(given, 1.0)
        if not weights or len(weights) < len(given) or min(weights.values()) <= 0:
            raise ValueError(f"Grammar: rule {name!r} needs alternatives, all different, of positive weight")
        texts = [_parts(text) for text in weights]
        for slot in chain.from_iterable(texts):
            if isinstance(slot, tuple) and slot not in self._facts:
                self._add(".".join(slot), rules, (*above, name))
        facts = [self._sequence(parts) for parts in texts]
        _check_openings(name, [each.openings for each in facts])
        p = [weight / sum(weights.values()) for weight in weights.values()]
        self.rules[(name,)] = [Alternative(q, t, tuple(f.openings)) for q, t, f in zip(p, texts, facts, strict=True)]
        self._facts[(name,)] = Facts(
            frozenset().union(*(f.openings for f in facts)),
            sum(q * (f.entropy - math.log(q)) for q, f in zip(p, facts, strict=True)),
            sum(q * f.length for q, f in zip(p, facts, strict=True)),
            frozenset.intersection(*(f.told for f in facts)),
        )

    def _sequence(self, parts: list[Part]) -> Facts:
        """The facts of a sequence of parts."""
        facts = [
            self._facts[part] if isinstance(part, tuple) else _literal_facts(part, self._size(part)) for part in parts
        ]
        return Facts(
            facts[0].openings if facts else frozenset([""]),
            sum(f.entropy for f in facts),
            sum(f.length for f in facts),
            frozenset().union(*(f.told for f in facts)),
        )


def _in_common(a: str, b: str) -> int:
    """How many characters at their beginning are the same."""
    return next((at for at, (x, y) in enumerate(zip(a, b, strict=False)) if x != y), min(len(a), len(b)))


def _agree(beginning: str, at: int, text: str) -> bool:
    """Does one of them, the beginning from here on and the text, begin with the other?"""
    return beginning.startswith(text, at) or text.startswith(beginning[at:])


def _parts(text: str) -> list[Part]:
    """The parts of "a {colour} hat" are "a ", ("colour",) and " hat"."""
    pieces = re.split(r"\{([\w.]+)\}", text)  # literal, slot, literal, …
    parts = [tuple(piece.split(".")) if i % 2 else piece for i, piece in enumerate(pieces)]
    return [part for part in parts if part]


def _literal_facts(text: str, size: int) -> Facts:
    return Facts(frozenset([text]), 0.0, size, frozenset())


def _field_facts(member: str, field: str, values: list[str], size: float) -> Facts:
    _check_openings(f"{member}.{field}", [{value} for value in dict.fromkeys(values)])
    return Facts(frozenset(values), 0.0, size, frozenset([(member, field)]))


def _check_openings(name: str, groups: Sequence[Collection[str]]) -> None:
    """No text of one group may be the beginning of, or equal, a text of another."""
    for one, other in combinations(groups, 2):
        for a, b in product(sorted(one), sorted(other)):
            if a.startswith(b) or b.startswith(a):
                raise ValueError(f"Grammar: in {name!r}, {a!r} and {b!r} begin alike: a reader cannot tell them apart")


def _draw(alternatives: list[Alternative], u: float) -> Alternative:
    """The alternative in whose share of [0, 1) the number u lies."""
    for alternative in alternatives:
        u -= alternative.probability
        if u < 0:
            break
    return alternative
