"""Make the web edition: a page a notebook, to read and to try out with no kernel, no account and no request to anyone.

    python tools/make_site.py               the whole site, into build/site/ (or: make site)
    python tools/make_site.py 08 10         these pages only, beside what is there
    python tools/make_site.py --still       with the stored pictures alone, within seconds

Needs nothing at run time but the files: it works below any address and from the disk. Each page's policy allows no
script, style or picture but the site's own. Pages are made from the notebooks' stored outputs; what the course shows
alive comes from a recording of each notebook (tools/record_pages.py), which takes minutes where one has changed.
"""

import argparse
import gzip
import re
import shutil
import sys
import tempfile
from collections.abc import Callable
from html import escape
from pathlib import Path

import nbformat
from jinja2 import Environment, FileSystemLoader, StrictUndefined
from markupsafe import Markup

import make_api
import make_colab
import make_first_page
import record_pages
import site_scripts
import site_search
from make_first_page import COURSE
from notebook_frame import ROOT, colab_link, repository_address
from notebook_header import groups
from record_pages import kept
from refresh_notebooks import selected
from site_cells import body
from tx_helpers.exercises.course import LESSONS
from tx_helpers.publish.packing import inert
from tx_helpers.show.stored import as_json

HERE = Path(__file__).parent / "site"
ASSETS = ("site.css", "code.css", "theme.js", "site.js", "alive.js", "search.js", "icon.svg")
# Styles may stand inline: drawings have style attributes, and the attention view brings its style sheet as an element.
# They run nothing, and may load nothing from elsewhere.
POLICY = (
    "default-src 'none'; script-src 'self'; style-src 'self' 'unsafe-inline'; img-src 'self' data:; "
    "base-uri 'none'; form-action 'none'"
)
HEAVIEST = 1_500_000  # bytes of a page and of all that it loads, compressed
JINJA = Environment(
    loader=FileSystemLoader(HERE),
    autoescape=True,
    trim_blocks=True,
    undefined=StrictUndefined,
    keep_trailing_newline=True,
)


class Site:
    """Pages and files, by their path on the site; written at the end, so that a failure leaves the old site whole.

    recorded  what lives on the page of a notebook (tools/site_scripts.py); nothing, where it is not given
    wheel     the course, offered beside the notebooks, where it has been built
    """

    def __init__(
        self,
        notebooks: list[Path],
        recorded: Callable[[Path], dict] = lambda path: {},
        wheel: Path | None = None,
    ):
        self.files: dict[str, bytes] = {f"notebooks/{wheel.name}": wheel.read_bytes()} if wheel else {}
        self._wheel = wheel.name if wheel else ""
        self.explorers: list[tuple] = []
        self._stems = [path.stem for path in selected([], ROOT / "notebooks")]
        self._index: dict[str, list] = {}
        for path in notebooks:
            self._notebook(path, recorded(path))
            self.files[f"notebooks/{path.name}"] = path.read_bytes()
        for name in ASSETS:
            self.files[name] = (HERE / name).read_bytes()

    def _notebook(self, path: Path, recorded: dict) -> None:
        """A notebook's page, its pictures and scripts, and the notebook itself."""
        notebook = nbformat.read(path, as_version=4)
        made = body(notebook, recorded.get("forms"))
        self.files |= made.pictures | site_scripts.files(made.forms, recorded.get("scripts", {}))
        title = re.match(r"# (.*)", notebook.cells[0].source)[1]
        place = self._stems.index(path.stem)
        beside = [self._stems[place - 1] if place else None, *self._stems[place + 1 : place + 2], None][:2]
        before, after = ((f"{stem}.html", f"{stem[:2]} {LESSONS[stem[3:]].title}") if stem else None for stem in beside)
        self.explorers += [(path.stem, title, *explorer) for explorer in made.explorers]
        self._page(
            f"{path.stem}.html",
            title,
            made.html,
            description=LESSONS[path.stem[3:]].about,
            forms=made.forms,
            opens=opens(path.name, self._wheel, bool(made.forms)),
            before=before,
            after=after,
        )

    def add_the_others(self) -> None:
        """The first page, with the stage of docs/index.html; the explorers' page; and the index of the search."""
        stage = make_first_page.stage(make_first_page.stored())
        forms = [{"script": "stage", "state": as_json(stage.state)}]
        self.files |= site_scripts.files(forms, {"stage": {"esm": stage.script, "css": stage.css}})
        first = JINJA.get_template("index.html.j2").render(course=COURSE, groups=groups())
        told = "You build every part of the Transformer, see it in a picture, and check it."
        self._page("index.html", COURSE, first, description=told, forms=forms, outlined=False)
        listed = JINJA.get_template("explorers.html.j2").render(explorers=self.explorers)
        self._page(
            "explorers.html",
            "The explorers",
            listed,
            description="All explorers, and how each works without Python.",
            outlined=False,
        )
        self.files["search_index.js"] = site_search.index([self._index[file] for file in sorted(self._index)]).encode()

    def _page(
        self,
        file: str,
        title: str,
        content: str,
        *,
        description: str,
        forms=(),
        opens="",
        before=None,
        after=None,
        outlined=True,
    ) -> None:
        """A page in the site's frame."""
        scripts = [
            path for path in self.files if path.startswith("widgets/") and any(f["script"] in path for f in forms)
        ]
        self._index[file] = site_search.entry(file, title, description, content)
        page = JINJA.get_template("page.html.j2").render(
            course=COURSE,
            policy=Markup(POLICY),
            file=file,
            title=title,
            description=description,
            content=Markup(content),
            headings=site_search.outline(content) if outlined else [],
            forms=[Markup(inert({"script": f["script"], "state": f["state"]})) for f in forms],
            scripts=sorted(path for path in scripts if path.endswith(".js")),
            styles=sorted(path for path in scripts if path.endswith(".css")),
            opens=Markup(opens),
            before=before,
            after=after,
        )
        self.files[file] = page.encode()

    def write(self, folder: Path) -> None:
        """All files, into the folder."""
        for path, content in self.files.items():
            file = folder / path
            file.parent.mkdir(parents=True, exist_ok=True)
            file.write_bytes(content)


