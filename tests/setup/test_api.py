"""The API pages: made without a network, with shapes, the legend and a search; the exercises stay out."""

import os
import re
import subprocess
import sys

import pytest

from notebook_frame import ROOT


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
    assert [name for name in pages if "lessons" in name] == []
    loads = r"""<(?:script|img|link)\b[^>]*? (?:src|href)=["']?(https?:[^"' >]+)"""
    assert {name: found for name, page in pages.items() if (found := re.findall(loads, page))} == {}
