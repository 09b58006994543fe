"""Byte-pair and WordPiece tokenizers: worked by hand, equal to a plain recount, equal to the library `tokenizers`."""

import json
import re
from collections import Counter
from itertools import pairwise

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from tokenizers import Regex, models, pre_tokenizers, trainers
from tokenizers import Tokenizer as LibraryTokenizer

from tx_helpers.text.number_words import english, german
from tx_helpers.text.stories import stories
from tx_helpers.text.subwords import (
    BYTE_PAIR_WORD,
    LETTER_OF,
    WORD_PIECE_WORD,
    BytePairTokenizer,
    WordPieceTokenizer,
    apply_merges,
    learn_merges,
)
from tx_helpers.text.tokenizers import BOS, EOS, PAD, UNKNOWN, Tokenizer

KINDS = [BytePairTokenizer, WordPieceTokenizer]
HUGS = {tuple("hug"): 10, tuple("pug"): 5, tuple("pun"): 12, tuple("bun"): 4, tuple("hugs"): 5}
NUMBERS = [f"{english(n)} {german(n)} {n}," for n in range(0, 9000, 7)]
MIXED = ["Zwölf Boxkämpfer jagen Viktor 12345 mal;\r\n\tнаука 漢字🙂 don't  stop --- a_b x²  ", "naïve 'naïve' NAÏVE"]
CORPORA = {"numbers": NUMBERS, "mixed": MIXED, "stories": [stories(60, seed=3)]}
by_corpus = pytest.mark.parametrize("texts", CORPORA.values(), ids=CORPORA)


# --- the rivals -------------------------------------------------------------------------------------------------------


def join_pair(symbols: list, pair: tuple, new: object) -> list:
    """The symbols with every occurrence of the pair, from the left, replaced by the new one."""
    joined, i = [], 0
    while i < len(symbols):
        hit = i + 1 < len(symbols) and (symbols[i], symbols[i + 1]) == pair
        joined.append(new if hit else symbols[i])
        i += 2 if hit else 1
    return joined


def recounted(words, alphabet, size):
    """The definition, word for word: at every merge count all pairs, take the most frequent, ties by ids."""
    pieces, merges, words = list(alphabet), [], dict(words)
    while len(pieces) < size:
        counts = Counter()
        for word, times in words.items():
            for pair in pairwise(word):
                counts[pair] += times
        if not counts:
            break
        best = min(counts, key=lambda pair: (-counts[pair], pieces.index(pair[0]), pieces.index(pair[1])))
        merges.append(best)
        if "".join(best) not in pieces:
            pieces.append("".join(best))
        words = {tuple(join_pair(word, best, "".join(best))): times for word, times in words.items()}
    return pieces, merges


def library_regex(pattern: re.Pattern) -> Regex:
    """The same character classes in the spelling of the library's engine (Oniguruma)."""
    return Regex(pattern.pattern.replace(r"\x80-\U0010ffff", r"\x{80}-\x{10ffff}"))


def library_byte_pairs(texts, vocabulary, min_count=1):
    tokenizer = LibraryTokenizer(models.BPE())
    split = pre_tokenizers.Split(library_regex(BYTE_PAIR_WORD), "isolated")
    to_bytes = pre_tokenizers.ByteLevel(add_prefix_space=False, use_regex=False)
    tokenizer.pre_tokenizer = pre_tokenizers.Sequence([split, to_bytes])
    trainer = trainers.BpeTrainer(
        vocab_size=vocabulary,
        min_frequency=min_count,
        special_tokens=[PAD, BOS, EOS],
        initial_alphabet=list(LETTER_OF.values()),
        show_progress=False,
    )
    tokenizer.train_from_iterator(texts, trainer)
    tokenizer.encode_special_tokens = True  # "<pad>" in a text is text
    return tokenizer


