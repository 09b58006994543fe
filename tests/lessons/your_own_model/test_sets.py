"""The three sets are right and the same for a seed; a file is read as what it is, or refused with a reason."""

import hashlib

import pytest

from tx_helpers.lessons.your_own_model import sets
from tx_helpers.lessons.your_own_model.sets import chat_pairs, read_text, story_text, time_pairs, time_split
from tx_helpers.text.stories import story_log_probability


def test_a_story_text_is_whole_stories():
    text = story_text(10_000, seed=3)
    assert 9_000 < len(text) <= 10_000
    assert all(story_log_probability(story) > -1e9 for story in text.split("\n\n")[:-1])


@pytest.mark.parametrize("words, digits", [
    ("quarter past three", "03:15"), ("twenty to eleven", "10:40"), ("half past twelve", "12:30"),
    ("ten to one", "12:50"), ("one o'clock in the afternoon", "13:00"), ("quarter to six in the afternoon", "17:45"),
    ("twenty-nine minutes to twelve in the evening", "23:31"), ("one minute past two", "02:01"),
    ("nine oh five in the morning", "09:05"),
])  # fmt: skip
def test_spoken_times_are_right(words, digits):
    assert dict(sets._spoken_times())[words] == digits


def test_no_wording_means_two_times():
    known = [*sets._spoken_times()]
    assert len({words for words, _ in known}) == len(known) >= 3000


def test_a_held_out_time_has_no_wording_in_training():
    train, held_out = time_split()
    assert len(train) + len(held_out) == 3000 and 200 < len(held_out) < 400
    assert not {digits for _, digits in train} & {digits for _, digits in held_out}
    words = " ".join(source for source, _ in train).split()
    assert {word for source, _ in held_out for word in source.split()} <= {*words}


def test_a_seed_gives_the_same_bytes():
    found = [story_text(5_000), *map(repr, (time_pairs(50), time_pairs(50, seed=1), chat_pairs(20)))]
    digests = [hashlib.sha256(one.encode()).hexdigest()[:8] for one in found]
    assert digests == ["7d74a0f5", "b0653ffb", "6ca71780", "57a6984d"]


@pytest.mark.parametrize("encoding", ["utf-8", "utf-8-sig", "utf-16", "cp1252"])
def test_a_file_is_read_in_its_encoding(tmp_path, encoding):
    (tmp_path / "a.txt").write_bytes("Grüße,\r\nzwei Zeilen – „so“.\n".encode(encoding))
    read = read_text(tmp_path / "a.txt")
    assert read.text == "Grüße,\nzwei Zeilen – „so“.\n" and read.encoding == encoding
    assert encoding in read.notes[0] and "line ends" in read.notes[1]


@pytest.mark.parametrize("content, says", [
    (b"", "is empty"), (b" \n\n", "is empty"), (b"\x89PNG\r\n\x1a\n\0\0\0\rIHDR", "no text"),
    (b"\xff\xfea", "no text"), (bytes(range(128, 256)), "no text"), (b"a" * 20_000_001, "20.0 MB"),
])  # fmt: skip
def test_what_is_no_text_is_refused(tmp_path, content, says):
    (tmp_path / "a.txt").write_bytes(content)
    with pytest.raises(ValueError, match=says):
        read_text(tmp_path / "a.txt")


def test_a_missing_file_is_named():
    with pytest.raises(ValueError, match=r"nowhere\.txt: no such file"):
        read_text("nowhere.txt")
