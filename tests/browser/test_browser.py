"""The browser suite itself, on toy notebooks: a sound one passes in both front ends, each planted fault is found."""

import re

import pytest

import browser_moves
from browser_harness import A_NOTEBOOK_A_KIND, BOTH, NOTEBOOKS, find_chromium, front_end, require_chromium
from browser_moves import cases_of, faults_of
from explorer_cases import Case, Move, no_less, rises
from notebook_slice import needed_cells
from small_notebooks import write_cells

TOY = """
import ipywidgets
from tx_helpers.show.plots import Picture, Svg, new_figure
from tx_helpers.show.explore import Explore

def bar(length, label):
    shape = '<rect width="300" height="50" fill="#fff"/><text y="45" font-size="16" fill="#222">A</text>'
    shape += f'<rect width="{length}" height="20" fill="#0072B2"/>'
    return Svg(f'<svg xmlns="http://www.w3.org/2000/svg" width="300" height="50">{shape}</svg>', label)
"""
SOUND = """
count = {"presses": 0}
button = ipywidgets.Button(description="Once more")

def draw(length, step, word, unit, double):
    total = (length + 10 * step + len(word)) * unit * (1 + double) + count["presses"]
    return bar(total, f"The bar is {total:g} long.")

toy = Explore(draw, "toy", length=(0, 50, 5), step=(0.0, 2.0, 0.5), word="ab", unit={"one": 1, "two": 2}, double=False,
              once_more=button)

@button.on_click
def press(_):
    count["presses"] += 1
    toy.redraw()

toy
"""
IMAGE = """
def draw(height):
    figure, axis = new_figure(3, 2)
    axis.bar([0], [height])
    return Picture(figure, alt=f"A bar of height {height}.")

Explore(draw, "image", height=(1, 5))
"""
NAMED = 'Explore(lambda x: bar({length}, f"x is {{x}}."), "{name}", x=(0, 5))'
FAULTY = [
    TOY,
    NAMED.format(length=50, name="still"),
    NAMED.format(length="50 + x", name="wrong"),
    NAMED.format(length="50 + x", name="forgotten"),
    'Explore(lambda x: bar(50 + x, f"x is {-x}."), "falling", x=(0, 5))',
    'nameless = Explore(lambda x: bar(50, "So it is."), "nameless", x="text")\n'
    'nameless.controls["x"].description = ""\n'
    'unsaid = ipywidgets.HTML(\'<span style="color: #bbb; background: #fff">pale</span><img src="data:,">'
    '<svg width="90" height="30"><text y="20" fill="#222">unlit</text></svg>\')\n'
    "nameless.box.children += (unsaid,)\nnameless",
    'import sys\nprint("spilt", file=sys.stderr)',
    "class Complains(__import__('anywidget').AnyWidget):\n"
    "    _esm = 'export default { render() { console.error(\"planted\") } }'\nComplains()",
    'ipywidgets.HTML(\'<img alt="afar" src="https://example.org/x.png">\')',
    "1 / 0",
    "'not reached'",
]
PLANTED = [  # what is said of them, each once
    r"the execution counts are \[1, 2, 3, 4, 5, 6, 7, 8, 9, 10, None\], expected 1 to 11",
    r"explorer 'lost' is not on the page",
    r"explorer 'forgotten' has no case",
    r"nameless: control without a name: textbox",
    r"Light: axe: image-alt \(critical\)",
    r"Light: contrast 1\.92, expected 4\.5: 'pale' in rgb\(187,187,187\) on rgb\(255,255,255\)",
    r"Dark: contrast 1\.92, expected 4\.5: 'pale'",
    r"Dark: contrast 1\.\d+, expected 4\.5: 'unlit' in rgb\(34,34,34\)",
    r"after the moves: contrast 1\.\d+, expected 4\.5: '(pale|unlit)'",
    r"still: X, ArrowRight: the picture is the same; the summary is 'x is 1\.'",
    r"wrong: X, ArrowRight: a new picture; the summary is 'x is 1\.', expected 'x is 2'",
    r"falling: X, ArrowRight: a new picture; the summary is 'x is -1\.', expected what must hold after 'x is 0\.'",
    r"wrong: Y, drag: no control named 'Y'",
    r"(error|stderr) output: .*ZeroDivisionError",
    r"stderr output: spilt",
    r"console error: planted",
    r"request beyond this machine: https://example\.org/x\.png",
    r"console error: Failed to load resource: net::ERR_FAILED",
]


@pytest.fixture(scope="module", params=BOTH)
def opened(request, tmp_path_factory):
    folder = tmp_path_factory.mktemp("toys")
    for name, sources in {"sound": [TOY, SOUND, IMAGE], "faulty": FAULTY}.items():
        write_cells(folder / f"{name}.ipynb", map(str.strip, sources))
    with front_end(request.param, folder) as opened:
        yield opened


@pytest.mark.slow
def test_a_sound_notebook_has_no_faults(opened):
    toy = (
        Move("Length", r"is 12 long", keys=("ArrowRight", "ArrowRight")),
        Move("Length", r"is 52 long", mouse="drag"),
        Move("Step", r"is 57 long", keys=("ArrowRight",)),
        Move("Step", r"is 72 long", mouse="drag"),
        Move("Word", r"is 75 long", text="abcde"),
        Move("Unit", r"is 150 long", mouse="choose:two"),
        Move("Unit", r"is 75 long", keys=("ArrowUp",)),
        Move("Double", r"is 150 long", mouse="click"),
        Move("Double", r"is 75 long", keys=("Space",)),
        Move("Once more", r"is 76 long", mouse="click"),
        Move("Once more", r"is 77 long", keys=("Enter",)),
    )
    image = (
        Move("Height", "height 2", keys=("ArrowRight",)),
        Move("Height", "height 5", mouse="drag"),
    )
    assert faults_of(opened, "sound.ipynb", [Case("sound", "toy", toy), Case("sound", "image", image)]) == []


