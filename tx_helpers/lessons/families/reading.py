"""What a reader looked at, and what it needed: attention against leaving out, in an encoder–decoder that summarises.

    player = summariser()                                # the pretrained encoder–decoder, fine-tuned in some seconds
    one = reading(player, text, summary)                 # ids, the parts (its sentences), weight on each part
    leave_one_out(one.score, one.ids, one.parts)         # what each sentence is worth
    most_weight(one)                                     # which sentence has most weight, by head and by their mean

The weight of a part is the mean over the decoder's places of the cross-attention that falls on it, in one head. Its
worth is how far ln p of the summary falls when the encoder does not get it.
Sources: Jain and Wallace 2019, Attention is not explanation; Wiegreffe and Pinter 2019, who object.
"""

from collections.abc import Callable
from typing import NamedTuple

import torch
from torch import Tensor

from tx_helpers.lessons.families.contestants import Contestant
from tx_helpers.lessons.families.tournament import BATCH, EXAMPLES, RATES, STEPS, examples, new_player, train
from tx_helpers.nn.capture import capture
from tx_helpers.text.data import BOS, EOS
from tx_helpers.training.optimizers import muon


class Reading(NamedTuple):
    """One text that was read for one summary."""

    words: list[str]  # the token of the task, then the text
    ids: list[int]
    parts: list[tuple[int, int]]  # (start, end) of each sentence among ids
    weights: Tensor  # (heads, T, S): of each word of the summary and its end on each of ids; all heads of all layers
    score: Callable[[list[int]], float]  # ln p of the summary, given a source
    word_score: Callable[[list[int], int], float]  # ln p of one of its words


def summariser(*, steps: int = STEPS, seed: int = 0) -> Contestant:
    """The pretrained encoder–decoder, fine-tuned to summarise."""
    player = new_player("encoder_decoder", "summarise", seed=seed)
    given, targets = examples("summarise", EXAMPLES, "train", seed)
    train(player, given, targets, muon(player, **RATES), steps=steps, batch=BATCH, seed=seed)
    return player.eval()


def reading(player: Contestant, text: str, summary: str) -> Reading:
    """Read a text once, and watch the cross-attention while the true summary is written."""
    words = [player.task.token, *text.split()]
    ids, target = player.tokenizer.encode(" ".join(words)), player.tokenizer.encode(summary)
    written, goal = torch.tensor([[BOS, *target]]), torch.tensor([*target, EOS])

    def log_p(source: list[int]) -> Tensor:
        with torch.no_grad():
            return player.model(torch.tensor([source]), written)[0].log_softmax(-1).gather(-1, goal[:, None])[:, 0]

    with capture(player.model, "*cross_attention.weights") as seen:
        log_p(ids)
    weights = torch.cat([layer[0] for layer in seen.values()])  # layers of (H, T, S)
    return Reading(
        words, ids, sentences(words), weights, lambda source: log_p(source).sum().item(),
        lambda source, place: log_p(source)[place].item(),
    )  # fmt: skip


def most_weight(one: Reading) -> Tensor:
    """Which part has the most weight: by each head, and at the end by the mean of all heads. (heads + 1,)"""
    weight = torch.stack([one.weights[..., start:end].sum(-1).mean(-1) for start, end in one.parts], dim=1)
    return torch.cat([weight, weight.mean(0, keepdim=True)]).argmax(1)


def sentences(words: list[str]) -> list[tuple[int, int]]:
    """(start, end) of the sentences; the first word, the token of the task, belongs to none."""
    ends = [place + 1 for place, word in enumerate(words) if word == "."]
    if not ends or ends[-1] < len(words):
        ends.append(len(words))
    return list(zip([1, *ends], ends, strict=False))


def nouns(one: Reading, summary: str) -> list[tuple[int, int]]:
    """(place in the summary, place in the source) of its longer words that stand exactly once in the text."""
    short = {word for word in one.words if one.words.count(word) == 1 and word.isalpha() and len(word) > 3}
    return [(place, one.words.index(word)) for place, word in enumerate(summary.split()) if word in short]
