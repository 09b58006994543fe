"""The parts of a notebook, read from its headings and tags: optional sections, the core path, folded code, words.

An optional section begins with a markdown cell whose first line is "### Optional: …" (or with two, four … hashes) and
ends before the next cell with a heading of the same or a higher level. The core path is every cell outside the optional
sections, "## Exercises" and "## Glossary". Code is folded away in a cell with the tag `hide-input`.
"""

import ast
import re

from nbformat import NotebookNode, from_dict

from tx_helpers.exercises.waiting import unfolded

PREDICTION = re.compile(r"^(\w+) = predict\(", re.MULTILINE)
KEY = re.compile(r"\s*[\"']([\w-]+)[\"']")  # the first argument of predict
REVEAL = re.compile(r"^(\w+)\.reveal\(", re.MULTILINE)
HIDE = "hide-input"
WORDS_TITLE = "The words of this notebook"  # heading of the table that tools/link_terms.py writes into the last cell
APART = re.compile(r"Exercises$|Glossary$")  # sections of level 2 that are looked up or worked through, not read
EXPLORER = re.compile(r"^(?:\w+ = )?(\w*explorer\(|Attention(?:View\.|Stepper\()|Explore\(|machine\()", re.MULTILINE)
MADE_BY_TOOLS = re.compile(
    rf"^(?:<!-- colab -->|\*\*You are here:\*\*|\*\*Time:\*\*|\[\w+\.webp\]: )[^\n]*$|^### {WORDS_TITLE}$.*\Z",
    re.M | re.S,
)
NOT_WORDS = re.compile(
    r"^\s*```.*?^\s*```"  # code
    r"|`[^`\n]*`"
    r"|\$\$.*?\$\$|\$[^$\n]+(?:\n[^$\n]+)?\$"  # formulas, an inline one over two lines at most
    r"|!\[[^\]]*\][\[(][^)\]]*[)\]]"  # pictures
    r"|(?<=\])\([^)]*\)"  # where links lead
    r"|<!--.*?-->|<[^>\n]+>"  # HTML
    r"|^[|: -]+$",  # the line below a table's head
    re.MULTILINE | re.DOTALL,
)
WORD = re.compile(r"\w[\w'’.,-]*")


def headings(source: str) -> list[tuple[int, str]]:
    """(level, title) of every heading of a markdown text, those in code left out."""
    text = re.sub(r"^\s*```.*?^\s*```", "", source, flags=re.MULTILINE | re.DOTALL)
    return [(len(marks), title.strip()) for marks, title in re.findall(r"^(#{1,6}) (.*)$", text, re.MULTILINE)]


def cell_headings(cell: dict) -> list[tuple[int, str]]:
    """The headings of a cell; none for code."""
    return headings(cell["source"]) if cell["cell_type"] == "markdown" else []


def is_optional(cell: dict) -> bool:
    """Whether an optional section begins with this cell."""
    return cell["cell_type"] == "markdown" and re.match(r"#{2,6} Optional: \S", cell["source"]) is not None


def section(cells: list[dict], begin: int) -> range:
    """The indices of the section that begins with this cell's first heading."""
    level = cell_headings(cells[begin])[0][0]
    for index in range(begin + 1, len(cells)):
        if any(other <= level for other, _ in cell_headings(cells[index])):
            return range(begin, index)
    return range(begin, len(cells))


def optional_sections(cells: list[dict]) -> list[range]:
    """The indices of each optional section, its heading's cell first."""
    return [section(cells, index) for index, cell in enumerate(cells) if is_optional(cell)]


def core_path(cells: list[dict]) -> list[dict]:
    """The cells that everybody reads."""
    apart = {index for part in optional_sections(cells) for index in part}
    for index, cell in enumerate(cells):
        if any(level == 2 and APART.match(title) for level, title in cell_headings(cell)[:1]):
            apart |= set(section(cells, index))
    return [cell for index, cell in enumerate(cells) if index not in apart]


def is_folded(cell: dict) -> bool:
    """Whether a cell's code is folded away: it has the tag, or is the set-up, a prediction or its reveal."""
    if cell["cell_type"] != "code":
        return False
    tagged = HIDE in cell["metadata"].get("tags", [])
    return tagged or cell["source"].startswith("# Set-up") or asks_or_tells(cell)


def asks_or_tells(cell: dict) -> bool:
    """Whether a code cell makes a prediction or reveals what became of one."""
    return any(kind.search(cell["source"]) is not None for kind in (PREDICTION, REVEAL))


def told(cell: dict) -> list[str]:
    """The texts of a code cell that learners read on the page: those of `predict` and `reveal`, without the key."""
    texts = []
    for node in ast.walk(ast.parse(re.sub(r"^\s*[%!](?!=).*$", "", cell["source"], flags=re.MULTILINE))):
        if isinstance(node, ast.Call) and getattr(node.func, "id", getattr(node.func, "attr", "")) in (
            "predict",
            "reveal",
        ):
            first = 1 if isinstance(node.func, ast.Name) else 0
            for part in (*node.args[first:], *(keyword.value for keyword in node.keywords)):
                texts += literals(part)
    return texts


def literals(node: ast.AST) -> list[str]:
    """The strings in an expression, without what an f-string computes."""
    if isinstance(node, ast.Constant):
        return [node.value] if isinstance(node.value, str) else []
    if isinstance(node, ast.FormattedValue):
        return []
    return [text for child in ast.iter_child_nodes(node) for text in literals(child)]


def prose(cell: dict) -> str:
    """What a learner reads in a cell: markdown without formulas, code and the lines that tools write; see `told`."""
    if cell["cell_type"] == "markdown":
        return NOT_WORDS.sub(" ", MADE_BY_TOOLS.sub("", cell["source"]))
    return "\n\n".join(told(cell)) if asks_or_tells(cell) else ""


def words(cells: list[dict]) -> int:
    """The number of words of these cells' prose."""
    return sum(len(WORD.findall(prose(cell))) for cell in cells)


def waiting(cells: list[dict]) -> dict[int, str]:
    """Index of each code cell between a prediction and its finding -> the prediction's key."""
    asked: dict[str, tuple[str, int]] = {}
    found: dict[int, str] = {}
    for index, cell in enumerate(cells):
        if cell["cell_type"] != "code":
            continue
        if told := REVEAL.search(cell["source"]):
            key, start = asked.pop(told[1], ("", index))  # without a question nothing waits
            found |= {n: key for n in range(start + 1, index) if cells[n]["cell_type"] == "code"}
        for question in PREDICTION.finditer(cell["source"]):
            if named := KEY.match(cell["source"], question.end()):
                asked[question[1]] = named[1], index
    return found


def shown(cell: NotebookNode) -> list[NotebookNode]:
    """A code cell's outputs, those that wait for a guess without their fold."""
    return [from_dict(unfolded(output)) for output in cell.outputs]
