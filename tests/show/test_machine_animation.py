"""The README's animation of the machine: it is there, small, looping, and it moves."""

import itertools
import re

import numpy as np
import pytest
from PIL import Image, ImageSequence

from repository import ROOT

README = (ROOT / "README.md").read_text("utf-8")
ANIMATION, STILL = ROOT / "figures" / "machine.webp", ROOT / "figures" / "machine_still.webp"


def test_the_readme_shows_it_below_one_sentence_and_the_link_and_tells_what_it_shows():
    above = r"\A# .*\n\n(?:\w.*\n){2}\n\*\*.*<!-- site -->\n\n"
    picture = re.search(above + r"<picture>\n(<source [^>]*>)\n(<img [^>]*>)\n</picture>\n", README)
    assert 'media="(prefers-reduced-motion: reduce)" srcset="figures/machine_still.webp"' in picture[1]
    assert 'src="figures/machine.webp"' in picture[2]
    alt = re.search(r'alt="([^"]*)"', picture[2])[1]
    assert 200 < len(alt) < 600 and all(word in alt for word in ("encoder", "decoder", "head", "zwanzig"))


def test_it_is_small_loops_and_every_picture_differs_from_the_one_before():
    assert ANIMATION.stat().st_size <= 600_000 and STILL.stat().st_size <= 150_000
    with Image.open(ANIMATION) as animation, Image.open(STILL) as still:
        assert animation.info["loop"] == 0 and animation.n_frames >= 15
        assert animation.size == still.size and animation.width >= 830
        frames = [np.asarray(frame.convert("RGB")) for frame in ImageSequence.Iterator(animation)]
        last = np.asarray(still.convert("RGB"))
    changed = [np.any(one != other, axis=-1).mean() for one, other in itertools.pairwise(frames)]
    assert min(changed) > 0.001  # of the pixels
    assert np.array_equal(frames[-1], last)  # lossless: who wants no motion sees what the others see at last


def test_without_a_head_that_matters_the_tool_says_so():
    draw_machine = pytest.importorskip("draw_machine", reason="playwright is not installed")

    class Unmoved:
        class page:  # noqa: N801
            @staticmethod
            def locator(_):
                return Unmoved

        all = staticmethod(lambda: [Unmoved])
        press = staticmethod(lambda _: None)
        words = staticmethod(lambda: "zwei")

    with pytest.raises(ValueError, match="without any single head, 'four hundred twenty-one' becomes 'zwei'"):
        draw_machine.needed_head(Unmoved)
