"""Which module of tx_helpers may import which, where what one lesson alone uses lives, and what no module may do."""

import ast
import re
import subprocess
import sys
from graphlib import CycleError, TopologicalSorter
from pathlib import Path

import nbformat
import pytest

from notebook_frame import ROOT
from repository import COURSE
from tiers import TIER_OF
from tx_helpers.exercises.course import LESSONS

PACKAGE = ROOT / "tx_helpers"
MAX_LINES = 400
MAX_BANK = 900  # a lesson's exercises, the texts of diagnose: tables of many short entries
MAX_FUNCTION = 60  # lines of a function, one screen
DOORS = {
    "diagnose",
    "exercises",
    "publish",
}  # the sub-packages whose few functions learners import by the sub-package's name
LOOK_UP = "reference"  # the notebook that looks things up in every room

# Outside the lessons, and yet used by one of them alone: why.
OF_ONE_LESSON = {
    "diagnose": "examines anybody's model, from the command line too",
    "widgets.attention": "draws the attention of anybody's model; the README shows it",
    "publish": "makes a page of anybody's model, from the command line too",
    "zoo.recipe_file": "reads what anybody's training is told, from the command line",
    "zoo.public": "reads and writes public checkpoints for anybody",
}

SOURCES = {path: path.read_text(encoding="utf-8") for path in sorted(PACKAGE.rglob("*.py"))}
MODULES = {path: text for path, text in SOURCES.items() if path != PACKAGE / "__init__.py"}


def name_of(path: Path) -> str:
    """ "widgets.machine" for widgets/machine.py; a package has the name of its folder."""
    return ".".join(path.relative_to(PACKAGE).with_suffix("").parts).removesuffix(".__init__")


def tier_of(name: str) -> int | None:
    """The tier of a module by the longest name of the table that begins its own; None where there is none."""
    parts = name.split(".")
    return next((TIER_OF[key] for n in range(len(parts), 0, -1) if (key := ".".join(parts[:n])) in TIER_OF), None)


def imported(text: str) -> list[str]:
    """Everything a module imports, dotted, wherever in it the import stands; "." stands for a relative import.

    The version is the one thing that may be taken from the package itself.
    """
    found = []
    for node in ast.walk(ast.parse(text)):
        if isinstance(node, ast.Import):
            found += [alias.name for alias in node.names]
        elif isinstance(node, ast.ImportFrom):
            found += [_source(node, alias.name) for alias in node.names]
    return [name for name in found if name != "tx_helpers.__version__"]


def _source(node: ast.ImportFrom, name: str) -> str:
    """The module from which an import takes this name; the name itself where it is a module, or the version."""
    if node.level:
        return "."
    whole = f"{node.module}.{name}"
    is_module = (ROOT / whole.replace(".", "/")).with_suffix(".py").exists()
    return whole if is_module or whole == "tx_helpers.__version__" else node.module


def wrong_imports(module: str, text: str) -> list[str]:
    """What `module` imports against the table of tiers, and from another lesson's room."""
    found = []
    tier = tier_of(module)
    for name in imported(text):
        package, _, target = name.partition(".")
        if name == "." or (package == "tx_helpers" and (PACKAGE / target.replace(".", "/")).is_dir()):
            found.append(f"{module} imports from a package itself, not from a named module")
        elif package == "tx_helpers" and (tier_of(target) is None or tier_of(target) > tier):
            found.append(f"{module} (tier {tier}) imports {target} (tier {tier_of(target)})")
        elif package in {"matplotlib", "ipywidgets", "IPython"} and tier <= TIER_OF["generation"]:
            found.append(f"{module} (tier {tier}) imports {package}")
        if target.startswith("lessons.") and module.startswith("lessons."):
            own, other = module.split(".")[1], target.split(".")[1]
            found += [f"{module} imports from the room of another lesson, {other}"] if own != other else []
    return found


def circles(graph: dict[str, set[str]]) -> str:
    """The first circle of a graph of imports, in words; "" where there is none."""
    try:
        TopologicalSorter(graph).prepare()
    except CycleError as error:
        return " -> ".join(error.args[1])
    return ""


# Module -> modules of the package that it imports, lazy imports and those for type checkers included.
GRAPH = {
    name_of(path): {name.removeprefix("tx_helpers.") for name in imported(text) if name.startswith("tx_helpers.")}
    for path, text in MODULES.items()
}


def reached(names: set[str], graph: dict[str, set[str]] = GRAPH) -> set[str]:
    """These modules and all that they import, directly or not."""
    seen: set[str] = set()
    todo = {name for name in names if name in graph}
    while todo:
        name = todo.pop()
        seen.add(name)
        todo |= (graph[name] & graph.keys()) - seen
    return seen


