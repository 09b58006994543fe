"""Text to ids and back.

A tokenizer splits a text into pieces and numbers them by a vocabulary of V tokens: `encode` gives the ids 0 … V − 1,
`decode` the text. Ids 0, 1 and 2 are special tokens: padding, beginning and end. `encode` never gives them for a piece
of a text: a word that is spelled "<pad>" is a piece like any other, with an id of its own. Unless the vocabulary was
trained with `unknown=True` (id 3), a piece that it lacks is an error and is never dropped silently.

Left out on purpose: lower-casing, punctuation rules and Unicode normalisation. The text is used as it is.
"""

import json
import operator
import unicodedata
from collections import Counter
from collections.abc import Callable, Iterable
from difflib import get_close_matches
from pathlib import Path
from typing import Any, ClassVar, Self, TypeVar

from tx_helpers.nn.arguments import check_types, described

PAD, BOS, EOS, UNKNOWN = "<pad>", "<bos>", "<eos>", "<unk>"
FILE_FORMAT = "tx_helpers tokenizer"
Kind = TypeVar("Kind", bound="Tokenizer")


class Tokenizer:
    """What all tokenizers share; each kind adds `split`, `join` and `train`.

    `tokens[id]` is the token of an id, special ones first; `len(tokenizer)` is V.
    """

    kind: ClassVar[str]
    pad_id, bos_id, eos_id = 0, 1, 2

    def __init__(self, pieces: Iterable[str], *, unknown: bool = False):
        if not isinstance(pieces, Iterable):
            raise ValueError(f"{self._name}: pieces is {described(pieces)}, expected strings")
        check_types(self._name, bool, unknown=unknown)
        self.pieces = list(pieces)
        special = [PAD, BOS, EOS] + [UNKNOWN] * unknown
        self.tokens = special + self.pieces
        self.unknown_id = special.index(UNKNOWN) if unknown else None
        self._ids = {piece: len(special) + i for i, piece in enumerate(self.pieces)}
        self._special_ids = frozenset(range(len(special)))
        if not all(isinstance(piece, str) and piece for piece in self.pieces):
            raise ValueError(f"{self._name}: every piece must be a non-empty string")
        if len(self._ids) < len(self.pieces):
            twice = next(piece for piece in self.pieces if self.pieces.count(piece) > 1)
            raise ValueError(f"{self._name}: {twice!r} stands twice in the vocabulary, expected pieces that differ")

    @classmethod
    def train(cls, texts: str | Iterable[str]) -> Self:
        """A tokenizer with the vocabulary of the texts."""
        raise NotImplementedError

    def split(self, text: str) -> list[str]:
        """The pieces of a text, in order."""
        raise NotImplementedError

    def join(self, pieces: list[str]) -> str:
        """The text of the pieces: the inverse of `split`."""
        raise NotImplementedError

    def encode(self, text: str, *, bos: bool = False, eos: bool = False) -> list[int]:
        """The ids of a text; with bos or eos, the special id before or after them.

        Raises ValueError naming the first piece that the vocabulary lacks and the pieces near it.
        """
        check_text(f"{self._name}.encode", text)
        pieces = self.split(text)
        if self.unknown_id is None:
            try:
                ids = [self._ids[piece] for piece in pieces]
            except KeyError as missing:
                raise ValueError(self._unknown(missing.args[0])) from None
        else:
            ids = [self._ids.get(piece, self.unknown_id) for piece in pieces]
        return [self.bos_id] * bool(bos) + ids + [self.eos_id] * bool(eos)

    def decode(self, ids: Iterable[int], *, skip_special: bool = True) -> str:
        """The text of a flat list (or 1-D tensor) of ids; special tokens are left out, or written as `<eos>`."""
        return self.join([self.tokens[i] for i in self._checked(ids, skip_special)])

    def as_json(self) -> str:
        """The tokenizer as JSON that `from_json` reads."""
        content = {"format": FILE_FORMAT, "kind": self.kind, "state": self._state()}
        return json.dumps(content, ensure_ascii=False, indent=1) + "\n"

    @classmethod
    def from_json(cls, text: str | bytes, name: str) -> Self:
        """Read what `as_json` gave; `name` says in errors where it stood. ValueError if it is damaged or foreign."""
        kinds = {kind.kind: kind for kind in _descendants(cls) if "kind" in vars(kind)}
        expected = f"{cls.__name__}.load: expected a {FILE_FORMAT} of kind {' or '.join(kinds)}"
        try:
            content = json.loads(text)
        except ValueError as error:
            raise ValueError(f"{expected}, but {name} is not JSON ({error})") from error
        if not isinstance(content, dict) or content.get("format") != FILE_FORMAT:
            raise ValueError(f"{expected}, but {name} is another JSON file")
        if str(content.get("kind")) not in kinds:
            raise ValueError(f"{expected}, but {name} is of kind {content.get('kind')}")
        try:
            return kinds[content["kind"]](**content["state"])
        except (KeyError, TypeError, ValueError) as error:
            raise ValueError(f"{expected}, but {name} is damaged ({error})") from error

    def save(self, path: str | Path) -> None:
        """Write the tokenizer as JSON that `load` reads."""
        Path(path).write_bytes(self.as_json().encode("utf-8", errors="backslashreplace"))  # half a surrogate: \\ud800

    @classmethod
    def load(cls, path: str | Path) -> Self:
        """Read what `save` wrote: `WordTokenizer.load` only a word tokenizer, `Tokenizer.load` any kind.

        Raises FileNotFoundError, and ValueError for a file that is damaged or foreign.
        """
        path = Path(path)
        if not path.is_file():
            raise FileNotFoundError(f"{cls.__name__}.load: there is no file {str(path)!r}")
        return cls.from_json(path.read_bytes(), repr(path.name))

    def __len__(self) -> int:
        return len(self.tokens)

    def __repr__(self) -> str:
        return f"<{self._name}: {len(self)} tokens>"

    @property
    def _name(self) -> str:
        return type(self).__name__

    def _state(self) -> dict[str, Any]:
        """The arguments, as plain JSON values, from which `__init__` makes this tokenizer again."""
        return {"pieces": self.pieces, "unknown": self.unknown_id is not None}

    def _near(self, piece: str) -> list[str]:
        """Pieces of the vocabulary that the author of `piece` may have meant."""
        return get_close_matches(piece, self.pieces)

    def _unknown(self, piece: str) -> str:
        near = ", ".join(repr(known) for known in self._near(piece))
        message = f"{self._name}.encode: {piece!r} is not among the {len(self.pieces)} pieces of the vocabulary"
        return f"{message}; nearest to it: {near}" if near else message

    def _checked(self, ids: Iterable[int], skip_special: bool) -> list[int]:
        """The ids as plain ints within the vocabulary."""
        try:
            plain = [operator.index(i) for i in ids]
        except TypeError as error:
            raise ValueError(f"{self._name}.decode: expected a flat list of whole numbers ({error})") from error
        for i in plain:
            if not 0 <= i < len(self):
                raise ValueError(
                    f"{self._name}.decode: id {i} is outside the vocabulary of {len(self)} tokens "
                    f"(ids 0 to {len(self) - 1})"
                )
        return [i for i in plain if not (skip_special and i in self._special_ids)]

    @classmethod
    def _distinct_pieces(cls, texts: str | Iterable[str]) -> list[str]:
        """All pieces of the texts, sorted, for tokenizers whose `split` needs no vocabulary."""
        return sorted(count_pieces(cls, texts, cls(()).split))


