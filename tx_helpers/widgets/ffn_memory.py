"""The feed-forward network as a memory: which words switch a hidden unit on, and which words it writes.

    FFN(x) = b₂ + Σᵢ f(x · kᵢ + bᵢ) vᵢ      kᵢ: column i of W₁, the key; vᵢ: row i of W₂, the value

Source: Geva et al. 2021, *Transformer feed-forward layers are key-value memories*. The units are those of the course's
translator, their activations those of a real forward pass over held-out numbers.
"""

from collections.abc import Sequence
from dataclasses import dataclass

import torch
from ipywidgets import Dropdown, IntSlider
from torch import Tensor

from tx_helpers.capture import capture
from tx_helpers.recipes import Translator
from tx_helpers.show.charts import Panel, side_by_side
from tx_helpers.show.explore import Explore
from tx_helpers.show.plots import Svg
from tx_helpers.show.shapes import BLUE, GREEN, INK, RED, shape, words
from tx_helpers.text.data import PAD, sequence_batch

SHOWN = 6  # words in each list
LAYERS = ("decoder.blocks.0", "decoder.blocks.1", "encoder.blocks.0", "encoder.blocks.1")


@dataclass(frozen=True)
class Memory:
    """The hidden units of one feed-forward network.

    fires   (words, F)  mean activation of each unit at the positions where a word is read
    active  (F,)        share of positions at which a unit is above 0
    writes  (V, F)      what a unit adds to each German word's logit, per unit of activation, on the straight way to
                        the output; None in the encoder, which has no such way
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
    """One forward pass over pairs (…, source, target), and for each layer what its units did."""
    model, data = translator.model, translator.data
    batch = sequence_batch(data.encode([pair[-2:] for pair in pairs]))
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


def written(model, values: Tensor) -> Tensor:
    """Values vᵢ as columns (D, F) -> the change of each logit (V, F): final norm's gain, then the output's matrix.

    The norm's division is left out: it is the same for all words. What all logits share is taken off: softmax does not
    see it.
    """
    values = values.detach().double()
    values = (values - values.mean(0)) * model.decoder.norm.weight.detach().double().unsqueeze(1)
    logits = model.output.weight.detach().double() @ values
    return logits - logits.mean(0)


def draw_unit(memory: Memory, unit: int) -> Svg:
    """Two lists of words: that fire the unit, that it raises and lowers."""
    left = strips(strongest(memory.words_read, memory.fires[:, unit]), "Fired by (mean activation)", BLUE[0])
    if memory.writes is None:
        right = Panel(left.size, words(left.size[0] / 2, 100, "Writes into the memory, not to a word", anchor="middle"))
    else:
        column = memory.writes[:, unit]
        both = strongest(memory.words_written, column)[:4] + strongest(memory.words_written, -column, sign=-1)[:3][::-1]
        right = strips(both, "Raises and lowers (logit)", GREEN[0])
    return side_by_side([left, right], alt=words_for(memory, unit), gap=40)


def words_for(memory: Memory, unit: int) -> str:
    """The unit's words, in words."""
    stack, _, block = memory.layer.split(".")
    fired = ", ".join(f"{w} {v:.1f}" for w, v in strongest(memory.words_read, memory.fires[:, unit])[:3])
    text = f"Unit {unit} of {stack} block {int(block) + 1}: on at {memory.active[unit]:.0%} of positions; "
    text += f"fired most by {fired or 'no word'}"
    if memory.writes is None:
        return text + "; it writes into the memory."
    raised = ", ".join(w for w, _ in strongest(memory.words_written, memory.writes[:, unit])[:2])
    lowered = ", ".join(w for w, _ in strongest(memory.words_written, -memory.writes[:, unit])[:2])
    return f"{text}; it raises {raised} and lowers {lowered}."


def strongest(names: Sequence[str], values: Tensor, sign: int = 1) -> list[tuple[str, float]]:
    """The words with the largest values above 0, largest first; the values come out times `sign`."""
    order = values.argsort(descending=True, stable=True)[:SHOWN].tolist()
    return [(names[i], sign * values[i].item()) for i in order if values[i] > 0.005]


def strips(rows: Sequence[tuple[str, float]], title: str, colour: str) -> Panel:
    """Words under one another, each with a bar as long as its number."""
    parts = [words(170, 14, title, anchor="middle", font_weight="bold")]
    longest = max((abs(value) for _, value in rows), default=1.0)
    for row, (name, value) in enumerate(rows):
        y = 32 + 27 * row
        parts.append(words(96, y + 15, name, anchor="end"))
        wide = 170 * abs(value) / longest
        parts.append(shape("rect", x=104, y=y, width=wide, height=20, fill=colour if value > 0 else RED[0]))
        parts.append(words(110 + wide, y + 15, f"{value:.2f}", fill=INK))
    return Panel((340, 225), "".join(parts))


def memory_explorer(translator: Translator, pairs: Sequence[tuple]) -> Explore:
    """A network and one of its hidden units, the most selective first."""
    found = memories(translator, pairs)
    orders = {layer: memory.order for layer, memory in found.items()}
    names = {layer: f"{layer.split('.')[0]} block {int(layer[-1]) + 1}" for layer in found}
    units = len(next(iter(orders.values())))
    return Explore(
        lambda layer, place: draw_unit(found[layer], orders[layer][place - 1]),
        name="ffn-memory",
        layer=Dropdown(options=[(names[layer], layer) for layer in found], description="Feed-forward of"),
        place=IntSlider(1, 1, units, description="Unit, by selectivity"),
    )
