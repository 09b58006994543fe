"""Which source word decides a target word? Seven methods, scored against what is known.

    sentences = known_sentences(translator, number_pairs().held_out[:200])
    scores = METHODS["leave one out"](translator.model, sentences)  # (B, T, S)
    sentences.right(scores)                                         # the share of target words with the right source

In a number each German word but "und" translates one English word, so the right answer is known: "zwanzig" comes from
"twenty". A method gives each target word a score for every source word; it is right where the highest score is at the
word that was translated. Chance is 1 / S.

Sources: attention rollout, Abnar & Zuidema 2020; integrated gradients, Sundararajan et al. 2017; leave one out, Li et
al. 2016; patching, Vig et al. 2020 (causal mediation). That attention need not explain: Jain & Wallace 2019.
"""

from collections.abc import Callable, Sequence
from typing import Any, NamedTuple

import torch
from torch import Tensor

from tx_helpers.lessons.inside_the_model.tools import Edit, Edits, put
from tx_helpers.nn.capture import Activations, capture
from tx_helpers.text.data import EOS, PAD, SequenceBatch, sequence_batch, text_pairs
from tx_helpers.text.number_words import english, german
from tx_helpers.zoo.recipes import Translator

INPUT, MEMORY = "encoder.input.hidden", "encoder.blocks.*.hidden"
IG_STEPS = 12


class Sentences(NamedTuple):
    """A batch of sentences and the right answers.

    batch   sources (B, S), decoder inputs and targets (B, T)
    source  (B, T)  the position of the source word that a target word translates; −1 where there is none
    other   (B, S)  the ids with each word exchanged for another of its kind: "twenty" for "thirty"
    """

    batch: SequenceBatch
    source: Tensor
    other: Tensor

    def right(self, scores: Tensor) -> float:
        """The share of target words whose highest score, of (B, T, S), is at the word that they translate."""
        real = (self.batch.source != PAD)[:, None]
        top = scores.masked_fill(~real, -torch.inf).argmax(-1)
        return (top == self.source)[self.source >= 0].double().mean().item()

    def share(self, scores: Tensor) -> float:
        """The mean share of all positive scores that the right word has."""
        positive = scores.clamp(min=0).masked_fill((self.batch.source == PAD)[:, None], 0)
        shares = positive / positive.sum(-1, keepdim=True).clamp(min=1e-9)
        return shares.gather(-1, self.source.clamp(min=0)[..., None])[..., 0][self.source >= 0].double().mean().item()

    def joint(self, weights: Tensor, effects: Tensor) -> dict[str, tuple[float, float]]:
        """What attention and patching say of "zwanzig" and of "und": two words that are written one after the other.

        For each the weight on the unit and the ten together, and the larger effect of the two, in nats; the mean over
        all sentences that have both. weights, effects (B, T, S).
        """
        rows, at = (self.source < 0).logical_and(self.batch.target > EOS).nonzero().T  # of each "und"
        unit, ten = self.source[rows, at - 1], self.source[rows, at + 1]
        said = {}
        for name, t in (("ten", at + 1), ("und", at)):
            weight = weights[rows, t, unit] + weights[rows, t, ten]
            effect = torch.maximum(effects[rows, t, unit], effects[rows, t, ten])
            said[name] = (weight.double().mean().item(), effect.double().mean().item())
        return said

    @property
    def chance(self) -> float:
        """What a choice without a look would get."""
        words = (self.batch.source != PAD).sum(1, keepdim=True).expand_as(self.source)
        return (1 / words[self.source >= 0].double()).mean().item()


UNITS, TEENS = [english(n) for n in range(1, 10)], [english(n) for n in range(10, 20)]
KINDS = (UNITS, TEENS, [english(n) for n in range(20, 100, 10)], ["hundred", "thousand"])
GERMAN = {english(n): german(n) for n in (0, *range(2, 20), *range(20, 100, 10))}
GERMAN |= {"one": "ein", "hundred": "hundert", "thousand": "tausend"}


