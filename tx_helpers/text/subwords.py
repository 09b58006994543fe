"""Tokens between letters and words: byte-pair encoding and WordPiece, trained from scratch.

Both start with the smallest pieces and repeatedly join the most frequent pair of neighbours (Sennrich, Haddow and Birch
2016, arXiv:1508.07909). Pairs are counted inside words only, so no piece crosses a space. Of equally frequent pairs the
one whose left piece has the smaller id wins, then the one whose right piece has the smaller id.

    pairs = BytePairTokenizer.train(text, vocab_size=512)       # like GPT-2: never an unknown piece
    words = WordPieceTokenizer.train(text, vocab_size=512)      # like BERT: "##" marks a piece inside a word

Merges and ids are those of the library `tokenizers` (its BpeTrainer and WordPieceTrainer) on the same words.

Left out on purpose: Unicode's classes of letters. Spaces, digits and marks are those of ASCII; everything beyond ASCII
counts as a letter. So the library and this file cut a text into the same words.
"""

import re
from collections import Counter, defaultdict
from collections.abc import Callable, Iterable, Mapping, Sequence
from heapq import heapify, heappop, heappush
from itertools import chain, pairwise
from typing import Any, Self

from tx_helpers.nn.arguments import Function, check_numbers, check_types, described
from tx_helpers.text.tokenizers import BOS, EOS, PAD, UNKNOWN, Tokenizer, check_text, count_pieces

SPACE, DIGIT, MARK, LETTER = r"\x00-\x20\x7f", "0-9", r"!-/:-@\[-`{-~", r"A-Za-z\x80-\U0010ffff"
BYTE_PAIR_WORD = re.compile(f" ?[{LETTER}]+| ?[{DIGIT}]+| ?[{MARK}]+|[{SPACE}]")  # a space belongs to what follows it
WORD_PIECE_WORD = re.compile(f"[{LETTER}{DIGIT}]+|[{MARK}]")  # spaces are dropped
CONTINUES = "##"
BORDER = -1  # in a list of ids: the end of a word

Pair = tuple[str, str]


def learn_merges(
    words: Mapping[tuple[str, ...], int],
    alphabet: Iterable[str],
    size: int,
    *,
    glue: Callable[[str, str], str] = str.__add__,
    min_count: int = 1,
) -> tuple[list[str], list[Pair]]:
    """Join the most frequent pair until there are `size` pieces. -> (all pieces, the merges in their order)

    words      spelled in pieces of the alphabet, and how often each occurs
    glue       the new piece that two pieces make
    min_count  stop when no pair is this frequent

    Recounting everything at every merge costs merges × length of the text. But a merge changes only the places where
    its pair stands: so each distinct word stands once in one long list, with an index from pairs to places, and only
    the neighbours of these places are counted anew. A heap gives the best pair; an entry whose count has changed since
    is stale and dropped.
    """
    check_numbers("learn_merges", whole=True, size=size, min_count=min_count)
    check_types("learn_merges", Function, glue=glue)
    check_types("learn_merges", Iterable, alphabet=alphabet)
    pieces, merges = list(alphabet), []
    _check_words(words, pieces)
    ids = {piece: i for i, piece in enumerate(pieces)}
    symbols: list[int] = []  # word after word, a BORDER after each
    times: list[int] = []  # for each symbol, how often its word occurs
    for word, count in words.items():
        symbols += [*(ids[piece] for piece in word), BORDER]
        times += [count] * (len(word) + 1)
    after, before = list(range(1, len(symbols) + 1)), list(range(-1, len(symbols) - 1))
    counts: Counter[tuple[int, int]] = Counter()
    places = defaultdict(list)  # pair -> places of its left half, now or once
    for place, pair in enumerate(pairwise(symbols)):
        if BORDER not in pair:
            counts[pair] += times[place]
            places[pair].append(place)

    heap = [(-count, pair) for pair, count in counts.items()]
    heapify(heap)
    while heap and len(pieces) < size:
        count, pair = heappop(heap)
        if -count != counts[pair]:
            continue
        if -count < max(min_count, 1):
            break
        left, right = pieces[pair[0]], pieces[pair[1]]
        merges.append((left, right))
        new = ids.setdefault(glue(left, right), len(pieces))  # the alphabet may hold it already
        if new == len(pieces):
            pieces.append(glue(left, right))
        changes: Counter[tuple[int, int]] = Counter()
        for place in sorted(places.pop(pair)):
            second = after[place]
            if (symbols[place], symbols[second]) != pair:
                continue  # joined to something else since
            previous, following = before[place], after[second]
            changes[symbols[previous], pair[0]] -= times[place]
            changes[pair[1], symbols[following]] -= times[place]
            symbols[place], symbols[second] = new, BORDER
            after[place], before[following] = following, place
            for start, fresh in ((previous, (symbols[previous], new)), (place, (new, symbols[following]))):
                changes[fresh] += times[place]
                places[fresh].append(start)
        changes[pair] = -counts[pair]  # none is left
        for changed, change in changes.items():
            if change and BORDER not in changed:
                counts[changed] += change
                heappush(heap, (-counts[changed], changed))
    return pieces, merges


