"""The course in another language: while its modules are loaded, a catalogue's texts take the place of theirs.

    use("de")              # in a translated notebook's first cell, before anything else of the course is imported

The catalogues are gettext files, translations/<language>/<notebook>.po and common.po. What they lack stays English, and
so do names, docstrings and the errors of wrong calls. `tools/translate.py` collects the texts with the same functions,
and writes the notebooks.
"""

import ast
import importlib.abc
import json
import re
import sys
from collections.abc import Callable, Iterator, Mapping
from importlib.machinery import ModuleSpec, PathFinder, SourceFileLoader
from pathlib import Path
from types import CodeType
from typing import Any

FOLDER = Path(__file__).with_name("translations")
NAMING = ("exercises.own", "exercises.kept")  # there single words are the names of classes
SPEAKING = ("exercises", "lessons", "show", "training", "widgets")  # the folders with texts for learners
Say = Callable[[str], str]  # a text in English -> what stands in its place
NO_TEXT = re.compile(  # style sheets, patterns of other texts, names of classes and parts
    r"[;{}]\s*\n|: \S+;|tx-|\\[dw(.]|\w\|\w|\.\*|\wpx\b|\w:\w|(?:translate|rotate)\(|^[a-z-]+: *[\w-]+$"
)
VALUE = re.compile(r"\$?\{[^{}]*\}|<[^<>]*>")
PIECE = re.compile(r"(?:^|\s)[^\W\d_]{2,}\s|\s[^\W\d_]{2,}")  # of a sentence, beside a value
_said: dict[str, str] = {}


def say(text: str) -> str:
    """The text in the language in use; the text itself where that is English, or it is not translated."""
    return _said.get(text, text)


def in_use(make: Callable[[str, Say], str], text: str) -> str:
    """What `script_in` or `drawing_in` makes of a text in the language in use; in English the text as it is."""
    return make(text, say) if _said else text


def languages() -> list[str]:
    """The languages that have catalogues."""
    return sorted(folder.name for folder in FOLDER.iterdir() if any(folder.glob("*.po")))


def use(language: str) -> None:
    """Load the course's modules in this language from now on.

    ValueError for a language that has no catalogue. RuntimeError if modules that speak are there already.
    """
    if language not in languages():
        raise ValueError(f"use: language is {language!r}, expected one of {', '.join(languages())}")
    found = catalogue(language)
    if found == _said:
        return
    late = [name for name in sys.modules if _speaks(name)]
    if late:
        raise RuntimeError(f"use: {late[0]} is loaded already; restart the kernel and run this cell first")
    _said.update(found)
    if not any(isinstance(finder, _Finder) for finder in sys.meta_path):
        sys.meta_path.insert(0, _Finder())


def catalogue(language: str) -> dict[str, str]:
    """Every text that is translated, and not stale (gettext calls that fuzzy), of all the language's catalogues."""
    from babel.messages.pofile import read_po  # JupyterLab brings it

    found: dict[str, str] = {}
    for file in sorted((FOLDER / language).glob("*.po"), reverse=True):  # a notebook's own texts before common ones
        with file.open("rb") as stream:
            done = [one for one in read_po(stream) if one.id and one.string and not one.fuzzy]
        found |= {str(one.id): str(one.string) for one in done}
    return found


