"""Draw the course's figures again: each script figures/<name>.py writes figures/<name>.svg.

    python tools/draw_figures.py                          # all
    python tools/draw_figures.py architecture course_map

Drawing twice gives the same bytes; only `translator_attention` depends on a model, which it trains if none is cached.
"""

import argparse
import importlib
import sys
from pathlib import Path

FIGURES = Path(__file__).resolve().parent.parent / "figures"
BOARD = "canvas"  # what the scripts draw on


def names() -> list[str]:
    """The drawings that have a script."""
    return sorted(script.stem for script in FIGURES.glob("*.py") if script.stem != BOARD)


def script(name: str):
    """The module figures/<name>.py, whose `draw()` gives the drawing; or the drawing board itself."""
    folder = str(FIGURES)
    if folder not in sys.path:
        sys.path.insert(0, folder)
    return importlib.import_module(name)


def main(arguments: list[str] | None = None) -> int:
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    parser.add_argument("names", nargs="*", help=f"which: {', '.join(names())}; all if none is named")
    parser.add_argument("--to", type=Path, default=FIGURES, help="another folder to write to, for a comparison")
    options = parser.parse_args(arguments)
    wanted = options.names or names()
    if unknown := [name for name in wanted if name not in names()]:
        parser.error(f"no script draws {', '.join(unknown)}; there is: {', '.join(names())}")
    for name in wanted:
        path = script(BOARD).save(script(name).draw(), options.to)
        print(f"{path.name}  {path.stat().st_size / 1000:.1f} kB")
    return 0


if __name__ == "__main__":
    sys.exit(main())
