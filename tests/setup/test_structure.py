"""Which module of tx_helpers may import which, and what no module may do."""

import ast
import re
import subprocess
import sys
from graphlib import CycleError, TopologicalSorter

import pytest

from notebook_frame import ROOT
from repository import repository_files
from tiers import TIER_OF

PACKAGE = ROOT / "tx_helpers"
MAX_LINES = 300
MAX_BANK = 700  # a notebook's exercises, the texts of diagnose: tables of many short entries
MAX_TEST_LINES = 400
# Test files that are longer and wait to be divided; a new one is not added here.
LONG_TESTS = {
    *("test_attention.py", "test_capture.py", "test_exercise_checks.py", "test_loop.py"),
    *("test_models.py", "test_parity_transformers.py", "test_search.py"),
}
MAX_FUNCTION = 60  # lines of a function in a script, one screen
DOORS = {"diagnose", "exercises"}  # the sub-packages whose few functions learners import by the sub-package's name


def module_of(path):
    """The name in the table: "masks", or "widgets" for widgets/masks.py."""
    return path.relative_to(PACKAGE).with_suffix("").parts[0]


SOURCES = {path: path.read_text(encoding="utf-8") for path in sorted(PACKAGE.rglob("*.py"))}
MODULES = {path: text for path, text in SOURCES.items() if path != PACKAGE / "__init__.py"}
by_path = pytest.mark.parametrize("path", MODULES, ids=lambda path: str(path.relative_to(PACKAGE)))


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
    in_a_folder = node.module != "tx_helpers" and (ROOT / whole.replace(".", "/")).with_suffix(".py").exists()
    return whole if in_a_folder or whole == "tx_helpers.__version__" else node.module


def wrong_imports(module: str, text: str) -> list[str]:
    """What `module` imports against the table."""
    found = []
    for name in imported(text):
        package, _, rest = name.partition(".")
        target = rest.split(".")[0]
        if name == "." or (package == "tx_helpers" and (PACKAGE / rest.replace(".", "/")).is_dir()):
            found.append(f"{module} imports from a package itself, not from a named module")
        elif package == "tx_helpers" and TIER_OF.get(target, 99) > TIER_OF[module]:
            found.append(f"{module} (tier {TIER_OF[module]}) imports {target} (tier {TIER_OF.get(target)})")
        elif package in {"matplotlib", "ipywidgets", "IPython"} and TIER_OF[module] <= 3:
            found.append(f"{module} (tier {TIER_OF[module]}) imports {package}")
    return found


def test_the_table_names_what_is_there():
    assert set(TIER_OF) == {module_of(path) for path in MODULES}


@by_path
def test_imports_run_downward(path):
    assert module_of(path) in TIER_OF, f"{module_of(path)} stands in no tier of the table"
    assert wrong_imports(module_of(path), MODULES[path]) == []


def test_no_circle():
    graph = {module_of(path): set() for path in MODULES}
    for path, text in MODULES.items():
        names = {name.split(".")[1] for name in imported(text) if name.startswith("tx_helpers.")}
        graph[module_of(path)] |= names - {module_of(path)}
    try:
        TopologicalSorter(graph).prepare()
    except CycleError as error:
        pytest.fail(f"modules import each other in a circle: {' -> '.join(error.args[1])}")


@pytest.mark.parametrize(
    ("module", "text", "finding"),
    [
        ("attention", "from tx_helpers.models import DecoderOnly", "attention (tier 0) imports models (tier 1)"),
        ("models", "def f():\n    import tx_helpers.training.loop as t", "models (tier 1) imports training (tier 3)"),
        ("models", "from tx_helpers import masks", "models imports from a package itself, not from a named module"),
        (
            "training",
            "from tx_helpers.text import Pairs",
            "training imports from a package itself, not from a named module",
        ),
        ("models", "from .masks import causal_mask", "models imports from a package itself, not from a named module"),
        ("models", "from tx_helpers.unheard_of import x", "models (tier 1) imports unheard_of (tier None)"),
        (
            "show",
            "from tx_helpers.diagnose.probes import P",
            "show imports from a package itself, not from a named module",
        ),
        ("training", "import matplotlib.pyplot as plt", "training (tier 3) imports matplotlib"),
    ],
)
def test_the_import_guard_sees(module, text, finding):
    assert wrong_imports(module, text) == [finding]
    fine = "import matplotlib\nfrom tx_helpers.masks import causal_mask\nfrom tx_helpers import __version__"
    assert wrong_imports("show", fine) == []
    assert wrong_imports("widgets", "from tx_helpers.widgets import softmax") == []


