"""A button that plays an explorer: it moves a slider one step at a time, like a hand on the slider, only steadier.

    step = widgets.IntSlider(min=0, max=16, description="Step")
    Explore(draw, name="race", step=step, play=play_button(step))

A `Button` passes no value to the explorer's draw. ipywidgets has a `Play` of its own, whose buttons bear icons without
names; this one is a plain button that a keyboard and a screen reader can use.
"""

import asyncio
from concurrent.futures import Future

import ipywidgets as widgets

from tx_helpers.arguments import check_numbers, check_types


def play_button(slider: widgets.IntSlider, *, pause: float = 0.6) -> widgets.Button:
    """ "Play" moves the slider to its end, a step every `pause` seconds, and from its start if it is at its end.

    While it plays the button says "Pause". Where no event loop runs (in a script) the slider goes to its end at once.
    """
    check_types("play_button", widgets.IntSlider, slider=slider)
    check_numbers("play_button", least=0, pause=pause)
    button = widgets.Button(description="Play", layout={"width": "120px"})
    player = _Player(slider, button, pause)
    button.on_click(lambda _: player.pressed())
    return button


class _Player:
    def __init__(self, slider: widgets.IntSlider, button: widgets.Button, pause: float):
        self.slider, self.button, self.pause = slider, button, pause
        self.going: object | None = None  # a token of the play that may go on
        self.task: Future | None = None
        try:
            self.loop = asyncio.get_running_loop()
        except RuntimeError:
            self.loop = None

    def pressed(self) -> None:
        if self.going:
            self._stop()
            return
        self.going, self.button.description = object(), "Pause"
        if self.slider.value >= self.slider.max:
            self.slider.value = self.slider.min
        if self.loop is not None and self.loop.is_running():
            self.task = asyncio.run_coroutine_threadsafe(self._play(self.going), self.loop)
        else:
            self.slider.value = self.slider.max
            self._stop()

    def _stop(self) -> None:
        self.going, self.button.description = None, "Play"

    async def _play(self, token: object) -> None:
        while self.going is token and self.slider.value < self.slider.max:
            await asyncio.sleep(self.pause)
            if self.going is token:
                self.slider.value = min(self.slider.value + self.slider.step, self.slider.max)
        if self.going is token:
            self._stop()
