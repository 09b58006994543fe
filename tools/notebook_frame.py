"""What every notebook has in common: the set-up cell, the tools' lines in the header, what is folded away.

These texts stand only here, and the repository's address only in pyproject.toml (`[project.urls] Repository`). It is
unknown until `python tools/refresh_notebooks.py --stamp` has read it from `git remote get-url origin`.
"""

import base64
import re
import tomllib
from pathlib import Path

from course_lists import MAP_TITLE, below_the_map
from notebook_header import HERE_MARK, TIME_LINE, TIME_MARK, UNMEASURED, here_line, time_line
from notebook_parts import HIDE, PREDICTION, REVEAL, is_folded, is_optional

ROOT = Path(__file__).resolve().parent.parent
BRANCH = "main"
COLAB = "https://colab.research.google.com"

_SETUP = """\
# Set-up: does nothing where the course is installed.
# Elsewhere it looks for the course, and says where it found it.
try:
    import tx_helpers

    found = ""
except ModuleNotFoundError:
    import sys
    from pathlib import Path
    from subprocess import run

    here, address = Path.cwd(), "{address}"
    places = [
        here,
        *here.parents,
        *here.glob("*/"),
        *here.glob("drive/MyDrive/*/"),
        *Path("/kaggle/input").glob("**/"),
    ]
    folders = [
        file.parent.parent
        for place in places
        for file in place.glob("tx_helpers/__init__.py")
    ]
    wheels = [file for place in places for file in place.glob("tx_helpers-*.whl")]
    if folders:
        sys.path.append(str(source := folders[0]))
    elif source := max(
        wheels,
        key=lambda path: [int(n) for n in path.name.split("-")[1].split(".")],
        default=address,
    ):
        run(
            [sys.executable, "-m", "pip", "install", "-qq", "--no-deps", str(source)],
            check=True,
        )
    else:
        colab = (
            "Click the folder on the left, upload the course's wheel "
            "(tx_helpers-….whl), and run this cell again."
        )
        kaggle = (
            "Upload the course's wheel (tx_helpers-….whl) by Add Input, "
            "turn the internet on, run this cell again."
        )
        local = (
            "In the course's folder run: make lab   (or: python -m pip install -e .)"
        )
        advice = (
            colab
            if "google.colab" in sys.modules
            else kaggle
            if Path("/kaggle").exists()
            else local
        )
        raise ModuleNotFoundError(
            f"tx_helpers is not installed for this kernel. {{advice}}"
        ) from None
    import tx_helpers.environment

    found = f", from {{source}}{{tx_helpers.environment.install_missing()}}"
print(f"tx_helpers {{tx_helpers.__version__}}{{found}}")
"""

LANGUAGE = {  # as Jupyter writes it, without the version: what nbconvert needs to make a script
    "file_extension": ".py",
    "mimetype": "text/x-python",
    "name": "python",
    "nbconvert_exporter": "python",
    "pygments_lexer": "ipython3",
}
KERNEL = {"display_name": "Python 3", "language": "python", "name": "python3"}
QUESTION = "# A question: answer it before you read on"
ANSWER = "# The answer to it: shown once you have given yours"
BADGE_MARK = "<!-- colab -->"
MOVING = re.compile(r"^\[(\w+)\.webp\]: .*$", re.MULTILINE)  # where a header's ![…][name.webp] holds the picture
SITE_MARK = "<!-- site -->"  # at the end of its line: a line that begins with a comment is not markdown


def repository_address(pyproject: Path = ROOT / "pyproject.toml") -> str:
    """The address written in pyproject.toml, or "" while it is unknown."""
    project = tomllib.loads(pyproject.read_text(encoding="utf-8"))["project"]
    return project.get("urls", {}).get("Repository", "")


def https_address(remote: str) -> str:
    """The output of `git remote get-url` as an address that pip and a browser can open without a key or a password.

    "git@github.com:a/b.git" and "ssh://git@github.com/a/b" become "https://github.com/a/b"; file:// stays as it is.
    """
    remote = remote.strip()
    if remote.startswith("file://"):
        return remote
    parts = re.fullmatch(r"(?:(?:https?|ssh|git)://)?(?:[^@/]+@)?([\w.-]+)(?::\d+(?=/))?[:/](.+?)(?:\.git)?/?", remote)
    if parts is None or "." not in parts[1].strip("."):
        raise ValueError(f"https_address: {remote!r} is no address of a public repository (https://… or git@host:…)")
    return f"https://{parts[1]}/{parts[2].lstrip('/')}"


def stamp_address(pyproject: Path, address: str) -> bool:
    """Write the address into `[project.urls]`; tells whether the file changed."""
    old = pyproject.read_text(encoding="utf-8")
    line = f'Repository = "{address}"'
    if repository_address(pyproject):
        new = re.sub(r"^Repository = .*$", lambda _: line, old, count=1, flags=re.MULTILINE)
    else:
        new = re.sub(r"^\[tool\.", lambda m: f"[project.urls]\n{line}\n\n{m[0]}", old, count=1, flags=re.MULTILINE)
    pyproject.write_text(new, encoding="utf-8")
    return new != old


def setup_cell(address: str) -> str:
    """Source of the first code cell; tx_helpers is the first import, so that it comes before torch."""
    return _SETUP.format(address=address and f"git+{address}").rstrip("\n")


