"""A button that plays an explorer: it moves a slider one step at a time, like a hand on the slider, only steadier.

    step = widgets.IntSlider(min=0, max=16, description="Step")
    Explore(draw, name="race", step=step, play=play_button(step))

A `Button` passes no value to the explorer's draw. ipywidgets has a `Play` of its own, whose buttons bear icons without
names; this one is a plain button that a keyboard and a screen reader can use.
"""

import ipywidgets as widgets

from tx_helpers.nn.arguments import check_numbers, check_types
from tx_helpers.show.steps import Steps


def play_button(slider: widgets.IntSlider, *, pause: float = 0.6) -> widgets.Button:
    """ "Play" moves the slider to its end, a step every `pause` seconds, and from its start if it is at its end.

    While it plays the button says "Pause". Where no event loop runs (in a script) the slider goes to its end at once.
    """
    check_types("play_button", widgets.IntSlider, slider=slider)
    check_numbers("play_button", least=0, pause=pause)
    button = widgets.Button(description="Play", layout={"width": "120px"})
    button.plays = slider, pause  # a page without a kernel plays it itself
    steps = Steps(pause)

    def step() -> bool:
        slider.value = min(slider.value + slider.step, slider.max)
        return slider.value < slider.max

    def stopped(whole: bool) -> None:
        if not steps.going:
            button.description = "Play"

    def pressed(_) -> None:
        if steps.going:
            steps.stop()
            button.description = "Play"
            return
        button.description = "Pause"
        if slider.value >= slider.max:
            slider.value = slider.min
        steps.start(step, stopped)

    button.on_click(pressed)
    return button
