"""Make files and references agree with the course's table, tx_helpers/exercises/course.py, after a line went in or out.

    python tools/renumber.py

Each notebook gets the number of its lesson's place in the table, by `git mv`, and so does every reference to it in the
files of the course: links and file names (`08_full_model.ipynb`), "notebook 08", "notebooks 04 to 06", numbers in a
link's text, anchors of terms, titles of quizzes, numbers behind a command. Then the frame of the notebooks, the lists
in README.md and TEACHING.md and the map of the course are made again. CHANGELOG.md stays as it is.

What the tool cannot decide it names at the end: a range that has grown or shrunk, a "Next:" that leads elsewhere, a
reference to a notebook that is gone, a notebook that is still to be written.
"""

import json
import re
import subprocess
import sys
from dataclasses import dataclass, field
from pathlib import Path

import draw_figures
import refresh_notebooks
from notebook_frame import ROOT
from tx_helpers.exercises.course import LESSONS

TEXTS = {".cff", ".ipynb", ".j2", ".js", ".md", ".py", ".toml", ".yml", ""}  # "": Makefile, .ci/run
LEFT_ALONE = {"CHANGELOG.md", "tools/renumber.py", "tests/notebooks/test_renumber.py"}
LINK = r"\[(?P<text>[^\[\]]*)\]\((?P<folder>(?:\w+/)*)(?P<target>\d\d_\w+)"
STEM = r"(?<!\w)(?P<stem>\d\d_[a-z]\w*)(?=\.ipynb|\.html|[\"'`/ ])"
JOINT = r"(?:,\s+and|,|\s+and|\s+to|\s+or|\s*–)\s*"
NUMBERS = rf"(?P<before>\b[Nn]otebooks?\s+|\bONLY=\\?\"?|\w\.py )(?P<numbers>\d\d(?:(?:{JOINT}| )\d\d)*)(?![\d_])"
IN_NOTEBOOKS = r"(?P<made>\bterm-|^Quiz )(?P<number>\d\d)(?=[-:])"
PICTURE = "image/png"


def moved(stems: list[str]) -> dict[str, str]:
    """Name of a notebook's file -> the name that it should have, for all that are in the table, changed or not.

    ValueError if two of them have the same number: nobody could say which "notebook 08" means.
    """
    known = {stem: LESSONS[stem[3:]].stem for stem in stems if stem[3:] in LESSONS}
    numbers = [stem[:2] for stem in known]
    if twice := sorted({number for number in numbers if numbers.count(number) > 1}):
        raise ValueError(
            f"renumber: two notebooks have the number {', '.join(twice)}; run this tool first, then write the new one"
        )
    return known