def on_github(address: str) -> tuple[str, str] | None:
    """Owner and name of a repository on GitHub; None for any other address."""
    found = re.fullmatch(r"https://github\.com/([^/]+)/([^/]+)", address)
    return found and found.groups()


def colab_link(name: str, address: str) -> str:
    """The address at which Colab opens this notebook, or "" where the repository's is not one of GitHub."""
    repository = on_github(address)
    return f"{COLAB}/github/{'/'.join(repository)}/blob/{BRANCH}/notebooks/{name}" if repository else ""


def badge_line(name: str, address: str) -> str:
    """The line below the title: the mark alone, or with Colab's badge where the address is one of GitHub."""
    if not (link := colab_link(name, address)):
        return BADGE_MARK
    picture = f"{COLAB}/assets/colab-badge.svg"
    return f'{BADGE_MARK}<a href="{link}"><img src="{picture}" alt="Open this notebook in Colab"></a>'


def site_line(address: str) -> str:
    """The README's line on the web edition: where GitHub publishes it, else the page in the folder."""
    if not (repository := on_github(address)):
        page = "[docs/index.html](docs/index.html), in a clone, by a double click."
        return f"**Try it in your browser:** {page}{SITE_MARK}"
    owner, name = repository[0].lower(), repository[1]
    folder = "" if name.lower() == f"{owner}.github.io" else f"{name}/"
    return f"**[Try it in your browser](https://{owner}.github.io/{folder})**: nothing to install.{SITE_MARK}"


def stamp_readme(readme: Path, address: str) -> None:
    """Write the line on the web edition into the README."""
    text = readme.read_text(encoding="utf-8")
    readme.write_text(re.sub(rf"^.*{SITE_MARK}$", lambda _: site_line(address), text, flags=re.M), encoding="utf-8")


def moving(name: str) -> str:
    """The line that holds an animation of `figures/`: Colab shows no picture that lies beside a notebook."""
    content = base64.b64encode((ROOT / "figures" / f"{name}.webp").read_bytes()).decode()
    return f"[{name}.webp]: data:image/webp;base64,{content}"


def titled(source: str) -> str:
    """The code of a prediction or a reveal below a comment, since a folded cell's first line stays in sight."""
    bare = "\n".join(line for line in source.split("\n") if line not in (QUESTION, ANSWER))
    title = QUESTION if PREDICTION.search(bare) else ANSWER if REVEAL.search(bare) else ""
    return f"{title}\n{bare}" if title else source


def frame(cells: list[dict], path: Path, address: str, seconds: float | None = None) -> None:
    """Put the current lines of the header, the set-up cell and the titles of predictions into a notebook's cells,
    and the list of notebooks below the map.

    `path` is the notebook's, `seconds` what its cells took, if that was measured.
    """
    name, header = path.name, cells[0] if cells else None
    if header is None or header["cell_type"] != "markdown" or not header["source"].startswith("# "):
        raise ValueError(f"{name}: the first cell is not a markdown cell that begins with '# ' and the title")
    if not TIME_LINE.search(header["source"]):
        raise ValueError(f"{name}: the first cell has no line '{TIME_MARK} {UNMEASURED}' for the tool to fill in")
    time = time_line(cells, path.stem[3:], seconds)
    made = (BADGE_MARK, HERE_MARK)
    lines = [line for line in header["source"].split("\n") if not line.startswith(made)]
    rest = re.sub(r"\A\n+", "\n", "\n".join(lines[1:]))
    title = re.sub(r"^# (?:\d\d )?", f"# {name[:2]} ", lines[0])
    header["source"] = "\n".join([title, "", badge_line(name, address), "", here_line(path), rest])
    header["source"] = MOVING.sub(lambda found: moving(found[1]), TIME_LINE.sub(lambda _: time, header["source"]))
    code = next((cell for cell in cells if cell["cell_type"] == "code"), None)
    if code is None or not code["source"].startswith("# Set-up"):
        raise ValueError(f"{name}: the first code cell is not the set-up cell (it begins with '# Set-up')")
    code["source"] = setup_cell(address)
    for cell in cells:
        if cell["cell_type"] == "code":
            cell["source"] = titled(cell["source"])
        elif cell["source"].startswith(MAP_TITLE):
            cell["source"] = below_the_map(cell["source"])


def metadata(cells: list[dict]) -> tuple[dict, list[dict]]:
    """The metadata that a notebook and each of its cells should have: what is folded away, and nothing else but tags.

    JupyterLab, Notebook 7 and VS Code read "jp-MarkdownHeadingCollapsed" and "source_hidden". Colab reads the
    notebook's "collapsed_sections", which names cells by the id in their metadata, and "cellView".
    """
    of_cells = []
    for cell in cells:
        tags = list(cell["metadata"].get("tags", []))
        made: dict = {}
        if is_optional(cell):
            made = {"jp-MarkdownHeadingCollapsed": True, "id": cell["id"]}
        elif is_folded(cell):
            made = {"cellView": "form", "jupyter": {"source_hidden": True}}
            tags += [HIDE] if HIDE not in tags else []
        of_cells.append(made | ({"tags": tags} if tags else {}))
    of_notebook: dict = {"kernelspec": KERNEL, "language_info": LANGUAGE}
    if collapsed := [cell["id"] for cell in cells if is_optional(cell)]:
        of_notebook["colab"] = {"collapsed_sections": collapsed}
    return of_notebook, of_cells