def source_positions(source: Sequence[str], target: Sequence[str]) -> list[int]:
    """For each German word the position of the English word that it translates; −1 for "und".

    Raises ValueError if the words are not those of one number.
    """
    found: list[int] = []
    place = 0
    while place < len(source):
        swapped = source[place] in KINDS[2] and source[place + 1 : place + 2] and source[place + 1] in UNITS
        found += [place + 1, -1, place] if swapped else [place]
        place += 2 if swapped else 1
    expected = ["und" if at < 0 else GERMAN.get(source[at]) for at in found]
    if ["ein" if word == "eins" else word for word in target] != expected:
        raise ValueError(f"source_positions: {' '.join(target)!r} is not {' '.join(source)!r}, word by word")
    return found


def another(word: str, turn: int) -> str:
    """Another word of the same kind: "thirty" for "twenty". `turn`, from 0, chooses among them."""
    kind = next((kind for kind in KINDS if word in kind), [word])
    others = [one for one in kind if one != word] or kind
    return others[turn % len(others)]


def known_sentences(translator: Translator, pairs: Sequence[tuple[object, ...]]) -> Sentences:
    """The sentences of pairs (…, source, target) of numbers, with their right answers."""
    ids = translator.data.encode(text_pairs("known_sentences", pairs))
    source_tokens, target_tokens = translator.data.source_tokenizer, translator.data.target_tokenizer
    batch = sequence_batch(ids)
    source, other = torch.full_like(batch.target, -1), batch.source.clone()
    for row, (english_ids, german_ids) in enumerate(ids):
        words = [source_tokens.tokens[one] for one in english_ids]
        found = source_positions(words, [target_tokens.tokens[one] for one in german_ids])
        source[row, : len(found)] = torch.tensor(found)
        other[row, : len(words)] = torch.tensor(source_tokens.encode(" ".join(another(word, row) for word in words)))
    return Sentences(batch, source, other)


# --- the methods ------------------------------------------------------------------------------------------------------
def last_heads(model: Any, known: Sentences) -> list[Tensor]:
    """The weights of each head of the last cross-attention, (B, T, S) each."""
    *_, last = _weights(model, known, "*.cross_attention.weights").values()
    return list(last.unbind(1))


def last_layer_attention(model: Any, known: Sentences) -> Tensor:
    """where the last cross-attention looks, mean over its heads (B, T, S)"""
    return torch.stack(last_heads(model, known)).mean(0)


def all_attention(model: Any, known: Sentences) -> Tensor:
    """the same, mean over both blocks (B, T, S)"""
    return torch.stack([*_weights(model, known, "*.cross_attention.weights").values()]).mean((0, 2))


def rollout(model: Any, known: Sentences) -> Tensor:
    """attention multiplied through all layers, with Â = ½ (A + I) (B, T, S)"""
    seen = _weights(model, known, "*.weights")
    mean = {name: weights.mean(1) for name, weights in seen.items()}
    to_words = torch.eye(known.batch.source.shape[1])  # what encoder position s holds of each word, (S, S)
    for name in seen.names("encoder.*"):
        to_words = 0.5 * (mean[name] @ to_words + to_words)
    held: Tensor = torch.zeros(*known.batch.target.shape, known.batch.source.shape[1])  # of each word, at position t
    own = torch.ones(*known.batch.target.shape, 1)  # and of the target words so far
    for name in seen.names("decoder.*"):
        if name.endswith("self_attention.weights"):
            held, own = 0.5 * (mean[name] @ held + held), 0.5 * (mean[name] @ own + own)
        else:
            held, own = 0.5 * (mean[name] @ to_words + held), 0.5 * own
    return held


def gradient(model: Any, known: Sentences) -> Tensor:
    """how steeply the log-probability changes with a word's vector (B, T, S)"""
    return _gradients(model, known, lambda hidden: hidden).norm(dim=-1)


