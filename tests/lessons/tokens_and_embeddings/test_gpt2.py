"""GPT-2's tokenizer, compared with a library's."""

import sys
import unicodedata

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from tx_helpers.lessons.tokens_and_embeddings.gpt2 import END_OF_TEXT, SPACES, Gpt2Tokenizer, read_merges, word_rule
from tx_helpers.text.subwords import BytePairTokenizer
from tx_helpers.text.tokenizers import Tokenizer

REAL = Gpt2Tokenizer()
TEXTS = (
    "How many r's are in strawberry? I've  two,\n\n  you're sure, they'll say: it's 1,234.5 + 9.11!",
    "    if x > 0:\n\t\treturn  x \n\n\n",
    "Übung 狐 🦊 الحياة ½ Ⅷ ²\u00a0\u2003\u3000x\x1c\x1f\x85 'S 'LL don't",
    END_OF_TEXT + " <|endoftext|>",
    "",
)


def test_its_size_and_its_order():
    merges = read_merges()
    assert (len(REAL), len(merges)) == (50_257, 50_000)
    assert REAL.tokens == [*REAL.pieces, END_OF_TEXT]  # 256 bytes, then what the merges make, in their order
    assert REAL.pieces[256:] == [left + right for left, right in merges]


def test_known_ids():
    """As OpenAI's encoder gives them."""
    assert REAL.encode("Hello world") == [15496, 995]
    assert REAL.encode(" strawberry") == [41236] and REAL.encode("strawberry") == [301, 1831, 8396]
    assert REAL.encode("x", bos=True, eos=True) == [50256, 87, 50256]


def test_the_special_token_is_never_a_piece_of_a_text():
    ids = REAL.encode(END_OF_TEXT)
    assert 50256 not in ids and REAL.decode(ids) == END_OF_TEXT
    assert REAL.decode([15496, 50256]) == "Hello"
    assert REAL.decode([15496, 50256], skip_special=False) == "Hello<|endoftext|>"


@pytest.fixture(scope="module")
def library():
    tokenizers = pytest.importorskip("tokenizers")
    ids = {piece: i for i, piece in enumerate(REAL.pieces)}
    made = tokenizers.Tokenizer(tokenizers.models.BPE(vocab=ids, merges=read_merges()))
    made.pre_tokenizer = tokenizers.pre_tokenizers.ByteLevel(add_prefix_space=False, use_regex=True)
    return made


@pytest.mark.parametrize("text", TEXTS)
def test_the_library_cuts_alike_and_the_text_comes_back(library, text):
    assert REAL.encode(text) == library.encode(text).ids
    assert REAL.decode(REAL.encode(text)) == text


@settings(max_examples=60, deadline=None)
@given(text=st.text(st.characters(max_codepoint=0x2FFF, exclude_categories=["Cs", "Cn"]), max_size=40))
def test_any_text_is_cut_as_the_library_does(library, text):
    assert REAL.encode(text) == library.encode(text).ids
    assert REAL.decode(REAL.encode(text)) == text


def test_the_last_merge_is_there():
    assert REAL.encode(" gazed") == [50255]


def test_the_rule_knows_unicodes_classes():
    words = word_rule()
    for code in range(0, sys.maxunicode + 1, 7):
        sign = chr(code)
        kind = unicodedata.category(sign)[0]
        if kind in "LN":
            assert words.findall("!" + sign + sign) == ["!", sign + sign]
    spaces = [chr(code) for code in range(sys.maxunicode + 1) if words.findall("!" + chr(code)) == ["!", chr(code)]]
    white = {sign for sign in spaces if unicodedata.category(sign)[0] not in "LN"}
    assert white == set(f"\t\n\v\f\r {chr(0x85)}\xa0\u1680\u2028\u2029\u202f\u205f\u3000").union(
        map(chr, range(0x2000, 0x200B))
    )
    assert "\\s" not in SPACES  # that of `re` would add four control characters


def test_it_is_saved_by_its_name_alone_and_cannot_be_trained(tmp_path):
    REAL.save(tmp_path / "real.json")
    assert (tmp_path / "real.json").stat().st_size < 200
    again = Tokenizer.load(tmp_path / "real.json")
    assert type(again) is Gpt2Tokenizer and again.tokens == REAL.tokens
    with pytest.raises(ValueError, match=r"its vocabulary is finished, expected BytePairTokenizer\.train"):
        Gpt2Tokenizer.train("text")
    assert BytePairTokenizer.words is not REAL.words
