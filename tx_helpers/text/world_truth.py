"""What is true of a text of the little world: found by reading it, not by guessing.

The grammar of a tale tells from a text, without doubt, who took part and which lines were chosen. All that is true
follows from that: who is meant by `she`, what kind of thing an *apple* is, what can be asked, and the same text said
otherwise.
"""

import random
import re
from collections.abc import Iterable, Iterator, Mapping, Sequence
from typing import NamedTuple

from tx_helpers.text.grammar import Grammar
from tx_helpers.text.world_words import CITIES, FIRMS, KINDS_OF_RULES, PEOPLE, SENSES, WORDS, Record, Tale

PRONOUNS = {"they", "them", "their", "it", "whoever", "whatever"}
BY_MEANING = {"whoever", "whatever"}
NAMES = {"name", "one", "many"}
ENTITIES = {"had", "gave", "left", "now", "gap", "other", "home", "away"}  # fields that are entities of their own
CLEARLY_DIFFERENT = set(WORDS) - {"good", "bad", "dull", "great"}  # rules whose words mean clearly different things
RIVALS = f"{WORDS['rival']} {WORDS['other_rival']}".split()
PROPER = {*(person["name"] for person in PEOPLE), *CITIES, *WORDS["day"].split(), *RIVALS, "i"}
FIRM_NAMES = {firm["one"] for firm in FIRMS}


class Line(NamedTuple):
    """What an alternative of a rule means."""

    other: int  # number of the alternative that says the same, or its own
    says: dict[str, str]  # what is true where it was chosen


Piece = tuple[str, tuple[str, str]]  # words, and (role, field), or (rule, "") for a rule's own words
Lines = Mapping[tuple[str, int], Line]  # (rule, number of the alternative) → what it means


class Mention(NamedTuple):
    """Words that stand for somebody or something: tokens start … end − 1."""

    start: int
    end: int
    words: str
    kind: str  # person, animal, fruit, firm, place, thing, number
    entity: str  # mentions of the same have the same name here, which is their role in the tale
    pronoun: str  # "" for a name; they: subject, them: object, their: owner, it; whoever, whatever: by meaning

    @property
    def by_meaning(self) -> bool:
        """Is this a pronoun that could also stand for another one, if meaning did not decide?"""
        return self.pronoun in BY_MEANING


class Truth(NamedTuple):
    """A text and what is true of it."""

    tale: str
    text: str
    mentions: tuple[Mention, ...]
    sentiment: str  # positive, negative or neutral
    summary: str
    paraphrase: str  # a text of the world, too
    questions: dict[str, str]  # question → answer
    meaning: str  # the text in the first of its wordings: two texts mean the same if this is the same

    @property
    def tokens(self) -> list[str]:
        """The words and signs of the text."""
        return self.text.split()

    @property
    def senses(self) -> dict[int, str]:
        """Place of each word with two senses → the sense that it has here."""
        return {m.start: m.kind for m in self.mentions if m.words in SENSES}

    def antecedent(self, pronoun: Mention) -> Mention:
        """The last name before a pronoun that stands for the same."""
        before = [m for m in self.mentions if m.start < pronoun.start and m.entity == pronoun.entity and not m.pronoun]
        return before[-1]

    @property
    def english(self) -> str:
        """The text as people write it."""
        proper = {m.start for m in self.mentions if _is_a_name(m)}
        text, begins, quoted, glued = "", True, False, True
        for place, word in enumerate(self.tokens):
            closes = word == '"' and quoted
            text += "" if glued or closes or word in (*".,:!?", "'s") else " "
            text += word[0].upper() + word[1:] if begins or place in proper or word in PROPER else word
            glued = word == '"' and not quoted
            begins = word in ".!?" or glued or (closes and self.tokens[place - 1] == ".")
            quoted ^= word == '"'
        return text


def _is_a_name(mention: Mention) -> bool:
    """Is this the name of a firm, or of a make of cars?"""
    return (mention.kind == "firm" and mention.words in FIRM_NAMES) or (mention.words, mention.kind) == (
        "jaguar",
        "thing",
    )


class Node(NamedTuple):
    """A rule, the number of the alternative that was chosen, and the same for the rules in it."""

    rule: str
    number: int
    below: dict[str, "Node"]


