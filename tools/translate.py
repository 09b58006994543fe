"""Bring catalogues of a language up to date, say what they lack, and write the translated notebooks.

    python tools/translate.py de            every catalogue that German has; notebooks into build/de/notebooks
    python tools/translate.py de 00 04      these, new ones too
    python tools/translate.py de --check    list what is not translated or stale; write nothing; the exit code is then 1

A catalogue is a gettext file, tx_helpers/translations/<language>/<notebook>.po, with all that a learner reads there:
paragraphs, the texts and comments of code, exercises, quizzes, explorers, drawings. common.po has what all notebooks
share. Write a translation behind `msgstr`, with any editor of such files. Formulas, code in backticks, link targets and
values in braces stay as they are; a value may be left out. A text that changes in English is marked "fuzzy", with the
old text beside it, and is shown in English until its translation is looked at and the mark removed. A text that is the
same in both languages (input of a model, a name) is repeated. The notebooks are executed; only the package is needed.
"""

import argparse
import ast
import io
import re
import subprocess
import sys
import textwrap
import tokenize
from collections import Counter
from collections.abc import Iterator
from pathlib import Path

import nbformat
from babel.messages.catalog import Catalog
from babel.messages.pofile import read_po, write_po

from notebook_frame import ROOT
from notebook_parts import cell_headings
from refresh_notebooks import CellError, clean, execute, fold, load
from tx_helpers import language
from tx_helpers.language import FOLDER, Say, drawing_in, is_text, replaced, script_in, spots

NOTEBOOKS = ROOT / "notebooks"
PACKAGE = ROOT / "tx_helpers"
SHARED = ("exercises/*", "show/*", "training/loop.py", "widgets/*", "widgets/*/*")
FOR_TEACHERS = ("class_page", "class_work", "concepts", "graders", "handed_in")
COMMON = "common"
SET_UP = "# Set-up"
WIDTH = 88  # of a line of code
KEPT = re.compile(  # what a translation keeps as it is
    r"\$(?!\{)[^$]+\$(?!\{)|`[^`]+`|\]\([^)\s]+|<[^>]+>|\$?\{[^{}]*\}"
)
PICTURE = re.compile(r"\s*\[[\w.]+\]: data:")  # an attachment
TITLED = re.compile(r'\]\((#[^)\s"]+) "([^"]*)"\)')  # a link to the glossary that says what the term means


# --- what there is to translate ---------------------------------------------------------------------------------------
def prose_in(markdown: str, say: Say) -> str:
    """A text cell with the paragraphs, and the cells of tables, that `say` gives; code and formulas alone stay."""
    found = []
    for block in re.split(r"(\n\s*\n|^```[\s\S]*?^```)", markdown, flags=re.MULTILINE):
        if block.startswith("```") or not block.strip():
            found.append(block)
        elif block.lstrip().startswith("|"):
            found.append("\n".join(map(lambda row: _row_in(row, say), block.split("\n"))))
        elif re.search(r"[^\W\d_]{2,}", KEPT.sub("", block)) and not PICTURE.match(block):
            found.append(_with_titles(say(TITLED.sub(r"](\1)", block)), block, say))
        else:
            found.append(block)
    return "".join(found)


def _row_in(row: str, say: Say) -> str:
    """The row of a table; the anchor in front of a term is none of the text."""

    def cell(found: re.Match[str]) -> str:
        anchors, text = found[1], found[2]
        if link := re.fullmatch(r"\[(\w+)\](\(#cell-id=\S+\))", text):  # one word for all of them
            return f"[{say(link[1])}]{link[2]}"
        if re.search(r"[^\W\d_]{2,}", KEPT.sub("", text)) or (text and anchors):
            text = _with_titles(say(TITLED.sub(r"](\1)", text)), text, say)
        return anchors + text

    parts = re.split(r"(\s*(?<!\\)\|\s*)", row)
    return "".join(re.sub(r"^((?:<a id[^>]*></a>)*)(.*)$", cell, part, count=1) for part in parts)


