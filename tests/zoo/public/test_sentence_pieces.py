"""Marian's tokenizer: read from files made here, against a slow search by hand, and against `MarianTokenizer`."""

import itertools
import json
import struct
from importlib.util import find_spec

import pytest
from hypothesis import given
from hypothesis import strategies as st

from tx_helpers.zoo.public.folder import Source
from tx_helpers.zoo.public.sentence_pieces import fields_of, read_spm, tokenizer_of

PIECES = {"▁": -3.0, "▁the": -2.5, "▁cat": -4.0, "s": -3.5, "▁c": -5.0, "a": -4.5, "t": -4.6, "at": -5.2, "e": -4.0}
GERMAN = {"▁": -3.0, "▁die": -2.0, "▁Katze": -3.0, "n": -4.0}
IDS = {
    piece: number
    for number, piece in enumerate(["</s>", "<unk>", *dict.fromkeys([*PIECES, *GERMAN]), ">>de<<", "<pad>"])
}
del IDS["at"]  # sentencepiece knows it, the translator does not
SCORED = st.text("thecats ▁x", max_size=9)


def number(value: int) -> bytes:
    return bytes([value]) if value < 128 else bytes([value & 127 | 128]) + number(value >> 7)


def part(field: int, value: int | bytes) -> bytes:
    """One field of a protobuf message."""
    if isinstance(value, int):
        return number(field * 8) + number(value)
    return number(field * 8 + 2) + number(len(value)) + value


def piece(word: str, ln_p: float = 0.0, kind: int = 1) -> bytes:
    return part(1, part(1, word.encode()) + number(2 * 8 + 5) + struct.pack("<f", ln_p) + part(3, kind))


def spm(pieces: dict[str, float] = PIECES, *, kind: int = 1, normalizer: bytes = b"", more: bytes = b"") -> bytes:
    signs = piece("<unk>", kind=2) + piece("<s>", kind=3) + piece("</s>", kind=3)
    return signs + b"".join(map(piece, pieces, pieces.values())) + part(2, part(3, kind)) + part(3, normalizer) + more


@pytest.fixture
def folder(tmp_path):
    (tmp_path / "source.spm").write_bytes(spm())
    (tmp_path / "target.spm").write_bytes(spm(GERMAN))
    (tmp_path / "vocab.json").write_text(json.dumps(IDS))
    return tmp_path


def likeliest(text: str) -> float:
    """The largest ln p of all ways to cut a text; an unknown letter costs 10 more than the rarest piece."""
    text, unknown = "▁" + " ".join(text.split(" ")).strip().replace(" ", "▁"), min(PIECES.values()) - 10
    best = []
    for cuts in itertools.product([0, 1], repeat=len(text) - 1):
        places = [0, *(place + 1 for place, cut in enumerate(cuts) if cut), len(text)]
        words = [text[a:b] for a, b in itertools.pairwise(places)]
        if all(word in PIECES or len(word) == 1 for word in words):
            best.append(sum(PIECES.get(word, unknown) for word in words))
    return max(best)


@given(SCORED.filter(lambda text: "  " not in text and text.strip(" ")))
def test_the_likeliest_pieces_are_found(text):
    found = tokenizer_of(read_spm(spm(), "source.spm")).encode(text).tokens
    assert "".join(found) == "▁" + text.strip(" ").replace(" ", "▁")
    unknown = min(PIECES.values()) - 10  # unknown letters in a row are one piece
    assert sum(PIECES.get(one, unknown * len(one)) for one in found) == pytest.approx(likeliest(text), abs=1e-4)


def test_ids_are_those_of_the_table_and_the_text_ends(folder):
    words = Source(folder).tokenizer
    assert words.encode("the cats") == [IDS["▁the"], IDS["▁cat"], IDS["s"], 0]
    assert words.encode("  the   cats ") == words.encode("the cats")
    assert words.encode("") == [0]
    assert words.encode("at") == [IDS["▁"], 1, 0]  # a piece without an id
    assert words.encode("the xyz </s>")[-2:] == [1, 0]  # a sign within a text is no sign
    assert words.encode(">>de<< the") == [IDS[">>de<<"], IDS["▁the"], 0]
    assert words.encode(">>fr<< the") == [1, IDS["▁the"], 0] and words.encode("the << s")[0] == IDS["▁the"]
    german = words.encode("die Katzen", target=True)
    assert german == [IDS["▁die"], IDS["▁Katze"], IDS["n"], 0]
    assert words.decode([IDS["<pad>"], *german, IDS["<pad>"]]) == "die Katzen"
    with pytest.raises(ValueError, match=rf"decode: id 99, expected one of the {len(IDS)} of the target"):
        words.decode([99])
    with pytest.raises(ValueError, match="encode: text is 3, expected a text"):
        words.encode(3)


