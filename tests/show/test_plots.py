"""Pictures and drawings: what is in the bundle, the same bytes every time, hostile text."""

import base64
import io
import warnings
from xml.etree import ElementTree

import numpy as np
import pytest
from matplotlib.colors import to_hex
from PIL import Image

from drawn import contrast
from tx_helpers.show.cells import GOLD, INK
from tx_helpers.show.pixels import png, transparent_to
from tx_helpers.show.plots import (
    COLOURS,
    DPI,
    Picture,
    Svg,
    attention_map,
    attention_maps,
    bars,
    curves,
    heatmap,
    new_figure,
    show,
    svg_text,
)
from tx_helpers.show.shapes import WEIGHT, WHITE, rgb

SVG = "{http://www.w3.org/2000/svg}"


def line():
    figure, axis = new_figure(3, 2)
    axis.plot([0, 1, 0], label="up and down")
    axis.set(title="A line", xlabel="step")
    return Picture(figure, "A line that goes up and down.")


def pixels(png):
    return np.asarray(Image.open(io.BytesIO(png)))


def test_the_png_has_the_pixels_of_savefig():
    buffer = io.BytesIO()
    line().figure.savefig(buffer, dpi=DPI)
    np.testing.assert_array_equal(pixels(line().png()), pixels(buffer.getvalue()))


def test_the_png_is_the_same_every_time_and_leaves_the_figure_as_it_was():
    picture = line()
    before = picture.figure.dpi
    first = picture.png()
    assert picture.png() == first == line().png()
    assert picture.figure.dpi == before
    assert b"Software" not in first


def test_a_letter_that_the_font_lacks_is_no_warning():
    figure, axis = new_figure(3, 2)
    axis.set_title("\0 \U0001f600 \u0e01")
    with warnings.catch_warnings():
        warnings.simplefilter("error")
        assert pixels(Picture(figure, "A title of odd letters.").png()).shape == (220, 330, 4)


def test_an_svg_shows_itself():
    svg = Svg('<svg viewBox="0 0 9 9"><g/></svg>', "Nine by nine.")
    markup = (
        '<svg viewBox="0 0 9 9" xmlns="http://www.w3.org/2000/svg" role="img" aria-label="Nine by nine."><g/></svg>'
    )
    source = f"data:image/svg+xml;base64,{base64.b64encode(markup.encode()).decode()}"
    html = f'<img alt="Nine by nine." style="max-width: 100%; height: auto" src="{source}">'
    assert svg._repr_mimebundle_() == (
        {"image/svg+xml": markup, "text/html": html, "text/plain": "Nine by nine."},
        {"image/svg+xml": {"alt": "Nine by nine."}},
    )
    assert repr(svg) == "Nine by nine."


def test_an_svg_has_one_role_one_label_and_the_class_asked_for():
    own = "<svg xmlns='http://www.w3.org/2000/svg' role=\"none\" class='a' aria-label='x > y' width='9'><g/></svg>"
    root = ElementTree.fromstring(Svg(own, "<b> & \"c\" 'd'").markup("tx-picture"))
    assert root.attrib == {"width": "9", "class": "a tx-picture", "role": "img", "aria-label": "<b> & \"c\" 'd'"}
    assert [child.tag for child in root] == [SVG + "g"]


@pytest.mark.parametrize("markup", ["", "<p>text</p>", "<svg>", "<svg/><script></script>", "text <svg></svg>"])
def test_what_is_no_svg_element_is_refused(markup):
    with pytest.raises(ValueError, match="Svg: expected one <svg …>…</svg> element"):
        Svg(markup, "Nothing.")


@pytest.mark.parametrize(
    ("text", "expected"),
    [
        ("</text><script>", "&lt;/text&gt;&lt;script&gt;"),
        ("\"'&", "&quot;&#x27;&amp;"),
        ("a\0b\x1b\ud800\ufffe", "ab"),
        ("ä\n\u202e\U0001f600", "ä\n\u202e\U0001f600"),
        (3, "3"),
    ],
)
def test_svg_text(text, expected):
    assert svg_text(text) == expected
    ElementTree.fromstring(f'<svg a="{expected}">{expected}</svg>')


@pytest.mark.parametrize("token", ["$\\frac{", "$$", "\0", "<img>", "a\nb", "x" * 10_000])
def test_any_token_can_be_drawn(token):
    for picture in (
        attention_map([[0.25, 0.75]], ["a", token], [token]),
        bars({token: 0.5, "b": 0.1}, title="Two", xlabel="p", alt="Two bars of a token."),
    ):
        width, height = Image.open(io.BytesIO(picture.png())).size
        assert 100 < width < 900 and 100 < height < 900


def test_bars_stand_in_order_with_their_names():
    axis = bars({"one": 0.5, "two": 0.1}, title="Two", xlabel="p", alt="one has more than two").figure.axes[0]
    assert [label.get_text() for label in axis.get_yticklabels()] == ["one", "two"]
    assert [bar.get_width() for bar in axis.patches] == [0.5, 0.1]


