"""How much of the course strict nbval really compares.

nbval compares text, HTML, SVG and streams, never a PNG or JPEG. Where an output cannot change, whatever the package
computes, the comparison tests nothing; such cells do not count here.
"""

import ast
import re
from collections.abc import Iterator

import notebook_parts
from notebook_guards import code_cells, markers, python_of, text_of

COMPARED_KINDS = ("text/plain", "text/html", "text/markdown", "text/latex", "image/svg+xml", "application/json")
NO_NEWS = re.compile(
    r"^\s*(?:<Figure size .*>|<IPython\.core\.display\..*>|\[?<.* at 0x[0-9a-f]+>.*|\s*\d*%\|.*\|.*\[.*\]|)\s*$"
)
PRINTERS = {"print", "display", "HTML", "Markdown", "Latex", "str", "repr", "drawing"}  # show their arguments


def is_compared(cell) -> bool:
    """Would strict nbval notice if what this cell computes changed?

    Not if the output is ignored, a picture alone, a bare repr or progress bar, or text that the source holds already.
    """
    if markers(cell) & {"skip", "ignore"} or cell.execution_count is None:
        return False
    written = written_lines(cell)
    return any(tells_something(output, written) for output in notebook_parts.shown(cell)) and not is_constant(cell)


def written_lines(cell) -> set[str]:
    """The lines of all strings in the source. Showing them again tests nothing (`show(figure, "a curve falls")`)."""
    texts = [node.value for node in ast.walk(ast.parse(python_of(cell))) if isinstance(node, ast.Constant)]
    return {line.strip() for text in texts if isinstance(text, str) for line in text.split("\n") if len(line) >= 4}


def tells_something(output, written: set[str]) -> bool:
    """Has this output a part that nbval compares and that is more than a bare repr or what is written in the source?"""
    if output.output_type == "stream":
        parts = [output.text]
    else:
        parts = [output.get("data", {}).get(kind, "") for kind in COMPARED_KINDS]
    lines = [line for part in parts for line in text_of(part).split("\n")]
    return any(not NO_NEWS.match(line) and line.strip() not in written for line in lines)


def is_constant(cell) -> bool:
    """Does everything that the cell shows stand in its source, with nothing computed?

    A cell may show the arguments of print and display, other calls on a line of their own, and the value of its last
    line. A name counts as written if this cell bound it to a literal.
    """
    tree = ast.parse(python_of(cell))
    literal, shown = literal_names(tree), []
    for node in top_level(tree):
        if not isinstance(node, ast.Expr):
            continue
        if isinstance(node.value, ast.Call) and called(node.value) in {"print", "display"}:
            shown += node.value.args
        elif isinstance(node.value, ast.Call) or node is tree.body[-1]:
            shown.append(node.value)
    return bool(shown) and not any(computes(node, literal) for node in shown)


def top_level(tree: ast.AST) -> Iterator[ast.stmt]:
    """All statements that run with the cell: not those inside functions and classes."""
    for node in ast.iter_child_nodes(tree):
        if isinstance(node, (ast.FunctionDef, ast.AsyncFunctionDef, ast.ClassDef, ast.Lambda)):
            continue
        if isinstance(node, ast.stmt):
            yield node
        yield from top_level(node)


def literal_names(tree: ast.AST) -> set[str]:
    """Names that this cell binds to nothing but literals, by assignment or as the variable of a loop."""
    literal: set[str] = set()
    for node in top_level(tree):
        if isinstance(node, ast.Assign):
            value, targets = node.value, node.targets
        elif isinstance(node, (ast.For, ast.AnnAssign)):
            value, targets = getattr(node, "iter", None) or node.value, [node.target]
        else:
            continue
        names = {n.id for target in targets for n in ast.walk(target) if isinstance(n, ast.Name)}
        literal = literal - names if value is None or computes(value, literal) else literal | names
    return literal


def computes(node: ast.AST, literal: set[str]) -> bool:
    """Does an expression compute something: a name from elsewhere, a call of something other than a printer?"""
    bound = {n.id for n in ast.walk(node) if isinstance(n, ast.Name) and isinstance(n.ctx, ast.Store)}
    for part in ast.walk(node):
        if isinstance(part, ast.Call) and called(part) not in PRINTERS:
            return True
        if isinstance(part, ast.Name) and part.id not in literal | bound | PRINTERS:
            return True
    return False


def called(call: ast.Call) -> str:
    """Name of what is called: "print", "show"; "" for anything that has no plain name."""
    return getattr(call.func, "id", "")


def compared_share(notebooks: list) -> tuple[int, int]:
    """(cells that strict nbval really compares, cells with an output) over a set of notebooks."""
    bearing = [cell for notebook in notebooks for cell in code_cells(notebook) if cell.outputs]
    return sum(map(is_compared, bearing)), len(bearing)
