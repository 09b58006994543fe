"""Make the API pages with pdoc: the package's public functions and classes, from their docstrings, with a search.

    python tools/make_api.py            # or: make api

The pages need no network: open build/api/index.html. The lessons are left out: their notebooks show them.
"""

import argparse
import sys
from pathlib import Path

import pdoc

from notebook_frame import ROOT


def make(folder: Path) -> None:
    """All pages, into the folder."""
    pdoc.render.configure(template_directory=ROOT / "tools" / "api")
    pdoc.pdoc("tx_helpers", r"!tx_helpers\.lessons", output_directory=folder)


def main(arguments: list[str] | None = None) -> int:
    """Command line; returns the exit code."""
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--to", type=Path, default=ROOT / "build" / "api", help="folder (default %(default)s)")
    options = parser.parse_args(arguments)
    make(options.to)
    print(f"open {options.to / 'index.html'}")
    return 0


if __name__ == "__main__":
    sys.exit(main())
