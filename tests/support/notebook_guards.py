"""What every notebook of the course must hold, as functions that return lists of findings ([] = fine).

What tools write is not looked at here: they say themselves that they have nothing to change. Each guard takes one
notebook (nbformat, version 4) unless it says otherwise. `test_notebooks.py` applies them to the
course; `test_notebook_guards.py` shows, on small bad notebooks, that each can fail.
"""

import ast
import io
import re
import tempfile
import tokenize
from collections.abc import Iterator
from itertools import pairwise
from pathlib import Path
from statistics import median

from link_terms import Glossary, terms_learned
from notebook_frame import ROOT
from notebook_header import UNMEASURED
from notebook_parts import is_folded

MIN_ALT = 20  # characters; a shorter alt text only names the picture
MAX_LINES = 25
REPEATED = 4  # consecutive lines that must not stand twice
MAX_BYTES = 1_000_000
WIDGET_VIEW = "application/vnd.jupyter.widget-view+json"
LEARNERS_IMPORTS = "exercise-imports"  # the cell that imports what answers to the exercises may need
UNRELIABLE = {"interact", "interactive", "interact_manual", "interactive_output", "Output", "clear_output"}


def code_cells(notebook) -> list:
    """All code cells, in order."""
    return [cell for cell in notebook.cells if cell.cell_type == "code"]


def numbered(notebook) -> Iterator[tuple[str, object]]:
    """("code cell 3", cell) for every code cell, counted from 1."""
    for number, cell in enumerate(code_cells(notebook), 1):
        yield f"code cell {number}", cell


def python_of(cell) -> str:
    """The cell's source with magics and shell lines blanked, so that it can be parsed."""
    return "\n".join(re.sub(r"^(\s*)[%!](?!=).*", r"\1pass", line) for line in cell.source.split("\n"))


def text_of(value) -> str:
    """An output's entry as one string."""
    return "".join(value) if isinstance(value, list) else str(value)


# --- form ------------------------------------------------------------------------------------------------------------


def header(notebook, path: Path) -> list[str]:
    """First cell: title with the file's number, points, need, a measured time; code right behind it."""
    first = notebook.cells[0]
    number = path.name[:2]
    found = []
    if first.cell_type != "markdown" or not re.match(rf"# {number} \S", first.source):
        found.append(f"the first cell is not markdown that begins with '# {number} ' and the title")
    points = re.search(r"\*\*You will be able to\*\*\n\n((?:[-*] .*\n(?:  .*\n)*)+)", first.source)
    count = len(re.findall(r"^[-*] ", points[1], re.MULTILINE)) if points else 0
    if not 3 <= count <= 5:
        found.append(f"'**You will be able to**' is followed by {count} points, expected 3 to 5")
    if "**You need first:**" not in first.source:
        found.append("the header lacks '**You need first:**'")
    if UNMEASURED in first.source:
        found.append("the machine's time is not measured (tools/refresh_notebooks.py)")
    if [cell.cell_type for cell in notebook.cells[1:2]] != ["code"]:
        found.append("the second cell is not the set-up cell")
    return found


def closing(notebook) -> list[str]:
    """Last cell: what to remember in 3 to 7 points, the terms learned, the sources, the next notebook."""
    last = notebook.cells[-1]
    if last.cell_type != "markdown" or not last.source.startswith("## What to remember\n"):
        return ["the last cell does not begin with '## What to remember'"]
    found = [
        f"the last cell lacks '**{part}:**'"
        for part in ("Terms learned", "Sources", "Next")
        if f"\n\n**{part}:** " not in last.source
    ]
    count = len(re.findall(r"^- ", last.source, re.MULTILINE))
    if not 3 <= count <= 7:
        found.append(f"'## What to remember' has {count} points, expected 3 to 7")
    return found


