"""Run the notebooks at other seeds and record what each finding rests on: tests/notebooks/seeds.json

    python tools/run_seeds.py                 all notebooks, at the seeds 0, 1 and 2
    python tools/run_seeds.py 11 training     these, by number or topic; the others keep their record
    python tools/run_seeds.py 11 --seeds 5    at five seeds

Every number in `manual_seed(…)`, `RandomStream(…)` and `seed=…` is raised by the seed, calls that use a default seed
get one (`other_seeds.py`), and the translator that the package trains once is trained at the seed. Of each prediction
on the core path the record holds what stands between question and finding at each seed: the finding's right answer and
its text, the printed lines, the words for explorers and pictures. A cell that fails at a seed is recorded, too. A
finding that is the same at all seeds rests on no training of the notebook: on arithmetic, or on a recorded experiment,
whose file names its own seeds.

A notebook takes three times its minutes; all of them 25 minutes on one core.
"""

import argparse
import ast
import hashlib
import json
import os
import re
import subprocess
import sys
import tempfile
from collections import defaultdict
from pathlib import Path
from typing import Any

from nbclient import NotebookClient

from notebook_frame import ROOT
from notebook_parts import KEY, PREDICTION, REVEAL, core_path, waiting
from refresh_notebooks import load, merged_streams
from tx_helpers.exercises.course import LESSONS
from tx_helpers.training.experiment import machine, save

sys.path.insert(0, str(ROOT / "tests" / "support"))
from notebook_guards import python_of
from other_seeds import fill, reseeded

FILE = ROOT / "tests" / "notebooks" / "seeds.json"
SEEDS = 3
LONGEST = 400  # characters kept of one output
ANSWER = re.compile(r"The answer is “[^”]*”|It is .*?\.(?=\s|$)|Any answer from .*? counts as right")


def rests_on(cells: list[dict]) -> dict[str, list[int]]:
    """The key of each prediction on the core path -> the code cells behind its question up to its finding."""
    core = {id(cell) for cell in core_path(cells)}
    between, asked, found = waiting(cells), {}, {}
    for index, cell in enumerate(cells):
        if cell["cell_type"] != "code" or id(cell) not in core:
            continue
        if told := REVEAL.search(cell["source"]):
            key = asked[told[1]]
            found[key] = [*(n for n, its in between.items() if its == key), index]
        for question in PREDICTION.finditer(cell["source"]):
            asked[question[1]] = KEY.match(cell["source"], question.end())[1]
    return found


def fingerprint(cells: list[dict], places: list[int]) -> str:
    """Changes with what the cells between a question and its finding do, not with layout or the finding's own words."""
    told = []
    for node in (node for place in places[:-1] for node in ast.walk(ast.parse(python_of(cells[place])))):
        told += [type(node).__name__, *(repr(value) for _, value in ast.iter_fields(node) if is_plain(value))]
    return hashlib.sha256(" ".join(told).encode()).hexdigest()[:8]


def is_plain(value: object) -> bool:
    """Is it a name or a number in the code? Which empty fields a node has besides differs between Python's versions."""
    return isinstance(value, (str, bytes, int, float, complex))


def right_answer(told: str) -> str:
    """What a finding calls right: its first sentence."""
    return ANSWER.match(told)[0]


def executed(lesson: str, seed: int, cache: Path) -> list[dict]:
    """The notebook's cells, run at this seed to their end, whatever fails."""
    path = ROOT / "notebooks" / f"{LESSONS[lesson].stem}.ipynb"
    notebook = load(path)
    for cell in notebook.cells:
        if cell.cell_type == "code":
            cell.source, cell.outputs = reseeded(cell.source, lesson, seed), []
    with tempfile.TemporaryDirectory() as folder:
        environment = {name: value for name, value in os.environ.items() if not name.startswith("TX_")}
        environment |= {"TX_CACHE": str(cache), "TX_PROGRESS": str(Path(folder, "progress.json"))}
        client = NotebookClient(notebook, kernel_name="python3", timeout=1800, allow_errors=True)
        client.execute(cwd=str(path.parent), env=environment, stderr=subprocess.DEVNULL)
    return notebook.cells


def lines_of(cell: dict) -> list[str]:
    """What a cell says in words: printed text, and the text form of what it shows; an error by its name and message."""
    told = []
    for output in merged_streams(cell.get("outputs", [])):
        if output.output_type == "error":
            told.append(f"{output.ename}: {output.evalue}")
        elif output.output_type == "stream":
            told.append(output.text)
        else:
            told.append(output.data.get("text/plain", ""))
    return [text.strip()[:LONGEST] for text in told if text.strip()]


def failed(cells: list[dict]) -> list[str]:
    """The code cells that end in an error, counted from one, and the error's first line."""
    code = [cell for cell in cells if cell["cell_type"] == "code"]
    errors = [(n, output) for n, cell in enumerate(code, 1) for output in cell.outputs if output.output_type == "error"]
    return [
        f"code cell {n}: {error.ename} {error.evalue.splitlines()[0] if error.evalue else ''}" for n, error in errors
    ]


def recorded(lesson: str, seeds: range, caches: dict[int, Path]) -> dict[str, Any]:
    """What the findings of a notebook rest on at each seed, and what fails there."""
    cells = load(ROOT / "notebooks" / f"{LESSONS[lesson].stem}.ipynb").cells
    places, at, fails = rests_on(cells), defaultdict(dict), {}
    for seed in seeds:
        done = executed(lesson, seed, caches[seed])
        if told := failed(done):
            fails[str(seed)] = told
        for key, indices in places.items():
            at[key][str(seed)] = [line for index in indices for line in lines_of(done[index])]
        print(f"{lesson}, seed {seed}: {len(places)} findings, {len(fails.get(str(seed), []))} cells fail", flush=True)
    found = {}
    for key, by_seed in at.items():
        turns = len({tuple(lines) for lines in by_seed.values()}) > 1
        of = {"code": fingerprint(cells, places[key]), "seeds": list(seeds)}
        found[key] = of | ({"at": by_seed} if turns else {"the same at all": by_seed[str(seeds[0])][-1:]})
    return {"made": machine(), "fails": fails, "findings": found}


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("notebooks", nargs="*", help="numbers or topics; all if none is given")
    parser.add_argument("--seeds", type=int, default=SEEDS, help="how many, from 0 on (%(default)s)")
    parser.add_argument("--to", type=Path, default=FILE)
    asked = parser.parse_args()
    seeds = range(asked.seeds)
    wanted = [
        topic
        for topic, lesson in LESSONS.items()
        if not asked.notebooks or {topic, lesson.stem[:2]} & set(asked.notebooks)
    ]
    if not wanted:
        parser.error(f"no notebook is called {', '.join(asked.notebooks)}; there are {', '.join(LESSONS)}")
    with tempfile.TemporaryDirectory() as folder:
        caches = {seed: Path(folder, str(seed)) for seed in seeds}
        for seed, cache in caches.items():
            fill(cache, seed)
        for lesson in wanted:
            found = recorded(lesson, seeds, caches)
            record = json.loads(asked.to.read_text(encoding="utf-8")) if asked.to.exists() else {}
            save(
                {topic: (record | {lesson: found})[topic] for topic in LESSONS if topic in record | {lesson: found}},
                asked.to,
            )


if __name__ == "__main__":
    main()