def library_word_pieces(texts, vocabulary, min_count=1):
    """The library numbers "##" letters in the order of a hash table, another at every run; so ours are given to it."""
    first = WordPieceTokenizer.train(texts, vocab_size=10_000, unknown=True, min_count=10**9)  # letters only
    split = pre_tokenizers.Split(library_regex(WORD_PIECE_WORD), "removed", invert=True)
    trained = LibraryTokenizer(models.WordPiece(unk_token=UNKNOWN))
    trained.pre_tokenizer = split
    trainer = trainers.WordPieceTrainer(
        vocab_size=vocabulary, min_frequency=min_count, special_tokens=first.tokens, show_progress=False
    )
    trained.train_from_iterator(texts, trainer)
    # the same vocabulary once more, in which single letters are not special
    model = models.WordPiece(trained.get_vocab(), unk_token=UNKNOWN, max_input_chars_per_word=10**6)
    tokenizer = LibraryTokenizer(model)
    tokenizer.pre_tokenizer = split
    return tokenizer


def library_merges(tokenizer) -> list[tuple[str, str]]:
    return [tuple(pair) for pair in json.loads(tokenizer.to_str())["model"]["merges"]]


def numbered(tokenizer: Tokenizer) -> dict[str, int]:
    return {token: i for i, token in enumerate(tokenizer.tokens)}


# --- learning merges --------------------------------------------------------------------------------------------------


def test_merges_worked_by_hand():
    # u g: 10 + 5 + 5 = 20, the most; then u n: 12 + 4 = 16; then h ug: 10 + 5 = 15
    pieces, merges = learn_merges(HUGS, "bghnpsu", 10)
    assert merges == [("u", "g"), ("u", "n"), ("h", "ug")]
    assert pieces == ["b", "g", "h", "n", "p", "s", "u", "ug", "un", "hug"]


def test_of_equally_frequent_pairs_the_smaller_ids_win():
    words = {("b", "c"): 2, ("a", "d"): 2, ("a", "c"): 2}
    assert learn_merges(words, "abcd", 7)[1] == [("a", "c"), ("a", "d"), ("b", "c")]
    assert learn_merges(words, "dcba", 7)[1] == [("b", "c"), ("a", "d"), ("a", "c")]


def test_overlapping_pairs_are_counted_all_and_joined_from_the_left():
    pieces, merges = learn_merges({tuple("aaaaa"): 1, tuple("bc"): 3}, "abc", 5)
    assert merges == [("a", "a"), ("b", "c")]
    assert join_pair(list("aaaaa"), ("a", "a"), "aa") == ["aa", "aa", "a"]
    assert pieces[-2:] == ["aa", "bc"]


def test_a_piece_that_the_alphabet_holds_already_keeps_its_id():
    words = {("a", "b"): 3, ("ab", "c"): 2}
    assert learn_merges(words, ["a", "b", "c", "ab"], 5) == (["a", "b", "c", "ab", "abc"], [("a", "b"), ("ab", "c")])


def test_training_stops_when_no_pair_is_frequent_enough():
    assert learn_merges(HUGS, "bghnpsu", 100, min_count=16)[1] == [("u", "g"), ("u", "n")]
    pieces, merges = learn_merges({("a", "b"): 1}, "ab", 100)
    assert (pieces, merges) == (["a", "b", "ab"], [("a", "b")])


SMALL_WORDS = st.dictionaries(st.text("abc", min_size=1, max_size=9).map(tuple), st.integers(1, 4), max_size=8)


@given(SMALL_WORDS)
def test_incremental_counts_choose_as_a_recount_does(words):
    assert learn_merges(words, "abc", 20) == recounted(words, "abc", 20)


def test_a_text_without_spaces_is_one_long_word():
    letters = "".join("abcd"[n * n * 7 % 11 % 4] * (1 + n % 3) for n in range(400))
    words = {tuple(letters): 2, tuple(letters[::-1]): 1}
    assert learn_merges(words, "abcd", 120) == recounted(words, "abcd", 120)


def test_merges_are_applied_in_the_order_learned_not_from_left_to_right():
    ranks = {("b", "c"): 0, ("a", "b"): 1, ("a", "bc"): 2}
    assert apply_merges("abcab", ranks) == ["abc", "ab"]
    assert apply_merges("", ranks) == []


# --- equal to the library ---------------------------------------------------------------------------------------------


