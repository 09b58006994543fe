"""The report of `diagnose` as a text, a table and a value, and its command line."""

import os
import subprocess
import sys

import pytest

from notebook_frame import ROOT
from toy import Toy
from tx_helpers.__main__ import main
from tx_helpers.diagnose import PROBES, diagnose
from tx_helpers.diagnose.reasons import REASONS
from tx_helpers.diagnose.report import LOOK, SKIPPED, Finding, Report
from tx_helpers.diagnose.report import RIGHT as FINE
from tx_helpers.diagnose.report import WRONG as FOUND
from tx_helpers.text.number_words import english

REPORT = Report(
    "Model <b>",
    (
        Finding("future", "Q & A?", FOUND, "0.5 <i>", 0.5, ("first", "second"), "layer <script>", "try it"),
        Finding("order", "O?", LOOK, "so so", 0.1, ("maybe",)),
        Finding("start", "S?", FINE, "fine", 0.0, ("never shown",)),
        Finding("loss", "L?", SKIPPED, "say loss="),
    ),
)


def test_the_report_as_a_text():
    assert repr(REPORT).splitlines() == [
        "Model <b>",
        "",
        "future  WRONG    0.5 <i>",
        "order   look     so so",
        "start   right    fine",
        "loss    skipped  say loss=",
        "",
        "future: Q & A?",
        "  1.    first",
        "  2.    second",
        "  look: layer <script>",
        "  try:  try it",
        "",
        "order: O?",
        "  1.    maybe",
        "",
        "1 probe finds a mistake (future), 1 asks you to look (order), 1 finds nothing, 1 was skipped (loss).",
    ]


def test_a_terminal_has_80_columns():
    long = Report(
        "Model " * 20, (*REPORT, Finding("shift", "W? " * 40, LOOK, "far " * 40, 1.0, ("w " * 90,), "x " * 90))
    )
    assert max(map(len, str(long).splitlines())) <= 80 < max(map(len, repr(long).splitlines())) <= 110
    assert str(long).split() == repr(long).split()
    assert str(REPORT) == REPORT.text(80) and repr(REPORT) == REPORT.text(110)


def test_the_report_as_a_table_lets_no_markup_in():
    html = REPORT._repr_html_()
    assert "<script" not in html and "<i>" not in html and "<b>" not in html
    assert html.count("<tr>") == 5 and "<li>second</li>" in html and "never shown" not in html
    assert "layer &lt;script&gt;" in html and 'scope="row"' in html


def test_the_report_as_a_value():
    assert REPORT.wrong == ["future"] and REPORT["order"].figure == "so so" and len(list(REPORT)) == 4
    with pytest.raises(KeyError, match="no probe 'past'; there is: future, order, start, loss"):
        REPORT["past"]


def test_every_probe_has_its_texts():
    found = diagnose(Toy())
    assert [finding.probe for finding in found] == list(PROBES)
    assert set(PROBES) == set(REASONS)
    table = sys.modules["tx_helpers.diagnose"].__doc__
    assert all(f"\n    {name} " in table for name in PROBES)
    assert f"{english(len(PROBES)).capitalize()} probes:" in (ROOT / "README.md").read_text(encoding="utf-8")


# --- the command line -------------------------------------------------------------------------------------------------


@pytest.mark.parametrize(
    ("arguments", "code", "out", "error"),
    [
        (["Toy"], 0, "No probe finds a mistake", ""),
        (["second_layer_open", "--length", "8"], 1, "in blocks.1.attention, and right", ""),
        (["Toy", "--data", "wrong_models:text_batch", "--loss", "wrong_models:twice_softmax"], 1, "(shift, loss)", ""),
        (["Toy", "--kind", "encoder", "--fresh"], 1, "later tokens", ""),
        (["Nano", "--forward", "wrong_models:with_targets"], 0, "No probe finds a mistake", ""),
        (["Nano"], 2, "", "give forward="),
        (["Case"], 2, "", "Case needs make, probe: name a function that makes it"),
        (["Absent"], 2, "", "AttributeError"),
        (["Toy", "--kind", "gpt"], 2, "", "invalid choice"),
        (["Toy", "--trained", "--fresh"], 2, "", "not allowed with"),
        (["Toy", "--length", "2"], 2, "", "ValueError: diagnose: length=2"),
        (["PAD"], 2, "", "ValueError: diagnose: model=0"),
    ],
)
def test_the_command_line(arguments, code, out, error, capsys):
    assert main(["diagnose", f"wrong_models:{arguments[0]}", *arguments[1:]]) == code
    printed = capsys.readouterr()
    assert out in printed.out and error in printed.err


def test_wrong_calls_of_the_command_line(capsys):
    assert main(["diagnose", "wrong_models"]) == 2
    assert "'wrong_models', expected module:name" in capsys.readouterr().err
    assert main(["diagnose", "./wrong_models.py:Toy"]) == 2
    assert "is a path, expected module:name, as in wrong_models:Toy" in capsys.readouterr().err
    assert main(["look"]) == main([]) == main(["check", "more"]) == 2
    assert "check | diagnose module:factory" in capsys.readouterr().err
    assert main(["diagnose", "--help"]) == 0
    assert "Exit code: 0 no probe finds a mistake" in capsys.readouterr().out


@pytest.mark.slow
def test_from_a_shell_whose_console_is_not_utf_8():
    """A module of the folder where the command is given; the exit code tells. The report about a missing division has
    √, − and ∞ in it, and the console shows what it can."""
    call = [sys.executable, "-m", "tx_helpers", "diagnose", "wrong_models:unscaled", "--fresh"]
    environment = os.environ | {"PYTHONIOENCODING": "ascii"}
    done = subprocess.run(call, capture_output=True, cwd=ROOT / "tests/diagnose", env=environment)
    assert (done.returncode, done.stderr) == (1, b"")
    assert b"WRONG" in done.stdout and b"not divided by sqrt" in done.stdout
