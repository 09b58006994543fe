"""A web page of each notebook, with its stored outputs: to read without Jupyter, kernel or network for the pictures.

    python tools/export_html.py             all notebooks, into the folder build/pages/
    python tools/export_html.py 08 10       these

It is nbconvert's page with one correction: nbconvert writes "No description has been provided for this image" under
every picture of an output, even where the notebook holds one (seen in nbconvert 7.17).
"""

import argparse
import sys
from pathlib import Path

import nbformat
from jinja2 import DictLoader
from nbconvert import HTMLExporter

from notebook_frame import ROOT
from refresh_notebooks import selected

# nbconvert's own page, except for the two kinds of picture that the course's cells show.
TEMPLATE = """
{%- extends "lab/index.html.j2" -%}
{%- macro picture(output, mime, data) -%}
<div class="jp-RenderedImage jp-OutputArea-output" data-mime-type="{{ mime }}">
<img src="data:{{ mime }};base64,{{ data | escape_html }}"
alt="{{ (output | get_metadata("alt", mime) or output.data.get("text/plain", "")) | escape_html }}">
</div>
{%- endmacro -%}
{%- block data_png %}{{ picture(output, "image/png", output.data["image/png"]) }}{% endblock -%}
{%- block data_svg %}{{ picture(output, "image/svg+xml", output.data["image/svg+xml"] | text_base64) }}{% endblock -%}
"""


def exporter() -> HTMLExporter:
    """nbconvert's exporter of pages, with descriptions of the pictures."""
    return HTMLExporter(extra_loaders=[DictLoader({"course.html.j2": TEMPLATE})], template_file="course.html.j2")


def page(notebook: nbformat.NotebookNode) -> str:
    """The notebook as HTML."""
    html, _ = exporter().from_notebook_node(notebook)
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
