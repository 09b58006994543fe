"""The API page holds every public name of the package, its signature and its docstring."""

import ast
import html
import importlib
import inspect
import pkgutil
import re

import pytest

import make_api
import tx_helpers
from tiers import TIER_OF

NAMES = [info.name for info in pkgutil.walk_packages(tx_helpers.__path__, "tx_helpers.")]
OFFERED = [name for name in NAMES if not re.search(r"\.(nb\d\d\w*|__main__)$", name)]


@pytest.fixture(scope="module")
def page(tmp_path_factory) -> str:
    file = tmp_path_factory.mktemp("build") / "api.html"
    assert make_api.main(["--to", str(file)]) == 0
    return file.read_text(encoding="utf-8")


def plain(text: str) -> str:
    """What a reader sees of a piece of HTML."""
    return html.unescape(re.sub(r"</?(?:a|code)\b[^>]*>", "", text)).replace("`", "")


@pytest.mark.parametrize("name", OFFERED)
def test_every_public_name_is_on_the_page(page, name):
    module = importlib.import_module(name)
    assert f'<h2 id="{name}">' in page
    for public, value in vars(module).items():
        if not public.startswith("_") and getattr(value, "__module__", "") == name and hasattr(value, "__qualname__"):
            if not (inspect.isclass(value) or inspect.isfunction(value)):
                continue
            entry = page.split(f'id="{name}.{value.__name__}"')[1].split("<h2")[0]
            assert inspect.getdoc(value).replace("`", "") in plain(entry), f"{name}.{public}"


def test_signatures_and_methods_are_shown(page):
    shown = plain(page)
    assert "def causal_mask(" in shown
    for parameter in inspect.signature(importlib.import_module("tx_helpers.nn.layers").FeedForward).parameters:
        assert re.search(rf"class FeedForward\(nn\.Module\)\n    def __init__\([^\n]*\b{parameter}\b", shown), parameter


def test_modules_stand_in_the_order_of_the_tiers(page):
    tiers = [TIER_OF[name.split(".")[1]] for name in re.findall(r'<h2 id="(tx_helpers\.[\w.]+)"', page)]
    assert tiers == sorted(tiers) and set(tiers) == set(TIER_OF.values())


def test_no_backtick_of_a_docstring_is_left(page):
    assert "`" not in re.sub(r"<pre class=\"signature\">.*?</pre>", "", page, flags=re.S)


def test_every_link_leads_to_an_anchor(page):
    anchors = re.findall(r'id="([\w.]+)"', page)
    assert len(anchors) == len(set(anchors))
    assert set(re.findall(r'href="#([\w.]+)"', page)) <= set(anchors)


def test_what_is_private_and_what_is_a_solution_is_left_out(page):
    (found,) = make_api.public(ast.parse("def _private(): ...\ndef shown(): ...\nSIZE = 3").body)
    assert found.name == "shown"
    assert not re.search(r'id="tx_helpers\.exercises\.nb\d\d', page)