def _with_titles(translated: str, english: str, say: Say) -> str:
    """A translated text with the meanings of its terms, which its English form has in the titles of links."""
    titles = dict(TITLED.findall(english))
    return re.sub(
        r"\]\((#[^)\s]+)\)",
        lambda found: f']({found[1]} "{say(titles[found[1]])}")' if found[1] in titles else found[0],
        translated,
    )


def texts_of(name: str) -> list[tuple[str, str]]:
    """(text, where it stands) for a notebook's stem, or for what all share, in the order of reading; each once."""
    found: dict[str, str] = {}

    def listen(place: str) -> Say:
        def hear(text: str) -> str:
            found.setdefault(text, place)
            return text

        return hear

    if name == COMMON:
        files = [file for pattern in SHARED for file in sorted(PACKAGE.glob(pattern)) if file.stem not in FOR_TEACHERS]
    else:
        files = sorted((PACKAGE / "lessons" / name.partition("_")[2]).rglob("*.*"))
        notebook = load(NOTEBOOKS / f"{name}.ipynb")
        for cell in notebook.cells:
            translate_cell(cell, listen(f"cell {cell.id}"))
        code = "\n".join(cell.source for cell in notebook.cells if cell.cell_type == "code")
        code += "".join(file.read_text("utf-8") for file in files if file.suffix == ".py")
        for drawing in re.findall(r'\bdrawing\("(\w+)"\)', code):
            drawing_in((ROOT / "figures" / f"{drawing}.svg").read_text("utf-8"), listen(f"drawing {drawing}"))
    for file in files:
        place = file.relative_to(PACKAGE)
        if file.suffix == ".js":
            script_in(file.read_text("utf-8"), listen(str(place)))
        elif file.suffix == ".py":
            module = ".".join(["tx_helpers", *place.with_suffix("").parts])
            for _ in spots(ast.parse(file.read_text("utf-8")), listen(str(place)), where=module):
                pass
    return [pair for pair in found.items() if pair[0].strip()]


def translate_cell(cell: nbformat.NotebookNode, say: Say) -> None:
    """Put what `say` gives into a cell."""
    if cell.cell_type == "markdown":
        cell.source = prose_in(cell.source, say)
    elif cell.cell_type == "code" and not cell.source.startswith(SET_UP):
        cell.source = cell_in(cell.source, say)


def cell_in(source: str, say: Say) -> str:
    """A cell's code with the texts that `say` gives, comments included; what is no Python stays as it is."""
    try:
        tree = ast.parse(source)
    except SyntaxError:  # a magic
        return source
    pairs, code = list(spots(tree, say)), source.encode()
    starts = [0, *(match.end() for match in re.finditer(rb"\n", code))]
    done = len(code)
    for old, new in sorted(pairs, key=lambda pair: (-(pair[0].end_lineno or 0), -(pair[0].end_col_offset or 0))):
        start = starts[old.lineno - 1] + old.col_offset
        stop = starts[(old.end_lineno or 0) - 1] + (old.end_col_offset or 0)
        if stop <= done:  # else it stands inside of one that is written already
            done = start
            if ast.dump(old) != ast.dump(said := replaced(new, pairs)):
                code = code[:start] + _literal(said, old).encode() + code[stop:]
    return _comments_in(code.decode(), say)


def _literal(new: ast.AST, old: ast.expr) -> str:
    """The source of a string; one that is too long for its line runs over several, in brackets."""
    short = ast.unparse(new)
    if "\\n" not in short and old.col_offset + len(short) < WIDTH:
        return short
    lines: list[list[ast.expr]] = [[]]
    for part in new.values if isinstance(new, ast.JoinedStr) else [new]:
        text = str(part.value) if isinstance(part, ast.Constant) else ""
        if "\n    " in text and '"' not in text:  # a docstring
            return f'"""{text}"""'
        for piece in [ast.Constant(word) for word in re.findall(r"\s*\S+\s*$|\s*\S+", text)] or [part]:
            if lines[-1] and len(_line([*lines[-1], piece])) + old.col_offset + 4 > WIDTH:
                lines.append([])
            lines[-1].append(piece)
    if old.lineno != old.end_lineno:  # in brackets already
        return ("\n" + " " * old.col_offset).join(map(_line, lines))
    return f"({(chr(10) + ' ' * (old.col_offset + 1)).join(map(_line, lines))})"