def truth_of(
    name: str,
    tale: Tale,
    grammar: Grammar,
    lines: Lines,
    choices: Sequence[tuple[str, int]],
    cast: Mapping[str, Record],
) -> Truth:
    """The truth of the text with these choices and this cast (member → record)."""
    top = _tree(grammar, iter(choices))
    pieces = list(_pieces(grammar, top, cast))
    facts = {f"{role}.{field}": words for role, field, words in _fields(cast)}
    _tell(grammar, lines, top, cast, facts)
    that = facts.get("that")
    facts["that.name"] = next((facts[key] for key in (f"{that}.name", f"{that}.one", that) if key in facts), "")
    asked = {_filled(question, facts): _filled(answer, facts) for question, answer in tale.questions.items()}
    return Truth(
        tale=name,
        text=_text(pieces),
        mentions=tuple(_mentions(pieces, tale, facts)),
        sentiment=facts.get("feel", "neutral"),
        summary=_filled(tale.summary, facts),
        paraphrase=_text(_pieces(grammar, _exchanged(top, lines), cast)),
        meaning=_text(_pieces(grammar, _exchanged(top, lines, first=True), cast)),
        questions={question: answer for question, answer in asked.items() if question and answer},
    )


def one_word_changed(
    grammar: Grammar,
    lines: Lines,
    choices: Sequence[tuple[str, int]],
    cast: Mapping[str, Record],
    seed: int,
) -> str | None:
    """The text of these choices with one word exchanged for one of another meaning; None if none can be."""
    drawn = random.Random(seed)
    changes = [
        (place, number)
        for place, (rule, chosen) in enumerate(choices)
        for number in range(len(grammar.rules[(rule,)]))
        if rule in CLEARLY_DIFFERENT and number not in (chosen, lines[rule, chosen].other)
    ]
    if not changes:
        return None
    place, number = drawn.choice(changes)
    changed = [*choices[:place], (choices[place][0], number), *choices[place + 1 :]]
    return _text(_pieces(grammar, _tree(grammar, iter(changed)), cast))


def _tree(grammar: Grammar, choices: Iterator[tuple[str, int]]) -> Node:
    rule, number = next(choices)
    parts = grammar.rules[(rule,)][number].parts
    return Node(rule, number, {part[0]: _tree(grammar, choices) for part in parts if part in grammar.rules})


def _tell(grammar: Grammar, lines: Lines, node: Node, cast: Mapping[str, Record], facts: dict[str, str]) -> str:
    """The text of a rule, after all that it says has been added to the facts."""
    facts |= lines[node.rule, node.number].says
    text = ""
    for part in grammar.rules[(node.rule,)][node.number].parts:
        if part in grammar.rules:
            text += _tell(grammar, lines, node.below[part[0]], cast, facts)
        else:
            text += part if isinstance(part, str) else cast[part[0]][part[1]]
    facts[node.rule] = text.strip()
    return text


def _exchanged(node: Node, lines: Lines, first: bool = False) -> Node:
    """The same, said otherwise: each line replaced by the other one of its pair, or by the first of the two."""
    below = {rule: _exchanged(child, lines, first) for rule, child in node.below.items()}
    other = lines[node.rule, node.number].other
    return Node(node.rule, min(node.number, other) if first else other, below)


def _pieces(grammar: Grammar, node: Node, cast: Mapping[str, Record]) -> Iterator[Piece]:
    """The pieces of a text."""
    for part in grammar.rules[(node.rule,)][node.number].parts:
        if part in grammar.rules:
            yield from _pieces(grammar, node.below[part[0]], cast)
        elif isinstance(part, str):
            yield part, (node.rule, "")
        else:
            member, field = part
            yield cast[member][field], _role(member, field)


def _role(member: str, field: str) -> tuple[str, str]:
    """("cast", "hero_name") is ("hero", "name")."""
    role, _, own = field.partition("_")
    return (role, own) if member == "cast" else (member, field)


def _fields(cast: Mapping[str, Record]) -> Iterator[tuple[str, str, str]]:
    for member, record in cast.items():
        for field, words in record.items():
            yield *_role(member, field), words.strip()


def _text(pieces: Iterable[Piece]) -> str:
    return "".join(words for words, _ in pieces).strip()


def _mentions(pieces: Iterable[Piece], tale: Tale, facts: Mapping[str, str]) -> Iterator[Mention]:
    start = 0
    for words, (role, field) in pieces:
        end = start + words.count(" ")
        kind, entity = KINDS_OF_RULES.get(role) if not field else tale.kinds[role], role
        if field in ENTITIES:
            entity = f"{role}.{field}"
        elif field in BY_MEANING:
            entity = facts["that"]
            kind = tale.kinds.get(entity) or KINDS_OF_RULES[entity]
        if kind and (not field or field in NAMES | ENTITIES | PRONOUNS):
            yield Mention(start, end, words.strip(), _filled(kind, facts), entity, field if field in PRONOUNS else "")
        start = end


def _filled(template: str, facts: Mapping[str, str]) -> str:
    """The template with its slots filled, and those in what fills them; "" if a slot says nothing of this text."""
    try:
        while "{" in template:
            template = re.sub(r"\{([\w.]+)\}", lambda slot: facts[slot[1]], template)
    except KeyError:
        return ""
    return template