def _check_words(words: Mapping[tuple[str, ...], int], alphabet: Sequence[str]) -> None:
    if not isinstance(words, Mapping):
        raise ValueError(f"learn_merges: words is {described(words)}, expected a dict {{pieces of a word: how often}}")
    check_numbers("learn_merges", {f"words[{word!r}]": count for word, count in words.items()}, whole=True)
    known = set(alphabet)
    for word in words:
        if missing := [piece for piece in word if piece not in known]:
            raise ValueError(
                f"learn_merges: {missing[0]!r} in the word {word!r} is not in the alphabet, expected its pieces alone"
            )


def apply_merges(symbols: Iterable[str], ranks: Mapping[Pair, int]) -> list[str]:
    """Join neighbours as in training: pairs in the order in which they were learned, equal pairs from the left.

    A joined piece takes the place of its left half, its right half is `gone`; `after` and `before` point to neighbours.
    """
    if not isinstance(symbols, Iterable):
        raise ValueError(f"apply_merges: symbols is {described(symbols)}, expected an Iterable")
    if not isinstance(ranks, Mapping):
        raise ValueError(f"apply_merges: ranks is {described(ranks)}, expected a dict {{pair of pieces: its rank}}")
    pieces = list(symbols)
    if wrong := [piece for piece in pieces if not isinstance(piece, str)]:
        raise ValueError(f"apply_merges: a symbol is {described(wrong[0])}, expected a str")
    end, gone = len(pieces), set()
    after, before = list(range(1, end + 1)), list(range(-1, end))
    heap = [(ranks[pair], place) for place, pair in enumerate(pairwise(pieces)) if pair in ranks]
    heapify(heap)
    while heap:
        rank, place = heappop(heap)
        right = after[place]
        if right == end or place in gone or ranks.get((pieces[place], pieces[right])) != rank:
            continue  # one of the two has been joined to something else since
        pieces[place] += pieces[right]
        gone.add(right)
        after[place] = after[right]
        before[after[right]] = place
        for left in (before[place], place):
            if left >= 0 and after[left] < end and (pair := (pieces[left], pieces[after[left]])) in ranks:
                heappush(heap, (ranks[pair], left))
    return [piece for place, piece in enumerate(pieces) if place not in gone]


def byte_letters() -> dict[int, str]:
    """A printable character for each of the 256 bytes, as GPT-2 has it: most are themselves, the space is "Ġ"."""
    printable = [*range(ord("!"), ord("~") + 1), *range(ord("¡"), ord("¬") + 1), *range(ord("®"), ord("ÿ") + 1)]
    others = [byte for byte in range(256) if byte not in set(printable)]
    return {byte: chr(byte) for byte in printable} | {byte: chr(256 + n) for n, byte in enumerate(others)}


LETTER_OF = byte_letters()
BYTE_OF = {letter: byte for byte, letter in LETTER_OF.items()}


