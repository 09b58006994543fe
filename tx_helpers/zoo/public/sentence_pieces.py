"""The tokenizer of Marian's translators, which has no tokenizer.json: two models of sentencepiece and a table of ids.

    source.spm, target.spm     pieces of words with their log probabilities: a unigram model (Kudo 2018) for each side
    vocab.json                 piece -> id, for both sides; target_vocab.json, where the target has a table of its own

    words = load_pretrained("Helsinki-NLP/opus-mt-en-de", download=True).tokenizer
    words.encode("The cat sleeps.")                  # [4, 17, …, 0]: ids of the source; the last one is that of </s>
    words.decode(ids)                                # the text of ids of the target

A file .spm is a protobuf message, of which a few fields are read here (sentencepiece_model.proto, in sentencepiece's
repository). The library tokenizers does the rest: it normalises the text, and finds the pieces whose product of
probabilities is largest. Moses' rules for quotes and dashes, which `MarianTokenizer` applies first where sacremoses is
installed, are left out; and a sign such as </s> within a text is plain text here. Where an accent is a
character of its own behind a character that is replaced (ﬁ, ™), the library drops it and sentencepiece does not.
"""

import math
import struct
from collections.abc import Iterator, Sequence
from pathlib import Path
from typing import Any, NamedTuple

from tx_helpers.nn.arguments import described
from tx_helpers.zoo.public.files import parse_json, read_file

SOURCE, TARGET, IDS, TARGET_IDS = "source.spm", "target.spm", "vocab.json", "target_vocab.json"
UNKNOWN, END, PADDING, SPACE = "<unk>", "</s>", "<pad>", "▁"
NORMAL, UNKNOWN_PIECE, NEVER_IN_TEXT = 1, 2, (3, 5)  # types of pieces; 3 and 5: signs such as </s>, and unused ones
UNIGRAM = 1  # the type of model


class Spm(NamedTuple):
    """What is read from a file .spm: pieces with their ln p, and how a text is normalised."""

    pieces: list[tuple[str, float]]  # the first is the unknown piece
    characters: bytes  # sentencepiece's table of characters to be replaced; may be empty
    one_space: bool  # several spaces become one, and those at both ends go


class SentencePieces:
    """See the head of this file. `source` and `target` are tokenizers of the library, without ids of their own."""

    def __init__(self, source: Any, target: Any, source_ids: dict[str, int], target_ids: dict[str, int]):
        self.source, self.target = source, target
        self.source_ids, self.target_ids = source_ids, target_ids
        self.pieces = {number: piece for piece, number in target_ids.items()}

    def encode(self, text: str, *, target: bool = False) -> list[int]:
        """The ids of a text of the source, or of the target, and that of </s>.

        A source may begin with a language in the form >>fr<<, which is one token. What has no id becomes <unk>.
        """
        if not isinstance(text, str):
            raise ValueError(f"encode: text is {described(text)}, expected a text")
        tokenizer, ids = (self.target, self.target_ids) if target else (self.source, self.source_ids)
        code, closed, rest = text.partition("<<")
        language = [code + closed] if closed and code.startswith(">>") else []
        pieces = tokenizer.encode(rest if language else text).tokens
        return [ids.get(piece, ids[UNKNOWN]) for piece in (*language, *pieces, END)]

    def decode(self, ids: Sequence[int]) -> str:
        """The text of ids of the target, without </s> and padding. Raises ValueError for an id that no piece has."""
        said = []
        for number in ids:
            if int(number) not in self.pieces:
                raise ValueError(f"decode: id {int(number)}, expected one of the {len(self.pieces)} of the target")
            said.append(self.pieces[int(number)])
        return "".join(piece for piece in said if piece not in (END, PADDING)).replace(SPACE, " ").strip()


def read_sentence_pieces(folder: Path) -> SentencePieces:
    """The tokenizer of a folder. Raises ValueError for a file that is missing, damaged or of another kind."""
    source, target = (tokenizer_of(read_spm(read_file(folder / name), folder / name)) for name in (SOURCE, TARGET))
    source_ids = _read_ids(folder / IDS)
    target_ids = _read_ids(folder / TARGET_IDS) if (folder / TARGET_IDS).exists() else source_ids
    return SentencePieces(source, target, source_ids, target_ids)