# --- Python -----------------------------------------------------------------------------------------------------------
def spots(tree: ast.Module, say: Say, *, where: str = "") -> Iterator[tuple[ast.expr, ast.expr]]:
    """The nodes of a module that hold a text for readers, and what stands in their place when `say` has spoken.

    Those are strings and f-strings in which words stand. A value in an f-string is written in the text as there,
    `{share:.0%}`. `where` is the module's name, "" for a cell: only a cell's docstrings are for readers, and only a
    cell's and a lesson's errors.
    """
    silent: set[int] = set()
    certain: set[int] = set()  # what a cell prints, and pieces of a sentence, `{'upper' if first else 'lower'}`
    tables, labels = dict(_tables(tree)), not where.endswith(NAMING)
    for node in ast.walk(tree):
        hidden = [getattr(node, "annotation", None), getattr(node, "returns", None)]
        if where and isinstance(node, ast.Raise) and ".lessons." not in where:
            hidden.append(node)
        if where and isinstance(node, ast.Expr) and isinstance(node.value, ast.Constant):
            hidden.append(node)
        silent |= {id(inner) for part in hidden if part for inner in ast.walk(part)}
        if id(node) in silent:
            continue
        if not where and isinstance(node, ast.IfExp):
            certain |= {id(node.body), id(node.orelse)}
        if not where and isinstance(node, ast.Call) and getattr(node.func, "id", "") == "print":
            certain |= {id(part) for part in node.args}
        if isinstance(node, ast.JoinedStr):
            silent |= {id(part) for part in node.values if isinstance(part, ast.Constant)}
            values = {_written(part): part for part in node.values if isinstance(part, ast.FormattedValue)}
            silent |= {id(inner) for part in values.values() for inner in ast.walk(part.format_spec or ast.Pass())}
            for inner in ast.walk(node):
                certain |= {id(inner.body), id(inner.orelse)} if isinstance(inner, ast.IfExp) else set()
            text = "".join(map(_written, node.values))
            bare = VALUE.sub("", text)
            if is_text(text, labels) or (PIECE.search(bare) and not NO_TEXT.search(bare)):
                yield node, ast.copy_location(_joined(say(text), values), node)
        elif isinstance(node, ast.Constant) and isinstance(node.value, str):
            if id(node) in tables:
                yield node, ast.copy_location(ast.Constant(tables[id(node)](node.value, say)), node)
            elif is_text(node.value, labels) or (id(node) in certain and re.search(r"[^\W\d_]{2,}", node.value)):
                yield node, ast.copy_location(ast.Constant(say(node.value)), node)


def is_text(text: str, labels: bool = True) -> bool:
    """Are there two words in it, or one with a capital? Style sheets, patterns, code and names are no text."""
    bare = VALUE.sub("", text).strip()
    if NO_TEXT.search(bare):
        return False
    if re.fullmatch(r"\s+[^\W\d_]{2,}\W*|\W*[^\W\d_]{2,}\s+|[✓✗…] [^\W\d_]{2,}.*", text):  # a piece of a sentence
        return True
    pattern = r"[^\W\d_]{2,}\W*?\s(?s:.*?)[^\W\d_]{2,}" + (r"|^\W*[A-Z][a-zà-ÿ]+\W*$" if labels else "")
    return bool(re.search(pattern, bare))


def _written(part: ast.expr) -> str:
    """A part of an f-string as it stands in a text."""
    if isinstance(part, ast.Constant):
        return str(part.value).replace("{", "{{").replace("}", "}}")
    return ast.unparse(ast.JoinedStr([part]))[2:-1]


def _joined(text: str, values: dict[str, ast.FormattedValue]) -> ast.JoinedStr:
    """The f-string of a text, with the values that it names; ValueError if one is left over."""
    parts: list[ast.expr] = []
    for piece in re.split(f"({'|'.join(map(re.escape, values))})", text) if values else [text]:
        if piece in values:
            parts.append(values[piece])
        elif piece:
            if re.search(r"\{|\}", piece.replace("{{", "").replace("}}", "")):
                raise ValueError(f"translation {text!r}: expected no values but {', '.join(values) or 'none'}")
            parts.append(ast.Constant(piece.replace("{{", "{").replace("}}", "}")))
    return ast.JoinedStr(parts)


def _tables(tree: ast.Module) -> Iterator[tuple[int, Callable[[str, Say], str]]]:
    """The tables of quizzes and mistakes, by the id of their node, and how each is said."""
    for node in ast.walk(tree):
        if isinstance(node, ast.Call) and node.args:
            name = getattr(node.func, "attr", getattr(node.func, "id", ""))
            if name in ("questions", "slips"):
                yield id(node.args[0]), _quiz if name == "questions" else _mistakes