class CharTokenizer(Tokenizer):
    """One token for each character (Unicode code point)."""

    kind = "character"

    @classmethod
    def train(cls, texts: str | Iterable[str], *, unknown: bool = False) -> Self:
        """The characters of the texts in the order of their code points."""
        return cls(cls._distinct_pieces(texts), unknown=unknown)

    def split(self, text: str) -> list[str]:
        check_text("CharTokenizer.split", text)
        return list(text)

    def join(self, pieces: list[str]) -> str:
        return "".join(pieces)

    def _near(self, piece: str) -> list[str]:
        """The same letter in the other case, or with other accents."""
        return [known for known in self.pieces if _bare(known) == _bare(piece)]


class WordTokenizer(Tokenizer):
    """One token for each word. White space and hyphens separate words ("twenty-one" is two); case counts.

    `decode` joins words by single spaces, so it restores the text except for its separators.
    """

    kind = "word"

    @classmethod
    def train(cls, texts: str | Iterable[str], *, unknown: bool = False) -> Self:
        """The words of the texts in alphabetical order."""
        return cls(cls._distinct_pieces(texts), unknown=unknown)

    def split(self, text: str) -> list[str]:
        check_text("WordTokenizer.split", text)
        return text.replace("-", " ").split()

    def join(self, pieces: list[str]) -> str:
        return " ".join(pieces)


def check_text(where: str, text: object) -> None:
    """Check that it is a text; it may be empty."""
    if not isinstance(text, str):
        raise ValueError(f"{where}: text is {described(text)}, expected a str")


def count_pieces(
    kind: type[Tokenizer], texts: str | Iterable[str], split: Callable[[str], Iterable[str]]
) -> Counter[str]:
    """How often each piece occurs in the texts; ValueError if there is none."""
    pieces: Counter[str] = Counter()
    for text in [texts] if isinstance(texts, str) or not isinstance(texts, Iterable) else texts:
        if not isinstance(text, str):
            raise ValueError(f"{kind.__name__}.train: a text is {described(text)}, expected a str")
        pieces.update(split(text))
    if not pieces:
        raise ValueError(f"{kind.__name__}.train: the training texts hold not a single piece, expected at least one")
    return pieces


def _descendants(cls: type[Kind]) -> list[type[Kind]]:
    """The class itself and every class derived from it."""
    return [cls] + [below for child in cls.__subclasses__() for below in _descendants(child)]


def _bare(character: str) -> str:
    """The letter without case and accents: É → e."""
    return unicodedata.normalize("NFKD", character)[0].casefold()