@by_corpus
@pytest.mark.parametrize("min_count", [1, 3])
def test_byte_pairs_are_those_of_the_library(texts, min_count):
    ours = BytePairTokenizer.train(texts, vocab_size=400, min_count=min_count)
    theirs = library_byte_pairs(texts, 400, min_count)
    assert ours.merges == library_merges(theirs)
    assert numbered(ours) == theirs.get_vocab()
    for text in [*texts[:50], *MIXED, "<pad> unseen words 漢漢", ""]:
        assert ours.encode(text) == theirs.encode(text).ids


@by_corpus
@pytest.mark.parametrize("min_count", [1, 3])
def test_word_pieces_are_those_of_the_library(texts, min_count):
    ours = WordPieceTokenizer.train(texts, vocab_size=200, unknown=True, min_count=min_count)
    theirs = library_word_pieces(texts, 200, min_count)
    assert numbered(ours) == theirs.get_vocab()
    for text in [*texts[:50], "unseen 漢漢 two-one", "##a [x]", ""]:
        assert ours.encode(text) == theirs.encode(text).ids


@settings(max_examples=60)
@given(st.lists(st.text("ab c", max_size=12), min_size=1, max_size=5), st.text("abc d", max_size=20))
def test_ties_fall_as_in_the_library(texts, text):
    if any(text.strip() for text in texts):
        ours = BytePairTokenizer.train(texts, vocab_size=275)
        theirs = library_byte_pairs(texts, 275)
        assert numbered(ours) == theirs.get_vocab()
        assert ours.encode(text) == theirs.encode(text).ids
        words = WordPieceTokenizer.train(texts, vocab_size=30, unknown=True)
        library = library_word_pieces(texts, 30)
        assert numbered(words) == library.get_vocab()
        assert words.encode(text) == library.encode(text).ids


# --- byte pairs -------------------------------------------------------------------------------------------------------


def test_a_letter_for_every_byte():
    assert sorted(LETTER_OF) == list(range(256))
    assert len(set(LETTER_OF.values())) == 256
    assert all(letter.isprintable() and not letter.isspace() for letter in LETTER_OF.values())
    assert (LETTER_OF[ord("a")], LETTER_OF[ord(" ")], LETTER_OF[ord("\n")]) == ("a", "Ġ", "Ċ")  # as in GPT-2's file
    assert list(LETTER_OF.values()) == sorted(LETTER_OF.values())


def test_how_a_text_is_cut_into_words():
    words = BYTE_PAIR_WORD.findall("It's  12 eggs,\nhé!")
    assert words == ["It", "'", "s", " ", " 12", " eggs", ",", "\n", "hé", "!"]
    assert WORD_PIECE_WORD.findall("It's  12 eggs,\nhé!") == ["It", "'", "s", "12", "eggs", ",", "hé", "!"]


TRAINED = BytePairTokenizer.train(NUMBERS + MIXED, vocab_size=500)


@given(st.text(st.characters(exclude_categories=["Cs"])))
def test_every_text_comes_back_from_byte_pairs(text):
    assert TRAINED.decode(TRAINED.encode(text, bos=True, eos=True)) == text
    assert "".join(BYTE_PAIR_WORD.findall(text)) == text


@given(st.text("eint wzug-1,ö"))
def test_a_longer_list_of_merges_never_makes_a_text_longer(text):
    short = BytePairTokenizer(TRAINED.merges[:40])
    assert len(TRAINED.encode(text)) <= len(short.encode(text)) <= len(text.encode())


def test_ids_cut_in_the_middle_of_a_character_decode_to_the_sign_for_it():
    ids = BytePairTokenizer().encode("a漢")
    assert len(ids) == 4
    assert [BytePairTokenizer().decode(ids[:n]) for n in (1, 2, 4)] == ["a", "a�", "a漢"]


def test_a_piece_can_be_read():
    assert TRAINED.readable("Ġhundert") == " hundert"
    assert TRAINED.readable(LETTER_OF[0xE6]) == r"\xe6"
    assert TRAINED.decode([1, *TRAINED.encode("eins"), 2], skip_special=False) == "<bos>eins<eos>"


