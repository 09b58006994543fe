"""A checkpoint in the format of the library transformers: a folder, here or on the hub, and what it holds.

    config.json                                       the sizes, and which model it is
    model.safetensors                                 the weights, in one file
    model.safetensors.index.json, model-00001-of-…    or in several, with a table: name of the tensor -> file
    tokenizer.json                                    the tokenizer, in the format of the library tokenizers
    source.spm, target.spm, vocab.json                or that of a Marian model: see `sentence_pieces`

Nothing is read here but headers and JSON. A checkpoint that has its weights only as a pickle (`pytorch_model.bin`) is
refused: a pickle can run code.
"""

import hashlib
import re
from dataclasses import dataclass, field
from functools import cached_property
from pathlib import Path
from typing import Any

from tx_helpers.zoo.public.files import Entry, parse_json, read_entries_of, read_file
from tx_helpers.zoo.public.sentence_pieces import IDS, SOURCE, TARGET, TARGET_IDS, read_sentence_pieces

CONFIG, WEIGHTS, INDEX, TOKENIZER = "config.json", "model.safetensors", "model.safetensors.index.json", "tokenizer.json"
FILES = (CONFIG, "model*.safetensors", INDEX, TOKENIZER, SOURCE, TARGET, IDS, TARGET_IDS)


@dataclass(frozen=True)
class Source:
    """A checkpoint's folder; what it holds is read when it is first asked for.

    For one of the hub: the commit, and the sha256 of each file that was read.
    """

    folder: Path
    hub_id: str | None = None
    commit: str | None = None
    sha256: dict[str, str] = field(default_factory=dict)

    @cached_property
    def fields(self) -> dict[str, Any]:
        """What config.json says."""
        return _json(self.folder / CONFIG)

    @cached_property
    def entries(self) -> dict[str, Entry]:
        """All tensors of the checkpoint by name, from one file or from all that the index names."""
        folder = self.folder
        if (folder / WEIGHTS).exists():
            return read_entries_of(folder / WEIGHTS)
        if not (folder / INDEX).exists():
            pickles = sorted(path.name for path in (*folder.glob("*.bin"), *folder.glob("*.pt"), *folder.glob("*.pth")))
            only = f" only {pickles[0]}, a pickle, which could run code when it is loaded;" if pickles else ""
            raise ValueError(f"{folder}: has{only or ' no weights;'} expected {WEIGHTS} or {INDEX}")
        table = _json(folder / INDEX).get("weight_map")
        if not isinstance(table, dict) or not table:
            raise ValueError(f"{folder / INDEX}: weight_map is {str(table)[:40]}, expected tensor name -> file name")
        entries: dict[str, Entry] = {}
        for file in sorted({_file_name(folder, name, file) for name, file in table.items()}):
            listed = {name for name, its in table.items() if its == file}
            found = read_entries_of(folder / file)
            if different := sorted(listed ^ found.keys()):
                where = f"in {INDEX}" if different[0] in listed else f"in {file}"
                raise ValueError(f"{folder / file}: tensor {different[0]!r} is only {where}, expected in both")
            entries |= found
        return entries

    @cached_property
    def tokenizer(self) -> Any:
        """The tokenizer of the library tokenizers, that of a Marian model, or None where there is neither."""
        file = next((self.folder / name for name in (TOKENIZER, SOURCE) if (self.folder / name).exists()), None)
        if file is None:
            return None
        try:
            from tokenizers import Tokenizer
        except ImportError:
            raise ValueError(
                f"{file}: the library tokenizers is needed to read it: pip install 'tx-helpers[pretrained]'; "
                "or leave the tokenizer out with tokenizer=False"
            ) from None
        if file.name == SOURCE:
            return read_sentence_pieces(self.folder)
        text = read_file(file)
        try:
            return Tokenizer.from_str(text.decode())
        except Exception as error:  # the library raises a plain Exception
            raise ValueError(f"{file}: the library tokenizers cannot read it ({error})") from error


def find(path_or_id: str | Path, *, revision: str | None = None, download: bool = False) -> Source:
    """The folder of a checkpoint. An id is looked up in the local cache; only `download` uses the network."""
    folder = Path(path_or_id)
    if _is_folder(folder):
        if revision is not None:
            raise ValueError(f"load_pretrained: revision={revision!r}, but {str(folder)!r} is a folder, which has none")
        return Source(folder)
    name = str(path_or_id)
    if not re.fullmatch(r"[\w-][\w.-]*(/[\w-][\w.-]*)?", name):
        raise ValueError(f"load_pretrained: {name!r} is no folder, and no id like 'google-t5/t5-small'")
    try:
        from huggingface_hub import snapshot_download
    except ImportError:
        raise ValueError(
            f"load_pretrained: {name!r} is no folder; for an id of the hub, huggingface_hub is needed: "
            "pip install 'tx-helpers[pretrained]'"
        ) from None
    try:
        found = snapshot_download(name, revision=revision, allow_patterns=FILES, local_files_only=not download)
    except Exception as error:  # no network, no such id, a full disk: each has an error of its own
        tried = "could not be downloaded" if download else "is neither a folder nor in the local cache; download=True"
        raise ValueError(f"load_pretrained: {name!r} {tried} ({type(error).__name__}: {error})") from error
    folder = Path(found)
    files = sorted(path for path in folder.iterdir() if path.name == CONFIG or path.suffix in (".safetensors", ".spm"))
    return Source(folder, name, folder.name, {path.name: _sha256(path) for path in files})


def _is_folder(path: Path) -> bool:
    try:
        return path.is_dir()
    except OSError:  # a name that is too long for the file system
        return False


def _file_name(folder: Path, name: str, file: Any) -> str:
    """A file beside the index and nowhere else."""
    if not isinstance(file, str) or not re.fullmatch(r"[\w-][\w.-]*\.safetensors", file):
        raise ValueError(
            f"{folder / INDEX}: tensor {name!r} is in the file {str(file)[:80]!r}, "
            "expected the name of a .safetensors file in the same folder"
        )
    return file


def _json(file: Path) -> dict[str, Any]:
    return parse_json(read_file(file), str(file))


def _sha256(path: Path) -> str:
    with open(path, "rb") as opened:
        return hashlib.file_digest(opened, "sha256").hexdigest()