def imports_of_notebook(path: Path) -> set[str]:
    """What the code cells of a notebook import of the package."""
    cells = nbformat.read(path, as_version=4).cells
    names = {name for cell in cells if cell.cell_type == "code" for name in imported(cell.source)}
    return {name.removeprefix("tx_helpers.") for name in names if name.startswith("tx_helpers.")}


def users(notebooks: dict[str, set[str]], graph: dict[str, set[str]] = GRAPH) -> dict[str, set[str]]:
    """Module -> the lessons that use it: by their notebook, or by a module of their room."""
    of_lesson = {
        lesson: reached(names | {name for name in graph if name.startswith(f"lessons.{lesson}.")}, graph)
        for lesson, names in notebooks.items()
    }
    return {name: {lesson for lesson, seen in of_lesson.items() if name in seen} for name in graph}


def test_the_tiers_name_what_is_there():
    assert {name_of(path): tier_of(name_of(path)) for path in MODULES if tier_of(name_of(path)) is None} == {}
    assert [name for name in TIER_OF if not (PACKAGE / name.replace(".", "/")).is_dir() and name not in GRAPH] == []


def test_imports_run_downward_and_no_lesson_imports_another():
    assert [fault for path, text in MODULES.items() for fault in wrong_imports(name_of(path), text)] == []


def test_no_file_imports_itself_in_a_circle():
    assert circles(GRAPH) == ""


def test_every_room_is_a_lesson_of_the_course():
    rooms = {path.name for path in (PACKAGE / "lessons").iterdir() if path.is_dir() and path.name != "__pycache__"}
    assert rooms <= set(LESSONS)
    assert [path.stem for path in COURSE] == [lesson.stem for lesson in LESSONS.values()], "run tools/renumber.py"


NOTEBOOKS = {path.stem[3:]: imports_of_notebook(path) for path in COURSE}


def test_a_notebook_imports_from_no_room_but_its_own():
    strange = {
        (lesson, name)
        for lesson, names in NOTEBOOKS.items()
        for name in names
        if name.startswith("lessons.") and name.split(".")[1] != lesson and lesson != LOOK_UP
    }
    assert strange == set()


def test_what_one_lesson_alone_uses_lives_with_it():
    alone = {name: by for name, by in users(NOTEBOOKS).items() if len(by - {LOOK_UP}) == 1}
    outside = {name: by for name, by in alone.items() if not name.startswith("lessons.")}
    listed = tuple(OF_ONE_LESSON)
    assert {name: by for name, by in outside.items() if not name.startswith(listed) and SOURCES_OF[name]} == {}
    assert [name for name in listed if not any(module.startswith(name) for module in outside)] == []


# Module -> does it hold more than a docstring?
SOURCES_OF = {name_of(path): len(ast.parse(text).body) > 1 for path, text in MODULES.items()}


def test_the_guard_of_rooms_sees():
    graph = {"lessons.a.x": {"nn.m", "show.s"}, "lessons.b.y": {"nn.m"}, "nn.m": set(), "show.s": {"nn.m"}}
    by = users({"a": {"lessons.a.x"}, "b": set()}, graph)
    assert by["nn.m"] == {"a", "b"} and by["show.s"] == {"a"}
    assert circles({"a": {"b"}, "b": {"c"}, "c": {"a"}}) != "" and circles({"a": {"b"}, "b": set()}) == ""


@pytest.mark.parametrize(
    ("module", "text", "finding"),
    [
        (
            "nn.models",
            "def f():\n    import tx_helpers.training.loop",
            "nn.models (tier 0) imports training.loop (tier 3)",
        ),
        ("nn.models", "from tx_helpers import nn", "nn.models imports from a package itself, not from a named module"),
        ("nn.models", "from .masks import f", "nn.models imports from a package itself, not from a named module"),
        ("nn.models", "from tx_helpers.unheard_of import x", "nn.models (tier 0) imports unheard_of (tier None)"),
        (
            "show.plots",
            "from tx_helpers.text import P",
            "show.plots imports from a package itself, not from a named module",
        ),
        ("training.loop", "import matplotlib.pyplot as plt", "training.loop (tier 3) imports matplotlib"),
        (
            "lessons.masking.masks",
            "from tx_helpers.lessons.training.schedules import f",
            "lessons.masking.masks imports from the room of another lesson, training",
        ),
    ],
)
def test_the_import_guard_sees(module, text, finding):
    assert wrong_imports(module, text) == [finding]
    fine = "import matplotlib\nfrom tx_helpers.nn.masks import causal_mask\nfrom tx_helpers import __version__"
    assert wrong_imports("show.plots", fine) == []
    assert wrong_imports("lessons.masking.masks", "from tx_helpers.lessons.masking import leaks") == []


