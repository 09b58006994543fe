"""The notebooks of the course keep their form and their measure: the rules of `notebook_guards` and `story_guards`."""

import nbformat
import pytest

import link_terms
import notebook_guards as guards
import place_exercises
import refresh_notebooks
import story_guards
from notebook_comparison import compared_share
from repository import COURSE

TOLD_AGAIN = [path.name for path in COURSE if path.stem[3:] in story_guards.TOLD_AGAIN]


@pytest.fixture(scope="module")
def course():
    return {path.name: nbformat.read(path, as_version=4) for path in COURSE}


@pytest.fixture(scope="module")
def glossary(course):
    return link_terms.glossary_of(course)


def faulty(findings: dict[str, list[str]]) -> dict[str, list[str]]:
    """The notebooks of which something is said, and what."""
    return {name: found for name, found in findings.items() if found}


def test_the_notebooks_of_the_course_keep_the_rules(course):
    assert faulty({path.stem: guards.course_guards(path, course[path.name]) for path in COURSE}) == {}
    assert faulty({name: story_guards.story_guards(notebook) for name, notebook in course.items()}) == {}


def test_the_glossary_explains_every_term(course, glossary):
    assert [name for name, notebook in course.items() if not guards.terms_learned(notebook)] == []
    assert faulty({name: guards.unexplained_terms(notebook, glossary) for name, notebook in course.items()}) == {}


@pytest.mark.parametrize(
    ("tool", "arguments"), [(refresh_notebooks, ["--frame"]), (link_terms, []), (place_exercises, [])]
)
def test_a_tool_has_nothing_to_change(tool, arguments, capsys):
    """Headers, set-up cells, metadata, the lists of notebooks and routes; links to words; cells of exercises."""
    assert tool.main([*arguments, "--check"]) == 0, f"{capsys.readouterr().out}; run tools/{tool.__name__}.py"


def test_the_course_is_really_compared(course):
    compared, bearing = compared_share(list(course.values()))
    assert compared >= 0.8 * bearing, f"strict nbval really compares only {compared} of {bearing} cells with an output"


def test_no_code_stands_twice_in_the_course(course):
    assert guards.repeated_code({name[:2]: notebook for name, notebook in course.items()}) == []


def test_the_course_is_told_in_small_cells(course):
    assert guards.median_lines(list(course.values())) <= 6


def test_the_core_path_can_be_walked_in_one_go(course):
    assert faulty({name: story_guards.load(course[name]) for name in TOLD_AGAIN}) == {}


def test_a_number_stands_where_it_teaches_more_than_true(course):
    lines = [line for name in TOLD_AGAIN for line in story_guards.printed_lines(course[name])]
    told = story_guards.lines_of_truth(lines)
    assert len(told) <= story_guards.MAX_TRUE * len(lines), f"{len(told)} of {len(lines)} printed lines: {told}"
