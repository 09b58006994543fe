"""Texts kept on disk, and the folder they are kept in."""

import hashlib
import os
from pathlib import Path

import platformdirs

TINY_SHAKESPEARE_URL = "https://raw.githubusercontent.com/karpathy/char-rnn/master/data/tinyshakespeare/input.txt"
TINY_SHAKESPEARE_SHA256 = "86c4e6aa9db7c042ec79f339dcb96d42b0075e16b8fc2e86bf0ca57e2dc565ed"
_WAYS_TO_GET_IT = (
    "Three ways to it: pass the path of a file you have, tinyshakespeare(path); name that file in the environment "
    f"variable TX_TINYSHAKESPEARE; or tinyshakespeare(download=True), which fetches {TINY_SHAKESPEARE_URL}"
)


def cache_folder() -> Path:
    """The user's folder for what is worth keeping between sessions, which may not exist yet; TX_CACHE overrides it."""
    return Path(os.environ.get("TX_CACHE") or platformdirs.user_cache_dir("tx_helpers", appauthor=False)).expanduser()


def tinyshakespeare(path: str | Path | None = None, *, download: bool = False) -> str:
    """A megabyte of Shakespeare's plays: 1,115,394 characters, 65 different ones (A. Karpathy 2015, char-rnn).

    The file is `path`, else the one that the environment variable TX_TINYSHAKESPEARE names, else `tinyshakespeare.txt`
    in the user's cache. With `download=True` it is fetched there if it is missing (needs the library pooch).
    Whatever its origin, its SHA-256 is checked.

    Raises FileNotFoundError if there is no such file, ValueError if it is not that text.
    """
    file = Path(path or os.environ.get("TX_TINYSHAKESPEARE") or cache_folder() / "tinyshakespeare.txt").expanduser()
    if download and not file.exists():
        _download(file)
    if not file.is_file():
        raise FileNotFoundError(f"tinyshakespeare: there is no file {str(file)!r}. {_WAYS_TO_GET_IT}")
    content = file.read_bytes()
    found = hashlib.sha256(content).hexdigest()
    if found != TINY_SHAKESPEARE_SHA256:
        raise ValueError(f"tinyshakespeare: {str(file)!r} has SHA-256 {found}, expected {TINY_SHAKESPEARE_SHA256}")
    return content.decode("utf-8")


def _download(file: Path) -> None:
    try:
        import pooch  # an optional dependency, needed here only

        pooch.retrieve(TINY_SHAKESPEARE_URL, f"sha256:{TINY_SHAKESPEARE_SHA256}", fname=file.name, path=file.parent)
    except (ImportError, OSError) as error:  # no pooch, no network, no such address
        raise FileNotFoundError(f"tinyshakespeare: the download failed ({error}). {_WAYS_TO_GET_IT}") from error
