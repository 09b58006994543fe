"""The two lines of a notebook's first cell that tools write: where it stands in the course, and how long it takes.

    **You are here:** Parts: [02 Tokens](02_tokens_and_embeddings.ipynb) · **03 Positions** · …
    **Time:** read about 40 min · exercises 45 min · machine 1 min

Reading time, by the core path: 180 words a minute, half a minute for each code cell that is not folded, one minute for
each picture, two for each explorer; rounded to five minutes. Exercises: the minutes of the bank, inline ones included,
and five for the quiz. Machine: the measured time of all cells on two cores, at least one minute. A number that is still
nearly right stays, so that a changed word or a slow run changes no file.
"""

import re
from pathlib import Path

from notebook_parts import EXPLORER, core_path, is_folded, words

MAP: dict[str, dict[str, str]] = {  # group -> file without its ending -> the name in the line
    "Start": {"00_start_here": "00"},
    "Before": {"01_limits_of_recurrence": "01 Recurrence"},
    "Parts": {
        "02_tokens_and_embeddings": "02 Tokens",
        "03_positional_encodings": "03 Positions",
        "04_self_attention": "04 Self-attention",
        "05_multi_head_attention": "05 Heads",
        "06_masking": "06 Masks",
        "07_feed_forward": "07 Feed-forward",
    },
    "Whole": {"08_full_model": "08 Full model", "09_training": "09 Training", "10_debugging": "10 Debugging"},
    "Writing": {"11_decoding": "11 Decoding", "12_a_model_that_writes": "12 A model that writes"},
    "Further": {
        "13_positions_inside_attention": "13 Positions inside attention",
        "14_families": "14 Families",
        "15_modern_transformers": "15 Modern Transformers",
        "16_scaling_up": "16 Scaling up",
    },
    "Look up": {"18_reference": "18 Reference"},
}
HERE_MARK = "**You are here:**"
TIME_MARK = "**Time:**"
TIME_LINE = re.compile(rf"^{re.escape(TIME_MARK)} .*$", re.MULTILINE)
UNMEASURED = "not measured yet"
WORDS_A_MINUTE, CODE, PICTURE, EXPLORED, QUIZ = 180, 0.5, 1, 2, 5
PICTURES = ("image/png", "image/svg+xml")


def here_line(path: Path) -> str:
    """Links to the notebooks of the course that exist beside this one, by groups; its own name is bold."""
    groups = []
    for group, names in MAP.items():
        shown = [
            f"**{short}**" if stem[:2] == path.name[:2] else f"[{short}]({stem}.ipynb)"
            for stem, short in names.items()
            if stem[:2] == path.name[:2] or (path.parent / f"{stem}.ipynb").exists()
        ]
        groups += [f"{group}: {' · '.join(shown)}"] if shown else []
    return f"{HERE_MARK} {' | '.join(groups)}"


def reading_minutes(cells: list[dict]) -> float:
    """How long the core path takes to read; inline exercises have minutes of their own."""
    path = [cell for cell in core_path(cells) if not cell.get("id", "").startswith("exercise-")]
    code = [cell for cell in path if cell["cell_type"] == "code"]
    explorers = [cell for cell in code if EXPLORER.search(cell["source"])]
    shown = sum(not is_folded(cell) for cell in code)
    pictures = sum(is_picture(cell) for cell in path) - sum(is_picture(cell) for cell in explorers)
    return words(path) / WORDS_A_MINUTE + CODE * shown + PICTURE * pictures + EXPLORED * len(explorers)


def is_picture(cell: dict) -> bool:
    """Whether a cell shows one: in its text, or in a stored output."""
    if cell["cell_type"] != "code":
        return "![" in cell["source"] or "<img" in cell["source"].replace("colab-badge", "")
    data = [output.get("data", {}) for output in cell["outputs"]]
    html = ["".join(kinds.get("text/html", "")) for kinds in data]
    return any(set(PICTURES) & set(kinds) for kinds in data) or any("<svg" in text or "<img" in text for text in html)


def exercises(number: str) -> tuple[int, int]:
    """How many exercises a notebook has, and their minutes with those of its quiz; (0, 0) where it has none."""
    from tx_helpers.exercises.catalogue import modules, of_notebook  # needs torch, which takes seconds

    if number not in modules():
        return 0, 0
    bank = of_notebook(number)
    return len(bank), sum(exercise.minutes for exercise in bank) + QUIZ


def time_line(cells: list[dict], number: str, seconds: float | None = None) -> str:
    """The line for these cells. The machine's minutes stay as they are where no time was measured."""
    old = TIME_LINE.search(cells[0]["source"])
    old_read, old_machine = _minutes(old, "read about"), _minutes(old, r"(?:machine|\*\* (?:under|about))")
    read = reading_minutes(cells)
    if old_read is None or abs(read - old_read) > 4:
        old_read = max(5, 5 * round(read / 5))
    if seconds is not None and (old_machine is None or abs(seconds / 60 - old_machine) > 0.75):
        old_machine = max(1, round(seconds / 60))
    count, solve = exercises(number)
    parts = [f"read about {old_read} min"]
    parts += [f"exercises {solve} min"] if count else []
    parts += [f"machine {UNMEASURED if old_machine is None else f'{old_machine} min'}"]
    return f"{TIME_MARK} {' · '.join(parts)}"


def _minutes(line: re.Match | None, what: str) -> int | None:
    """The minutes that stand in the line behind these words."""
    found = re.search(rf"{what} (\d+) min", line[0]) if line else None
    return int(found[1]) if found else None


def plan_of_lessons(text: str, headers: dict[str, str]) -> str:
    """TEACHING.md with the numbers of these headers (number of a notebook -> source of its first cell) in its table.

    The last three columns are the minutes of reading, the number of exercises, and their minutes.
    """

    def row(match: re.Match) -> str:
        if match["number"] not in headers:
            return match[0]
        read = _minutes(TIME_LINE.search(headers[match["number"]]), "read about")
        return " | ".join([match["told"], str(read), *map(str, exercises(match["number"]))]) + " |"

    return re.sub(r"^(?P<told>\| (?P<number>\d\d) [^|]*\| [^|]*?) \|.*\|$", row, text, flags=re.MULTILINE)