def test_names_of_bars_are_not_cut_where_there_is_room():
    name = "padding counted in the loss, no mask"
    axis = bars({name: 0.5, "x" * 60: 0.1}, title="Two", xlabel="p", alt="one has more than two").figure.axes[0]
    assert [label.get_text() for label in axis.get_yticklabels()] == [name, "x" * 39 + "…"]


def test_an_alt_text_must_say_something():
    figure, _ = new_figure()
    with pytest.raises(ValueError, match="says too little"):
        show(figure, "a plot")


def test_curves_tell_colours_and_dashes_and_name_the_measured_lengths():
    picture = curves(
        {"one": ((16, 64), (1, 2)), "two": ((32, 64), (3, 4))},
        title="",
        xlabel="",
        ylabel="",
        alt="Two rising lines, the second above the first",
        logx=True,
        levels={"chance": 1.5},
    )
    (axis,) = picture.figure.axes
    first, second = axis.lines[:2]
    assert (first.get_color(), first.get_linestyle()) == (COLOURS[0], "-")
    assert (second.get_color(), second.get_linestyle()) == (COLOURS[1], "--")
    picture.png()
    assert [label.get_text() for label in axis.get_xticklabels()] == ["16", "32", "64"]
    assert axis.texts[0].get_text() == "chance"


@pytest.mark.parametrize(("number", "columns"), [(1, 1), (4, 4), (5, 3), (6, 3), (8, 4), (9, 3)])
def test_maps_stand_in_even_rows(number, columns):
    titles = [f"head {n}" for n in range(number)]
    picture = attention_maps(np.ones((number, 2, 3)) / 3, "abc", "de", titles=titles, alt="The same in every map")
    *maps, scale = picture.figure.axes
    assert [axis.get_title() for axis in maps] == titles
    assert maps[0].get_gridspec().ncols == columns
    assert scale.get_ylabel() == "weight" and {axis.images[0].get_clim() for axis in maps} == {(0.0, 1 / 3)}


WEIGHTS = [[1.0, 0.0, 0.0], [0.3, 0.7, 0.0], [0.2, 0.2, 0.6]]


def test_a_map_has_a_scale_numbers_and_a_frame_around_what_is_forbidden():
    later = ~np.tri(3, dtype=bool)
    axis, scale = attention_map(WEIGHTS, "abc", "abc", forbidden=later).figure.axes
    assert scale.get_ylabel() == "weight" and axis.images[0].get_clim() == (0.0, 1.0)
    assert [text.get_text() for text in axis.texts[:3]] == ["1.00", "0.00", "0.00"]
    assert axis.images[0].get_array().mask.tolist() == later.tolist()  # nothing is drawn there: the hatching is seen
    (frame,) = axis.collections
    sides = {tuple(map(tuple, side)) for side in frame.get_segments()}
    stairs = {((0.5, -0.5), (0.5, 0.5)), ((0.5, 0.5), (1.5, 0.5)), ((1.5, 0.5), (1.5, 1.5)), ((1.5, 1.5), (2.5, 1.5))}
    edge = {((0.5, -0.5), (1.5, -0.5)), ((1.5, -0.5), (2.5, -0.5)), ((2.5, -0.5), (2.5, 0.5)), ((2.5, 0.5), (2.5, 1.5))}
    assert sides == stairs | edge


def test_a_large_map_has_no_numbers_and_weak_weights_a_scale_of_their_own():
    axis, _ = attention_map(np.full((8, 20), 0.05), list("abcdefghijklmnopqrst"), "abcdefgh").figure.axes
    assert not axis.texts and axis.images[0].get_clim() == (0.0, 0.05)


@pytest.mark.parametrize("forbidden", [np.zeros((2, 3), bool), np.zeros((3, 3))])
def test_a_mask_of_another_form_is_refused(forbidden):
    with pytest.raises(ValueError, match=r"attention_map: forbidden \(\d, 3\) of .*, expected \(3, 3\) of bool"):
        attention_map(WEIGHTS, "abc", "abc", forbidden=forbidden)


def test_a_map_of_weights_goes_from_paper_to_the_gold_of_the_grammar_and_its_numbers_can_be_read():
    assert to_hex(GOLD(0.0)) == WHITE.lower() and to_hex(GOLD(1.0)) == WEIGHT.full.lower()
    for level in range(256):
        assert contrast(INK, to_hex(GOLD(level)).upper()) >= 4.5
    picture = attention_map([[0.9, 0.1], [0.0, 1.0]], ["a", "b"], ["q", "r"])
    (image,) = picture.figure.axes[0].images
    assert image.get_cmap().name == "gold" and {text.get_color() for text in picture.figure.axes[0].texts} == {INK}


def test_a_matrix_that_holds_no_weights_has_another_scale():
    picture = heatmap([[1, 2], [3, 4]], title="Scores", xlabel="x", ylabel="y", alt="Four scores that grow.")
    assert picture.figure.axes[0].images[0].get_cmap().name != "gold"


def test_a_transparent_picture_keeps_its_colour_and_its_opacities():
    levels = np.array([[0, 128, 255]])
    shown = np.asarray(Image.open(io.BytesIO(png(levels, transparent_to(WEIGHT.full)))).convert("RGBA"))
    assert shown[0].tolist() == [[*rgb(WEIGHT.full), opacity] for opacity in (0, 128, 255)]
