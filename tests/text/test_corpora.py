import errno
import hashlib
import os
import sys
from pathlib import Path

import pooch
import pytest
import requests

from tx_helpers.text import corpora
from tx_helpers.text.corpora import TINY_SHAKESPEARE_SHA256, TINY_SHAKESPEARE_URL, cache_folder, tinyshakespeare
from tx_helpers.text.data import train_validation_split
from tx_helpers.text.tokenizers import CharTokenizer

BESIDE_THE_CHECKOUT = Path(__file__).parents[3] / "shared" / "data" / "tinyshakespeare.txt"
CORPUS = Path(os.environ.get("TX_TINYSHAKESPEARE") or BESIDE_THE_CHECKOUT)


@pytest.fixture(autouse=True)
def folder(tmp_path, monkeypatch):
    """Neither this user's cache nor this user's settings."""
    monkeypatch.setenv("TX_CACHE", str(tmp_path / "cache"))
    monkeypatch.delenv("TX_TINYSHAKESPEARE", raising=False)
    return tmp_path


@pytest.fixture
def small_text(monkeypatch):
    """A text of three words passes for the corpus."""
    content = b"To be, or\r\nnot"
    monkeypatch.setattr(corpora, "TINY_SHAKESPEARE_SHA256", hashlib.sha256(content).hexdigest())
    return content


def test_the_cache_is_where_the_environment_says_and_is_not_made_by_asking(folder, monkeypatch):
    assert cache_folder() == folder / "cache"
    assert not cache_folder().exists()
    monkeypatch.delenv("TX_CACHE")
    assert cache_folder().is_absolute()
    assert "tx_helpers" in cache_folder().parts
    monkeypatch.setenv("TX_CACHE", "~/course")
    assert cache_folder() == Path.home() / "course"


def test_path_then_environment_then_cache(folder, small_text, monkeypatch):
    (folder / "cache").mkdir()
    (folder / "cache" / "tinyshakespeare.txt").write_bytes(small_text)
    assert tinyshakespeare() == small_text.decode()  # byte for byte: no line ending is changed
    monkeypatch.setenv("TX_TINYSHAKESPEARE", str(folder / "elsewhere.txt"))
    with pytest.raises(FileNotFoundError, match=r"elsewhere\.txt"):
        tinyshakespeare()  # what the environment names is not passed over
    (folder / "elsewhere.txt").write_bytes(small_text)
    assert tinyshakespeare() == small_text.decode()
    with pytest.raises(FileNotFoundError, match=r"given\.txt"):
        tinyshakespeare(folder / "given.txt")


def test_a_missing_text_names_the_file_and_three_ways_to_it():
    with pytest.raises(FileNotFoundError) as caught:
        tinyshakespeare()
    message = str(caught.value)
    ways = ("tinyshakespeare(path)", "TX_TINYSHAKESPEARE", "download=True", TINY_SHAKESPEARE_URL)
    for part in ("tinyshakespeare.txt", *ways):
        assert part in message


def test_another_text_is_refused_with_both_checksums(folder):
    (folder / "other.txt").write_bytes(b"")
    empty = "e3b0c44298fc1c149afbf4c8996fb92427ae41e4649b934ca495991b7852b855"
    with pytest.raises(ValueError, match=rf"other\.txt' has SHA-256 {empty}, expected {TINY_SHAKESPEARE_SHA256}"):
        tinyshakespeare(folder / "other.txt")


def test_a_download_goes_into_the_cache_once_and_is_asked_to_check_the_checksum(small_text, monkeypatch):
    calls = []

    def retrieve(url, known_hash, *, fname, path):
        calls.append((url, known_hash))
        Path(path).mkdir(parents=True)
        (Path(path) / fname).write_bytes(small_text)

    monkeypatch.setattr(pooch, "retrieve", retrieve)
    assert tinyshakespeare(download=True) == small_text.decode()
    assert calls == [(TINY_SHAKESPEARE_URL, f"sha256:{corpora.TINY_SHAKESPEARE_SHA256}")]
    assert tinyshakespeare(download=True) == tinyshakespeare() == small_text.decode()
    assert len(calls) == 1


def unusable_cache(folder: Path, fault: str) -> Path:
    """A cache folder in which the text cannot be stored."""
    cache = folder / "cache"
    if fault == "cache is a file":
        cache.write_text("a file")
    elif fault == "folder in the file's place":
        (cache / "tinyshakespeare.txt" / "inside").mkdir(parents=True)
    elif fault == "named pipe in the file's place":
        cache.mkdir()
        os.mkfifo(cache / "tinyshakespeare.txt")
    return cache