def test_half_a_surrogate_pair_is_an_error():
    with pytest.raises(ValueError, match="BytePairTokenizer: the text holds half a surrogate pair"):
        TRAINED.encode("a\ud800")


def test_a_merge_of_pieces_not_made_yet_is_refused():
    with pytest.raises(ValueError, match="the merge 'ab' \\+ 'c' joins what is not made yet, expected it before"):
        BytePairTokenizer([("ab", "c"), ("a", "b")])


def test_a_long_word_is_no_obstacle():
    assert TRAINED.decode(TRAINED.encode("ei漢" * 20_000)) == "ei漢" * 20_000


# --- word pieces ------------------------------------------------------------------------------------------------------

PIECES = WordPieceTokenizer(["hund", "##red", "##re", "##r", "h", "one", "!", "-"], unknown=True)


def test_the_longest_piece_goes_first():
    assert PIECES.split("hundred hundre one-hundrr!") == [
        *("hund", "##red", "hund", "##re", "one", "-", "hund", "##r", "##r", "!")
    ]
    assert PIECES.decode(PIECES.encode("hundred  one!")) == "hundred one !"


def test_greedy_may_miss_a_spelling_that_exists():
    trap = WordPieceTokenizer(["ab", "a", "##bc"], unknown=True)
    assert trap.encode("abc") == [trap.unknown_id]  # a ##bc would have done


def test_a_word_that_cannot_be_spelled_is_unknown_as_a_whole():
    assert PIECES.encode("hundredx one") == [PIECES.unknown_id, PIECES.tokens.index("one")]
    strict = WordPieceTokenizer(PIECES.pieces)
    with pytest.raises(ValueError, match="'hundredx' is not among the 8 pieces"):
        strict.encode("hundredx one")


def test_a_literal_double_hash_is_two_marks():
    marks = WordPieceTokenizer.train("## red red", vocab_size=12)
    assert marks.split("##red")[:2] == ["#", "#"]


WORDS = WordPieceTokenizer.train(NUMBERS, vocab_size=300)


@given(st.lists(st.sampled_from(sorted({word for text in NUMBERS[:200] for word in text.split()})), max_size=8))
def test_words_come_back_from_pieces_up_to_spaces(words):
    text = " ".join(words)
    assert WORDS.decode(WORDS.encode(text)).replace(" ", "") == text.replace(" ", "")
    again = WORDS.decode(WORDS.encode(text))
    assert WORDS.decode(WORDS.encode(again)) == again


# --- both -------------------------------------------------------------------------------------------------------------


def test_a_damaged_file_is_refused(tmp_path):
    TRAINED.save(tmp_path / "t.json")
    content = json.loads((tmp_path / "t.json").read_text(encoding="utf-8"))
    content["state"]["merges"][3] = ["e", "i", "n"]
    (tmp_path / "t.json").write_text(json.dumps(content), encoding="utf-8")
    with pytest.raises(ValueError, match=r"'t\.json' is damaged"):
        BytePairTokenizer.load(tmp_path / "t.json")


def test_a_vocabulary_too_small_for_its_letters_is_refused():
    with pytest.raises(ValueError, match="vocab_size=258, but 259 tokens are there before the first merge"):
        BytePairTokenizer.train("abc", vocab_size=258)
    with pytest.raises(ValueError, match=r"WordPieceTokenizer\.train: vocab_size=8, but 9 tokens"):
        WordPieceTokenizer.train("abc cb", vocab_size=8, unknown=True)


@pytest.mark.parametrize("kind", KINDS)
def test_the_vocabulary_has_the_size_asked_for_and_text_gets_shorter_with_it(kind):
    sizes = [300, 340, 400]
    trained = [kind.train(NUMBERS, vocab_size=size) for size in sizes]
    lengths = [len(tokenizer.encode(" ".join(NUMBERS))) for tokenizer in trained]
    assert [len(tokenizer) for tokenizer in trained] == sizes
    assert lengths == sorted(lengths, reverse=True)
    assert lengths[0] > lengths[-1]
