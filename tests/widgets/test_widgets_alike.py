"""One way to make an explorer: each module computes, draws, describes and binds, in this order, under these names."""

import ast
import importlib
import re
from inspect import signature
from pathlib import Path

import pytest

import tx_helpers

SECTIONS = ["compute", "draw", "describe", "bind"]
PACKAGE = Path(tx_helpers.__file__).parent
TEXT = {path.relative_to(PACKAGE.parent): path.read_text("utf-8") for path in sorted(PACKAGE.rglob("*.py"))}
MODULES = {path: text for path, text in TEXT.items() if re.search(r"^def [a-z]\w*_explorer\(", text, re.MULTILINE)}


def bare() -> list:
    """The explorers that need nothing to be given."""
    found = []
    for path in MODULES:
        module = importlib.import_module(".".join(path.with_suffix("").parts))
        own = [f for name, f in vars(module).items() if name.endswith("_explorer") and f.__module__ == module.__name__]
        found += [f for f in own if all(given.default is not given.empty for given in signature(f).parameters.values())]
    return found


BARE = bare()
REFUSED = "warmup_inverse_sqrt: warmup=0, expected at least 1"  # the one end that an explorer refuses in place


def faults(text: str) -> list[str]:
    """What a module lacks."""
    sections = [name for name in re.findall(r"^# --- (\w+) -+$", text, flags=re.MULTILINE) if name in SECTIONS]
    found = [] if sections == SECTIONS else [f"sections {', '.join(sections)}"]
    functions = {node.name: node for node in ast.parse(text).body if isinstance(node, ast.FunctionDef)}
    for prefix, returned in (("draw", "Svg"), ("describe", "str"), ("", "Explore")):
        named = [name for name in functions if (name.split("_")[0] == prefix if prefix else name.endswith("_explorer"))]
        found += [
            f"{name} is no {returned}"
            for name in named
            if ast.unparse(functions[name].returns or ast.Pass()) != returned
        ]
        found += [] if named else [f"nothing is called {prefix or '…_explorer'}"]
    return found + ["ipywidgets in another way"] * ("from ipywidgets" in text or "import ipywidgets\n" in text)


def test_every_explorer_is_made_in_one_way():
    assert {str(path): found for path, text in MODULES.items() if (found := faults(text))} == {}


def test_what_is_made_otherwise_is_found():
    text = MODULES[Path("tx_helpers/lessons/start_here/translation.py")]
    assert len(MODULES) > 20
    assert faults(text.replace("# --- describe", "# --- say")) == ["sections compute, draw, bind"]
    assert faults(text.replace("describe(", "in_words(")) == ["nothing is called describe"]
    assert faults(text.replace("-> Svg", "-> str")) == ["draw is no Svg"]
    assert faults(f"from ipywidgets import *\n{text}") == ["ipywidgets in another way"]


@pytest.mark.parametrize("explorer", BARE)
def test_every_end_of_every_control_is_drawn(explorer):
    explored = explorer()
    for name in explored.values:
        control = explored.controls[name]
        start = control.value
        if isinstance(start, str) and not hasattr(control, "options"):
            ends = explored.recorded[name]
        elif hasattr(control, "options"):
            ends = [option[1] if isinstance(option, tuple) else option for option in control.options]
        else:
            ends = [control.min, control.max] if hasattr(control, "min") else [False, True]
        for end in ends:
            explored.set(**{name: end})
            assert explored.error in ("", REFUSED)
            assert "nan" not in explored.summary
        explored.set(**{name: start})