def tokenizer_of(spm: Spm) -> Any:
    """A tokenizer of the library `tokenizers` that cuts a text as sentencepiece does."""
    from tokenizers import Regex, Tokenizer, models, normalizers

    steps = [normalizers.Precompiled(spm.characters)] if spm.characters else []
    if spm.one_space:
        steps += [normalizers.Strip(), normalizers.Replace(Regex(" +"), " ")]
    tokenizer = Tokenizer(models.Unigram(spm.pieces, unk_id=0, byte_fallback=False))
    tokenizer.normalizer = normalizers.Sequence([*steps, normalizers.Prepend(" "), normalizers.Replace(" ", SPACE)])
    return tokenizer


def read_spm(content: bytes, file: Path) -> Spm:
    """The parts of a unigram model that are needed; all others are passed over."""
    pieces, unknown, kind, characters, spaces = [], None, UNIGRAM, b"", {3: 1, 4: 1, 5: 1}
    try:
        for field, value in fields_of(content):
            if field == 1:
                piece = {1: b"", 2: struct.pack("<f", 0.0), 3: NORMAL} | dict(fields_of(value))
                word, (ln_p,), its_type = piece[1].decode(), struct.unpack("<f", piece[2]), piece[3]
                if its_type == UNKNOWN_PIECE:
                    unknown = word
                elif its_type == NORMAL:
                    pieces.append((word, ln_p))
                elif its_type not in NEVER_IN_TEXT:
                    raise ValueError(f"piece {word!r} is of type {its_type}, expected 1, 2, 3 or 5")
            elif field == 2:
                kind = dict(fields_of(value)).get(3, UNIGRAM)
            elif field == 3:
                found = dict(fields_of(value))
                characters, spaces = found.get(2, b""), spaces | {n: found[n] for n in spaces if n in found}
        _check(pieces, unknown, kind, characters, spaces)
    except (ValueError, struct.error, TypeError, AttributeError) as error:
        raise ValueError(f"{file}: is no unigram model of sentencepiece that is understood ({error})") from None
    return Spm([(unknown, 0.0), *pieces], characters, bool(spaces[4]))


def fields_of(message: bytes) -> Iterator[tuple[int, int | bytes]]:
    """The fields of a protobuf message: its number, and its value as a whole number or as bytes."""
    if not isinstance(message, bytes):
        raise ValueError("a number where a message should be")
    place = 0

    def number() -> int:
        nonlocal place
        value = shift = 0
        while shift < 64:
            if place == len(message):
                raise ValueError("it ends within a number")
            byte = message[place]
            place, value, shift = place + 1, value | (byte & 127) << shift, shift + 7
            if byte < 128:
                return value
        raise ValueError("a number of more than 64 bits")

    while place < len(message):
        field, wire = divmod(number(), 8)
        if wire == 0:
            yield field, number()
            continue
        if wire not in (1, 2, 5):
            raise ValueError(f"field {field} is of type {wire}, which protobuf does not use")
        length = number() if wire == 2 else {1: 8, 5: 4}[wire]
        if length > len(message) - place:
            raise ValueError(f"field {field} has {length} bytes, but {len(message) - place} are left")
        yield field, message[place : place + length]
        place += length


def _check(pieces: list, unknown: str | None, kind: int, characters: bytes, spaces: dict[int, int]) -> None:
    if kind != UNIGRAM:
        raise ValueError(f"its type is {kind}, expected {UNIGRAM}, a unigram model")
    if unknown is None or not pieces:
        raise ValueError(f"{len(pieces)} pieces, and {unknown!r} for unknown ones")
    words = [word for word, _ in pieces]
    if len({*words, unknown}) != len(words) + 1 or "" in words:
        raise ValueError("a piece stands twice in it, or is empty")
    if not all(math.isfinite(ln_p) for _, ln_p in pieces):
        raise ValueError("a log probability is not finite")
    if not (spaces[3] and spaces[5]):
        raise ValueError("it puts no space before a text, or keeps spaces as they are")
    if characters:  # the length of a trie, the trie, and behind it the texts that it points into
        length = int.from_bytes(characters[:4], "little")
        if len(characters) < 8 or length % 4 or not 0 < length <= len(characters) - 4:
            raise ValueError(f"a trie of {length} bytes in a table of characters of {len(characters)}")
        characters[4 + length :].decode()


def _read_ids(file: Path) -> dict[str, int]:
    ids = parse_json(read_file(file), str(file))
    numbers = [number for number in ids.values() if type(number) is int and number >= 0]
    if len(set(numbers)) != len(ids):
        raise ValueError(f"{file}: has {len(set(numbers))} ids for {len(ids)} pieces, expected one of its own for each")
    if missing := [sign for sign in (UNKNOWN, END) if sign not in ids]:
        raise ValueError(f"{file}: has no id for {missing[0]!r}")
    return ids
