"""The planner's explorer: what is planned, the bars against the plan, the words, the controls and the page."""

import re
from dataclasses import replace

import pytest

from tx_helpers.lessons.scaling_up.planning.cluster import Assumptions, Cluster, Layout
from tx_helpers.lessons.scaling_up.planning.hardware import CHIPS
from tx_helpers.lessons.scaling_up.planning.planner import Plan, plan
from tx_helpers.lessons.scaling_up.planning.planner_explorer import (
    CHOSEN,
    Choice,
    bill,
    describe,
    draw,
    fastest,
    needed,
    own_sizes,
    parts_of_a_step,
    planned,
    planner_explorer,
    spoken,
)
from tx_helpers.lessons.scaling_up.planning.published import MODELS
from tx_helpers.lessons.scaling_up.planning.workload import Training

SMALL = Choice("GPT-2 XL", CHOSEN["GPT-2 XL"], Training(1e10, 1024, 64), "A100 80GB", 8)
EIGHT = Layout(data=4, pipeline=2, stage=1)
LARGE = SMALL._replace(name="GPT-3 175B", sizes=MODELS["GPT-3 175B"])

# --- compute ---------------------------------------------------------------------------------------------------------


def test_what_is_planned():
    assert planned(SMALL, EIGHT) == plan(SMALL.sizes, SMALL.training, Cluster("A100 80GB", 8), EIGHT)
    best = planned(SMALL, None)
    assert isinstance(best, Plan) and best.fits and best.step <= planned(SMALL, EIGHT).step
    assert planned(SMALL, replace(EIGHT, tensor=2)) == (
        "This layout cannot be used: 16 chips in the layout, but 8 in the cluster."
    )
    assert planned(LARGE, None) == "No layout of GPT-3 175B fits on 8 A100 80GB." and fastest(LARGE) is None


def test_sizes_of_a_model_of_ones_own():
    sizes = own_sizes(3, 768)
    assert (sizes.heads, sizes.cache_width, sizes.met) == (6, 2 * 768, 3 * (4 * 768**2 + 3 * 768 * 2048))
    assert CHOSEN["GPT-2 XL"].parameters == pytest.approx(1.558e9, rel=0.001)
    assert CHOSEN["Llama 3 8B"].parameters == pytest.approx(8.03e9, rel=0.001)


def test_the_parts_of_a_step_are_all_named():
    parts = parts_of_a_step(planned(SMALL, EIGHT))
    assert list(parts) == [
        *("compute", "memory-bound work", "tensor messages", "pipeline messages", "context messages"),
        *("expert messages", "bubble", "data messages", "optimizer step"),
    ]
    assert sum(parts.values()) == planned(SMALL, EIGHT).step


# --- draw and describe -----------------------------------------------------------------------------------------------


def test_what_is_drawn_and_said(as_stored):
    """Each bar begins where the one before ends; a line where the memory ends; what cannot be used."""
    as_stored(
        eight=draw(SMALL, EIGHT),
        data=draw(SMALL, Layout(data=8)),
        large=draw(LARGE, Layout(data=8)),
        wrong=draw(SMALL, replace(EIGHT, expert=2)),
        none=draw(LARGE),
    )


def test_times_and_the_bill():
    assert [spoken(value) for value in (0.00042, 0.031, 0.42, 31.0, 1234)] == [
        "0.42 ms",
        "31 ms",
        "0.42 s",
        "31.0 s",
        "1,234 s",
    ]
    found = planned(SMALL, EIGHT)
    free = replace(found, assumed=Assumptions(watts=0, dollars=0))
    assert bill(free).endswith("chip-hours, $0, 0 MWh, 0 t of CO2e")
    unknown = replace(found, cluster=Cluster(CHIPS["TPU v3"]._replace(watts=None), 8))
    assert re.fullmatch(r"MFU \d+%, [\d.]+ days, [\d,]+ chip-hours", bill(unknown))
    ten_trillion = replace(found, training=replace(found.training, tokens=1e13))
    assert needed(ten_trillion) == "To end in 30 days, the run needs MFU 1588%, which no chip reaches"


# --- bind ------------------------------------------------------------------------------------------------------------


def test_a_model_is_chosen_or_described():
    explorer = planner_explorer()
    for name, sizes in CHOSEN.items():
        explorer.set(model=name)
        assert (explorer.values["layers"], explorer.values["width"]) == (sizes.layers, sizes.width)
        assert explorer.summary.startswith(name) and explorer.error == ""
    explorer.set(layers=13)
    assert explorer.values["model"] == "one of your own" and explorer.summary.startswith("one of your own, ")


def test_the_sliders_cut_the_work():
    explorer = planner_explorer(chip="A100 80GB")
    choice = Choice("GPT-3 175B", MODELS["GPT-3 175B"], Training(3e11, 2048, 2048), "A100 80GB", 1024)
    assert explorer.summary == describe(choice, Layout(data=1024)) and "does not fit" in explorer.summary
    explorer.set(tensor=8, pipeline=16, stage=1, recompute="full")
    assert explorer.summary == describe(choice, Layout(8, 1, 8, 16, recompute="full")) and "It fits" in explorer.summary
    explorer.set(count=1)
    assert explorer.summary.endswith("This layout cannot be used: 128 chips in the layout, but 1 in the cluster.")
    explorer.set(best=True, count=1024)
    assert explorer.summary == describe(choice) and explorer.error == ""


def test_it_opens_with_three_controls_and_two_ticks():
    explorer = planner_explorer()

    def seen():
        return [key for key, control in explorer.controls.items() if control.layout.display != "none"]

    assert seen() == ["tensor", "pipeline", "stage", "best", "more"]
    explorer.set(more=True)
    assert seen() == list(explorer.controls) and len(seen()) == 18
    explorer.set(more=False)
    assert len(seen()) == 5


@pytest.mark.thorough
def test_pages_offer_the_first_controls_and_the_models():
    recording = planner_explorer().record()
    assert recording.settings == 4 * 5 * 4 * 2 * 3 and len(recording.data) < 115_000
    assert [about["key"] for about in recording.about["controls"]] == ["tensor", "pipeline", "stage", "best", "model"]
