"""Which cells a cell needs: names are followed by scope, through functions, and no further back than they are bound."""

import ast

import pytest

from notebook_slice import names_in, needed_cells, read_in_functions


@pytest.mark.parametrize(
    ("before", "wanted", "kept"),
    [
        # what is bound anew needs nothing from before; what is only changed does
        (["x = slow()", "x = 1"], "x", [2]),
        (["x = {}", "x['a'] = 1"], "x", [1, 2]),
        (["x = 1", "x += 1"], "x", [1, 2]),
        (["x = 1", "x, y = 2, x"], "x", [1, 2]),
        (["x = 1", "if c:\n    x = 2"], "x", [1, 2]),
        (["c = []", "x = 1", "for x in c:\n    pass"], "x", [1, 2, 3]),
        (["c = []", "with open(c) as x:\n    y = 1"], "x + y", [1, 2]),
        # names of functions, comprehensions and loops are their own
        (["x = slow()", "def f(x):\n    z = x\n    return z", "z = slow()"], "f(1)", [2]),
        (["x = slow()", "y = [x for x in range(3)]"], "y", [2]),
        (["x = slow()", "for x in range(3):\n    print(x)"], "1", []),
        (["x = slow()"], "x = 1\nx + 1", []),
        (["x = slow()"], "for x in range(3):\n    print(x)", []),
        # what a function reads counts where it is called, through other functions, too
        (["x = 1", "def f():\n    return x", "x = 2"], "f()", [2, 3]),
        (["x = 1", "def f():\n    return x", "def g():\n    return f()"], "g()", [1, 2, 3]),
        (["x = 1", "def f():\n    return x", "y = f()", "x = 2"], "y", [1, 2, 3]),
        (["x = 1", "f = {'a': lambda: x}"], "f", [1, 2]),
        (["x = 1", "class A:\n    def m(self):\n        return x"], "A()", [1, 2]),
        (["x = 1", "def f(a=x):\n    return a"], "f()", [1, 2]),
        (["x = 1", "y = 2"], "def f():\n    return x", []),
    ],
)
def test_needed_cells(before, wanted, kept):
    sources = ["# Set-up", *before, f"{wanted}\njudge()", "x = y = 5"]
    assert needed_cells(sources, lambda source: "judge()" in source) == [0, *kept, len(before) + 1]


def test_names_of_a_cell():
    tree = ast.parse("a = b\ndef f(c):\n    return c + d\nf(1)\ne.g[h] = a\ni.append(j)\nimport k.l as m, n.o")
    names = names_in(tree, read_in_functions([tree]))
    assert names.reads == {"b", "d", "e", "h", "i", "j"}
    assert names.binds == {"a", "f", "m", "n"}
    assert names.changes == {"a", "f", "m", "n", "e", "i"}