def test_a_sub_package_is_a_docstring():
    """The doors for learners also import their few functions; nothing is defined in an `__init__`."""
    found = {}
    for path in sorted(PACKAGE.glob("*/**/__init__.py")):
        docstring, *rest = ast.parse(SOURCES[path]).body
        assert isinstance(docstring, ast.Expr) and isinstance(docstring.value, ast.Constant), path
        imports = [node for node in rest if isinstance(node, ast.ImportFrom)]
        others = [ast.unparse(node) for node in rest if node not in imports]
        names = sorted(alias.name for node in imports for alias in node.names)
        expected = [f"__all__ = {names}"] if path.parent.name in DOORS else []
        if others != expected or (imports and path.parent.name not in DOORS):
            found[path.parent.name] = others
    assert found == {}


def run(code: str) -> str:
    done = subprocess.run([sys.executable, "-c", code], capture_output=True, text=True, cwd=ROOT)
    assert done.returncode == 0, done.stderr
    return done.stdout.strip()


def test_importing_the_package_imports_no_torch():
    assert run("import sys, tx_helpers; print('torch' in sys.modules, 'numpy' in sys.modules)") == "False False"


def test_the_package_sets_the_wait_policy_unless_the_user_has():
    code = "import os; {}import tx_helpers; print(os.environ['OMP_WAIT_POLICY'])"
    assert run(code.format("os.environ.pop('OMP_WAIT_POLICY', None); ")) == "PASSIVE"
    assert run(code.format("os.environ['OMP_WAIT_POLICY'] = 'ACTIVE'; ")) == "ACTIVE"


@pytest.mark.slow
def test_tiers_0_to_3_run_without_pictures_and_widgets_and_leave_torch_as_it_was():
    low = sorted(name for name in GRAPH if tier_of(name) <= TIER_OF["generation"])
    code = f"""
import importlib, sys, torch
state = lambda: (torch.get_num_threads(), torch.get_float32_matmul_precision(), torch.get_default_dtype(),
                 torch.is_grad_enabled(), torch.random.get_rng_state().tolist())
before = state()
for name in {low}:
    importlib.import_module("tx_helpers." + name)
print(sorted({{"matplotlib", "ipywidgets", "IPython"}} & set(sys.modules)), state() == before)
"""
    assert run(code) == "[] True"


GLOBAL_CALLS = {
    *("set_num_threads", "set_num_interop_threads", "set_float32_matmul_precision", "set_default_dtype"),
    *("set_default_device", "use_deterministic_algorithms", "set_grad_enabled", "filterwarnings", "simplefilter"),
}
SEEDS = {"torch.manual_seed", "torch.random.manual_seed", "torch.cuda.manual_seed", "torch.cuda.manual_seed_all"}
SEEDS |= {"random.seed", "np.random.seed", "numpy.random.seed", "torch.seed"}
CONTEXTS = {"fork_rng", "catch_warnings"}
RESTORE = {"cpu_threads", "_left_as_found"}  # tested to leave all as it was


def global_changes(text: str) -> list[str]:
    """Lines that change everybody's state (seeds, thread counts, precisions, environment) and do not restore it."""
    found = []

    def visit(node: ast.AST, sheltered: bool) -> None:
        if isinstance(node, (ast.With, ast.AsyncWith)):
            sheltered |= any(name in ast.unparse(item.context_expr) for item in node.items for name in CONTEXTS)
        sheltered |= isinstance(node, ast.FunctionDef) and node.name in RESTORE
        if isinstance(node, ast.Call) and not sheltered:
            name = ast.unparse(node.func)
            if name in SEEDS or name.split(".")[-1] in GLOBAL_CALLS:
                found.append(f"line {node.lineno}: {name}")
        targets = node.targets if isinstance(node, ast.Assign) else [getattr(node, "target", None)]
        for target in filter(None, targets):
            name = ast.unparse(target)
            if name.startswith(("torch.backends", "os.environ", "plt.rcParams", "matplotlib.rcParams", "mpl.rcParams")):
                found.append(f"line {node.lineno}: {name} = …")
        for child in ast.iter_child_nodes(node):
            visit(child, sheltered)

    visit(ast.parse(text), False)
    return found


@pytest.mark.slow
def test_nobody_changes_everybodys_state():
    assert {name_of(path): found for path, text in MODULES.items() if (found := global_changes(text))} == {}


