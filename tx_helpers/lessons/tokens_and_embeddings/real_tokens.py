"""Pictures of a real vocabulary: how it cuts all four-digit numbers, and what a chat is made of."""

from collections import Counter
from collections.abc import Mapping, Sequence
from itertools import groupby

from tx_helpers.lessons.tokens_and_embeddings.tokens import sign, token_boxes
from tx_helpers.nn.arguments import check_types
from tx_helpers.show.plots import Svg
from tx_helpers.show.shapes import EDGE, GREY, INK, MUTED, PAPER, PINK, bar, card, shape, words
from tx_helpers.text.subwords import BytePairTokenizer

WIDTH, LEFT, TOP = 780, 62, 62  # pixels: of a picture; where the map of numbers begins
CELL, ROW = 6.9, 4.0  # pixels: of a number on the map, across and down
FIRST = 10  # the first two digits of the first row
HOW = {  # how the digits are shared out among the tokens -> its name, and the fill on the map
    (4,): ("one token", PINK.full),
    (2, 2): ("2 + 2 digits", GREY.tint),
    (1, 3): ("1 + 3 digits", GREY.full),
    (3, 1): ("3 + 1 digits", MUTED),
    (): ("three tokens", INK),
}
SAYINGS = {  # the first sentence of the Universal Declaration of Human Rights
    "English": "All human beings are born free and equal in dignity and rights.",
    "German": "Alle Menschen sind frei und gleich an Würde und Rechten geboren.",
    "Finnish": "Kaikki ihmiset syntyvät vapaina ja tasavertaisina arvoltaan ja oikeuksiltaan.",
    "Greek": "Όλοι οι άνθρωποι γεννιούνται ελεύθεροι και ίσοι στην αξιοπρέπεια και τα δικαιώματα.",
    "Hindi": "सभी मनुष्यों को गौरव और अधिकारों के मामले में जन्मजात स्वतन्त्रता और समानता प्राप्त है।",
    "Chinese": "人人生而自由，在尊严和权利上一律平等。",
}


# --- compute ----------------------------------------------------------------------------------------------------------
def digit_cuts(tokenizer: BytePairTokenizer) -> dict[int, tuple[int, ...]]:
    """For each number from 1000 to 9999 behind a space: how many digits each of its tokens has; () for three tokens."""
    check_types("digit_cuts", BytePairTokenizer, tokenizer=tokenizer)
    cuts = {}
    for number in range(100 * FIRST, 10_000):
        shares = tuple(sum(letter.isdigit() for letter in piece) for piece in tokenizer.split(f" {number}"))
        cuts[number] = shares if shares in HOW else ()
    return cuts


def chat_tokens(tokenizer: BytePairTokenizer, turns: Sequence[tuple[str, str]]) -> list[tuple[str, int, bool]]:
    """The tokens of a chat: (as a reader sees it, id, is it special?). turns: (role, text).

    Each turn is its role's mark, the text, and a mark for the end. GPT-2 has no such marks; here they get the ids
    behind its last one, in the order in which they come, as a model that is trained on to chat would add them.
    """
    check_types("chat_tokens", BytePairTokenizer, tokenizer=tokenizer)
    marks: dict[str, int] = {}
    found = []
    for role, text in turns:
        for mark in (f"<|{role}|>", "<|end|>"):
            marks.setdefault(mark, len(tokenizer) + len(marks))
        pieces = [sign(tokenizer, piece) for piece in tokenizer.split(text)]
        found.append((f"<|{role}|>", marks[f"<|{role}|>"], True))
        found += [(piece, i, False) for piece, i in zip(pieces, tokenizer.encode(text), strict=True)]
        found.append(("<|end|>", marks["<|end|>"], True))
    return found


def prices_of(tokenizer: BytePairTokenizer, texts: Mapping[str, str]) -> dict[str, tuple[int, str]]:
    """Of each text its number of tokens, and how many for a word; for a character where there are no spaces."""
    check_types("prices_of", Mapping, texts=texts)
    prices = {}
    for name, text in texts.items():
        tokens, spaced = len(tokenizer.encode(text)), len(text.split())
        rate = f"{tokens / spaced:.1f} a word" if spaced > 1 else f"{tokens / len(text):.1f} a character"
        prices[name] = tokens, rate
    return prices


