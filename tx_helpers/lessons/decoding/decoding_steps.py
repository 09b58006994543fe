"""Explorer: greedy decoding, one step at a time, for a translator of number words.

    decoding_explorer({"apprentice": apprentice, "trained": translator}, translator="apprentice", number=6437)

All steps of a number are computed once; moving to another step only draws.
"""

from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from functools import lru_cache

import ipywidgets as widgets
import torch

from tx_helpers.generation.search import BeamStep, beam_search
from tx_helpers.nn.capture import capture
from tx_helpers.show.charts import Panel, side_by_side
from tx_helpers.show.controls import choice, slider, typed
from tx_helpers.show.explore import Explore
from tx_helpers.show.grid import NUMBERS
from tx_helpers.show.plots import Svg
from tx_helpers.show.shapes import BLUE, MUTED, ORANGE, WEIGHT, named_bar, words
from tx_helpers.text.data import BOS, EOS
from tx_helpers.text.number_words import english, german
from tx_helpers.zoo.recipes import Translator

LONGEST = 12  # steps: the longest number has eleven words and the end


# --- compute ----------------------------------------------------------------------------------------------------------
@dataclass(frozen=True)
class Step:
    """One step of greedy decoding."""

    so_far: list[str]
    candidates: list[tuple[str, float]]  # the likeliest words and their probabilities, likeliest first
    attention: list[float]  # (S,) over the English words: the last layer's cross-attention, mean of its heads


def greedy_steps(translator: Translator, source: str, *, shown: int = 5, longest: int = LONGEST) -> list[Step]:
    """Every step of the greedy translation of a text, until the end sign or for `longest` steps."""
    model, names = translator.model, translator.data.target_tokenizer.tokens
    source_ids = torch.tensor([translator.data.source_tokenizer.encode(source)])
    name = f"decoder.blocks.{len(model.decoder.blocks) - 1}.cross_attention.weights"
    steps: list[Step] = []

    def watch(step: BeamStep) -> None:
        p, ids = step.log_probability[0].softmax(-1).topk(shown)  # one beam: the probabilities of the next word
        likeliest = [names[i] for i in ids.tolist()]
        so_far = [names[i] for i in step.written[0, 0].tolist()]
        attention = activations[name][0, :, -1].mean(0)  # (B, H, 1, S) -> (S,)
        steps.append(Step(so_far, list(zip(likeliest, p.tolist(), strict=True)), attention.tolist()))

    with capture(model, name) as activations:
        beam_search(model, BOS, source=source_ids, beams=1, max_new_tokens=longest, end_id=EOS, watch=watch)
    return steps


# --- draw -------------------------------------------------------------------------------------------------------------
def draw(steps: Sequence[Step], step: int, source: Sequence[str], right: str) -> Svg:
    """Step number `step` (from 1): what has been written, the candidates as bars, and where the decoder looks."""
    if not 1 <= step <= len(steps):
        raise ValueError(f"draw: step {step}, but this translation has steps 1 to {len(steps)}")
    now = steps[step - 1]
    written = " ".join([*now.so_far, "→", now.candidates[0][0]])
    parts = [
        words(16, 24, written, size=15),
        words(16, 46, f"right: {right}", fill=MUTED),
        words(16, 76, f"Candidates of step {step}", font_weight="bold"),
        words(390, 76, "It looks at (last layer, mean of the heads)", font_weight="bold"),
    ]
    for row, (candidate, p) in enumerate(now.candidates):
        colour = BLUE if row else ORANGE
        parts += named_bar(100, 88 + 26 * row, candidate, 180 * p, f"{p:.2f}", colour.full, gap=6, size=12)
    for row, (word, weight) in enumerate(zip(source, now.attention, strict=True)):
        parts += named_bar(474, 88 + 26 * row, word, 180 * weight, f"{weight:.2f}", WEIGHT.full, gap=6, size=12)
    height = 96 + 26 * max(len(source), len(now.candidates))
    return side_by_side([Panel((720, height), "".join(parts))], alt=describe(steps, step, source))


# --- describe ---------------------------------------------------------------------------------------------------------
def describe(steps: Sequence[Step], step: int, source: Sequence[str]) -> str:
    """The two likeliest words, the word that the decoder looks at most, and the text so far."""
    now = steps[step - 1]
    (first, p), (second, p2) = now.candidates[:2]
    most, word = max(zip(now.attention, source, strict=True))
    return (
        f"Step {step} of {len(steps)}: {first!r} {p:.2f}, {second!r} {p2:.2f}; looks most at {word!r} ({most:.2f}); "
        f"so far: {' '.join(now.so_far) or 'nothing'}."
    )


# --- bind -------------------------------------------------------------------------------------------------------------
def decoding_explorer(
    translators: Mapping[str, Translator], *, translator: str, number: int, name: str = "decoding"
) -> Explore:
    """Choose a number and a translator, and step through its greedy translation."""
    steps_of = lru_cache(maxsize=8)(lambda name, number: greedy_steps(translators[name], english(number)))
    at = slider("Step", 1, LONGEST)

    def picture(number: int, translator: str, step: int) -> Svg:
        steps = steps_of(translator, number)
        at.max = len(steps)  # it ends where the translation ends
        source = translators[translator].data.source_tokenizer.split(english(number))
        return draw(steps, min(step, len(steps)), source, german(number))

    recorded = {"number": NUMBERS, "step": range(1, LONGEST + 1)}
    return Explore(picture, name=name, recorded=recorded, **choices(translators, translator, number), step=at)


def choices(translators: Mapping[str, Translator], translator: str, number: int) -> dict[str, widgets.Widget]:
    """The two controls that both explorers have."""
    return {
        "number": typed("Number", number),
        "translator": choice("Translator", list(translators), translator),
    }
