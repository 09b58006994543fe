"""The picture of the roofline says which operations wait for memory."""

from tx_helpers.lessons.modern_transformers.cache_bytes import Intensity
from tx_helpers.lessons.modern_transformers.roofline import Row
from tx_helpers.lessons.modern_transformers.roofline_plot import roofline_picture
from tx_helpers.show.plots import Picture
from tx_helpers.training.machine_speed import Machine

MACHINE = Machine(1e11, 2e10)  # the ridge is at 5 operations for each byte
ROWS = [
    Row("a product", Intensity(10**9, 10**7), 0.01, 0.02),
    Row("a copy <b>", Intensity(10**6, 10**7), 0.0005, 0.001),
]


def test_the_picture_and_its_words():
    picture = roofline_picture(MACHINE, ROWS)
    assert isinstance(picture, Picture) and picture.png().startswith(b"\x89PNG")
    assert "Limited by memory: a copy <b>. Limited by multiplications: a product." in picture.alt
    axis = picture.figure.axes[0]
    roof, *points, ridge = axis.get_lines()
    assert list(roof.get_ydata()) == [MACHINE.roof(x) / 1e9 for x in roof.get_xdata()]
    assert [tuple(point.get_xydata()[0]) for point in points] == [(100, 50), (0.1, 1)]
    assert ridge.get_xdata()[0] == 5
    assert "Limited by memory: none." in roofline_picture(MACHINE, ROWS[:1]).alt