def _quiz(table: str, say: Say) -> str:
    rows = []
    for row in filter(str.strip, re.sub(r"\s*\n {4,}", " ", table).split("\n")):
        mark, rest = (row[:4], row[4:].split(" | ", 1)) if row[0] == " " else ("", [row])
        rows.append(mark + " | ".join(map(say, rest)))
    return "\n".join(rows)


def _mistakes(table: str, say: Say) -> str:
    """The lines that are indented by two, and what runs on as far in, are one text each."""
    sentence = re.compile(r"^ {2,5}\S.*(?:\n {2,5}\S.*)*", re.MULTILINE)
    return sentence.sub(lambda found: "  " + say(" ".join(found[0].split())), table)


class _Replace(ast.NodeTransformer):
    def __init__(self, found: dict[int, ast.expr]):
        self.found = found

    def visit(self, node: ast.AST) -> ast.AST:
        return self.generic_visit(self.found.get(id(node), node))


def module_in(tree: ast.Module, say: Say, where: str) -> ast.Module:
    """A module's tree with the texts that `say` gives."""
    replaced(tree, list(spots(tree, say, where=where)))
    return ast.fix_missing_locations(tree)


def replaced(tree: ast.AST, pairs: list[tuple[ast.expr, ast.expr]]) -> ast.AST:
    """The tree with new nodes in place of old ones, also inside of new ones; it is changed."""
    return _Replace({id(old): new for old, new in pairs}).visit(tree)


def _speaks(name: str) -> bool:
    return name.startswith(tuple(f"tx_helpers.{folder}" for folder in SPEAKING))


class _Loader(SourceFileLoader):
    def path_stats(self, path: Any) -> Mapping[str, Any]:
        raise OSError("the compiled file on the disk is in English")

    def source_to_code(self, data: Any, path: Any, **options: Any) -> CodeType:  # type: ignore[override]
        return super().source_to_code(module_in(ast.parse(data), say, self.name), path, **options)


class _Finder(importlib.abc.MetaPathFinder):
    def find_spec(self, name: str, path: Any, target: Any = None) -> ModuleSpec | None:
        spec = PathFinder.find_spec(name, path) if _speaks(name) else None
        if spec and spec.origin:
            spec.loader = _Loader(name, spec.origin)
        return spec


# --- scripts and drawings ---------------------------------------------------------------------------------------------
LITERAL = re.compile(r'//[^\n]*|/\*.*?\*/|"(?:[^"\\\n]|\\.)*"|`', re.DOTALL)


def script_in(script: str, say: Say) -> str:
    """A script of JavaScript with the texts that `say` gives; values stand in them as there, `${count}`."""
    found, end = [], 0
    while match := LITERAL.search(script, end):
        found.append(script[end : match.start()])
        literal, end = match[0], match.end()
        if literal == "`":
            end = _closing(script, end, "`") + 1
            text = script[match.end() : end - 1]
            literal = f"`{_values_in(say(text) if is_text(text) else text, say)}`"
        elif literal[0] == '"' and is_text(text := json.loads(literal)):
            literal = json.dumps(say(text), ensure_ascii=False)
        found.append(literal)
    return "".join([*found, script[end:]])


def _closing(script: str, place: int, mark: str) -> int:
    """Where the template literal ends, or the value in one (mark "}"), inside of which the place is."""
    while script[place] != mark:
        if mark == "`" and script.startswith("${", place):
            place = _closing(script, place + 2, "}")
        elif mark == "}" and script[place] in "`{":
            place = _closing(script, place + 1, "`" if script[place] == "`" else "}")
        place += 2 if script[place] == "\\" else 1
    return place


def _values_in(text: str, say: Say) -> str:
    """The text of a template literal with its values' own texts said."""
    found, end = [], 0
    while (start := text.find("${", end)) >= 0:
        close = _closing(text, start + 2, "}")
        found.append(text[end : start + 2] + script_in(text[start + 2 : close], say))
        end = close
    return "".join([*found, text[end:]])


def drawing_in(svg: str, say: Say) -> str:
    """A drawing with the texts that `say` gives."""
    return re.sub(r"(?<=>)([^<>]*[^\W\d_]{2,}[^<>]*)(?=</)", lambda found: say(found[1]), svg)
