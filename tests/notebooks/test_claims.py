"""Each claim's cell passes on the course's notebook, and fails with each break of its subject; none is forgotten.

`make test` runs the notebooks, so that every claim holds there; that it can fail is for `make thorough`, but for the
claims of a quick notebook.

Try the claims of one notebook alone:  python -m pytest tests/notebooks/test_claims.py -m "" -k self_attention
"""

import os
import re
import time
from dataclasses import replace

import nbformat
import pytest
import torch
from nbformat.v4 import new_code_cell, new_markdown_cell, new_notebook

from claim_tests import find_faults, in_a_copy
from claims import Break, Claim, stands_in
from lesson_files import lesson_files
from notebook_frame import ROOT
from repository import COURSE

pytestmark = pytest.mark.skipif(not hasattr(os, "fork"), reason="no os.fork on this system")

CLAIMS = [replace(claim, notebook=module.NOTEBOOK) for module in lesson_files("claims.py") for claim in module.CLAIMS]

# What people say of Transformers, and the lesson that tests it: the `text` of a Claim there. The notebooks' own
# claims (### "…" below "Measured, not believed") need not be listed; a test below finds them.
TABLE = (
    ("limits_of_recurrence", "LSTM and GRU cure vanishing gradients"),
    ("limits_of_recurrence", "Transformers train 5 to 10 times faster than RNNs"),
    ("positional_encodings", "The dot product of sinusoidal positions falls with distance"),
    ("positional_encodings", "The terms of far positions are near 0"),
    ("positional_encodings", "Without positions there is no order"),
    ("self_attention", "Without √K training fails"),
    ("self_attention", "Self-attention is permutation-invariant"),
    ("self_attention", "Attention is a symmetric similarity"),
    ("self_attention", "Separate Q and K are needed to tell tokens apart"),
    ("self_attention", "The quadratic term dominates"),
    ("self_attention", "FlashAttention approximates"),
    ("self_attention", "Rows sum to 1, in training too"),
    ("self_attention", "Attention is linear"),
    ("multi_head_attention", "Multi-head costs H times as much"),
    ("multi_head_attention", "Every token attends most to itself"),
    ("multi_head_attention", "Heads divide into syntactic, semantic and positional ones"),
    ("multi_head_attention", "Attention weights explain the output"),
    ("multi_head_attention", '"it" attends to "cat", so attention resolves pronouns'),
    ("masking", "The encoder of 2017 is unidirectional"),
    ("masking", "No mask is needed at inference"),
    ("masking", "A late mask only spoils the sums"),
    ("masking", "−1e9 equals −inf"),
    ("feed_forward", "Post-norm needs warm-up"),
    ("feed_forward", "Residuals only help gradients"),
    ("feed_forward", "The FFN stores the knowledge"),
    ("decoding", "A bigger beam is better"),
    ("a_model_that_writes", "GPT has no way to process a prompt without an encoder"),
    ("positions_inside_attention", "Sinusoids extrapolate to longer sequences"),
    ("positions_inside_attention", "T5's bias is negative far away, positive nearby, and is added twice"),
    ("positions_inside_attention", "Sinusoidal and learned positions work equally well"),
)
QUICK = "masking"
HEADING = r'### (Measured: )?"'  # of a notebook's own claims


def code_of(notebook: str) -> list[str]:
    cells = nbformat.read(ROOT / "notebooks" / f"{notebook}.ipynb", as_version=4).cells
    return [cell.source for cell in cells if cell.cell_type == "code"]


def params(claims: list[Claim]) -> list:
    marks = [pytest.mark.slow if claim.notebook[3:] == QUICK else pytest.mark.thorough for claim in claims]
    return [
        pytest.param(claim, marks=mark, id=f"{claim.notebook}-{claim.text[:60]}")
        for claim, mark in zip(claims, marks, strict=True)
    ]


@pytest.fixture(scope="session")
def outcomes(request):
    """The findings on a claim; all the claims of its notebook that were asked for are tested in one go."""
    tests = [item for item in request.session.items if "outcomes" in getattr(item, "fixturenames", ())]
    asked = {item.callspec.params["claim"] for item in tests}
    tested: dict[Claim, list[str]] = {}

    def of(claim: Claim) -> list[str]:
        if claim not in tested:
            together = [other for other in CLAIMS if other.notebook == claim.notebook and other in asked]
            tested.update(find_faults(together, code_of(claim.notebook)))
        return tested[claim]

    return of


@pytest.mark.parametrize("claim", params(CLAIMS))
def test_claim(claim, outcomes):
    assert outcomes(claim) == []


def test_every_claim_of_the_table_is_tested():
    tested = {(claim.notebook[3:], claim.text) for claim in CLAIMS}
    assert [row for row in TABLE if row not in tested] == []


def test_every_claim_names_a_break():
    assert [claim.text for claim in CLAIMS if not claim.breaks] == []