def stored_form(notebook) -> list[str]:
    """Counts 1..N, ids, no widget that is gone."""
    found = []
    counts = [cell.execution_count for cell in code_cells(notebook)]
    if counts != list(range(1, len(counts) + 1)):
        found.append(
            f"execution counts are {counts}, expected 1 to {len(counts)} in order: nbval would compare nothing"
        )
    if not all(cell.get("id") for cell in notebook.cells):
        found.append("a cell has no id")
    for number, cell in enumerate(notebook.cells, 1):
        if any(WIDGET_VIEW in output.get("data", {}) for output in cell.get("outputs", [])):
            found.append(f"cell {number}: the output names a widget model that is gone (tools/refresh_notebooks.py)")
    return found


def clean_outputs(notebook) -> list[str]:
    """No errors, nothing on stderr, no script in stored HTML."""
    found = []
    for where, cell in numbered(notebook):
        for output in cell.outputs:
            if output.output_type == "error":
                found.append(f"{where} ends in an error: {output.ename}: {output.evalue}")
            if output.get("name") == "stderr":
                found.append(f"{where} prints to stderr: {text_of(output.text)[:80]!r}")
            if "<script" in text_of(output.get("data", {}).get("text/html", "")):
                found.append(f"{where} stores a script in its output")
    return found


def machine_paths(notebook) -> list[str]:
    """No path of one machine in any source or output."""
    places = {str(place).rstrip("/") + "/" for place in (Path.home(), ROOT, tempfile.gettempdir())} - {"/"}
    pattern = re.compile(
        "|".join([*map(re.escape, sorted(places)), r"(?<![\w./])/(?:home|Users|root|tmp|work|content|var/folders)/\w"])
        + r"|\b[A-Z]:\\+(?:Users|Windows|Temp)\b|site-packages[/\\]",
    )
    found = []
    for number, cell in enumerate(notebook.cells, 1):
        texts = [cell.source]
        for output in cell.get("outputs", []):
            texts += [text_of(output.get("text", "")), text_of(output.get("traceback", ""))]
            texts += [text_of(value) for kind, value in output.get("data", {}).items() if kind != "image/png"]
        for text in texts:
            found += [f"cell {number} holds a path of one machine: {match[0]!r}" for match in pattern.finditer(text)]
    return found


def size(path: Path) -> list[str]:
    """The file (not the notebook) is below 1 MB."""
    bytes_ = path.stat().st_size
    return [f"{bytes_ / 1e6:.2f} MB, expected less than {MAX_BYTES / 1e6:g}"] if bytes_ >= MAX_BYTES else []


# --- pictures --------------------------------------------------------------------------------------------------------


def alt_texts(notebook) -> list[str]:
    """Every picture, in text or output, has an alt text that says what can be seen in it."""
    found = []
    for number, cell in enumerate(notebook.cells, 1):
        alts = []
        if cell.cell_type == "markdown":
            alts += [alt for alt in re.findall(r"!\[([^\]]*)\][(\[]", cell.source)] + html_alts(cell.source)
        for output in cell.get("outputs", []):
            data, metadata = output.get("data", {}), output.get("metadata", {})
            alts += html_alts(text_of(data.get("text/html", "")))
            alts += re.findall(r"!\[([^\]]*)\][(\[]", text_of(data.get("text/markdown", "")))
            for kind in ("image/png", "image/jpeg", "image/gif"):
                if kind in data:
                    alts.append(metadata.get("alt") or metadata.get(kind, {}).get("alt", ""))
            if "image/svg+xml" in data:
                alts.append(metadata.get("alt") or svg_alt(text_of(data["image/svg+xml"])))
        found += [
            f"cell {number}: a picture with the alt text {alt!r}, expected {MIN_ALT} characters or more"
            for alt in alts
            if len(alt.strip()) < MIN_ALT
        ]
    return found


def html_alts(html: str) -> list[str]:
    """Alt texts of all <img> and <svg> in a piece of HTML; "" where there is none. Hidden decoration needs none."""
    alts = []
    for tag in re.findall(r"<img\b[^>]*>", html, re.IGNORECASE):
        alt = re.search(r"""\balt=(?:"([^"]*)"|'([^']*)')""", tag)
        alts.append((alt[1] or alt[2] or "") if alt else "")
    for svg in re.findall(r"<svg\b.*?</svg>", html, re.IGNORECASE | re.DOTALL):
        if 'aria-hidden="true"' not in svg.split(">")[0]:
            alts.append(svg_alt(svg))
    return alts


