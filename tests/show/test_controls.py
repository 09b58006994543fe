"""The controls that `tx_helpers/show/controls.py` makes: their kinds, their starts, and labels that are not cut off."""

import ipywidgets
import pytest

from tx_helpers.show.controls import choice, filled_by, powers, slider, stops, tick, typed


@pytest.mark.parametrize(
    ("control", "kind", "start"),
    [
        (choice("Task", ["copy", "sort"]), ipywidgets.Dropdown, "copy"),
        (choice("Task", {"copy": 1, "sort": 0}, 0), ipywidgets.Dropdown, 0),
        (stops("Ranks", (1, 2, 4), 4), ipywidgets.SelectionSlider, 4),
        (powers("Chips", 10, 1024), ipywidgets.SelectionSlider, 1024),
        (slider("Layer", 1, 12), ipywidgets.IntSlider, 1),
        (slider("Bias", -1, 1, step=0.5, start=0), ipywidgets.FloatSlider, 0.0),
        (slider("Value", -4, 4, step=1.0), ipywidgets.FloatSlider, -4.0),
        (tick("Causal", on=True), ipywidgets.Checkbox, True),
        (typed("Number", 421), ipywidgets.IntText, 421),
        (typed("Sentence", "a b", at_once=False), ipywidgets.Text, "a b"),
    ],
)
def test_a_control_has_its_kind_label_and_start(control, kind, start):
    assert type(control) is kind and control.value == start and control.description


def test_options_are_labelled_where_the_labels_are_given():
    assert powers("Chips", 11).options[-1] == ("2,048", 2048)
    assert choice("Tokens", {"a million": 10**6}).label == "a million"
    assert slider("Share", 0, 1, step=0.1, form=".0%").readout_format == ".0%"


def test_a_label_has_one_width_where_it_fits_and_the_control_has_room():
    widths = [choice(label, [1], width=width).style.description_width for label, width in LABELS]
    assert widths == ["110px", "110px", "", ""]


LABELS = [("Experts a word", 0), ("Way", 346), ("Way", 240), ('Key: "a digit was written"', 0)]


def test_a_known_model_sets_its_sizes_and_a_changed_size_makes_it_ones_own():
    model, layers = choice("Model", ["small", "large", "own"]), slider("Layers", 1, 48, start=12)
    filled_by(model, {"small": {"layers": 12}, "large": {"layers": 48}}, {"layers": layers}, "own")
    model.value = "large"
    assert (layers.value, model.value) == (48, "large")
    layers.value = 47
    assert (layers.value, model.value) == (47, "own")
    model.value = "small"
    assert (layers.value, model.value) == (12, "small")
