"""GPT-2's own tokenizer: 50,257 tokens, from OpenAI's merges, with the byte-pair code of this course.

    gpt2 = Gpt2Tokenizer()
    gpt2.encode(" strawberry")                                   # [41236]

Ids are GPT-2's: 256 bytes, then what the 50,000 merges make, in their order (gpt2_merges.txt, OpenAI's vocab.bpe), and
last `<|endoftext|>`, the only special token. `encode` never gives it for a text, even where the text spells it.

The rule that cuts a text into words before any merge is OpenAI's, in the expressions of Python's `re`:

    's|'t|'re|'ve|'m|'ll|'d| ?\\p{L}+| ?\\p{N}+| ?[^\\s\\p{L}\\p{N}]+|\\s+(?!\\S)|\\s+

`re` lacks the classes \\p{L} (letters) and \\p{N} (numbers); they are made of `unicodedata` here. So letters that
Unicode got after this Python's version count as marks.

Source: Radford et al. 2019, Language models are unsupervised multitask learners, section 2.2.
"""

import re
import sys
import unicodedata
from collections.abc import Iterable
from functools import lru_cache
from itertools import groupby
from pathlib import Path
from typing import Any, NoReturn

from tx_helpers.text.subwords import BytePairTokenizer, Pair

MERGES = Path(__file__).with_name("gpt2_merges.txt")
END_OF_TEXT = "<|endoftext|>"
SPACES = r"\t-\r \x85\xa0\u1680\u2000-\u200a\u2028\u2029\u202f\u205f\u3000"  # Unicode's; the \s of `re` has four more


class Gpt2Tokenizer(BytePairTokenizer):
    """Byte pairs with GPT-2's merges, ids and rule for words. Its one special token begins and ends a text."""

    kind = "gpt-2"
    pad_id = bos_id = eos_id = 50_256

    def __init__(self) -> None:
        super().__init__(read_merges())
        self.tokens = [*self.pieces, END_OF_TEXT]
        self._ids = {piece: i for i, piece in enumerate(self.pieces)}
        self._special_ids = frozenset([self.eos_id])
        self.words = word_rule()

    @classmethod
    def train(cls, texts: str | Iterable[str], *, vocab_size: int = 50_257, min_count: int = 1) -> NoReturn:
        """Not here: this vocabulary is finished."""
        raise ValueError("Gpt2Tokenizer.train: its vocabulary is finished, expected BytePairTokenizer.train")

    def _state(self) -> dict[str, Any]:
        return {}


@lru_cache(maxsize=1)
def read_merges() -> list[Pair]:
    """GPT-2's 50,000 merges in their order."""
    lines = MERGES.read_text(encoding="utf-8").split("\n")
    return [(left, right) for left, _, right in (line.partition(" ") for line in lines[1:] if line)]


@lru_cache(maxsize=1)
def word_rule() -> re.Pattern[str]:
    """GPT-2's rule for words: endings after an apostrophe, letters, numbers, marks, spaces."""
    letter, digit = _ranges("L"), _ranges("N")
    return re.compile(
        f"'s|'t|'re|'ve|'m|'ll|'d| ?[{letter}]+| ?[{digit}]+| ?[^{SPACES}{letter}{digit}]+"
        f"|[{SPACES}]+(?![^{SPACES}])|[{SPACES}]+"
    )


def _ranges(category: str) -> str:
    """The characters of a Unicode category ("L": letters, "N": numbers) as the inside of a character class."""
    text = ""
    for inside, run in groupby(range(sys.maxunicode + 1), lambda code: unicodedata.category(chr(code))[0] == category):
        if inside:
            codes = list(run)
            text += rf"\U{codes[0]:08x}-\U{codes[-1]:08x}"
    return text