@dataclass
class Rewriter:
    """Rewrites the references of texts; `doubts` collects what it cannot decide.

    moved  what `moved` returns: name of a file -> its new name
    """

    moved: dict[str, str]
    doubts: list[str] = field(default_factory=list)

    def text(self, text: str, where: str) -> str:
        """The text of the file `where`, a notebook or another, with the new numbers."""
        if not where.endswith(".ipynb"):
            return re.sub(f"{LINK}|{STEM}|{NUMBERS}", lambda match: self._reference(match, where), text)
        return json.dumps(self._notebook(json.loads(text), where), indent=1, ensure_ascii=False) + "\n"

    def _notebook(self, value: object, where: str) -> object:
        """A part of a notebook: texts in its cells and outputs, pictures left out."""
        if isinstance(value, dict):
            return {key: each if key == PICTURE else self._notebook(each, where) for key, each in value.items()}
        if (
            isinstance(value, list)
            and all(isinstance(line, str) and line.endswith("\n") for line in value[:-1])
            and all(isinstance(line, str) for line in value[-1:])
        ):
            return self._notebook("".join(value), where).splitlines(keepends=True)
        if isinstance(value, list):
            return [self._notebook(each, where) for each in value]
        if not isinstance(value, str):
            return value
        forms = f"{LINK}|{STEM}|{NUMBERS}|{IN_NOTEBOOKS}"
        return re.sub(forms, lambda match: self._reference(match, where), value)

    def _reference(self, match: re.Match, where: str) -> str:
        """A link, a file's name, numbers in prose, or a number in what tools have made: with the new number."""
        found = match.groupdict()
        if found["target"]:
            old, new = found["target"], self._stem(found["target"], where)
            text = re.sub(rf"\b{old[:2]}\b", new[:2], found["text"], count=1)
            return f"[{text}]({found['folder']}{new}"
        if found["stem"]:
            return self._stem(found["stem"], where)
        if found["numbers"]:
            return found["before"] + self._numbers(found["numbers"], f"{where}: {match[0]!r}")
        return found["made"] + self._numbers(found["number"], f"{where}: {match[0]!r}")

    def _stem(self, stem: str, where: str) -> str:
        if stem not in self.moved and where.endswith((".md", ".ipynb")):
            self.doubts.append(f"{where}: {stem} is no notebook of the course")
        return self.moved.get(stem, stem)

    def _numbers(self, text: str, where: str) -> str:
        """Numbers with "and", "to" and commas between them, each as it is now."""
        new = {old[:2]: now[:2] for old, now in self.moved.items()}
        if unknown := [number for number in re.findall(r"\d\d", text) if number not in new]:
            self.doubts.append(f"{where}: there is no notebook {', '.join(unknown)}")
        for low, high in re.findall(r"(\d\d)(?:\s+to\s+|\s*–\s*)(\d\d)", text):
            if {low, high} <= set(new) and int(new[high]) - int(new[low]) != int(high) - int(low):
                self.doubts.append(f"{where}: is now {new[low]} to {new[high]}, which has more notebooks or fewer")
        return re.sub(r"\d\d", lambda number: new.get(number[0], number[0]), text)


def _is_text(value: object) -> bool:
    """Whether it is a text as notebooks store it, a list of lines; tags and names of cells are none."""
    lines = value if isinstance(value, list) else [None]
    return all(isinstance(line, str) for line in lines) and all(line.endswith("\n") for line in lines[:-1])


def course_files() -> list[str]:
    """The texts of the course below the root: what git tracks or would track."""
    listed = ["git", "-C", str(ROOT), "ls-files", "--cached", "--others", "--exclude-standard"]
    names = subprocess.run(listed, capture_output=True, text=True, check=True).stdout.splitlines()
    return [n for n in names if Path(n).suffix in TEXTS and n not in LEFT_ALONE and (ROOT / n).is_file()]


def wrong_next(folder: Path) -> list[str]:
    """Lessons without a notebook, and notebooks whose last cell leads on to another one than the next."""
    found, lessons = [], list(LESSONS.values())
    for lesson, following in zip(lessons, [*lessons[1:], None], strict=True):
        path = folder / f"{lesson.stem}.ipynb"
        if not path.exists():
            found.append(f"notebooks/{path.name} is still to be written")
        elif following and f"**Next:** [{following.number} " not in refresh_notebooks.load(path).cells[-1].source:
            found.append(f'notebooks/{path.name}: "Next:" does not lead to {following.number} {following.title}')
    return found


def main() -> int:
    """Command line; returns the exit code."""
    folder = ROOT / "notebooks"
    rewriter = Rewriter(moved(sorted(path.stem for path in folder.glob("*.ipynb"))))
    for name in course_files():
        text = (ROOT / name).read_text(encoding="utf-8")
        if (new := rewriter.text(text, name)) != text:
            refresh_notebooks.write(ROOT / name, new)
            print(f"rewritten: {name}")
    for old, new in rewriter.moved.items():
        if old != new:
            git = ["git", "-C", str(ROOT), "mv", f"notebooks/{old}.ipynb", f"notebooks/{new}.ipynb"]
            subprocess.run(git, check=True)
            print(f"moved: {old} → {new}")
    draw_figures.main(["course_map"])
    failed = refresh_notebooks.main(["--frame"])
    for doubt in [*rewriter.doubts, *wrong_next(folder)]:
        print(f"to decide: {doubt}")
    if any(old != new for old, new in rewriter.moved.items()):
        print("now run: python tools/refresh_notebooks.py start_here   (it shows the map and the progress)")
    return failed


if __name__ == "__main__":
    sys.exit(main())
