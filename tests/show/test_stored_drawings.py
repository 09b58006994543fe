"""What a stored drawing catches, and what it forgives."""

import pytest

from repository import ROOT
from stored_drawings import CLOSE, compare_stored, lines_of
from tx_helpers.show.plots import Svg

BAR = '<svg viewBox="0 0 9 9"><g><rect x="1" y="2.5" fill="#0072B2"/><text x="3" y="4">0.90</text></g></svg>'


@pytest.fixture
def stored(tmp_path, monkeypatch):
    monkeypatch.setenv("TX_REDRAW", "1")
    compare_stored(tmp_path, bar=Svg(BAR, "A bar of 0.90."))
    monkeypatch.delenv("TX_REDRAW")
    return tmp_path


@pytest.mark.parametrize(
    ("old", "new"), [("2.5", "2.6"), ("#0072B2", "#0072B3"), (">0.90", ">0.91"), ("rect", "path"), ("<g>", "<g><g/>")]
)
def test_another_place_colour_number_or_element_is_seen(stored, old, new):
    with pytest.raises(AssertionError, match=r"bar\.svg differ[\s\S]*TX_REDRAW=1"):
        compare_stored(stored, bar=Svg(BAR.replace(old, new), "A bar of 0.90."))


def test_another_alt_text_a_new_drawing_and_one_of_no_test_are_seen(stored):
    for pictures in ({"bar": Svg(BAR, "A bar.")}, {"bar": Svg(BAR, "A bar of 0.90."), "new": Svg(BAR, "x")}, {}):
        with pytest.raises(AssertionError, match=r"bar|new"):
            compare_stored(stored, **pictures)


def test_the_last_digit_the_style_sheet_and_pixels_are_forgiven(stored):
    for other in (
        BAR.replace("2.5", f"{2.5 + CLOSE / 2}"),
        BAR.replace("<g>", "<style>a {b: c}</style><g>").replace("0 0 9 9", "0 0 9 9.001"),
    ):
        compare_stored(stored, bar=Svg(other, "A bar of 0.90."))
    shown = '<svg><image href="data:image/png;base64,AAAA"/></svg>'
    assert lines_of(Svg(shown, "x"))[1] == ' <image href="data:" />'


def test_every_folder_of_drawings_belongs_to_a_test_file():
    folders = [folder for folder in ROOT.glob("tests/**/drawings/*/") if any(folder.iterdir())]
    assert (
        folders
        and [str(folder) for folder in folders if not (folder.parents[1] / f"test_{folder.name}.py").exists()] == []
    )
