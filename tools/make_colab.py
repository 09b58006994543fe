"""Write the notebooks with the course inside, so that each of them runs alone: on Colab, on Kaggle, from a mail.

    python tools/make_colab.py               into build/colab
    python tools/make_colab.py --to FOLDER   into another folder

Each notebook gets one more cell, folded, before its set-up cell. It holds the course's wheel as text and puts it beside
the notebook, where the set-up cell finds it. Outputs stay as they are stored, but those that answer a prediction are
left out, because Colab cannot fold them. The folder also has the wheel as a file, to upload where a notebook needs it.
The same sources make the same bytes. The pretrained models of the little world are most of the wheel, so only the
notebooks that use them carry them.
"""

import argparse
import base64
import hashlib
import os
import re
import shutil
import subprocess
import sys
import tempfile
from pathlib import Path

import nbformat
from nbformat.v4 import new_code_cell

from notebook_frame import ROOT, colab_link, repository_address
from notebook_parts import HIDE

SOURCES = ("pyproject.toml", "setup.py", "README.md", "LICENSE", "LICENSE-text.md", "tx_helpers", "figures")
FIRST_DAY_OF_ZIP = "315532800"  # 1 January 1980: the time of every file in the wheel
MODELS = "weights"  # the folder of the pretrained models
WITH_MODELS = ("families", "adapting", "what_changed", "cheaper_and_longer")  # the lessons that use them
LETTERS = 1000  # of the wheel's text, a line
LINK = re.compile(r"(?<=\]\()\d\d_\w+\.ipynb")

_CELL = '''\
# The course itself, as text, so that this notebook runs alone. Does nothing where the course is installed.
import base64
import hashlib
from importlib.util import find_spec
from pathlib import Path

name = "{name}"
sha256 = "{sha256}"
text = """
{text}
"""
if find_spec("tx_helpers") is None:
    wheel = base64.b64decode(text)
    if (found := hashlib.sha256(wheel).hexdigest()) != sha256:
        raise ValueError(f"{{name}} is damaged: its SHA-256 is {{found}}, expected {{sha256}}")
    Path(name).write_bytes(wheel)
'''


def build_wheel(source: Path, folder: Path) -> Path:
    """The wheel of the course whose repository is `source`, in `folder`; built with the setuptools that is here."""
    build = [sys.executable, "-m", "pip", "wheel", "-q", "--no-deps", "--no-index", "--no-build-isolation"]
    same_time = os.environ | {"SOURCE_DATE_EPOCH": FIRST_DAY_OF_ZIP}
    subprocess.run([*build, "-w", str(folder), str(source)], check=True, env=same_time, stdout=subprocess.DEVNULL)
    (wheel,) = folder.glob("*.whl")
    return wheel


def wheel_cell(wheel: Path) -> nbformat.NotebookNode:
    """The cell that holds the wheel and, where the course is not installed, writes it beside the notebook."""
    data = wheel.read_bytes()
    text = "\n".join(re.findall(f".{{1,{LETTERS}}}", base64.b64encode(data).decode()))
    source = _CELL.format(name=wheel.name, sha256=hashlib.sha256(data).hexdigest(), text=text).rstrip()
    folded = {"cellView": "form", "jupyter": {"source_hidden": True}, "tags": [HIDE]}
    return new_code_cell(source, id="the-course", metadata=folded)


def edition(path: Path, wheel: Path, address: str) -> str:
    """The text of a notebook's file with the wheel inside; its links to other notebooks open these on Colab.

    That needs an address on GitHub. Without one the links stay as they are: to the files beside this one.
    """
    notebook = nbformat.read(path, as_version=4)
    notebook.cells.insert(1, wheel_cell(wheel))
    for cell in notebook.cells:
        if cell.cell_type == "markdown":
            cell.source = LINK.sub(lambda match: colab_link(match[0], address) or match[0], cell.source)
    nbformat.validate(notebook)
    return nbformat.writes(notebook) + "\n"


def wheel_of_course(folder: Path, *left_out: str) -> Path:
    """The wheel of this checkout, in `folder`, without the folders of these names."""
    ignored = shutil.ignore_patterns("__pycache__", *left_out)
    with tempfile.TemporaryDirectory() as copy:  # a build leaves files behind
        for name in SOURCES:
            if (ROOT / name).is_dir():
                shutil.copytree(ROOT / name, Path(copy, name), ignore=ignored)
            else:
                shutil.copy(ROOT / name, copy)
        return build_wheel(Path(copy), folder)


def make(folder: Path) -> list[Path]:
    """Write the wheel and an edition of every notebook into `folder`; returns the editions."""
    folder.mkdir(parents=True, exist_ok=True)
    for old in folder.glob("tx_helpers-*.whl"):
        old.unlink()
    with tempfile.TemporaryDirectory() as other:
        whole, lighter = wheel_of_course(folder), wheel_of_course(Path(other), MODELS)
        made = []
        for path in sorted((ROOT / "notebooks").glob("*.ipynb")):
            text = edition(path, whole if path.stem[3:] in WITH_MODELS else lighter, repository_address())
            made.append(folder / path.name)
            made[-1].write_text(text, encoding="utf-8", newline="\n")
    return made


def main(arguments: list[str] | None = None) -> int:
    """Command line; returns the exit code."""
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--to", type=Path, default=ROOT / "build" / "colab")
    folder = parser.parse_args(arguments).to
    made = make(folder)
    largest = max(path.stat().st_size for path in made)
    print(f"{len(made)} notebooks with the course inside, at most {largest / 1e6:.1f} MB each, in {folder}")
    return 0


if __name__ == "__main__":
    sys.exit(main())
