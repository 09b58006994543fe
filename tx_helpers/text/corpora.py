"""Texts on disk, and the user's cache folder that holds them."""

import hashlib
import os
from pathlib import Path
from tempfile import TemporaryDirectory

import platformdirs

TINY_SHAKESPEARE_URL = "https://raw.githubusercontent.com/karpathy/char-rnn/master/data/tinyshakespeare/input.txt"
TINY_SHAKESPEARE_SHA256 = "86c4e6aa9db7c042ec79f339dcb96d42b0075e16b8fc2e86bf0ca57e2dc565ed"
_WAYS_TO_GET_IT = (
    "Three ways to it: pass the path of a file you have, tinyshakespeare(path); name that file in the environment "
    f"variable TX_TINYSHAKESPEARE; or tinyshakespeare(download=True), which fetches {TINY_SHAKESPEARE_URL}"
)


def cache_folder() -> Path:
    """The user's folder for trained models and texts, which may not exist yet; TX_CACHE overrides it."""
    folder = os.environ.get("TX_CACHE") or platformdirs.user_cache_dir("tx_helpers", appauthor=False)
    return Path(os.path.expanduser(folder))


def tinyshakespeare(path: str | Path | None = None, *, download: bool = False) -> str:
    """A megabyte of Shakespeare's plays: 1,115,394 characters, 65 different ones (A. Karpathy 2015, char-rnn).

    The file is `path`, else the one that the environment variable TX_TINYSHAKESPEARE names, else `tinyshakespeare.txt`
    in the user's cache. With `download=True` it is downloaded to there if it is missing (needs the library pooch); if
    the cache cannot be written, one line says why. The SHA-256 is checked in every case.

    Raises FileNotFoundError if there is no such file, ValueError if it is not that text.
    """
    named = path or os.environ.get("TX_TINYSHAKESPEARE")
    file = Path(named or cache_folder() / "tinyshakespeare.txt").expanduser()
    try:
        content = file.read_bytes() if file.is_file() else None
    except OSError:  # it is another user's
        content = None
    usable = content is not None and (named or _sha256(content) == TINY_SHAKESPEARE_SHA256)
    if download and not usable:
        content = _download(file)
    if content is None:
        raise FileNotFoundError(f"tinyshakespeare: there is no file {str(file)!r}. {_WAYS_TO_GET_IT}")
    if (found := _sha256(content)) != TINY_SHAKESPEARE_SHA256:
        raise ValueError(f"tinyshakespeare: {str(file)!r} has SHA-256 {found}, expected {TINY_SHAKESPEARE_SHA256}")
    return content.decode("utf-8")


def _sha256(content: bytes) -> str:
    return hashlib.sha256(content).hexdigest()


def _download(file: Path) -> bytes:
    try:
        try:
            return _retrieve(file.parent, file.name)
        except OSError as error:
            if error.errno is None:  # the network; only the file system's errors have a number
                raise
            with TemporaryDirectory() as folder:
                content = _retrieve(Path(folder), file.name)
            print(f"tinyshakespeare could not be saved and is downloaded again next time ({error})")
            return content
    except (ImportError, OSError) as error:  # no pooch, no network, no such address
        raise FileNotFoundError(f"tinyshakespeare: the download failed ({error}). {_WAYS_TO_GET_IT}") from error


def _retrieve(folder: Path, name: str) -> bytes:
    import pooch  # an optional dependency, needed here only

    pooch.retrieve(TINY_SHAKESPEARE_URL, f"sha256:{TINY_SHAKESPEARE_SHA256}", fname=name, path=folder)
    return (folder / name).read_bytes()
