"""A web page of each notebook, with its stored outputs: to read without Jupyter, kernel or network for the pictures.

    python tools/export_html.py             all notebooks, into the folder build/pages/
    python tools/export_html.py 08 10       these

It is nbconvert's page with two changes. nbconvert writes "No description has been provided for this image" under every
picture of an output, even where the notebook holds one (seen in nbconvert 7.17). And what Jupyter folds, it shows: here
optional sections and the code of cells tagged `hide-input` are folded, too, and unfold by a click.
"""

import argparse
import copy
import sys
from pathlib import Path

import nbformat
from jinja2 import DictLoader
from nbconvert import HTMLExporter

from notebook_frame import ROOT
from notebook_parts import is_folded, optional_sections
from refresh_notebooks import selected

# nbconvert's own page, except for what is folded and for the two kinds of picture that the course's cells show.
TEMPLATE = """
{%- extends "lab/index.html.j2" -%}
{%- macro picture(output, mime, data) -%}
<div class="jp-RenderedImage jp-OutputArea-output" data-mime-type="{{ mime }}">
<img src="data:{{ mime }};base64,{{ data | escape_html }}"
alt="{{ (output | get_metadata("alt", mime) or output.data.get("text/plain", "")) | escape_html }}">
</div>
{%- endmacro -%}
{%- block html_head_css -%}{{ super() }}
<style>
details.tx-folded > summary { cursor: pointer; margin: 0.3em 0; padding: 0.2em 0.6em; color: #1a4fb4; }
details.tx-section { margin-left: 1em; border-left: 3px solid #8886; padding-left: 0.4em; }
@media print { details.tx-folded::details-content { content-visibility: visible; } }
</style>
{%- endblock -%}
{%- block any_cell -%}
{{ super() }}
{%- if cell.tx.opens %}<details class="tx-folded tx-section"><summary>Show this section</summary>{% endif -%}
{{ "</details>" * cell.tx.closes }}
{%- endblock -%}
{%- block input -%}
{%- if cell.tx.folded -%}
<details class="tx-folded jp-InputArea-editor"><summary>Show code</summary>{{ super() }}</details>
{%- else -%}{{ super() }}{%- endif -%}
{%- endblock -%}
{%- block data_png %}{{ picture(output, "image/png", output.data["image/png"]) }}{% endblock -%}
{%- block data_svg %}{{ picture(output, "image/svg+xml", output.data["image/svg+xml"] | text_base64) }}{% endblock -%}
"""


def exporter() -> HTMLExporter:
    """nbconvert's exporter of pages, with descriptions of the pictures."""
    return HTMLExporter(extra_loaders=[DictLoader({"course.html.j2": TEMPLATE})], template_file="course.html.j2")


def page(notebook: nbformat.NotebookNode) -> str:
    """The notebook as HTML."""
    marked = copy.deepcopy(notebook)
    for cell in marked.cells:
        cell.tx = nbformat.from_dict({"folded": is_folded(cell), "opens": False, "closes": 0})
    for part in optional_sections(marked.cells):
        marked.cells[part[0]].tx.opens = True
        marked.cells[part[-1]].tx.closes += 1
    html, _ = exporter().from_notebook_node(marked)
    return html


def main(arguments: list[str] | None = None) -> int:
    """Command line; returns the exit code."""
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("notebooks", nargs="*", help="number, name or path; all where none is given")
    parser.add_argument("--to", type=Path, default=ROOT / "build" / "pages", help="folder (default %(default)s)")
    options = parser.parse_args(arguments)
    options.to.mkdir(parents=True, exist_ok=True)
    for path in selected(options.notebooks, ROOT / "notebooks"):
        written = options.to / f"{path.stem}.html"
        written.write_text(page(nbformat.read(path, as_version=4)), encoding="utf-8")
        print(written)
    return 0


if __name__ == "__main__":
    sys.exit(main())
