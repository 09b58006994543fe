"""How much of an exercise's solution stands in the cells of its notebook, whatever names they use.

Code is read as the sequence of its operands and operations, in the order in which they are computed: both of
`q @ k.mT / d**0.5` and `torch.matmul(Q, K.transpose(-2, -1)) / math.sqrt(width)` are `· · T @ · √ Div`. Names,
texts, axes, brackets, assignments, and what leaves the numbers as they are (`.double()`, `[:, None]`) are left out;
numbers stay. The overlap is the share of a solution's sequence that lies in runs of six or more which some cell has.
"""

import ast
import builtins
from collections.abc import Iterable

RUN = 6
MODULES = {"torch", "math", "nn", "F", "np", "functional"}
ALIKE = {"MatMult": "@", "matmul": "@", "mm": "@", "bmm": "@", "Pow": "**", "pow": "**", "Pow0.5": "√", "sqrt": "√"}
ALIKE |= {"mT": "T", "t": "T", "transpose": "T", "swapaxes": "T", "view": "reshape"}
ALIKE |= {"diag_embed": "diag", "outer": "Mult"}
KEEPING = {"unsqueeze", "squeeze", "double", "float", "detach", "clone", "contiguous"}
STATEMENTS = (ast.For, ast.While, ast.If, ast.IfExp, ast.AugAssign, ast.comprehension, ast.BoolOp)
FORMULA = {"·", "Mult", "Add", "Sub", "Div", "FloorDiv", "**", "√"}


def sequence(code: str) -> list[str]:
    """Operands and operations of some code in the order of computation."""
    found: list[str] = []
    _read(ast.parse(code), found)
    return found


def overlap(solution: str, cells: Iterable[str]) -> float:
    """Share of the solution that also stands in cells, 0 to 1; always 0 for a formula of plain numbers."""
    mine = sequence(solution)
    if all(step in FORMULA or step[0].isdigit() for step in mine):
        return 0.0
    run = min(RUN, len(mine))
    known = {window for cell in cells for window in _windows(sequence(cell), run)}
    found = [window in known for window in _windows(mine, run)]
    return sum(any(found[max(0, place - run + 1) : place + 1]) for place in range(len(mine))) / len(mine)


def _windows(steps: list[str], run: int) -> list[tuple[str, ...]]:
    return [tuple(steps[start : start + run]) for start in range(len(steps) - run + 1)]


def _read(node: ast.AST, found: list[str]) -> None:
    """Adds what a node is computed from, then its own operation."""
    match node:
        case ast.Expr(value=ast.Constant()) | ast.arguments() | ast.Import() | ast.ImportFrom():
            return
        case ast.Assign(value=value) | ast.AnnAssign(value=value):
            inner, name = [value], ""
        case ast.Name(id=identifier):
            inner, name = [], "" if identifier in MODULES else "·"
        case ast.Constant(value=int() | float() as value):
            inner, name = [], str(value)
        case ast.Subscript(value=ast.Attribute(attr="shape", value=whole)):  # a width is a number with a name
            found.append("·")
            return
        case ast.Subscript(value=whole, slice=places):
            looks = any(isinstance(part, ast.Constant) and part.value is None for part in ast.walk(places))
            inner, name = ([whole], "") if looks else ([whole, places], "Subscript")
        case ast.Attribute(value=whole, attr=name):
            inner = [whole]
        case ast.Call(func=ast.Name(id="len")):
            inner, name = [], "·"
        case ast.Call(func=ast.Attribute(value=whole, attr=name), args=arguments, keywords=keywords):
            inner = [whole, *_numbers(name, arguments), *(k.value for k in keywords if k.arg not in ("dim", "axis"))]
        case ast.Call(func=ast.Name(id=name), args=arguments):
            inner, name = arguments, name if hasattr(builtins, name) else "call"
        case ast.BinOp(left=left, op=ast.Pow(), right=ast.Constant(value=0.5)):
            inner, name = [left], "√"
        case ast.BinOp(left=left, op=operator, right=right):
            inner, name = [left, right], type(operator).__name__
        case ast.UnaryOp(operand=operand, op=operator):
            inner, name = [operand], type(operator).__name__
        case ast.Compare(left=left, comparators=others):
            inner, name = [left, *others], "compare"
        case _:
            inner, name = ast.iter_child_nodes(node), type(node).__name__ if isinstance(node, STATEMENTS) else ""
    for part in inner:
        _read(part, found)
    if name and name not in KEEPING | MODULES:
        found.append(ALIKE.get(name, name))


def _numbers(method: str, arguments: list[ast.expr]) -> list[ast.expr]:
    """Arguments without axes: softmax(−1), transpose(1, 2), sum(0)."""
    return [part for part in arguments if not isinstance(part, (ast.Constant, ast.UnaryOp)) or method == "masked_fill"]
