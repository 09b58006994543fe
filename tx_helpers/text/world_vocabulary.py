"""One vocabulary for every model of the little world, so that their losses can be compared and their weights exchanged.

    tokenizer = world_tokenizer()
    tokenizer.encode("<sentiment> mia was happy .")

In this order: padding, beginning, end, unknown; the special tokens of the objectives; one for each task of
`text.world_tasks`; those of a chat; the labels; then the words of the world in alphabetical order.
"""

import re
from functools import cache

from tx_helpers.nn.arguments import described
from tx_helpers.text.tokenizers import WordTokenizer
from tx_helpers.text.world import little_world
from tx_helpers.text.world_tasks import MASK

CLS, SEP = "<cls>", "<sep>"
SENTINELS = tuple(f"<x{number}>" for number in range(8))  # each stands for a span that was cut out
TASKS = {
    "fill_gap": "<fill>",
    "go_on": "<go_on>",
    "sentiment": "<sentiment>",
    "entities": "<entities>",
    "resolve": "<resolve>",
    "similar": "<similar>",
    "translate": "<translate>",
    "summarise": "<summarise>",
    "answer": "<answer>",
}
USER, ASSISTANT, END = "<user>", "<assistant>", "<end>"
SENTIMENTS = ("negative", "neutral", "positive")
KINDS = ("-", "animal", "firm", "fruit", "number", "person", "place", "thing")  # of an entity; "-" is none
EXAMPLES = ["lucy has a goat . it eats leaves .", "max works at apple . he likes apples .", "tom lost a zebra ."]
NO_KIND = "<none>"  # "-" as a token: a hyphen separates words


@cache
def world_tokenizer() -> WordTokenizer:
    """The tokenizer of all models of the world. A word that the world does not have becomes <unk>."""
    kinds = [NO_KIND if kind == "-" else kind for kind in KINDS]
    special = [MASK, CLS, SEP, *SENTINELS, *TASKS.values(), USER, ASSISTANT, END, *SENTIMENTS, *kinds]
    return WordTokenizer(dict.fromkeys([*special, *little_world().vocabulary()]), unknown=True)


def world_id(token: str) -> int:
    """The id of one token, special ones too: world_id("<eos>") is 2."""
    tokens = world_tokenizer().tokens
    if token not in tokens:
        raise ValueError(f"world_id: {token!r} is not among the {len(tokens)} tokens of the world")
    return tokens.index(token)


def word_ids() -> range:
    """The ids of the world's words and labels: those that are not special."""
    return range(world_id(SENTIMENTS[0]), len(world_tokenizer()))


def words_of(text: str, *, fewest: int = 4, most: int = 16, letters: int = 200) -> list[str]:
    """The words and signs of a text, in small letters. ValueError for a text that is too short or too long."""
    if not isinstance(text, str) or len(text) > letters:
        given = f"a text of {len(text)} characters" if isinstance(text, str) else f"text is {described(text)}"
        raise ValueError(f"words_of: {given}, expected a text of at most {letters} characters")
    found = re.findall(r"'s\b|\w+|[^\w\s-]", text.lower())
    if not fewest <= len(found) <= most:
        raise ValueError(f"words_of: {len(found)} words and signs, expected {fewest} to {most}")
    return found