def test_each_side_can_have_a_table_of_its_own(folder):
    (folder / "target_vocab.json").write_text(json.dumps({"<unk>": 0, "</s>": 1, "▁die": 2}))
    words = Source(folder).tokenizer
    assert words.encode("die", target=True) == [2, 1] and words.decode([2, 1]) == "die"
    assert words.encode("the") == [IDS["▁the"], 0]


def test_spaces_are_kept_where_the_model_keeps_them():
    kept = tokenizer_of(read_spm(spm(normalizer=part(4, 0)), "source.spm"))
    assert kept.encode("the  s").tokens == ["▁the", "▁", "▁", "s"]


@pytest.mark.parametrize(
    ("content", "message"),
    [
        (b"", "0 pieces, and None for unknown ones"),
        (spm()[:-3], "field 2 has 2 bytes, but 1 are left"),
        (spm()[:40], "bytes, but"),
        (b"\xff" * 20, "a number of more than 64 bits"),
        (b"\x80", "it ends within a number"),
        (spm(kind=2), "its type is 2, expected 1, a unigram model"),
        (spm({"a": float("nan")}), "a log probability is not finite"),
        (spm(more=piece("a")), "a piece stands twice"),
        (spm(more=piece("")), "or is empty"),
        (spm(more=piece("b", kind=4)), "piece 'b' is of type 4"),
        (spm(more=part(1, 7)), "a number where a message should be"),
        (spm(more=part(1, part(1, b"\xff"))), "can't decode byte 0xff"),
        (spm(normalizer=part(3, 0)), "it puts no space before a text"),
        (spm(normalizer=part(2, b"\xff\xff\xff\x7f----")), "a trie of 2147483647 bytes in a table"),
        (b"<html>a page</html>", "field 7 is of type 4"),
    ],
)
def test_a_damaged_file_is_named(folder, content, message):
    (folder / "source.spm").write_bytes(content)
    with pytest.raises(ValueError, match=rf"source.spm: is no unigram model of sentencepiece.*{message}"):
        _ = Source(folder).tokenizer


@given(st.integers(0, len(spm())), st.binary(max_size=3))
def test_damage_anywhere_is_an_error_or_a_model(place, put_in):
    content = spm()[:place] + put_in + spm()[place + len(put_in) :]
    try:
        tokenizer_of(read_spm(content, "source.spm")).encode("the cats")
    except ValueError as error:
        assert str(error).startswith("source.spm: is no unigram model")


@pytest.mark.parametrize(
    ("table", "message"),
    [
        ("[]", "vocab.json is list in JSON, expected an object"),
        ('{"<unk>": 0, "</s>": 0}', "vocab.json: has 1 ids for 2 pieces, expected one of its own for each"),
        ('{"<unk>": 0, "</s>": "1"}', "vocab.json: has 1 ids for 2 pieces"),
        ('{"<unk>": 0, "a": 1}', "vocab.json: has no id for '</s>'"),
    ],
)
def test_a_damaged_table_is_named(folder, table, message):
    (folder / "vocab.json").write_text(table)
    with pytest.raises(ValueError, match=message):
        _ = Source(folder).tokenizer


@pytest.mark.parametrize("name", ["target.spm", "vocab.json"])
def test_a_missing_file_is_named(folder, name):
    (folder / name).unlink()
    with pytest.raises(ValueError, match=f"{name}: no such file"):
        _ = Source(folder).tokenizer


def test_fields_of_other_kinds_are_passed_over():
    message = number(9 * 8 + 1) + bytes(8) + number(7 * 8 + 5) + bytes(4) + part(300, 1 << 40)
    assert list(fields_of(message)) == [(9, bytes(8)), (7, bytes(4)), (300, 1 << 40)]
    assert read_spm(spm(more=message), "source.spm") == read_spm(spm(), "source.spm")


if find_spec("sentencepiece") is not None:  # which nothing else in the course needs

    def test_ids_are_those_of_the_library_transformers(folder):
        from transformers import MarianTokenizer

        theirs = MarianTokenizer.from_pretrained(folder)
        words = Source(folder).tokenizer
        for text in ("the cats", " the   cat", "at", "xyz the", "eats the", ">>de<< the s", "", "tte  ast"):
            assert words.encode(text) == theirs(text).input_ids, text
            assert words.encode(text, target=True) == theirs(text_target=text).input_ids, text
