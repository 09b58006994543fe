import json
import re
import string

import pytest
import torch
from hypothesis import given
from hypothesis import strategies as st

from tx_helpers.text.subwords import BytePairTokenizer, WordPieceTokenizer
from tx_helpers.text.tokenizers import CharTokenizer, Tokenizer, WordTokenizer

TEXTS = ["four hundred twenty-one", "one hundred four"]
KINDS = [CharTokenizer, WordTokenizer]
SUB_WORDS = {BytePairTokenizer: {"vocab_size": 280}, WordPieceTokenizer: {"vocab_size": 60}}
ALL_KINDS = {kind: {} for kind in KINDS} | SUB_WORDS
all_kinds = pytest.mark.parametrize(("kind", "options"), ALL_KINDS.items(), ids=[kind.kind for kind in ALL_KINDS])


def test_words_are_split_at_white_space_and_hyphens_and_sorted():
    words = WordTokenizer.train(TEXTS)
    assert words.tokens == ["<pad>", "<bos>", "<eos>", "four", "hundred", "one", "twenty"]
    assert (words.pad_id, words.bos_id, words.eos_id, words.unknown_id) == (0, 1, 2, None)
    assert len(words) == 7
    assert words.encode(" four\thundred twenty-one\n") == [3, 4, 6, 5]
    assert words.decode([3, 4, 6, 5]) == "four hundred twenty one"


def test_characters_stand_in_the_order_of_their_code_points():
    characters = CharTokenizer.train(["bß a", "\nB"])
    assert characters.tokens[3:] == ["\n", " ", "B", "a", "b", "ß"]
    assert characters.encode("ab\nß") == [6, 7, 3, 8]
    assert characters.decode([6, 7, 3, 8]) == "ab\nß"


@all_kinds
def test_training_does_not_depend_on_the_order_of_the_texts(kind, options):
    assert kind.train(TEXTS, **options).tokens == kind.train(TEXTS[::-1], **options).tokens


@all_kinds
def test_one_text_may_be_given_by_itself(kind, options):
    assert kind.train("one two", **options).tokens == kind.train(["one two"], **options).tokens


def test_special_ids_are_added_on_request_and_left_out_or_shown():
    words = WordTokenizer.train(TEXTS)
    assert words.encode("one", bos=True) == [1, 5]
    assert words.encode("one", eos=True) == [5, 2]
    ids = [*words.encode("one", bos=True, eos=True), words.pad_id]
    assert ids == [1, 5, 2, 0]
    assert words.decode(ids) == "one"
    assert words.decode(ids, skip_special=False) == "<bos> one <eos> <pad>"
    assert words.encode("", bos=True) == [1]


def test_ids_may_be_a_tensor():
    words = WordTokenizer.train(TEXTS)
    assert words.decode(torch.tensor([1, 5, 4, 2, 0])) == "one hundred"


@given(st.text(alphabet=string.printable + "äöüß漢🙂"))
def test_every_text_comes_back_from_characters(text):
    characters = CharTokenizer.train(string.printable + "äöüß漢🙂")
    assert characters.decode(characters.encode(text, bos=True, eos=True)) == text


@given(st.lists(st.sampled_from(["four", "hundred", "twenty", "one"])))
def test_every_sequence_of_words_comes_back(words):
    tokenizer = WordTokenizer.train(TEXTS)
    assert tokenizer.decode(tokenizer.encode(" ".join(words))) == " ".join(words)


def test_an_unknown_word_is_an_error_that_names_it_and_its_neighbours():
    words = WordTokenizer.train(TEXTS)
    with pytest.raises(ValueError, match=r"'hundert' is not among the 4 pieces .* nearest to it: 'hundred'"):
        words.encode("one hundert")
    with pytest.raises(ValueError, match=r"'xyz' is not among the 4 pieces of the vocabulary$"):
        words.encode("xyz")


def test_an_unknown_character_is_an_error_that_names_it_and_its_neighbours():
    characters = CharTokenizer.train("Eea")
    with pytest.raises(ValueError, match=r"'é' is not among the 3 pieces .* nearest to it: 'E', 'e'"):
        characters.encode("aé")


@pytest.mark.parametrize("kind", KINDS)
def test_unknown_pieces_get_an_id_where_the_vocabulary_has_one(kind):
    tokenizer = kind.train(["a b"], unknown=True)
    assert tokenizer.unknown_id == 3
    assert tokenizer.tokens[3] == "<unk>"
    assert tokenizer.encode("z") == [3]
    assert tokenizer.decode([3], skip_special=False) == "<unk>"
    assert tokenizer.decode([3]) == ""


@pytest.mark.parametrize("unknown", [False, True])
@pytest.mark.parametrize("special", ["<pad>", "<bos>", "<eos>", "<unk>"])
def test_no_text_can_smuggle_in_a_special_token(special, unknown):
    """Spelled in a text it is a word like any other, in training and afterwards."""
    words = WordTokenizer.train(f"one {special} two", unknown=unknown)
    ids = words.encode(f"{special} one")
    assert min(ids) >= 3 + unknown and words.decode(ids) == f"{special} one"
    with pytest.raises(ValueError, match=f"'{special}' is not among the 1 pieces"):
        WordTokenizer.train("one").encode(special)


