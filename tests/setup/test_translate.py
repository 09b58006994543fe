"""Translations: every text is found, what is no text stays, stale ones are marked, and the German notebooks run."""

import ast
import subprocess
import sys

import nbformat
import pytest

import translate
from notebook_frame import ROOT
from refresh_notebooks import load
from translate import cell_in
from tx_helpers import language
from tx_helpers.language import catalogue, drawing_in, languages, module_in, script_in, use

FILES = sorted((ROOT / "tx_helpers").rglob("*.js"))
NOTEBOOKS = sorted((ROOT / "notebooks").glob("[0-9]*.ipynb"))
GERMAN = ["00_start_here", "04_self_attention"]


def listened(make, source, **given) -> list[str]:
    """The texts that are found in a source."""
    found: list[str] = []
    make(source, lambda text: found.append(text) or text, **given)
    return found


def module_said(source: str, said: dict[str, str], where: str = "tx_helpers.lessons.a") -> dict:
    names: dict = {}
    exec(compile(module_in(ast.parse(source), lambda text: said.get(text, text), where), "a", "exec"), names)
    return names


def test_values_may_change_places_and_hold_texts_of_their_own():
    source = 'def f(n, w): return f\'{n:.1f} of {w!r} are {"well known" if n else "not known"}\''
    said = {
        "{n:.1f} of {w!r} are {('well known' if n else 'not known')}": "In {w!r} sind {n:.1f} {('well known' if n else "
        "'not known')}",
        "well known": "gut bekannt",
    }
    f = module_said(source, said)["f"]
    assert f(2, "x") == "In 'x' sind 2.0 gut bekannt" and f(0, "x") == "In 'x' sind 0.0 not known"


def test_a_value_that_is_not_there_in_english_is_an_error():
    with pytest.raises(ValueError, match=r"expected no values but \{n\}"):
        module_said("f'{n} of them'", {"{n} of them": "{m} davon"})


def test_docstrings_annotations_names_and_errors_of_wrong_calls_stay():
    source = (
        '"""A module docstring."""\ndef f(x: "A type name" = 1) -> "An other one":\n    """A docstring of it."""\n'
        "    raise ValueError('a wrong call')\nCSS = 'color: red;'\nKEY = 'tx-one two'\n"
    )
    assert listened(module_in, ast.parse(source), where="tx_helpers.show.a") == []
    assert listened(module_in, ast.parse(source), where="tx_helpers.lessons.a") == ["a wrong call"]


def test_tables_of_quizzes_and_mistakes_are_said_row_by_row():
    table = "Q = questions('''\nHow many of\n    them?\n  - 12 | They are\n    multiplied.\n  * 35 | Yes it is.\n''')"
    found = module_said(
        f"def questions(text): return text\n{table}", {"How many of them?": "Wie viele?", "Yes it is.": "Ja."}
    )["Q"]
    assert found.split("\n") == ["Wie viele?", "  - 12 | They are multiplied.", "  * 35 | Ja."]
    table = "E.slips('''\nroot  a * b → a\n  You left out the\n  factor b.\n''')"
    assert listened(module_in, ast.parse(table), where="x") == ["You left out the factor b."]


@pytest.mark.parametrize("path", NOTEBOOKS, ids=lambda path: path.stem)
def test_a_notebook_whose_texts_are_said_as_they_are_is_the_same(path):
    for cell in load(path).cells:
        before = cell.source
        translate.translate_cell(cell, lambda text: text)
        assert cell.source == before


@pytest.mark.parametrize("path", FILES, ids=lambda path: path.stem)
def test_a_script_whose_texts_are_said_as_they_are_is_the_same(path):
    script = path.read_text("utf-8")
    assert script_in(script, lambda text: text) == script


def test_long_texts_of_cells_are_broken_into_lines_and_comments_are_said():
    source = 'print(f"the share is {x:.2f}", "b c")  # the share of it\n# one comment\n# on two lines\ny = 1\n'
    said = {
        "the share is {x:.2f}": "der Anteil, der hier sehr ausführlich beschrieben wird, damit die Zeile zu lang wird, "
        "steht hier: {x:.2f}",
        "the share of it": "der Anteil",
        "one comment on two lines": "ein Kommentar",
    }
    code = cell_in(source, lambda text: said.get(text, text))
    assert max(map(len, code.split("\n"))) <= 88 and "# ein Kommentar\ny = 1" in code and "# der Anteil" in code
    assert ast.dump(ast.parse(code)) == ast.dump(ast.parse(source.replace(*next(iter(said.items())))))
    assert cell_in("%magic in it\n", str.upper) == "%magic in it\n"


def test_scripts_and_drawings():
    script = 'a = b ? `${n} of ${m ? "the last one" : {x: `in it`}.x} words` : "Play"; // don\'t say `this here`'
    said = {'${n} of ${m ? "the last one" : {x: `in it`}.x} words': '${m ? "the last one" : {x: `in it`}.x}: ${n}'}
    said |= {"the last one": "das letzte", "in it": "darin", "Play": "Los"}
    assert script_in(script, lambda text: said.get(text, text)) == (
        'a = b ? `${m ? "das letzte" : {x: `darin`}.x}: ${n}` : "Los"; // don\'t say `this here`'
    )
    assert drawing_in("<svg><title>One row</title><text>12</text></svg>", str.upper) == (
        "<svg><title>ONE ROW</title><text>12</text></svg>"
    )


