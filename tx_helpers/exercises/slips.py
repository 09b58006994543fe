"""Mistakes in a table of text: each with its name, its code, and what the learner is told.

    down_the_columns    softmax(-1) → softmax(0)
      Your softmax runs down the columns. Row t belongs to word t, so each row must sum to 1: softmax(-1).
    all_alike    return x.mean(0).expand_as(x)
      You gave every word the same plain mean. The weights must depend on the dot products.
    no_root    = partial(_scaled, power=1)
      You divided by K, not by √K …

    old → new          edits the solution, in which old must stand exactly once; " ; " stands between several edits;
                       " ⏎ " is a line break, behind which a line is as far in as that where old begins
    return expression  takes the place of the solution's body
    = expression       is the answer

A sentence is indented by two. Code that needs more than a line runs on, indented by six. It knows its module's names.
"""

import ast
import inspect
import re
import sys
import textwrap
from collections.abc import Callable


def undecorated(answer: Callable[..., object]) -> str:
    """Source of a function or class, from its `def` or `class` on."""
    code = textwrap.dedent(inspect.getsource(answer))
    (node,) = ast.parse(code).body
    return "\n".join(code.rstrip().split("\n")[node.lineno - 1 :])


def entries(table: str) -> list[list[str]]:
    """[name, code, sentence] of each mistake."""
    found = []
    for line in filter(str.strip, table.split("\n")):
        if line[0] != " ":
            name, _, code = line.partition(" ")
            found.append([name, code.strip(), ""])
        else:
            part = 1 if line.startswith(" " * 6) else 2
            found[-1][part] = f"{found[-1][part]} {line.strip()}".lstrip()
    return found


def wrong_answer(place: str, code: str, solution: Callable[..., object], names: dict[str, object]) -> object:
    """The answer that the code of a table makes of the solution; `place`, exercise and mistake, is for messages."""
    names = names | vars(sys.modules[solution.__module__])
    if "→" in code:
        exec(compile(_edited(place, undecorated(solution), code.split(" ; ")), f"<{place}>", "exec"), names)
        return names[solution.__name__]
    (node,) = ast.parse(undecorated(solution)).body
    if code.startswith("return ") and isinstance(node, ast.FunctionDef):
        return eval(f"lambda {ast.unparse(node.args)}: {code.removeprefix('return ')}", names)
    if code.startswith("= "):
        return eval(code.removeprefix("= "), names)
    raise ValueError(f"{place}: expected `old → new`, `return …` or `= …`, got {code!r}")


def _edited(place: str, source: str, edits: list[str]) -> str:
    """The source with all edits; none of them sees what another has written."""
    written: list[str] = []
    for edit in edits:
        old, new = map(str.strip, edit.split("→"))
        spots = list(re.finditer(r"\s*\n\s*".join(map(re.escape, re.split(" *⏎ *", old))), source))
        if len(spots) != 1:
            raise ValueError(f"{place}: {old!r} must stand once in the solution, it stands {len(spots)} times")
        before, after = source[: spots[0].start()], source[spots[0].end() :]
        line = before.rpartition("\n")[2]
        indent = line[: len(line) - len(line.lstrip())]
        source = f"{before}\0{len(written)}\0{after}"
        written.append(re.sub(" *⏎ ?", f"\n{indent}", new))
    for index, new in enumerate(written):
        source = source.replace(f"\0{index}\0", new)
    return source
