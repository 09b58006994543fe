"""The notebooks of the course keep their form and their measure: the rules of `notebook_guards` and `story_guards`."""

import nbformat
import pytest

import link_terms
import notebook_guards as guards
import story_guards
from notebook_comparison import compared_share
from repository import COURSE


@pytest.mark.parametrize("path", COURSE, ids=lambda path: path.stem)
def test_a_notebook_of_the_course_keeps_the_rules(path):
    notebook = nbformat.read(path, as_version=4)
    assert guards.course_guards(path, notebook) == []
    assert story_guards.story_guards(notebook) == []


@pytest.fixture(scope="module")
def glossary():
    return link_terms.glossary_of({path.name: nbformat.read(path, as_version=4) for path in COURSE})


@pytest.mark.parametrize("path", COURSE, ids=lambda path: path.stem)
def test_the_glossary_explains_every_term(path, glossary):
    assert guards.terms_learned(nbformat.read(path, as_version=4))
    assert guards.unexplained_terms(nbformat.read(path, as_version=4), glossary) == []


@pytest.mark.parametrize("path", COURSE, ids=lambda path: path.stem)
def test_every_term_is_linked_to_its_meaning_where_it_first_appears(path, glossary):
    assert link_terms.unlinked(nbformat.read(path, as_version=4), path.name, glossary) == []


def test_the_course_is_really_compared():
    compared, bearing = compared_share([nbformat.read(path, as_version=4) for path in COURSE])
    assert compared >= 0.85 * bearing, f"strict nbval really compares only {compared} of {bearing} cells with an output"


def test_no_code_stands_twice_in_the_course():
    assert guards.repeated_code({path.stem[:2]: nbformat.read(path, as_version=4) for path in COURSE}) == []


def test_the_course_is_told_in_small_cells():
    assert guards.median_lines([nbformat.read(path, as_version=4) for path in COURSE]) <= 6


TOLD_AGAIN = [path for path in COURSE if path.stem[:2] in story_guards.TOLD_AGAIN]


@pytest.mark.parametrize("path", TOLD_AGAIN, ids=lambda path: path.stem)
def test_the_core_path_can_be_walked_in_one_go(path):
    assert story_guards.load(nbformat.read(path, as_version=4)) == []


def test_a_number_stands_where_it_teaches_more_than_true():
    lines = [line for path in TOLD_AGAIN for line in story_guards.printed_lines(nbformat.read(path, as_version=4))]
    told = story_guards.lines_of_truth(lines)
    assert len(told) <= story_guards.MAX_TRUE * len(lines), f"{len(told)} of {len(lines)} printed lines: {told}"
