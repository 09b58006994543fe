"""The notebooks of the course keep their form; `notebook_guards` holds the rules."""

import nbformat
import pytest

import link_terms
import notebook_guards as guards
from notebook_comparison import compared_share
from repository import COURSE


@pytest.mark.parametrize("path", COURSE, ids=lambda path: path.stem)
def test_a_notebook_of_the_course_keeps_the_rules(path):
    assert guards.course_guards(path, nbformat.read(path, as_version=4)) == []


@pytest.mark.parametrize("path", COURSE, ids=lambda path: path.stem)
def test_the_glossary_explains_every_term(path):
    start = nbformat.read(COURSE[0], as_version=4)
    assert guards.terms_learned(nbformat.read(path, as_version=4))
    assert guards.unexplained_terms(nbformat.read(path, as_version=4), start) == []


@pytest.mark.parametrize("path", COURSE, ids=lambda path: path.stem)
def test_every_term_is_linked_to_the_glossary_where_it_first_appears(path):
    assert link_terms.unlinked(nbformat.read(path, as_version=4), path.name) == []


def test_the_course_is_really_compared():
    compared, bearing = compared_share([nbformat.read(path, as_version=4) for path in COURSE])
    assert compared >= 0.85 * bearing, f"strict nbval really compares only {compared} of {bearing} cells with an output"


def test_no_code_stands_twice_in_the_course():
    assert guards.repeated_code({path.stem[:2]: nbformat.read(path, as_version=4) for path in COURSE}) == []


def test_the_course_is_told_in_small_cells():
    assert guards.median_lines([nbformat.read(path, as_version=4) for path in COURSE]) <= 6
