"""docs/index.html: what the generator makes of the weights that it holds, and nothing from elsewhere."""

import re

import numpy as np

import make_first_page
from notebook_frame import repository_address


def test_the_committed_page_is_what_the_generator_makes():
    assert make_first_page.main(["--check"]) == 0
    made = make_first_page.page(make_first_page.stored(), repository_address())
    assert made.encode() == make_first_page.FILE.read_bytes()


def test_the_page_is_small_and_asks_for_nothing():
    page = make_first_page.FILE.read_text("utf-8")
    assert len(page.encode()) <= 700_000
    assert re.findall(r"""(?:src|href)=["'](?!#|preview\.png)[^"']*""", page.split("</style>")[1]) == [
        f'href="{repository_address()}#readme' for _ in range(bool(repository_address()))
    ]
    assert "default-src 'none'" in page and page.count("<script>") == 1


def test_weights_come_out_as_they_went_in():
    data = np.random.default_rng(0).standard_normal(999).astype("<f2").tobytes()
    assert make_first_page.unpacked(make_first_page.packed(data)) == data


def test_the_stored_weights_are_those_of_a_whole_translator():
    model = make_first_page.stored()
    size = max(one["offset"] + int(np.prod(one["shape"])) for one in model["spec"]["tensors"].values())
    assert 2 * size == len(make_first_page.stage(model).state["data"]) > 400_000
