"""Mistakes in tables of text: those of the course can be read, and a bad one is told clearly."""

import ast
import re

import pytest

from notebook_frame import ROOT
from tx_helpers.exercises.catalogue import find, lesson_of

BANKS = sorted(ROOT.glob("tx_helpers/lessons/*/exercises*.py"))


def test_every_table_of_the_course_can_be_read():
    assert {name for name in lesson_of() for mistake in find(name).mistakes if mistake.answer is None} == set()


def test_each_form_gives_its_answer(double):
    double.slips("""
added    2 * x → 2 + x
  You added
  2.
operators_exchanged    return 2 * → return ; x  # twice → 2 + x
  Two edits.
thrice    return 3 *
      x
  A body.
added_in_a_loop    return 2 * x  # twice → total = 0 ⏎ for _ in range(2): ⏎     total += x ⏎
      return total + 2
  Lines.
half    = lambda x: x / 2
  An answer.
""")
    assert [mistake.says for mistake in double.mistakes[1:]] == [
        "You added 2.",
        "Two edits.",
        "A body.",
        "Lines.",
        "An answer.",
    ]
    assert [mistake.answer(4) for mistake in double.mistakes] == [16, 6, 6, 12, 10, 2]


@pytest.mark.parametrize(
    ("code", "told"),
    [
        ("x → y", "double.bad: 'x' must stand once in the solution, it stands 3 times"),
        ("cos → sin", "double.bad: 'cos' must stand once in the solution, it stands 0 times"),
        ("2 * x → 2 * y ; * x → + x", "double.bad: '* x' must stand once in the solution, it stands 0 times"),
        ("2 * x", "double.bad: expected `old → new`, `return …` or `= …`, got '2 * x'"),
    ],
)
def test_a_mistake_that_cannot_be_made_is_named(double, code, told):
    double.slips(f"bad    {code}\n  A sentence.")
    with pytest.raises(ValueError, match=re.escape(told)):
        _ = double.mistakes[-1].answer


def test_two_mistakes_of_a_name_are_refused(double):
    with pytest.raises(ValueError, match="double: two mistakes are named 'squared'"):
        double.slips("squared    2 * x → x * x\n  You squared it.")


def unused(source: str) -> set[str]:
    """Names that a module imports and neither its code nor one of its tables uses."""
    nodes = list(ast.walk(ast.parse(source)))
    imports = [alias for node in nodes if isinstance(node, (ast.Import, ast.ImportFrom)) for alias in node.names]
    calls = [node for node in nodes if isinstance(node, ast.Call) and ast.unparse(node.func).endswith(".slips")]
    tables = " ".join(call.args[0].value for call in calls)
    known = {node.id for node in nodes if isinstance(node, ast.Name)} | set(re.findall(r"\w+", tables))
    return {alias.asname or alias.name.partition(".")[0] for alias in imports} - known


def test_a_bank_uses_what_it_imports():
    assert {path: names for path in BANKS if (names := unused(path.read_text(encoding="utf-8")))} == {}
    assert unused("import math\nimport a.b\nfrom c import d as e, f\nx.slips('g    = math.inf')\nf()") == {"a", "e"}