def test_a_glossary_row_keeps_anchors_and_a_link_says_what_its_term_means():
    row = '| <a id="term-00-token"></a>token | the smallest piece | [00](00_a.ipynb), [02](02_b.ipynb) |'
    said = {"token": "Token", "the smallest piece": "das kleinste Stück", "See a [token](#term-00-token).": ""}
    assert translate.prose_in(row, lambda text: said.get(text, text)) == (
        '| <a id="term-00-token"></a>Token | das kleinste Stück | [00](00_a.ipynb), [02](02_b.ipynb) |'
    )
    said["See a [token](#term-00-token)."] = "Ein [Token](#term-00-token)."
    text = 'See a [token](#term-00-token "the smallest piece").'
    assert translate.prose_in(text, lambda text: said[text]) == 'Ein [Token](#term-00-token "das kleinste Stück").'


@pytest.fixture
def folder(tmp_path, monkeypatch):
    """A folder of catalogues with one notebook of three texts, which can be changed."""
    texts = ["One text with `code`", "Another $x$ text", "The third one"]
    monkeypatch.setattr(translate, "FOLDER", tmp_path)
    monkeypatch.setattr(language, "FOLDER", tmp_path)
    monkeypatch.setattr(translate, "texts_of", lambda name: [(text, "a cell") for text in texts])
    (tmp_path / "de").mkdir()
    return tmp_path, texts


def test_a_changed_english_text_marks_its_translation_as_stale(folder):
    path, texts = folder
    found = translate.updated("de", "00_a")
    for text, german in zip(texts, ("Ein Text mit `code`", "Ein $y$ Text", "Der dritte"), strict=True):
        found[text].string = german
    (path / "de" / "00_a.po").write_bytes(translate.written(found))
    assert len(translate.faults(found)) == 1 and translate.lacking(found) == []
    texts[0] = "One long text with `code`"
    found = translate.updated("de", "00_a")
    (path / "de" / "00_a.po").write_bytes(content := translate.written(found))
    assert translate.lacking(found) == ["One long text with `code`"]
    assert b'#| msgid "One text with `code`"' in content and b"Date" not in content
    assert catalogue("de") == {"Another $x$ text": "Ein $y$ Text", "The third one": "Der dritte"}


@pytest.mark.parametrize(
    "arguments, said",
    [(["xx-wrong"], "xx-wrong"), (["fr"], "no catalogue yet"), (["de", "77"], "no notebook has the number 77")],
)
def test_wrong_calls_are_told(arguments, said, capsys):
    with pytest.raises(SystemExit):
        translate.main([*arguments, "--check"])
    assert said in capsys.readouterr().err


def test_use_is_for_a_fresh_kernel_and_for_a_language_that_is_there():
    with pytest.raises(ValueError, match="expected one of de"):
        use("xx")
    import tx_helpers.exercises  # noqa: F401

    with pytest.raises(RuntimeError, match=r"tx_helpers\.\S+ is loaded already; restart the kernel"):
        use("de")


@pytest.mark.slow
def test_feedback_is_german_and_the_code_that_is_read_english():
    code = (
        "import tx_helpers.environment\n"  # as the set-up cell does where the course is not installed
        "from tx_helpers.language import use; use('de')\n"
        "from tx_helpers.exercises import check, hint\nimport inspect, tx_helpers.exercises.checks as module\n"
        "print(check('mix', lambda x: x.mean(0).expand_as(x)).text)\nhint('mix')\n"
        "assert 'not attempted yet' in inspect.getsource(module)"
    )
    said = subprocess.run([sys.executable, "-c", code], capture_output=True, text=True, cwd=ROOT)
    assert "noch nicht" in said.stdout and "not yet" not in said.stdout, said.stderr


@pytest.mark.parametrize("tongue", languages())
def test_translations_keep_formulas_code_links_and_values(tongue):
    for file in sorted((language.FOLDER / tongue).glob("*.po")):
        with file.open("rb") as stream:
            assert translate.faults(translate.read_po(stream)) == [], file.name


@pytest.mark.slow
def test_german_is_complete():
    for name in ("common", *GERMAN):
        assert translate.lacking(translate.updated("de", name)) == [], f"{name}: run `make translate LANG=de`"


@pytest.mark.thorough
def test_the_german_notebooks_run_under_strict_nbval_and_say_nothing_in_english(tmp_path):
    english = {text for text, german in catalogue("de").items() if text != german and len(text.split()) > 4}
    for path in translate.make("de", GERMAN, tmp_path):
        content = path.read_text("utf-8")
        for cell in nbformat.reads(content, as_version=4).cells:
            outputs = "".join(
                str(output.get("text", "") or output.get("data", "")) for output in cell.get("outputs", [])
            )
            assert [text for text in english if text in cell.source or text in outputs] == [], cell.id
        command = [sys.executable, "-m", "pytest", "--nbval", "-q", "--nbval-cell-timeout=600", str(path)]
        run = subprocess.run(command, capture_output=True, text=True, cwd=ROOT)
        assert run.returncode == 0, run.stdout[-3000:]