def weights(files: dict[str, bytes]) -> dict[str, int]:
    """Page -> its bytes, compressed, with those of the scripts, styles and pictures that it loads."""
    compressed = {path: len(gzip.compress(content, 6, mtime=0)) for path, content in files.items()}
    found = {}
    for page, content in files.items():
        if page.endswith(".html"):
            loads = re.findall(r'<(?:script|img|link)\b[^>]*? (?:src|href)="([^"]+)"', content.decode())
            found[page] = sum(compressed[path] for path in {page, *loads})
    return found


def opens(name: str, wheel: str, lives: bool) -> str:
    """The line that opens the notebook: its file, the course beside it, and Colab where the address is known."""
    if lives:
        line = "The results on this page are stored; its explorers and questions work here."
    else:
        line = "This page was made from stored results: its explorers are pictures here."
    line += f' To run the code and change it, download <a href="notebooks/{name}" download>this notebook</a>'
    if wheel:
        line += f' and <a href="notebooks/{wheel}" download>the course</a> into one folder'
    link = colab_link(name, repository_address())
    return f'{line} or <a href="{escape(link)}">open it in Colab</a>.' if link else f"{line}."


def parser_for(about: str | None, to: str) -> argparse.ArgumentParser:
    """Of a command that makes something of notebooks, in a folder below build."""
    parser = argparse.ArgumentParser(description=about, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("notebooks", nargs="*", help="number, name or path; all where none is given")
    parser.add_argument("--to", type=Path, default=ROOT / "build" / to, help="folder (default %(default)s)")
    return parser


def asked(about: str | None, to: str, arguments: list[str] | None) -> tuple[list[Path], Path]:
    """The notebooks and the folder that a command line names, by default all, and `to` below build."""
    parser = parser_for(about, to)
    options = parser.parse_args(arguments)
    try:
        chosen = selected(options.notebooks, ROOT / "notebooks")
    except ValueError as error:
        parser.error(str(error))
    options.to.mkdir(parents=True, exist_ok=True)
    return chosen, options.to


def main(arguments: list[str] | None = None) -> int:
    """Command line; returns the exit code."""
    parser = parser_for(__doc__, "site")
    parser.add_argument("--still", action="store_true", help="the stored pictures alone; nothing is executed")
    options = parser.parse_args(arguments)
    chosen = selected(options.notebooks, ROOT / "notebooks")
    if options.still:
        failed, made = 0, Site(chosen)
    else:
        # Two at a time; what has been recorded is kept. A page whose recording failed has its stored pictures.
        failed = record_pages.main(options.notebooks)
        with tempfile.TemporaryDirectory() as folder:
            made = Site(chosen, kept, make_colab.wheel_of_course(Path(folder)))
    if not options.notebooks:
        made.add_the_others()
    heavy = {page: weight for page, weight in weights(made.files).items() if weight > HEAVIEST}
    if heavy:
        print(f"FAILED: bytes of pages, compressed, expected at most {HEAVIEST:,}: {heavy}", file=sys.stderr)
        return 1
    if not options.notebooks:
        shutil.rmtree(options.to, ignore_errors=True)
    made.write(options.to)
    if not options.notebooks:
        make_api.make(options.to / "api")
    sizes = [path.stat().st_size for path in options.to.rglob("*") if path.is_file()]
    print(f"{options.to}: {len(sizes)} files, {sum(sizes) / 1e6:.1f} MB; open {options.to / 'index.html'}")
    return failed


if __name__ == "__main__":
    sys.exit(main())