def gradient_times_input(model: Any, known: Sentences) -> Tensor:
    """the same, times the word's distance from the mean word (B, T, S)"""
    gradients = _gradients(model, known, lambda hidden: hidden)
    return (gradients * _difference(model, known)[:, None]).sum(-1).abs()


def integrated_gradients(model: Any, known: Sentences) -> Tensor:
    """that, with the mean gradient on the way there (B, T, S)"""
    way, total = _difference(model, known), torch.zeros(())
    for step in range(IG_STEPS):
        left = 1 - (step + 0.5) / IG_STEPS
        total = total + _gradients(model, known, lambda hidden, left=left: hidden - left * way) / IG_STEPS
    return (total * way[:, None]).sum(-1)


def leave_one_out(model: Any, known: Sentences) -> Tensor:
    """what is lost with the mean word in its place (B, T, S)"""
    way = _difference(model, known)

    def without(place: int) -> Edits:
        return {INPUT: lambda hidden: hidden - way * (torch.arange(hidden.shape[1]) == place)[:, None]}

    return _losses(model, known, without)


def patching(model: Any, known: Sentences) -> Tensor:
    """what is lost with another word's vector in the memory (B, T, S)"""
    last = f"encoder.blocks.{len(model.encoder.blocks) - 1}.hidden"

    def patched(place: int) -> Edits:
        ids = put(known.other, at=place)(known.batch.source)
        with capture(model, last) as seen:
            model(ids, known.batch.decoder_input)
        return {last: put(seen[last], at=place)}

    return _losses(model, known, patched)


METHODS: dict[str, Callable[[Any, Sentences], Tensor]] = {
    "attention, last block": last_layer_attention,
    "attention, all blocks": all_attention,
    "attention rollout": rollout,
    "gradient": gradient,
    "gradient × input": gradient_times_input,
    "integrated gradients": integrated_gradients,
    "leave one out": leave_one_out,
    "patching": patching,
}


def _weights(model: Any, known: Sentences, pattern: str) -> Activations:
    """All attention weights whose names match."""
    with capture(model, pattern) as seen, torch.no_grad():
        model(known.batch.source, known.batch.decoder_input)
    return seen


def _log_p(model: Any, known: Sentences, edit: Edits | None = None) -> Tensor:
    """The log-probability of each target word, (B, T)."""
    with capture(model, INPUT, edit=edit):
        logits = model(known.batch.source, known.batch.decoder_input)
    return logits.log_softmax(-1).gather(-1, known.batch.target[..., None])[..., 0]


def _losses(model: Any, known: Sentences, edit: Callable[[int], Edits]) -> Tensor:
    """What each target word's log-probability loses by the edits of each source position, (B, T, S)."""
    with torch.no_grad():
        changed = [_log_p(model, known, edit(place)) for place in range(known.batch.source.shape[1])]
        return _log_p(model, known)[..., None] - torch.stack(changed, -1)


def _difference(model: Any, known: Sentences) -> Tensor:
    """From the mean vector of all words to each word's own; the position cancels. (B, S, D)"""
    table = model.encoder.input.tokens.weight.detach() * model.encoder.input.factor
    return table[known.batch.source] - table[EOS + 1 :].mean(0)


def _gradients(model: Any, known: Sentences, change: Edit) -> Tensor:
    """The gradients of the log-probabilities by the encoder's input, at the changed place, (B, T, S, D)."""
    at: list[Tensor] = []

    def begin(hidden: Tensor) -> Tensor:
        at.append(change(hidden).detach().requires_grad_())
        return at[-1]

    log_p = _log_p(model, known, {INPUT: begin})
    each = [torch.autograd.grad(log_p[:, t].sum(), at[0], retain_graph=True)[0] for t in range(log_p.shape[1])]
    return torch.stack(each, 1)