class BytePairTokenizer(Tokenizer):
    """Pieces of UTF-8 bytes, joined by merges: any text can be encoded, and decoding restores it exactly.

    A space belongs to the word after it: " the" is one word. A piece is written in GPT-2's letters for bytes
    ("Ġthe"); `readable` gives the text.
    """

    kind = "byte-pair"
    words = BYTE_PAIR_WORD  # cuts a text before any merge

    def __init__(self, merges: Iterable[Iterable[str]] = ()):
        try:
            self.merges = [(left, right) for left, right in merges]
        except (TypeError, ValueError) as error:
            raise ValueError(
                f"{self._name}: merges is {described(merges)}, expected pairs of pieces ({error})"
            ) from error
        self.ranks = {pair: rank for rank, pair in enumerate(self.merges)}
        known = dict.fromkeys(LETTER_OF.values())
        for left, right in self.merges:
            if left not in known or right not in known:
                raise ValueError(
                    f"{self._name}: the merge {left!r} + {right!r} joins what is not made yet, expected it before"
                )
            known[left + right] = None
        super().__init__(known)

    @classmethod
    def train(cls, texts: str | Iterable[str], *, vocab_size: int = 512, min_count: int = 1) -> Self:
        """Learn merges until there are `vocab_size` tokens (3 special ones and 256 bytes among them).

        The vocabulary is smaller if no pair is left that occurs `min_count` times.
        """
        special = [PAD, BOS, EOS]
        _check_size(cls, vocab_size, len(special) + 256)
        words = count_pieces(cls, texts, cls.words.findall)
        spelled = {tuple(cls.letters(word)): count for word, count in words.items()}
        _, merges = learn_merges(spelled, LETTER_OF.values(), vocab_size - len(special), min_count=min_count)
        return cls(merges)

    @classmethod
    def letters(cls, text: str) -> str:
        """The UTF-8 bytes of a text, a letter for each."""
        try:
            return "".join(LETTER_OF[byte] for byte in text.encode("utf-8"))
        except UnicodeEncodeError as error:
            raise ValueError(
                f"{cls.__name__}: the text holds half a surrogate pair, expected whole characters ({error})"
            ) from error

    def readable(self, piece: str) -> str:
        """The text of one piece; bytes that are only a part of a character are written \\xe2."""
        return bytes(BYTE_OF[letter] for letter in piece).decode("utf-8", errors="backslashreplace")

    def split(self, text: str) -> list[str]:
        check_text("BytePairTokenizer.split", text)
        words = self.words.findall(text)
        spelled = {word: apply_merges(self.letters(word), self.ranks) for word in dict.fromkeys(words)}
        return list(chain.from_iterable(spelled[word] for word in words))

    def join(self, pieces: list[str]) -> str:
        """The text; bytes that form no character (where ids were cut in the middle of one) become �."""
        parts = [bytes(BYTE_OF[a] for a in piece) if piece in self._ids else piece.encode() for piece in pieces]
        return b"".join(parts).decode("utf-8", errors="replace")

    def _state(self) -> dict[str, Any]:
        return {"merges": [list(pair) for pair in self.merges]}


class WordPieceTokenizer(Tokenizer):
    """Words cut into the longest pieces of the vocabulary, from left to right; "##" marks a piece inside a word.

    A word is unknown if the vocabulary's pieces cannot spell all of it. Each punctuation mark is a word, and spaces are
    dropped: `decode` puts one between any two words.
    """

    kind = "wordpiece"

    @classmethod
    def train(
        cls, texts: str | Iterable[str], *, vocab_size: int = 512, unknown: bool = False, min_count: int = 1
    ) -> Self:
        """Learn pieces until there are `vocab_size` tokens: letters, letters with "##", then what merges make.

        The most frequent pair is joined, as in the library `tokenizers`. (BERT's own trainer was not published; it is
        said to choose by count(ab) / (count(a) · count(b)).)
        """
        check_types("WordPieceTokenizer.train", bool, unknown=unknown)
        words = count_pieces(cls, texts, WORD_PIECE_WORD.findall)
        spelled = {(word[0], *(CONTINUES + letter for letter in word[1:])): n for word, n in words.items()}
        first, later = {word[0] for word in words}, {letter for word in words for letter in word[1:]}
        alphabet = [*sorted(first | later), *(CONTINUES + letter for letter in sorted(later))]
        special = [PAD, BOS, EOS] + [UNKNOWN] * unknown
        _check_size(cls, vocab_size, len(special) + len(alphabet))
        pieces, _ = learn_merges(spelled, alphabet, vocab_size - len(special), glue=glue_pieces, min_count=min_count)
        return cls(pieces, unknown=unknown)

    def split(self, text: str) -> list[str]:
        check_text("WordPieceTokenizer.split", text)
        words = WORD_PIECE_WORD.findall(text)
        longest = max(map(len, self.pieces), default=0)
        spelled = {word: self._longest_pieces(word, longest) for word in dict.fromkeys(words)}
        return list(chain.from_iterable(spelled[word] for word in words))

    def _longest_pieces(self, word: str, longest: int) -> list[str]:
        """The longest pieces from the left; the word itself if no piece fits somewhere."""
        pieces, start = [], 0
        while start < len(word):
            prefix = CONTINUES if start else ""
            ends = range(min(len(word), start + longest), start, -1)
            end = next((end for end in ends if prefix + word[start:end] in self._ids), None)
            if end is None:
                return [word]
            pieces.append(prefix + word[start:end])
            start = end
        return pieces

    def join(self, pieces: list[str]) -> str:
        return " ".join(pieces).replace(" " + CONTINUES, "")


def glue_pieces(left: str, right: str) -> str:
    """ "hund" + "##red" → "hundred": the left piece alone says whether the new one continues a word."""
    return left + right.removeprefix(CONTINUES)


def _check_size(kind: type[Tokenizer], vocab_size: int, least: int) -> None:
    check_numbers(f"{kind.__name__}.train", whole=True, vocab_size=vocab_size)
    if vocab_size < least:
        raise ValueError(
            f"{kind.__name__}.train: vocab_size={vocab_size}, but {least} tokens are there before the first merge"
        )
