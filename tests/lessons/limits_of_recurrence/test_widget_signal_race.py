import asyncio

import ipywidgets as widgets
import pytest

from tx_helpers.lessons.limits_of_recurrence.recurrence import path_lengths
from tx_helpers.lessons.limits_of_recurrence.signal_race import arrivals, draw_race, signal_race_explorer
from tx_helpers.show.play import play_button


@pytest.mark.parametrize("kernel", [2, 3, 5, 9])
@pytest.mark.parametrize("distance", [1, 4, 7, 8, 9, 26, 32])
def test_real_layers_need_as_many_steps_as_the_table_says(distance, kernel):
    measured = {name: len(reached) - 1 for name, reached in arrivals(distance, kernel).items()}
    assert measured == path_lengths(distance, kernel)


def test_how_far_each_has_come():
    assert arrivals(16, 3) == {
        "recurrence": list(range(17)),
        "convolution": list(range(0, 17, 2)),
        "dilated convolution": [0, 2, 8, 16],
        "attention": [0, 16],
    }


def test_the_drawing_shows_who_knows_and_the_way(as_stored):
    as_stored(step=draw_race(4, 16, 3))


def test_the_explorer():
    race = signal_race_explorer()
    assert race.summary.startswith("After step 1, kernel width 3: recurrence 1 of 16,")
    race.set(distance=32)
    race.set(step=32, kernel=2)
    assert race.summary.endswith(
        "recurrence arrived after 32, convolution arrived after 32, attention arrived after 1."
    )
    race.set(distance=5)  # a step beyond the end goes back to it
    assert race.values == dict(step=5, distance=5, kernel=2) and not race.error


def test_play_without_an_event_loop_goes_to_the_end():
    race = signal_race_explorer()
    race.controls["play"].click()
    assert race.values["step"] == 16 and race.controls["play"].description == "Play"


def test_play_goes_step_by_step_and_pauses():
    async def play():
        slider = widgets.IntSlider(value=0, min=0, max=5, description="Step")
        button = play_button(slider, pause=0.001)
        seen = []
        slider.observe(lambda change: seen.append(change["new"]), "value")
        button.click()
        assert button.description == "Pause"
        while len(seen) < 2:
            await asyncio.sleep(0.001)
        button.click()
        stopped = len(seen)
        await asyncio.sleep(0.02)
        assert len(seen) == stopped and button.description == "Play"
        button.click()
        while button.description == "Pause":
            await asyncio.sleep(0.001)
        assert seen == [1, 2, 3, 4, 5]
        button.click()  # at the end it begins anew
        while button.description == "Pause":
            await asyncio.sleep(0.001)
        assert seen == [1, 2, 3, 4, 5, 0, 1, 2, 3, 4, 5]

    asyncio.run(play())