def svg_alt(svg: str) -> str:
    """A drawing's alt text: the aria-label of a role="img", or its <title> and <desc>."""
    opening = re.search(r"<svg\b[^>]*>", svg, re.DOTALL)
    label = re.search(r'aria-label="([^"]*)"', opening[0]) if opening and 'role="img"' in opening[0] else None
    return label[1] if label else " ".join(re.findall(r"<(?:title|desc)\b[^>]*>([^<]*)<", svg)[:2])


def links(notebook, folder: Path) -> list[str]:
    """A link to another file of the folder names one that exists; no picture is such a file (Colab would lack it)."""
    found = []
    for number, cell in enumerate(notebook.cells, 1):
        if cell.cell_type != "markdown":
            continue
        for picture, target in re.findall(r"(!?)\[[^\]]*\]\(([^)\s]+)[^)]*\)", cell.source):
            if re.match(r"(?:[a-z]+:|#)", target):
                continue
            if picture:
                found.append(f"cell {number}: the picture {target} is a neighbour's file, which Colab would not find")
            elif not (folder / target.split("#")[0]).exists():
                found.append(f"cell {number}: the link to {target} leads nowhere")
    return found


# --- code ------------------------------------------------------------------------------------------------------------


def unexplained_terms(notebook, glossary: Glossary) -> list[str]:
    """Terms learned in a notebook that the glossary of the first notebook does not explain."""
    learned = terms_learned(notebook)
    return [f"not in the glossary: {' / '.join(sorted(t))}" for t in learned if not t & set(glossary.meanings)]


def short_cells(notebook) -> list[str]:
    """No code cell over 25 lines; a statement that stands on several counts once, as it does for `line_count`."""
    return [
        f"{where} has {lines} lines, expected at most {MAX_LINES}"
        for where, cell in numbered(notebook)
        if (lines := line_count(cell)) > MAX_LINES
    ]


def line_count(cell) -> int:
    """Lines of a cell, however wide: blank ones and comments are not counted, and a broken one counts once."""
    tokens = tokenize.generate_tokens(io.StringIO(python_of(cell)).readline)
    return sum(token.type == tokenize.NEWLINE for token in tokens)


def median_lines(notebooks: list) -> float:
    """Median length of the code cells in sight of a set of notebooks: what is folded away is not read."""
    return median(
        line_count(cell) for notebook in notebooks for cell in code_cells(notebook)[1:] if not is_folded(cell)
    )


def forbidden_code(notebook) -> list[str]:
    """No skipped cell, no magics, nothing that strict comparison cannot cope with, no trailing semicolon."""
    found = []
    for where, cell in numbered(notebook):
        if "skip" in markers(cell):
            found.append(f"{where} is skipped by nbval")
        if "raises" in markers(cell):
            found.append(f"{where} is marked to raise; catch the error and print its text")
        found += [f"{where} has the magic {m[0].strip()!r}" for m in re.finditer(r"^\s*[%!](?!=).*", cell.source, re.M)]
        tree = ast.parse(python_of(cell))
        for node in ast.walk(tree):
            names = {getattr(node, "id", None), getattr(node, "attr", None)}
            names |= {alias.name for alias in getattr(node, "names", []) if isinstance(alias, ast.alias)}
            found += [
                f"{where} uses {name}, which strict comparison cannot cope with"
                for name in sorted(names & UNRELIABLE, key=str)
            ]
            if isinstance(node, ast.keyword) and node.arg == "display_id":
                found.append(f"{where} uses display_id, which strict comparison cannot cope with")
        tokens = [
            t for t in tokenize.generate_tokens(io.StringIO(python_of(cell)).readline) if t.type != tokenize.COMMENT
        ]
        for token, following in pairwise(tokens):
            if token.string == ";" and following.type in (tokenize.NEWLINE, tokenize.NL, tokenize.ENDMARKER):
                found.append(f"{where} has a trailing ';'")
    return found


