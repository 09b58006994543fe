"""What `python -m tx_helpers class` writes: a page, its data as CSV, and the CSV files that gradebooks import."""

from pathlib import Path

from tx_helpers.exercises.catalogue import of_lesson
from tx_helpers.exercises.class_work import WRITTEN, Student, Table, begun, tables
from tx_helpers.exercises.course import LESSONS
from tx_helpers.exercises.solved import write_lines
from tx_helpers.show.plots import svg_text

PAGE = """<!doctype html>
<html lang="en">
<meta charset="utf-8">
<meta name="viewport" content="width=device-width">
<title>The work of a class</title>
<style>
:root {{ color-scheme: light dark; }}
body {{ font: 16px/1.5 system-ui, sans-serif; margin: 1rem auto; max-width: 70rem; padding: 0 1rem; }}
div {{ overflow-x: auto; }}
div:focus-visible {{ outline: 3px solid; }}
table {{ border-collapse: collapse; }}
th, td {{ border: 1px solid GrayText; padding: 4px 8px; text-align: left; vertical-align: top; min-width: 2.5rem; }}
tbody th {{ font-weight: normal; overflow-wrap: anywhere; }}
.wide th:first-child {{ position: sticky; left: 0; background: Canvas; min-width: 6rem; max-width: 9rem; }}
@media print {{ div {{ overflow: visible; }} body {{ font-size: 11px; }} tr {{ break-inside: avoid; }} }}
</style>
<h1>The work of a class</h1>
<p>Students: {students}.</p>
<ul>{told}</ul>
{parts}
</html>
"""


def write_class(students: list[Student], told: list[str], folder: Path) -> list[Path]:
    """Write the page, class.html, and every student's lines, class.csv. OSError where they cannot be written."""
    folder.mkdir(parents=True, exist_ok=True)
    page = folder / "class.html"
    remarks = "".join(f"<li>{svg_text(line)}</li>" for line in told)
    parts = "\n".join(map(_section, tables(students)))
    page.write_text(PAGE.format(students=len(students), told=remarks, parts=parts), encoding="utf-8")
    lines = [line | {"student": one.name} for one in students for line in one.lines]
    return [page, write_lines(folder / WRITTEN, lines)]


def _section(part: Table) -> str:
    heads = "".join(f'<th scope="col">{svg_text(head)}</th>' for head in part.columns)
    rows = ""
    for first, *rest in part.rows:
        cells = "".join(f"<td>{svg_text(cell)}</td>" for cell in rest)
        rows += f'<tr><th scope="row">{svg_text(first)}</th>{cells}</tr>\n'
    kind = "wide" if len(part.columns) > 4 else "plain"
    table = f"<table><thead><tr>{heads}</tr></thead>\n<tbody>\n{rows}</tbody></table>"
    frame = f'<div class="{kind}" tabindex="0" role="region" aria-label="{part.title}">{table}</div>'
    return f"<h2>{part.title}</h2>\n<p>{part.about}</p>\n{frame}"


def write_moodle(students: list[Student], file: Path) -> Path:
    """A CSV for Moodle's grade import (docs.moodle.org, Grade import), in percent, as the items that it makes count.

    Moodle asks to which of its fields, such as the ID number, the column Student belongs.
    """
    titles = _titles(students)
    rows: list[dict[str, object]] = [{"Student": one.name} for one in students]
    for row, one in zip(rows, students, strict=True):
        row |= {title: round(100 * one.right(name) / len(of_lesson(name)), 1) for name, title in titles.items()}
    return write_lines(file, rows, ["Student", *titles.values()])


def write_canvas(students: list[Student], file: Path) -> Path:
    """A CSV for Canvas's gradebook (community.canvaslms.com, "How do I import grades in the Gradebook?").

    An exercise counts a point. Canvas finds a student by the ids, or else by the name.
    """
    titles = _titles(students)
    rows: list[dict[str, object]] = [{title: len(of_lesson(name)) for name, title in titles.items()}]
    rows[0]["Student"] = "    Points Possible"
    for one in students:
        ids = {} if " " in one.name else {"SIS User ID": one.name, "SIS Login ID": one.name}
        rows.append({"Student": one.name} | ids | {title: one.right(name) for name, title in titles.items()})
    return write_lines(file, rows, ["Student", "ID", "SIS User ID", "SIS Login ID", "Section", *titles.values()])


def _titles(students: list[Student]) -> dict[str, str]:
    return {lesson: f"{LESSONS[lesson].number} {LESSONS[lesson].title}" for lesson in begun(students)}
