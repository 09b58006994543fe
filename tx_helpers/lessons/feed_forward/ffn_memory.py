"""The feed-forward network as a memory: which words switch a hidden unit on, and which words it writes.

    FFN(x) = b₂ + Σᵢ f(x · kᵢ + bᵢ) vᵢ      kᵢ: column i of W₁, the key; vᵢ: row i of W₂, the value

Source: Geva et al. 2021, *Transformer feed-forward layers are key-value memories*. The units are those of the course's
translator, their activations those of a real forward pass over held-out numbers.
"""

from collections.abc import Sequence
from dataclasses import dataclass

import ipywidgets as widgets
import torch
from torch import Tensor

from tx_helpers.nn.arguments import check_types
from tx_helpers.nn.capture import capture
from tx_helpers.nn.models import DecoderOnly
from tx_helpers.show.charts import Panel, heading, message, side_by_side
from tx_helpers.show.explore import Explore
from tx_helpers.show.plots import Svg
from tx_helpers.show.shapes import BLUE, GREEN, INK, ORANGE, bar, line, words
from tx_helpers.text.data import PAD, sequence_batch, text_pairs
from tx_helpers.zoo.recipes import Translator

SHOWN = 6  # words in each list
LAYERS = ("decoder.blocks.0", "decoder.blocks.1", "encoder.blocks.0", "encoder.blocks.1")


# --- compute ----------------------------------------------------------------------------------------------------------
@dataclass(frozen=True)
class Memory:
    """The hidden units of one feed-forward network.

    fires   (words, F)  mean activation of each unit at the positions where a word is read
    active  (F,)        share of positions at which a unit is above 0
    writes  (V, F)      what a unit adds to each German word's logit, per unit of activation, on the direct path to
                        the output; None in the encoder, which has no such path
    """

    layer: str
    words_read: Sequence[str]
    words_written: Sequence[str]
    fires: Tensor
    active: Tensor
    writes: Tensor | None

    @property
    def order(self) -> list[int]:
        """Units by how much of their firing comes from three words, the most selective first."""
        total = self.fires.sum(0)
        share = self.fires.topk(3, dim=0).values.sum(0) / total.clamp(min=1e-9)
        share[total < 0.01 * total.mean()] = 0.0  # a unit that hardly ever fires selects nothing
        return share.argsort(descending=True, stable=True).tolist()


def memories(translator: Translator, pairs: Sequence[tuple], layers: Sequence[str] = LAYERS) -> dict[str, Memory]:
    """The memory of each layer, from one forward pass over pairs (…, source, target)."""
    check_types("memories", Translator, translator=translator)
    texts = text_pairs("memories", pairs)
    model, data = translator.model, translator.data
    batch = sequence_batch(data.encode(texts))
    with capture(model, "*.feed_forward.activation") as seen, torch.no_grad():
        model(batch.source, batch.decoder_input)
    found = {}
    for layer in layers:
        inside = layer.startswith("encoder")
        ids = batch.source if inside else batch.decoder_input
        read = (data.source_tokenizer if inside else data.target_tokenizer).tokens
        activation = seen[f"{layer}.feed_forward.activation"][ids != PAD].double()  # (positions, F)
        found[layer] = Memory(
            layer,
            read,
            data.target_tokenizer.tokens,
            mean_by_word(activation, ids[ids != PAD], len(read)),
            (activation > 0).double().mean(0),
            None if inside else written(model, model.get_submodule(f"{layer}.feed_forward").contract.weight),
        )
    return found


def mean_by_word(activation: Tensor, ids: Tensor, vocabulary: int) -> Tensor:
    """activation (N, F) at positions with ids (N,) -> mean for each word (vocabulary, F), 0 where it does not occur."""
    sums = torch.zeros(vocabulary, activation.shape[1], dtype=activation.dtype).index_add_(0, ids, activation)
    return sums / torch.bincount(ids, minlength=vocabulary).clamp(min=1).unsqueeze(1)


def strongest(names: Sequence[str], values: Tensor) -> list[tuple[str, float]]:
    """The words with the largest values above 0, largest first, each with its value."""
    order = values.argsort(descending=True, stable=True)[:SHOWN].tolist()
    return [(names[i], values[i].item()) for i in order if values[i] > 0.005]


