"""The API pages: made without a network, with shapes, the legend and a search; the exercises stay out."""

import os
import re
import subprocess
import sys
from posixpath import dirname, join, normpath

import pytest

from notebook_frame import ROOT


def broken_links(pages: dict[str, str]) -> list[str]:
    """Links between the pages, and into them, that lead nowhere."""
    anchors = {name: set(re.findall(r'\bid="([^"]+)"', page)) for name, page in pages.items()}
    broken = []
    for name, page in pages.items():
        for link in re.findall(r'<a\b[^>]*? href="(?!https?:)([^"$]+)"', page):
            file, _, anchor = link.partition("#")
            target = normpath(join(dirname(name), file)) if file else name
            if target not in pages or (anchor and anchor not in anchors[target]):
                broken.append(f"{name}: {link}")
    return broken


@pytest.mark.slow
def test_the_pages_are_made_and_need_no_network(tmp_path):
    closed = {"http_proxy": "http://127.0.0.1:9", "https_proxy": "http://127.0.0.1:9"}
    made = subprocess.run(
        [sys.executable, ROOT / "tools" / "make_api.py", "--to", tmp_path],
        env=os.environ | closed,
        capture_output=True,
        text=True,
    )
    assert made.returncode == 0, made.stderr
    pages = {path.relative_to(tmp_path).as_posix(): path.read_text("utf-8") for path in tmp_path.rglob("*.html")}
    assert "D model width" in pages["tx_helpers.html"]
    assert "(B, S) -&gt; mask (B, 1, 1, S)" in pages["tx_helpers/nn/masks.html"]
    assert "causal_mask" in (tmp_path / "search.js").read_text("utf-8")
    assert ".docstring" in (tmp_path / "style.css").read_text("utf-8")
    assert [name for name in pages if "lessons" in name] == []
    assert broken_links(pages) == []
    loads = r"""<(?:script|img|link)\b[^>]*? (?:src|href)=["']?(https?:[^"' >]+)"""
    assert {name: found for name, page in pages.items() if (found := re.findall(loads, page))} == {}
