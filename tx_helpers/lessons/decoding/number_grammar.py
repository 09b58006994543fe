"""The grammar of German number words from 0 to 999,999, as a map of states, and what it says about a text.

    grammar = number_grammar(tokenizer)     # {state: {id: next state}}, state 0 at the beginning

A number from 1,000 on is a number of thousands, "tausend", and perhaps a number below 1,000. So the words of 0 to 999
and of the 999 full thousands make a tree that is complete: "tausend" leads to a second tree for the rest.
"""

from collections.abc import Sequence

from tx_helpers.nn.arguments import check_types
from tx_helpers.show.plots import Svg
from tx_helpers.show.shapes import MUTED, ORANGE, arrow, box, card, words
from tx_helpers.text.data import EOS
from tx_helpers.text.number_words import german
from tx_helpers.text.tokenizers import Tokenizer

START, REST, LAST = 0, 1, 2  # states: nothing is written; "tausend" is the last word; the end sign is written
Grammar = dict[int, dict[int, int]]
SHOWN, COLUMN = 4, 130  # of the drawing: words below each step, and its width


def number_grammar(tokenizer: Tokenizer) -> Grammar:
    """State -> the ids that may come and the state that each leads to; the end sign leads to the last state."""
    check_types("number_grammar", Tokenizer, tokenizer=tokenizer)
    grammar: Grammar = {START: {}, REST: {EOS: LAST}, LAST: {}}

    def follow(state: int, ids: Sequence[int]) -> int:
        for one in ids:
            state = grammar[state].setdefault(one, len(grammar))
            grammar.setdefault(state, {})
        return state

    for number in range(1000):
        ids = tokenizer.encode(german(number))
        for start in (START, REST) if number else (START,):
            grammar[follow(start, ids)][EOS] = LAST
    for thousands in range(1, 1000):
        *ids, thousand = tokenizer.encode(german(1000 * thousands))
        grammar[follow(START, ids)][thousand] = REST
    return grammar


def is_valid(grammar: Grammar, ids: Sequence[int]) -> bool:
    """Do the ids lead from the first state to the last?"""
    state = START
    for one in ids:
        if one not in grammar[state]:
            return False
        state = grammar[state][one]
    return state == LAST


def grammar_drawing(grammar: Grammar, tokenizer: Tokenizer, text: str) -> Svg:
    """A column for each step of a text: what the grammar allows there, and framed the word that comes."""
    names, ids = tokenizer.tokens, [*tokenizer.encode(text), EOS]
    parts, said, state = [], [], START
    for column, one in enumerate(ids):
        x = 20 + COLUMN * column
        others = [i for i in grammar[state] if i != one]
        parts.append(words(x + 55, 28, f"step {column + 1}", fill=MUTED, anchor="middle"))
        parts.append(box(x, 40, 110, 30, names[one], ORANGE))
        for row, other in enumerate(others[:SHOWN]):
            parts.append(words(x + 55, 94 + 22 * row, names[other], anchor="middle"))
        if len(others) > SHOWN:
            parts.append(words(x + 55, 94 + 22 * SHOWN, f"and {len(others) - SHOWN} more", fill=MUTED, anchor="middle"))
        if column:
            parts.append(arrow(x - COLUMN + 108, 55, x + 4, 55, ORANGE.full))
        said.append(f"{len(others) + 1} before {names[one]}")
        state = grammar[state][one]
    alt = f"What the grammar allows at each step of {text!r}; the number of words that may come is {', '.join(said)}."
    return card(20 + COLUMN * len(ids), 108 + 22 * SHOWN, parts, alt)
