"""What `python -m tx_helpers class` writes: a page, its data as CSV, and the CSV files that gradebooks import."""

from pathlib import Path

from tx_helpers.exercises.catalogue import of_lesson
from tx_helpers.exercises.class_work import Student, Table, begun, tables
from tx_helpers.exercises.course import LESSONS
from tx_helpers.exercises.handed_in import write_lines
from tx_helpers.show.plots import svg_text

PAGE = """<!doctype html>
<html lang="en"><meta charset="utf-8"><meta name="viewport" content="width=device-width">
<title>The work of a class</title>
<style>
:root {{ color-scheme: light dark; }} div {{ overflow-x: auto; }} table {{ border-collapse: collapse; }}
body {{ font: 16px/1.5 system-ui, sans-serif; margin: 1rem auto; max-width: 70rem; padding: 0 1rem; }}
th, td {{ border: 1px solid GrayText; padding: 4px 8px; text-align: left; vertical-align: top; min-width: 2.5rem; }}
tbody th {{ font-weight: normal; overflow-wrap: anywhere; }}
table:has(td:nth-child(5)) th:first-child {{ position: sticky; left: 0; background: Canvas; max-width: 9rem; }}
@media print {{ div {{ overflow: visible; }} body {{ font-size: 11px; }} tr {{ break-inside: avoid; }} }}
</style>
<h1>The work of a class</h1><p>Students: {students}.</p><ul>{told}</ul>
{parts}</html>
"""


def write_class(students: list[Student], told: list[str], folder: Path) -> list[Path]:
    """Write the page, class.html, and every student's lines, class.csv. OSError where they cannot be written."""
    folder.mkdir(parents=True, exist_ok=True)
    remarks = "".join(f"<li>{svg_text(line)}</li>" for line in told)
    page = PAGE.format(students=len(students), told=remarks, parts="".join(map(_section, tables(students))))
    (folder / "class.html").write_text(page, encoding="utf-8")
    lines = [line | {"student": one.name} for one in students for line in one.lines]
    return [folder / "class.html", write_lines(folder / "class.csv", lines)]


def _section(part: Table) -> str:
    title, about, columns, lines = part
    heads = "".join(f'<th scope="col">{svg_text(head)}</th>' for head in columns)
    rows = ""
    for first, *rest in lines:
        cells = "".join(f"<td>{svg_text(cell)}</td>" for cell in rest)
        rows += f'<tr><th scope="row">{svg_text(first)}</th>{cells}</tr>\n'
    frame = f'<div tabindex="0" role="region" aria-label="{title}"><table><thead><tr>{heads}</tr></thead>'
    return f"<h2>{title}</h2><p>{about}</p>\n{frame}\n{rows}</table></div>"


def write_gradebook(students: list[Student], file: Path, *, canvas: bool) -> Path:
    """A CSV for Canvas's gradebook import (a point for each exercise), or for Moodle's grade import (in percent).

    Their forms: community.canvaslms.com, "How do I import grades in the Gradebook?"; docs.moodle.org, "Grade import".
    """
    titles = {lesson: f"{LESSONS[lesson].number} {LESSONS[lesson].title}" for lesson in begun(students)}
    most = {name: len(of_lesson(name)) for name in titles}
    rows: list[dict[str, object]] = [{"Student": "    Points Possible"} | {titles[name]: most[name] for name in titles}]
    for one in students:
        ids = {} if " " in one.name else {"SIS User ID": one.name, "SIS Login ID": one.name}
        points = {name: one.right(name) if canvas else round(100 * one.right(name) / most[name], 1) for name in titles}
        rows.append({"Student": one.name} | ids | {titles[name]: points[name] for name in titles})
    columns = ["ID", "SIS User ID", "SIS Login ID", "Section"] if canvas else []
    return write_lines(file, rows if canvas else rows[1:], ["Student", *columns, *titles.values()])