@pytest.mark.skipif(os.name != "posix", reason="named pipes")
@pytest.mark.parametrize(
    "fault", ["cache is a file", "folder in the file's place", "named pipe in the file's place", "disk full"]
)
def test_a_cache_that_cannot_be_used_stops_no_download(folder, small_text, monkeypatch, capsys, fault):
    cache = unusable_cache(folder, fault)

    def retrieve(url, known_hash, *, fname, path):
        if Path(path) == cache:
            if fault == "disk full":
                raise OSError(errno.ENOSPC, "No space left on device")
            Path(path).mkdir(exist_ok=True)
            raise IsADirectoryError(errno.EISDIR, "Is a directory")
        (Path(path) / fname).write_bytes(small_text)

    monkeypatch.setattr(pooch, "retrieve", retrieve)
    with pytest.raises(FileNotFoundError, match="there is no file"):
        tinyshakespeare()
    assert tinyshakespeare(download=True) == small_text.decode()
    (line,) = capsys.readouterr().out.splitlines()
    assert line.startswith("tinyshakespeare could not be saved and is downloaded again next time ([Errno ")


def test_a_damaged_file_in_the_cache_is_fetched_again(folder, small_text, monkeypatch):
    (folder / "cache").mkdir()
    file = folder / "cache" / "tinyshakespeare.txt"
    file.write_bytes(small_text[:-1])
    monkeypatch.setattr(pooch, "retrieve", lambda *_, **__: file.write_bytes(small_text))
    with pytest.raises(ValueError, match="has SHA-256"):
        tinyshakespeare()
    assert tinyshakespeare(download=True) == small_text.decode()


def test_a_file_that_cannot_be_read_counts_as_missing(folder, small_text, monkeypatch):
    (folder / "text.txt").write_bytes(small_text)

    def refuse(file):
        raise PermissionError(errno.EACCES, "Permission denied")

    monkeypatch.setattr(Path, "read_bytes", refuse)
    with pytest.raises(FileNotFoundError, match=r"text\.txt"):
        tinyshakespeare(folder / "text.txt")


def test_nothing_is_downloaded_unasked(monkeypatch):
    monkeypatch.setattr(pooch, "retrieve", lambda *_, **__: pytest.fail("a download was tried"))
    with pytest.raises(FileNotFoundError):
        tinyshakespeare()


def test_what_is_downloaded_is_checked_again(monkeypatch):
    def retrieve(url, known_hash, *, fname, path):
        Path(path).mkdir(parents=True)
        (Path(path) / fname).write_bytes(b"an error page")

    monkeypatch.setattr(pooch, "retrieve", retrieve)
    with pytest.raises(ValueError, match=r"has SHA-256 .* expected"):
        tinyshakespeare(download=True)


def test_a_download_that_fails_says_why_and_what_else_can_be_done(monkeypatch):
    def retrieve(*_, **__):
        raise requests.exceptions.ConnectionError("no network here")

    monkeypatch.setattr(pooch, "retrieve", retrieve)
    with pytest.raises(FileNotFoundError, match=r"the download failed \(no network here\)\. Three ways"):
        tinyshakespeare(download=True)


def test_a_download_without_pooch_says_so(monkeypatch):
    monkeypatch.setitem(sys.modules, "pooch", None)
    with pytest.raises(FileNotFoundError, match=r"the download failed \(.*pooch.*\)\. Three ways"):
        tinyshakespeare(download=True)


def test_pooch_takes_the_arguments_it_is_given(folder, small_text):
    """The real `pooch.retrieve`, its network aside: a file with the right checksum is already there."""
    (folder / "cache").mkdir()
    (folder / "cache" / "text.txt").write_bytes(small_text)
    assert corpora._download(folder / "cache" / "text.txt") == small_text
    assert [file.name for file in (folder / "cache").iterdir()] == ["text.txt"]


@pytest.mark.skipif(not CORPUS.is_file(), reason="tinyshakespeare is not at hand")
def test_the_corpus_itself():
    text = tinyshakespeare(CORPUS)
    assert (len(text), len(set(text))) == (1_115_394, 65)
    train, validation = train_validation_split(text)
    assert (len(train), len(validation)) == (1_003_854, 111_540)  # nanoGPT's figures
    assert train + validation == text
    tokenizer = CharTokenizer.train(text)
    assert len(tokenizer) == 68
    assert tokenizer.decode(tokenizer.encode(validation)) == validation