def _line(parts: list[ast.expr]) -> str:
    """A piece of a string, without an f where no value is in it."""
    if all(isinstance(part, ast.Constant) for part in parts):
        return ast.unparse(ast.Constant("".join(str(part.value) for part in parts if isinstance(part, ast.Constant))))
    return ast.unparse(ast.JoinedStr(parts))


def _comments_in(code: str, say: Say) -> str:
    """The code with its comments said; those of lines that follow each other are one text."""

    def said(found: re.Match[str]) -> str:
        indent, text = found[1], " ".join(line.strip().lstrip("# ") for line in found[0].strip().split("\n"))
        if not is_text(text) or say(text) == text:
            return found[0]
        return textwrap.fill(say(text), WIDTH, initial_indent=f"{indent}# ", subsequent_indent=f"{indent}# ")

    code = re.sub(r"^([ ]*)# .*(?:\n\1# .*)*", said, code, flags=re.MULTILINE)
    lines = code.split("\n")
    for token in tokenize.generate_tokens(io.StringIO(code).readline):
        (row, column), text = token.start, token.string.lstrip("# ")
        if token.type == tokenize.COMMENT and lines[row - 1][:column].strip() and is_text(text):
            lines[row - 1] = f"{lines[row - 1][:column]}# {say(text)}"
    return "\n".join(lines)


# --- catalogues -------------------------------------------------------------------------------------------------------
def updated(tongue: str, name: str) -> Catalog:
    """A catalogue with today's English texts; what was translated stays, and what has changed since is fuzzy."""
    template, file = Catalog(), FOLDER / tongue / f"{name}.po"
    for text, place in texts_of(name):
        template.add(text, auto_comments=[place])
    before = Catalog(locale=tongue, fuzzy=False, project="Transformer course", header_comment=f"# {name}")
    if file.exists():
        with file.open("rb") as stream:
            before = read_po(stream, locale=tongue)
    before.update(template)
    return before


def faults(catalogue: Catalog) -> list[str]:
    """Translations that lost a formula, code or a link, or have one more, or a value that English does not have."""
    found = []
    for one in (one for one in catalogue if one.id and one.string and not one.fuzzy):
        here, there = (Counter(map(_kept, KEPT.findall(str(text)))) for text in (one.id, one.string))
        lost = [piece for piece in here - there if not piece.startswith(("{", "${"))]
        if lost or there - here:
            found.append(f"{str(one.id)[:60]!r}: expected {lost} and not {list(there - here)}")
    return found


def _kept(piece: str) -> str:
    """Values in braces may say a text of their own, so their strings do not count."""
    return re.sub(r"'[^']*'", "''", piece)


def lacking(catalogue: Catalog) -> list[str]:
    """Texts without a translation, or with a stale one."""
    return [str(one.id) for one in catalogue if one.id and (one.fuzzy or not one.string)]


def written(catalogue: Catalog) -> bytes:
    """The file's content: without the date, which would change at every run, and without what is gone in English."""
    stream = io.BytesIO()
    write_po(stream, catalogue, width=118, ignore_obsolete=True, include_previous=True, omit_header=False)
    return re.sub(rb'^"(?:POT?-\S+-Date|Generated-By|Report-Msgid)[^\n]*\n', b"", stream.getvalue(), flags=re.MULTILINE)