@pytest.mark.parametrize(
    ("text", "finding"),
    [
        ("import torch\ntorch.manual_seed(0)", "line 2: torch.manual_seed"),
        ("torch.set_num_threads(1)", "line 1: torch.set_num_threads"),
        ("random.seed(1)", "line 1: random.seed"),
        ("torch.backends.cuda.matmul.allow_tf32 = True", "line 1: torch.backends.cuda.matmul.allow_tf32 = …"),
        ("os.environ['OMP_NUM_THREADS'] = '1'", "line 1: os.environ['OMP_NUM_THREADS'] = …"),
        ("with torch.no_grad():\n    torch.manual_seed(0)", "line 2: torch.manual_seed"),
    ],
)
def test_the_state_guard_sees(text, finding):
    assert global_changes(text) == [finding]
    assert global_changes("with torch.random.fork_rng():\n    torch.manual_seed(0)") == []
    assert global_changes("generator = torch.Generator().manual_seed(0)") == []


def undocumented(text: str) -> list[str]:
    """Public functions and classes without a docstring, and the module itself; a mistake's sentence stands above it."""
    tree = ast.parse(text)
    kinds = (ast.FunctionDef, ast.AsyncFunctionDef, ast.ClassDef)
    public = [node for node in tree.body if isinstance(node, kinds) and not node.name.startswith("_")]
    public = [node for node in public if not any(".mistake(" in ast.unparse(one) for one in node.decorator_list)]
    missing = [node.name for node in public if not ast.get_docstring(node)]
    return missing if ast.get_docstring(tree) else ["the module", *missing]


def test_what_is_public_is_documented():
    assert {name_of(path): found for path, text in MODULES.items() if (found := undocumented(text))} == {}


def test_the_docstring_guard_sees():
    text = "class A: ...\ndef b():\n    'b'\ndef _c(): ...\ndef d(): ..."
    assert undocumented(text) == ["the module", "A", "d"]


def test_a_module_fits_on_a_few_screens():
    """Tables of many short entries may be longer: a lesson's exercises, the texts of diagnose."""
    table = {path: path.match("exercises*.py") or path.match("diagnose/reasons.py") for path in MODULES}
    lines = {path: len(text.splitlines()) for path, text in MODULES.items()}
    assert {name_of(path): n for path, n in lines.items() if n > (MAX_BANK if table[path] else MAX_LINES)} == {}


def long_bodies(text: str) -> list[str]:
    """Functions whose body, without signature and docstring, has more than MAX_FUNCTION lines."""
    found = []
    for node in ast.walk(ast.parse(text)):
        if isinstance(node, ast.FunctionDef | ast.AsyncFunctionDef):
            body = node.body[1:] if ast.get_docstring(node) else node.body
            found += [node.name] if body and node.end_lineno - body[0].lineno >= MAX_FUNCTION else []
    return found


def test_a_function_fits_on_a_screen():
    assert {name_of(path): found for path, text in MODULES.items() if (found := long_bodies(text))} == {}
    lines = "\n".join(["def f():", '    "Says what it does."', *["    x()"] * MAX_FUNCTION])
    assert long_bodies(lines) == [] and long_bodies(lines + "\n    x()") == ["f"]


SCRIPTS = {path: path.read_text("utf-8") for path in sorted(PACKAGE.rglob("*.js"))}


def long_functions(script: str) -> list[str]:
    """The first lines of functions at a script's top level that have more than MAX_FUNCTION lines."""
    found = re.finditer(
        r"^(?:export )?(?:function |const \w+ = [^\n]*=> )[^\n]*\{(?: //[^\n]*)?$.*?^\};?$", script, re.M | re.S
    )
    return [part[0].splitlines()[0] for part in found if len(part[0].splitlines()) > MAX_FUNCTION]


def test_a_script_and_its_functions_fit_on_a_few_screens():
    assert {path.name: n for path, text in SCRIPTS.items() if (n := len(text.splitlines())) > MAX_LINES} == {}
    assert {path.name: found for path, text in SCRIPTS.items() if (found := long_functions(text))} == {}


@pytest.mark.parametrize("first", ["function f() {", "export function f(a) {", "const f = ({ a }) => {"])
def test_the_script_guard_sees(first):
    end = "};" if "const" in first else "}"
    script = "const A = 1;\n" + "\n".join([first, *["  x();"] * MAX_FUNCTION, end, "const g = () => {", "};"])
    assert long_functions(script) == [first]
    assert long_functions(script.replace("  x();\n", "", 2)) == []