def written(model: DecoderOnly, values: Tensor) -> Tensor:
    """Values vᵢ as columns (D, F) -> the change of each logit (V, F): final norm's gain, then the output's matrix.

    The norm's division is left out: it is the same for all words. The mean of the logits is subtracted: softmax does
    not depend on it.
    """
    values = values.detach().double()
    values = (values - values.mean(0)) * model.decoder.norm.weight.detach().double().unsqueeze(1)
    logits = model.output.weight.detach().double() @ values
    return logits - logits.mean(0)


# --- draw -------------------------------------------------------------------------------------------------------------
def draw(memory: Memory, unit: int) -> Svg:
    """Two lists of words: those that fire the unit, and those that it raises and lowers."""
    left = strips(strongest(memory.words_read, memory.fires[:, unit]), "Fired by (mean activation)", BLUE.full)
    if memory.writes is None:
        right = message("Writes into the encoder's memory, not to a word", size=left.size)
    else:
        column = memory.writes[:, unit]
        raised = strongest(memory.words_written, column)[:4]
        lowered = [(word, -value) for word, value in strongest(memory.words_written, -column)[:3]]
        right = strips(raised + lowered[::-1], "Raises and lowers (logit)", GREEN.full)
    return side_by_side([left, right], alt=describe(memory, unit), gap=40)


def strips(rows: Sequence[tuple[str, float]], title: str, colour: str) -> Panel:
    """Words under one another, each with a bar as long as its number: orange and to the left where it is below 0."""
    longest = max((abs(value) for _, value in rows), default=1.0)
    signed = any(value < 0 for _, value in rows)
    zero, unit = (180, 80 / longest) if signed else (104, 160 / longest)
    gap = 2 if signed else 0  # between the bars and the line at 0, which would not be seen on them
    parts = [heading(170, title)]
    for row, (name, value) in enumerate(rows):
        y = 32 + 27 * row
        start = zero + gap if value > 0 else zero - gap + unit * value
        parts.append(words(96, y + 15, name, anchor="end"))
        parts.append(bar(start, y, unit * abs(value), 20, colour if value > 0 else ORANGE.full))
        parts.append(words(332, y + 15, f"{value:.2f}", anchor="end"))
    if signed:
        parts.append(line(zero, 28, zero, 30 + 27 * len(rows), INK))
    return Panel((340, 225), "".join(parts))


# --- describe ---------------------------------------------------------------------------------------------------------
def describe(memory: Memory, unit: int) -> str:
    """How often the unit is on, the words that fire it, and the words that it raises and lowers."""
    stack, _, block = memory.layer.split(".")
    fired = ", ".join(f"{word} {value:.1f}" for word, value in strongest(memory.words_read, memory.fires[:, unit])[:3])
    text = f"Unit {unit} of {stack} block {int(block) + 1}: on at {memory.active[unit]:.0%} of positions; "
    text += f"fired most by {fired or 'no word'}"
    if memory.writes is None:
        return text + "; it writes into the encoder's memory."
    raised = ", ".join(word for word, _ in strongest(memory.words_written, memory.writes[:, unit])[:2])
    lowered = ", ".join(word for word, _ in strongest(memory.words_written, -memory.writes[:, unit])[:2])
    return f"{text}; it raises {raised} and lowers {lowered}."


# --- bind -------------------------------------------------------------------------------------------------------------
def memory_explorer(translator: Translator, pairs: Sequence[tuple]) -> Explore:
    """A network and one of its hidden units, the most selective first."""
    found = memories(translator, pairs)
    orders = {layer: memory.order for layer, memory in found.items()}
    names = {f"{layer.split('.')[0]} block {int(layer[-1]) + 1}": layer for layer in found}
    units = len(next(iter(orders.values())))
    return Explore(
        lambda layer, place: draw(found[layer], orders[layer][place - 1]),
        name="ffn-memory",
        told=True,
        layer=widgets.Dropdown(options=list(names.items()), description="Feed-forward of"),
        place=widgets.IntSlider(1, 1, units, description="Unit, by selectivity"),
    )
