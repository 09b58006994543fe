"""The code cells that some cells of a notebook need: what they name, and what makes or changes it, back to the top.

The browser suite runs whole notebooks in JupyterLab, and in Notebook 7 only what the explorers need, to save minutes.
The rule is a simple one; if it leaves out too much, the explorer's cell fails, and with it the test.
"""

import ast
import re
from collections.abc import Callable

EXPLORER = re.compile(r"\b\w*explorer\(|\bAttentionView\.|\bExplore\(")


def needed_cells(sources: list[str], wanted: Callable[[str], object] = EXPLORER.search) -> list[int]:
    """Indices of the wanted cells, of the set-up cell (the first), and of all that these need."""
    needed: set[str] = set()
    kept = []
    for index in reversed(range(len(sources))):
        code = re.sub(r"^(\s*)[%!].*$", r"\1pass", sources[index], flags=re.MULTILINE)  # magics are no Python
        reads, changes = names_in(ast.parse(code))
        if index == 0 or wanted(sources[index]) or changes & needed:
            kept.append(index)
            needed |= reads
    return kept[::-1]


def names_in(tree: ast.Module) -> tuple[set[str], set[str]]:
    """Names a cell reads, and names it binds or may change (`x.y = …`, `x[…] = …`, a statement `x.append(…)`)."""
    reads, changes = set(), set()
    for node in ast.walk(tree):
        if isinstance(node, ast.Name):
            (reads if isinstance(node.ctx, ast.Load) else changes).add(node.id)
        elif isinstance(node, (ast.Import, ast.ImportFrom)):
            changes |= {(alias.asname or alias.name).split(".")[0] for alias in node.names}
        elif isinstance(node, (ast.FunctionDef, ast.ClassDef)):
            changes.add(node.name)
        elif isinstance(node, (ast.Attribute, ast.Subscript)) and isinstance(node.ctx, ast.Store):
            changes |= owner_of(node)
        elif isinstance(node, ast.Expr) and isinstance(node.value, ast.Call):
            changes |= owner_of(node.value.func) if isinstance(node.value.func, ast.Attribute) else set()
    return reads, changes


def owner_of(node: ast.expr) -> set[str]:
    """{"x"} for x.y[0].z, empty where no name is at the root."""
    while isinstance(node, (ast.Attribute, ast.Subscript, ast.Call)):
        node = node.func if isinstance(node, ast.Call) else node.value
    return {node.id} if isinstance(node, ast.Name) else set()