# --- draw -------------------------------------------------------------------------------------------------------------
def digit_map(tokenizer: BytePairTokenizer) -> Svg:
    """All numbers from 1000 to 9999: a row for two digits, a column for two, a colour for the cut."""
    cuts = digit_cuts(tokenizer)
    counts = Counter(cuts.values())
    parts, x = [], 14.0
    for how, (name, fill) in HOW.items():
        label = f"{name}: {counts[how]:,}"
        parts.append(shape("rect", x=x, y=12, width=16, height=16, rx=3, fill=fill, stroke=EDGE))
        parts.append(words(x + 21, 25, label, size=12.5))
        x += 38 + 7.0 * len(label)
    parts.append(shape("rect", x=LEFT, y=TOP, width=CELL * 100, height=ROW * 90, fill=PAPER, stroke=EDGE))
    for how, (_, fill) in HOW.items():
        path = ""
        for row in range(90):
            for same, run in groupby(
                range(100), lambda column, row=row, how=how: cuts[100 * (FIRST + row) + column] == how
            ):
                columns = list(run)
                if same:
                    left, top, wide = LEFT + CELL * columns[0], TOP + ROW * row, CELL * len(columns)
                    path += f"M{left:.1f},{top:.1f}h{wide:.1f}v{ROW}h-{wide:.1f}z"
        parts.append(shape("path", d=path, fill=fill))
    for first in (10, 20, 30, 40, 50, 60, 70, 80, 90):
        parts.append(
            words(LEFT - 6, TOP + ROW * (first - FIRST) + 9, f"{first}__", anchor="end", fill=MUTED, size=12.5)
        )
    for last in range(0, 100, 10):
        parts.append(words(LEFT + CELL * last + 2, TOP - 6, f"__{last:02}", fill=MUTED, size=12.5))
    return card(WIDTH, TOP + ROW * 90 + 12, parts, describe_digits(cuts))


def chat_picture(tokenizer: BytePairTokenizer, turns: Sequence[tuple[str, str]]) -> Svg:
    """The tokens of a chat with their ids; the special ones are pink."""
    tokens = chat_tokens(tokenizer, turns)
    pieces, ids, special = zip(*tokens, strict=True)
    boxes, bottom = token_boxes(pieces, 12, special, dash=None, below=[str(i) for i in ids])
    return card(WIDTH, bottom + 8, boxes, describe_chat(tokens))


def price_picture(tokenizer: BytePairTokenizer, texts: Mapping[str, str]) -> Svg:
    """How many tokens each text takes: a bar for each, and how many that is for a word (or for a character)."""
    prices = prices_of(tokenizer, texts)
    most = max(tokens for tokens, _ in prices.values())
    parts = [words(14, 26, "Tokens of the same sentence, and of a program", size=14, font_weight="bold")]
    for row, (name, (tokens, rate)) in enumerate(prices.items()):
        y, length = 44 + 28 * row, 420 * tokens / most
        parts.append(words(90, y + 15, name, anchor="end"))
        parts.append(bar(100, y, length, 20, GREY.full))
        parts.append(words(108 + length, y + 15, f"{tokens}", font_weight="bold"))
        parts.append(words(144 + length, y + 15, rate, fill=MUTED, size=13))
    return card(WIDTH, 54 + 28 * len(prices), parts, describe_prices(prices))


# --- describe ---------------------------------------------------------------------------------------------------------
def describe_digits(cuts: dict[int, tuple[int, ...]]) -> str:
    """How many numbers are cut in which way, and which ones are single tokens."""
    counts = Counter(cuts.values())
    shares = ", ".join(f"{name} {counts[how]:,}" for how, (name, _) in HOW.items())
    years = sum(cuts[year] == (4,) for year in range(1900, 2021))
    return f"The {len(cuts):,} numbers from 1000 to 9999: {shares}. Of the years 1900 to 2020, {years} are one token."


def describe_prices(prices: Mapping[str, tuple[int, str]]) -> str:
    """The tokens of each text and their rate."""
    return "Tokens: " + "; ".join(f"{name} {tokens}, {rate}" for name, (tokens, rate) in prices.items()) + "."


def describe_chat(tokens: Sequence[tuple[str, int, bool]]) -> str:
    """The tokens one after the other, and how many are special."""
    text = " ".join(f"{piece} ({i})" for piece, i, _ in tokens)
    return f"A chat of {len(tokens)} tokens, {sum(special for *_, special in tokens)} of them special: {text}."
