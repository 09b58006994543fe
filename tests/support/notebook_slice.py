"""The code cells that some cells of a notebook need: what they read, and what makes or changes it, back to the top.

To save minutes, the browser suite runs in Notebook 7 only what the explorers need, and the tests of the claims run only
what their cells need. Names are followed by their scopes. A second name for the same object is not seen: then the
wanted cell fails, and with it the test.
"""

import ast
import re
import symtable
from collections.abc import Callable
from dataclasses import dataclass, field

EXPLORER = re.compile(r"\b\w*explorer\(|\bAttentionView\.|\bAttentionStepper\(|\bExplore\(|\bmachine\(")


@dataclass
class Names:
    """What a cell does with the notebook's names.

    reads    needs before it runs, including what the functions that it uses will read
    changes  binds, or may change (`x.y = …`, `x[…] = …`, a statement `x.append(…)`)
    binds    surely binds, whatever they were before
    """

    reads: set[str] = field(default_factory=set)
    changes: set[str] = field(default_factory=set)
    binds: set[str] = field(default_factory=set)


def needed_cells(sources: list[str], wanted: Callable[[str], object] = EXPLORER.search) -> list[int]:
    """Indices of the wanted cells, of the set-up cell (the first), and of all that these need."""
    trees = [ast.parse(without_magics(source)) for source in sources]
    bodies = read_in_functions(trees)
    needed: set[str] = set()
    kept = []
    for index in reversed(range(len(sources))):
        cell = names_in(trees[index], bodies)
        if index == 0 or wanted(sources[index]) or cell.changes & needed:
            kept.append(index)
            needed = needed - cell.binds | cell.reads
    return kept[::-1]


def without_magics(source: str) -> str:
    """The source with magics and shell lines, which are not Python, blanked."""
    return re.sub(r"^(\s*)[%!](?!=).*$", r"\1pass", source, flags=re.MULTILINE)


def read_in_functions(trees: list[ast.Module]) -> dict[str, set[str]]:
    """What each function, class or lambda of a notebook reads of its names, by itself and through what it calls."""
    bodies: dict[str, set[str]] = {}
    for node in (node for tree in trees for node in ast.walk(tree)):
        if isinstance(node, (ast.FunctionDef, ast.ClassDef)):
            bodies.setdefault(node.name, set()).update(referenced(node)[1])
        elif isinstance(node, ast.Assign) and any(isinstance(inner, ast.Lambda) for inner in ast.walk(node)):
            for name in set().union(*map(stored, node.targets)):
                bodies.setdefault(name, set()).update(referenced(node)[1])
    for _ in bodies:  # through as many calls as there are functions, at most
        for reads in bodies.values():
            reads |= {inner for name in reads & set(bodies) for inner in bodies[name]}
    return bodies


def names_in(tree: ast.Module, bodies: dict[str, set[str]]) -> Names:
    """The names of a whole cell."""
    cell = Names()
    follow(tree.body, cell, cell.binds, bodies)
    cell.changes |= cell.binds
    for node in ast.walk(tree):
        if isinstance(node, (ast.Attribute, ast.Subscript)) and isinstance(node.ctx, ast.Store):
            cell.changes |= owner_of(node)
        elif isinstance(node, ast.Expr) and isinstance(node.value, ast.Call):
            cell.changes |= owner_of(node.value.func) if isinstance(node.value.func, ast.Attribute) else set()
    return cell


def follow(statements: list[ast.stmt], cell: Names, bound: set[str], bodies: dict[str, set[str]]) -> None:
    """Note what each statement reads that is not bound before it; add to `bound` what it surely binds."""
    for statement in statements:
        match statement:
            case ast.For(target=target, iter=first) | ast.AsyncFor(target=target, iter=first):
                read(first, cell, bound, bodies)
                branches, certain = [statement.body, statement.orelse], stored(target)
            case ast.If(test=first) | ast.While(test=first):
                read(first, cell, bound, bodies)
                branches, certain = [statement.body, statement.orelse], set()
            case ast.Try():
                branches = [statement.body, *(handler.body for handler in statement.handlers)]
                branches += [statement.orelse, statement.finalbody]
                certain = {handler.name for handler in statement.handlers if handler.name}
            case ast.With():
                for item in statement.items:
                    read(item.context_expr, cell, bound, bodies)
                    bound |= stored(item.optional_vars) if item.optional_vars else set()
                follow(statement.body, cell, bound, bodies)
                continue
            case _:
                read(statement, cell, bound, bodies)
                continue
        cell.changes |= certain
        for branch in branches:
            inside = bound | certain
            follow(branch, cell, inside, bodies)
            cell.changes |= inside - bound


def read(node: ast.stmt | ast.expr, cell: Names, bound: set[str], bodies: dict[str, set[str]]) -> None:
    """Note the names that a simple statement, a definition or an expression reads, and bind what it binds."""
    reads, inside, binds = referenced(node)
    reads |= stored(node.target) if isinstance(node, ast.AugAssign) else set()
    reads |= set() if isinstance(node, (ast.FunctionDef, ast.ClassDef)) else inside  # a body reads when it is called
    cell.reads |= reads.union(*(bodies[name] for name in reads & set(bodies))) - bound
    bound |= binds


def referenced(node: ast.AST) -> tuple[set[str], set[str], set[str]]:
    """Names that a piece of code reads, that the bodies, lambdas and comprehensions in it read, and that it binds."""
    top = symtable.symtable(ast.unparse(node), "cell", "exec")
    scopes, inside = top.get_children(), set()
    for scope in scopes:
        scopes += scope.get_children()
        inside |= {symbol.get_name() for symbol in scope.get_symbols() if symbol.is_referenced() and symbol.is_global()}
    reads = {symbol.get_name() for symbol in top.get_symbols() if symbol.is_referenced()}
    binds = {symbol.get_name() for symbol in top.get_symbols() if symbol.is_assigned() or symbol.is_imported()}
    return reads, inside, binds


def stored(node: ast.expr) -> set[str]:
    """The names that an assignment to this target binds."""
    return {inner.id for inner in ast.walk(node) if isinstance(inner, ast.Name) and isinstance(inner.ctx, ast.Store)}


def owner_of(node: ast.expr) -> set[str]:
    """{"x"} for x.y[0].z, empty where no name is at the root."""
    while isinstance(node, (ast.Attribute, ast.Subscript, ast.Call)):
        node = node.func if isinstance(node, ast.Call) else node.value
    return {node.id} if isinstance(node, ast.Name) else set()