def unused_imports(notebook) -> list[str]:
    """Every imported name is used in some cell."""
    imported: dict[str, str] = {}
    used = set()
    for where, cell in numbered(notebook):
        for node in ast.walk(ast.parse(python_of(cell))):
            if isinstance(node, (ast.Import, ast.ImportFrom)) and cell.get("id") != LEARNERS_IMPORTS:
                imported |= {(alias.asname or alias.name).split(".")[0]: where for alias in node.names}
            elif isinstance(node, ast.Name):
                used.add(node.id)
    return [
        f"{where} imports {name} for nothing" for name, where in imported.items() if name not in used | {"tx_helpers"}
    ]


def unpacked_generators(notebook) -> list[str]:
    """Each name on a line of its own: `a, b = (f(x) for x in (c, d))` is short and hard to read."""
    return [
        f"{where} unpacks a generator into {ast.unparse(node.targets[0])}; write a line for each name"
        for where, cell in numbered(notebook)
        for node in ast.walk(ast.parse(python_of(cell)))
        if isinstance(node, ast.Assign)
        and isinstance(node.targets[0], ast.Tuple)
        and isinstance(node.value, ast.GeneratorExp)
    ]


def repeated_code(notebooks: dict[str, object]) -> list[str]:
    """No code stands twice in the course (name -> notebook): what two notebooks need belongs in the package.

    Compared are function bodies of two lines or more, and any four consecutive lines, without imports, the set-up cell
    and layout.
    """
    found: list[str] = []
    bodies, runs = {}, {}  # code -> where it stands first
    for name, notebook in notebooks.items():
        for number, cell in enumerate(code_cells(notebook)[1:], 2):
            tree, where = ast.parse(python_of(cell)), f"{name}, code cell {number}"
            for function in (node for node in ast.walk(tree) if isinstance(node, ast.FunctionDef)):
                body = tuple(lines_of(function.body[ast.get_docstring(function) is not None :]))
                if len(body) > 1 and body in bodies:
                    found.append(f"{where}: the function {function.name} stands in {bodies[body]}, too")
                bodies.setdefault(body, where)
            lines = lines_of(tree.body)
            for begin in range(len(lines) - REPEATED + 1):
                run = tuple(lines[begin : begin + REPEATED])
                if run in runs:
                    found.append(f"{where}: {REPEATED} lines from {run[0]!r} stand in {runs[run]}, too")
                runs.setdefault(run, where)
    return found


def lines_of(statements: list[ast.stmt]) -> list[str]:
    """Code without comments, blank lines, imports and indentation, laid out in one way."""
    lines = (line.strip() for statement in statements for line in ast.unparse(statement).split("\n"))
    return [line for line in lines if line and not line.startswith(("import ", "from "))]


def markers(cell) -> set[str]:
    """What nbval is told about a cell by comment or tag: "skip", "ignore", "raises"."""
    told = {tag.lower().replace("_", "-") for tag in cell.metadata.get("tags", [])}
    comments = [line.strip().lstrip("#").strip() for line in cell.source.split("\n") if line.strip().startswith("#")]
    told |= {comment.lower().replace("_", "-") for comment in comments if comment.isupper()}
    meanings = {
        "nbval-skip": "skip",
        "nbval-ignore-output": "ignore",
        "pytest-validate-ignore-output": "ignore",
        "nbval-raises-exception": "raises",
        "raises-exception": "raises",
    }
    return {meanings[marker] for marker in told & set(meanings)}


def course_guards(path: Path, notebook) -> list[str]:
    """All findings on one notebook of the course."""
    findings = [
        *header(notebook, path),
        *closing(notebook),
        *stored_form(notebook),
        *clean_outputs(notebook),
        *machine_paths(notebook),
        *size(path),
        *alt_texts(notebook),
        *links(notebook, path.parent),
        *short_cells(notebook),
        *forbidden_code(notebook),
        *unused_imports(notebook),
        *unpacked_generators(notebook),
    ]
    return [f"{path.name}: {finding}" for finding in findings]