@pytest.mark.thorough
def test_every_planted_fault_is_found(opened, monkeypatch):
    monkeypatch.setattr(browser_moves, "PATIENCE", 10)  # what never comes need not be waited for as long
    cases = [
        Case("faulty", "lost", (Move("X", "", keys=("ArrowRight",)),)),
        Case("faulty", "still", (Move("X", "x is 1", keys=("ArrowRight",)),)),
        Case("faulty", "wrong", (Move("X", "x is 2", keys=("ArrowRight",)), Move("Y", "", mouse="drag"))),
        Case("faulty", "falling", (Move("X", "x is", keys=("ArrowRight",), holds=rises(r"(-?\d)")),)),
        Case("faulty", "nameless", ()),
    ]
    found = faults_of(opened, "faulty.ipynb", cases)
    assert [fault for fault in found if not any(re.search(pattern, fault, re.S) for pattern in PLANTED)] == []
    assert [pattern for pattern in PLANTED if not any(re.search(pattern, fault, re.S) for fault in found)] == []


def test_without_a_chromium_the_tests_are_skipped_or_fail_as_asked(monkeypatch):
    monkeypatch.delenv("TX_CHROMIUM", raising=False)
    monkeypatch.setenv("PATH", "")
    monkeypatch.delenv("TX_REQUIRE_BROWSER", raising=False)
    assert find_chromium() is None
    with pytest.raises(pytest.skip.Exception, match=r"no Chromium found: explorers not tested .*apt install chromium"):
        require_chromium()
    monkeypatch.setenv("TX_REQUIRE_BROWSER", "1")
    with pytest.raises(pytest.fail.Exception, match="no Chromium found"):
        require_chromium()
    monkeypatch.setenv("TX_CHROMIUM", "/opt/mine")
    assert require_chromium() == "/opt/mine"


def faults_of_case(case: Case) -> list[str]:
    ways = [(bool(move.keys), move.text is not None, bool(move.mouse)) for move in case.moves]
    typed = bool(ways) and all(text for _, text, _ in ways)  # a line of text alone: the mouse has nothing to move
    found = {
        "no such notebook": f"{case.notebook}.ipynb" not in NOTEBOOKS,
        "no move by keyboard": not any(keys or text for keys, text, _ in ways),
        "no move by mouse": not typed and not any(mouse for _, _, mouse in ways),
        "the summaries of two settings are needed": len({move.summary for move in case.moves}) < 2,
        "a move is made in one way": any(sum(way) != 1 for way in ways),
        "a summary matches anything": any(re.search(move.summary, "") for move in case.moves),
    }
    return [what for what, is_so in found.items() if is_so]


def test_a_case_moves_by_keyboard_and_by_mouse_to_two_settings():
    assert {(case.notebook, case.explorer): wrong for case in cases_of() if (wrong := faults_of_case(case))} == {}
    moves = (Move("X", ".*", keys=("Enter",), mouse="drag"), Move("X", ".*"))
    assert len(faults_of_case(Case("99_lost", "toy", moves))) == 4
    assert faults_of_case(Case("00_start_here", "toy", ()))[:2] == ["no move by keyboard", "no move by mouse"]


def test_the_notebooks_of_make_test_have_every_kind_of_move():
    def kinds(cases: list[Case]) -> set[str]:
        moves = [move for case in cases for move in case.moves]
        return {"text" if move.text is not None else (move.mouse or "keys").partition(":")[0] for move in moves}

    in_test = kinds([case for case in cases_of() if f"{case.notebook}.ipynb" in A_NOTEBOOK_A_KIND])
    assert in_test | {"pull"} == kinds(cases_of())  # test_player_js.py pulls a part of a picture


def test_what_must_hold_is_asked_of_the_numbers():
    grows, ordered = rises(r"evenness (\d\.\d)"), no_less(r"(\d\.\d) → (\d\.\d)")
    assert [grows("evenness 0.5", f"evenness {after}") for after in (0.4, 0.5, 1.0)] == [False, True, True]
    assert [ordered("", f"0.5 → {after}") for after in (0.4, 0.5, 1.0)] == [False, True, True]


def test_a_case_for_each_explorer_once():
    names = [(case.notebook, case.explorer) for case in cases_of()]
    assert sorted({name for name in names if names.count(name) > 1}) == []


def test_what_an_explorer_needs_is_kept_in_order():
    sources = [
        "# Set-up\n%pip install x\nimport tx_helpers",
        "from a import b as c, unused",
        "other = 1",
        "model = c(2)",
        "def train(m):\n    return m * other",
        "print(model)",
        "settings = {}",
        "settings['x'] = 1",
        "words = []\nwords.append(3)",
        "result = train(model)",
        "toy_explorer(result, settings)",
        "result = 5",
    ]
    assert needed_cells(sources) == [0, 1, 2, 3, 4, 6, 7, 9, 10]
