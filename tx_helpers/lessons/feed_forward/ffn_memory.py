"""The feed-forward network as a memory: which words switch a hidden unit on, and which words it writes.

    FFN(x) = b₂ + Σᵢ f(x · kᵢ + bᵢ) vᵢ      kᵢ: column i of W₁, the key; vᵢ: row i of W₂, the value

Source: Geva et al. 2021, *Transformer feed-forward layers are key-value memories*. The units are those of the course's
translator, their activations those of a real forward pass over held-out numbers.
"""

from collections.abc import Sequence
from dataclasses import dataclass

import torch
from torch import Tensor

from tx_helpers.nn.arguments import check_types
from tx_helpers.nn.capture import capture
from tx_helpers.nn.models import DecoderOnly
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