@pytest.mark.parametrize("path", sorted(PACKAGE.glob("*/**/__init__.py")), ids=lambda path: path.parent.name)
def test_a_sub_package_is_a_docstring(path):
    """The doors for learners also import their few functions; nothing is defined in an `__init__`."""
    docstring, *rest = ast.parse(SOURCES[path]).body
    assert isinstance(docstring, ast.Expr) and isinstance(docstring.value, ast.Constant)
    imports = [node for node in rest if isinstance(node, ast.ImportFrom)]
    others = [ast.unparse(node) for node in rest if node not in imports]
    if path.parent.name in DOORS:
        names = sorted(alias.name for node in imports for alias in node.names)
        assert others == [f"__all__ = {names}"]
    else:
        assert rest == []


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


def test_tiers_0_to_3_run_without_pictures_and_widgets_and_leave_torch_as_it_was():
    low = sorted({module_of(path) for path in MODULES if TIER_OF[module_of(path)] <= 3})
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


@by_path
def test_nobody_changes_everybodys_state(path):
    assert global_changes(MODULES[path]) == []


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


@by_path
def test_what_is_public_is_documented(path):
    assert undocumented(MODULES[path]) == []


def test_the_docstring_guard_sees():
    text = "class A: ...\ndef b():\n    'b'\ndef _c(): ...\ndef d(): ..."
    assert undocumented(text) == ["the module", "A", "d"]


@by_path
def test_a_module_fits_on_a_few_screens(path):
    table = path.match("exercises/nb*.py") or path.match("diagnose/reasons.py")
    lines, most = len(MODULES[path].splitlines()), MAX_BANK if table else MAX_LINES
    assert lines <= most, f"{path.name} has {lines} lines, expected at most {most}"


SCRIPTS = {path: path.read_text("utf-8") for path in sorted(PACKAGE.rglob("*.js"))}


def test_no_test_file_is_too_long():
    paths = [ROOT / name for name in repository_files() if re.fullmatch(r"tests/.*\.py", name)]
    lengths = {path.name: len(path.read_text("utf-8").splitlines()) for path in paths if path.name not in LONG_TESTS}
    assert {name: lines for name, lines in lengths.items() if lines > MAX_TEST_LINES} == {}


def long_functions(script: str) -> list[str]:
    """The first lines of functions at a script's top level that have more than MAX_FUNCTION lines."""
    found = re.finditer(
        r"^(?:export )?(?:function |const \w+ = [^\n]*=> )[^\n]*\{(?: //[^\n]*)?$.*?^\};?$", script, re.M | re.S
    )
    return [part[0].splitlines()[0] for part in found if len(part[0].splitlines()) > MAX_FUNCTION]


@pytest.mark.parametrize("path", SCRIPTS, ids=lambda path: str(path.relative_to(PACKAGE)))
def test_a_script_and_its_functions_fit_on_a_few_screens(path):
    assert len(SCRIPTS[path].splitlines()) <= MAX_LINES
    assert long_functions(SCRIPTS[path]) == []


@pytest.mark.parametrize("first", ["function f() {", "export function f(a) {", "const f = ({ a }) => {"])
def test_the_script_guard_sees(first):
    end = "};" if "const" in first else "}"
    script = "const A = 1;\n" + "\n".join([first, *["  x();"] * MAX_FUNCTION, end, "const g = () => {", "};"])
    assert long_functions(script) == [first]
    assert long_functions(script.replace("  x();\n", "", 2)) == []