def test_half_a_surrogate_pair_is_saved_like_any_character(tmp_path):
    before = CharTokenizer.train("a\ud800é")
    before.save(tmp_path / "tokenizer.json")
    assert CharTokenizer.load(tmp_path / "tokenizer.json").tokens == before.tokens
    assert "é" in (tmp_path / "tokenizer.json").read_text("utf-8")


@pytest.mark.parametrize("bad", [7, -1])
def test_an_id_beyond_the_vocabulary_is_an_error_that_names_both(bad):
    with pytest.raises(ValueError, match=rf"id {bad} is outside the vocabulary of 7 tokens \(ids 0 to 6\)"):
        WordTokenizer.train(TEXTS).decode([3, bad])


@pytest.mark.parametrize("bad", [[1.5], torch.tensor([[3, 4]]), ["one"], [None]])
def test_ids_must_be_a_flat_list_of_whole_numbers(bad):
    with pytest.raises(ValueError, match=r"WordTokenizer.decode: expected a flat list of whole numbers"):
        WordTokenizer.train(TEXTS).decode(bad)


@all_kinds
@pytest.mark.parametrize("texts", [[], "", ["", ""]])
def test_there_must_be_something_to_train_on(kind, options, texts):
    with pytest.raises(ValueError, match=f"{kind.__name__}.train: the training texts hold not a single piece"):
        kind.train(texts, **options)


@pytest.mark.parametrize("unknown", [False, True])
@all_kinds
def test_a_saved_tokenizer_is_loaded_unchanged(kind, options, unknown, tmp_path):
    if kind is not BytePairTokenizer:
        options = options | {"unknown": unknown}
    before = kind.train(["zwölf Boxkämpfer\tjagen 漢🙂"], **options)
    before.save(tmp_path / "tokenizer.json")
    for loader in (kind, Tokenizer):
        after = loader.load(tmp_path / "tokenizer.json")
        assert type(after) is kind
        assert after.tokens == before.tokens
        assert after.unknown_id == before.unknown_id
        assert after.encode("zwölf") == before.encode("zwölf")


def test_a_missing_file_is_named(tmp_path):
    with pytest.raises(FileNotFoundError, match=r"WordTokenizer.load: there is no file .*absent.json"):
        WordTokenizer.load(tmp_path / "absent.json")


WORD_FILE = {"format": "tx_helpers tokenizer", "kind": "word", "state": {"pieces": ["one", "two"], "unknown": False}}


@pytest.mark.parametrize(
    ("content", "complaint"),
    [
        (b"\xff\xfe", "is not JSON"),
        (b'{"format": "tx_hel', "is not JSON"),
        (b"[1, 2]", "is another JSON file"),
        (b'{"model": {"type": "BPE"}}', "is another JSON file"),
        ({**WORD_FILE, "kind": "character"}, "is of kind character"),
        ({**WORD_FILE, "kind": ["word"]}, "is of kind"),
        ({"format": WORD_FILE["format"]}, "is of kind None"),
        ({**WORD_FILE, "state": {"pieces": ["one", "one"]}}, "is damaged .*'one' stands twice"),
        ({**WORD_FILE, "state": {"pieces": ["one", 2]}}, "is damaged .*non-empty string"),
        ({**WORD_FILE, "state": {"pieces": ["one", ""]}}, "is damaged .*non-empty string"),
        ({**WORD_FILE, "state": {"pieces": None}}, "is damaged"),
        ({**WORD_FILE, "state": {"merges": []}}, "is damaged"),
        ({**WORD_FILE, "state": "one two"}, "is damaged"),
        ({key: value for key, value in WORD_FILE.items() if key != "state"}, "is damaged"),
    ],
)
def test_a_damaged_or_foreign_file_is_refused(content, complaint, tmp_path):
    path = tmp_path / "some.json"
    path.write_bytes(content if isinstance(content, bytes) else json.dumps(content).encode())
    expected = re.escape("WordTokenizer.load: expected a tx_helpers tokenizer of kind word, but 'some.json' ")
    with pytest.raises(ValueError, match=expected + complaint):
        WordTokenizer.load(path)


def test_the_file_that_the_refusals_vary_is_itself_accepted(tmp_path):
    (tmp_path / "some.json").write_text(json.dumps(WORD_FILE))
    assert WordTokenizer.load(tmp_path / "some.json").tokens[3:] == ["one", "two"]


def test_the_repr_is_stable():
    assert repr(WordTokenizer.train(TEXTS)) == "<WordTokenizer: 7 tokens>"


def test_a_new_kind_of_tokenizer_needs_only_split_join_and_its_state(tmp_path):
    class PairTokenizer(Tokenizer):
        """Pieces of two characters."""

        kind = "pair"

        def split(self, text):
            return [text[i : i + 2] for i in range(0, len(text), 2)]

        def join(self, pieces):
            return "".join(pieces)

    tokenizer = PairTokenizer(["ab", "cd"])
    tokenizer.save(tmp_path / "pair.json")
    again = Tokenizer.load(tmp_path / "pair.json")
    assert isinstance(again, PairTokenizer)
    assert again.decode(again.encode("cdab")) == "cdab"