def test_every_measured_claim_of_the_notebooks_is_tested():
    cells = {path: [claim.cell for claim in CLAIMS if claim.notebook == path.stem] for path in COURSE}
    found = {path.stem: untested(nbformat.read(path, as_version=4), tested) for path, tested in cells.items()}
    assert {name: headings for name, headings in found.items() if headings} == {}


def untested(notebook, cells: list[str]) -> list[str]:
    """Headings `### "…"` and `### Measured: "…"` that no testing cell follows before the next heading."""
    heading, tested = "", {}
    for cell in notebook.cells:
        if cell.cell_type == "markdown":
            for heading in re.findall(r"^#{2,3} .*", cell.source, re.MULTILINE):
                tested.setdefault(heading, False)
        elif any(stands_in(testing, cell.source) for testing in cells):
            tested[heading] = True
    return [heading for heading, done in tested.items() if re.match(HEADING, heading) and not done]


# --- the engine itself -----------------------------------------------------------------------------------------------

SOURCES = [
    "# Set-up\nimport torch\n%pip install nothing",
    "unrelated = 1 / 0",
    "def mean(x):\n    return sum(x) / len(x)",
    "data = [1, 2, 6]\ndata.append(7)",
    "middle = mean(data)\nassert middle > 0, 'an earlier cell complains'",
    "print('held:', middle)\nassert middle == 4",
]
HELD = "print('held:', middle)"


def faults(*breaks: Break, cell: str = HELD, sources: list[str] = SOURCES) -> list[str]:
    (found,) = find_faults([Claim("the mean is 4", "yes", cell, breaks)], sources).values()
    return found


def test_a_claim_that_holds_and_whose_breaks_are_noticed(capfd):
    assert faults(Break("/ len(x)", "/ 2"), Break("[1, 2, 6]", "[-1, -2, -6]"), Break("mean(data)", "max(data)")) == []
    assert capfd.readouterr() == ("", "")


@pytest.mark.parametrize(
    ("change", "finding"),
    [
        (Break("sum(x) / len(x)", "sum(x) / 4"), "nothing fails; expected an AssertionError of its cell"),
        (Break("middle = mean(data)", "middl = 3"), "NameError: name 'middle' is not defined; expected an"),
        (Break("print('held:', middle)", "middle = mean(7)"), "TypeError: 'int' object is not iterable; expected an"),
        (Break("mean(data)", "mean(7)"), "code cell 5 fails before: TypeError"),
        (Break("data", "other"), "'data' stands 3 times in the cells that its cell needs, expected once"),
        (Break("1 / 0", "1"), "'1 / 0' stands 0 times"),
        (Break("middle == 4", "middle == 5"), "changes an assertion, expected to change its subject"),
    ],
)
def test_what_the_engine_finds(change, finding):
    (found,) = faults(change)
    assert finding in found


def test_a_claim_that_does_not_hold():
    (found,) = faults(Break("/ len(x)", "/ 2"), sources=[*SOURCES[:5], HELD + "\nassert middle == 5"])
    assert found == "as it stands, code cell 6 fails: AssertionError: assert middle == 5"


def test_the_judging_cell_stands_once():
    (found,) = faults(Break("a", "b"), cell="middle")
    assert found == "its cell 'middle' stands in the code cells [5, 6], expected in one"


def test_a_break_leaves_nothing_behind():
    torch.manual_seed(3)
    state = torch.get_rng_state()
    sources = ["import torch", "data = [1]", "torch.manual_seed(0)\ndata.append(2)", "assert data == [1, 2]"]
    found = find_faults([Claim("", "", "assert", (Break("append(2)", "append(3)"), Break("[1]", "[5]")))], sources)
    assert list(found.values()) == [[]]
    assert torch.equal(torch.get_rng_state(), state)


def test_claims_are_tested_side_by_side():
    sources = ["x = 1", "assert x == 2", "y = 3", "assert y == 3"]
    wrong = Claim("x is 2", "", "x == 2", (Break("x = 1", "x = 3"),))
    right = Claim("y is 3", "", "y == 3", (Break("y = 3", "y = 4"),))
    found = find_faults([wrong, right], sources)
    assert found[wrong] == ["as it stands, code cell 2 fails: AssertionError: assert x == 2"] and found[right] == []


def test_a_copy_that_dies_or_hangs_is_told():
    assert in_a_copy(lambda: "") == "" and in_a_copy(lambda: "wrong") == "wrong"
    assert "did not end within 0.2 s" in in_a_copy(lambda: time.sleep(60), longest=0.2)
    assert "failed" in in_a_copy(lambda: 1 / 0)


def test_a_measured_claim_without_a_test_is_found():
    cells = [new_markdown_cell('### "A"'), new_code_cell("assert 1"), new_markdown_cell('text\n\n### "B"\n\ntext')]
    notebook = new_notebook(cells=[*cells, new_code_cell("assert 2"), new_markdown_cell("### C")])
    assert untested(notebook, ["assert 1", "assert 2"]) == []
    assert untested(notebook, ["assert 1"]) == ['### "B"']
