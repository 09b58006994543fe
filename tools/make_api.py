"""Make the API pages with pdoc: the package's public functions and classes, from their docstrings, with a search.

    python tools/make_api.py            # or: make api

The pages need no network: open build/api/index.html. The lessons are left out: their notebooks show them.
"""

import argparse
import json
import sys
from pathlib import Path

import pdoc

from notebook_frame import ROOT

LONGEST = 300  # letters of a value that the search looks through
STYLES = ("resources/bootstrap-reboot.min", "syntax-highlighting", "theme", "layout", "content", "custom")


def make(folder: Path) -> None:
    """All pages, into the folder, and their style sheet."""
    pdoc.render.configure(template_directory=ROOT / "tools" / "api")
    pdoc.render.precompile_index = _documents
    pdoc.pdoc("tx_helpers", r"!tx_helpers\.lessons", output_directory=folder)
    styles = [pdoc.render.env.get_template(f"{name}.css").render() for name in STYLES]
    (folder / "style.css").write_text("\n".join(styles), encoding="utf-8")


def _documents(documents: list[dict], compile_js: Path) -> str:
    """What the search looks through; the page compiles it when it is first asked, since compiled it is 4 MB larger."""
    for document in documents:
        if len(document.get("default_value", "")) > LONGEST:
            del document["default_value"]
    return json.dumps(documents, ensure_ascii=False)


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