# --- notebooks --------------------------------------------------------------------------------------------------------
def in_language(names: list[str], tongue: str, say: Say) -> dict[str, nbformat.NotebookNode]:
    """The notebooks in another language: texts, links to headings and to others, the line that tells the package."""
    found, anchors = {name: load(NOTEBOOKS / f"{name}.ipynb") for name in names}, {}
    for name, notebook in found.items():
        for cell in notebook.cells:
            before = _anchors(cell)
            translate_cell(cell, say)
            anchors |= {(f"{name}.ipynb", old): new for old, new in zip(before, _anchors(cell), strict=False)}
            if cell.source.startswith(SET_UP):
                cell.source += f'\n\nimport tx_helpers.language\n\ntx_helpers.language.use("{tongue}")'

    def link(file: str, place: str) -> str:
        return ("" if Path(file).stem in names or not file else "../../../notebooks/") + file + place

    for name, notebook in found.items():

        def linked(match: re.Match[str], here: str = f"{name}.ipynb") -> str:
            file, heading = match[1], match[2]
            return f"]({link(file, '#' + anchors.get((file or here, heading), heading) if heading else '')}"

        for cell in notebook.cells:
            if cell.cell_type == "markdown":
                cell.source = re.sub(r"\]\((\w*(?:\.ipynb)?)(?:#([^)\s]+))?(?=[)\s])", linked, cell.source)
    return found


def _anchors(cell: nbformat.NotebookNode) -> list[str]:
    """The addresses of the cell's headings, as Jupyter makes them."""
    plain = (re.sub(r"\]\([^)]*\)|[*`\[]", "", heading) for _, heading in cell_headings(cell))
    return [heading.strip().replace(" ", "-") for heading in plain]


def make(tongue: str, names: list[str], folder: Path) -> Iterator[Path]:
    """Write and execute the notebooks in the language, one after the other. CellError if a cell fails."""
    (folder / "notebooks").mkdir(parents=True, exist_ok=True)
    found = language.catalogue(tongue)
    for name, notebook in in_language(names, tongue, lambda text: found.get(text, text)).items():
        execute(notebook, folder / "notebooks", name, 600)
        clean(notebook)
        fold(notebook)
        nbformat.write(notebook, path := folder / "notebooks" / f"{name}.ipynb")
        subprocess.run([sys.executable, "-m", "ruff", "format", "-q", "--line-length", str(WIDTH), path], check=True)
        yield path


def main(arguments: list[str] | None = None) -> int:
    """Command line; returns the exit code."""
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("language", help="a code that Babel knows: de, fr, pt_BR")
    parser.add_argument("notebooks", nargs="*", help="numbers, 00 04; without one, those that have a catalogue")
    parser.add_argument("--check", action="store_true")
    given = parser.parse_args(arguments)
    stems = [path.stem for path in sorted(NOTEBOOKS.glob("[0-9]*.ipynb"))]
    folder = FOLDER / given.language
    chosen = [stem for stem in stems if stem[:2] in given.notebooks or not given.notebooks]
    if unknown := sorted(set(given.notebooks) - {stem[:2] for stem in stems}):
        parser.error(f"no notebook has the number {unknown[0]}; expected one of {stems[0][:2]} to {stems[-1][:2]}")
    if not given.notebooks:
        chosen = [stem for stem in stems if (folder / f"{stem}.po").exists()]
    if not chosen:
        parser.error(f"{given.language} has no catalogue yet; name the notebooks to begin with")
    wrong = 0
    for name in [COMMON, *chosen]:
        try:
            catalogue = updated(given.language, name)
        except ValueError as error:  # an unknown language, or a damaged file
            parser.error(f"{given.language}/{name}.po: {error}")
        missing, broken = lacking(catalogue), faults(catalogue)
        wrong += len(missing) + len(broken)
        print(f"{name}: {len(catalogue) - len(missing)} of {len(catalogue)} texts translated")
        for line in broken + [text for text in missing if given.check]:
            print(f"  {line}")
        if not given.check:
            folder.mkdir(parents=True, exist_ok=True)
            (folder / f"{name}.po").write_bytes(written(catalogue))
    if given.check:
        return int(wrong > 0)
    try:
        for path in make(given.language, chosen, ROOT / "build" / given.language):
            print(path.relative_to(ROOT))
    except CellError as error:
        print(error, file=sys.stderr)
        return 1
    return 0


if __name__ == "__main__":
    sys.exit(main())
