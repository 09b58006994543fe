"""What a reader looked at, and what it needed: attention against leaving out, in an encoder–decoder that summarises.

    player = summariser()                                # the pretrained encoder–decoder, fine-tuned in some seconds
    one = reading(player, text, summary)                 # ids, the parts (its sentences), weight on each part
    leave_one_out(one.score, one.ids, one.parts)         # what each sentence is worth
    most_weight(one)                                     # which sentence has most weight, by head and by their mean
    found = agreement(readings, worths)                  # how often that is the one which is missed most
    attention_and_worth(one, worth, found)               # a text and all texts as bars

The weight of a part is the mean over the decoder's places of the cross-attention that falls on it, in one head. Its
worth is how far ln p of the summary falls when the encoder does not get it.
Sources: Jain and Wallace 2019, Attention is not explanation; Wiegreffe and Pinter 2019, who object.
"""

from collections.abc import Callable, Sequence
from typing import NamedTuple

import torch
from torch import Tensor

from tx_helpers.lessons.families.contestants import Contestant
from tx_helpers.lessons.families.tournament import BATCH, EXAMPLES, RATES, STEPS, examples, new_player, train
from tx_helpers.nn.capture import capture
from tx_helpers.show.charts import Panel, bar_chart
from tx_helpers.show.plots import Svg
from tx_helpers.show.rows import Text, stacked, title
from tx_helpers.show.shapes import BLUE, EDGE, INK, MUTED, WEIGHT, bar, line, words
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


def weight_on(one: Reading) -> Tensor:
    """The weight on each part, by each head, and in the last row by their mean. (heads + 1, parts)"""
    weight = torch.stack([one.weights[..., start:end].sum(-1).mean(-1) for start, end in one.parts], dim=1)
    return torch.cat([weight, weight.mean(0, keepdim=True)])


def most_weight(one: Reading) -> Tensor:
    """Which part has the most weight: by each head, and at the end by the mean of all heads. (heads + 1,)"""
    return weight_on(one).argmax(1)


class Agreement(NamedTuple):
    """Of the part that is missed most, over many texts: shares from 0 to 1."""

    by_head: Tensor  # (heads + 1,): of the texts in which it has the most weight, at the end by the mean of the heads
    random: float  # of the texts in which a part drawn at random, the first or the longest one is it
    first: float
    longest: float
    weight: float  # the mean weight on it
    words: float  # its share of the words


def agreement(readings: Sequence[Reading], worths: Sequence[Sequence[float]]) -> Agreement:
    """worths: what each part of each text is worth, as `leave_one_out` says."""
    hits, rest = [], []
    for one, worth in zip(readings, worths, strict=True):
        most = int(torch.as_tensor(worth).argmax())
        lengths = torch.tensor([end - start for start, end in one.parts])
        hits.append(most_weight(one) == most)
        share, weight = lengths[most] / lengths.sum(), weight_on(one)[-1, most]
        rest.append([1 / len(lengths), most == 0, lengths.argmax() == most, weight, share])
    return Agreement(torch.stack(hits).float().mean(0), *torch.tensor(rest).mean(0).tolist())


def attention_and_worth(one: Reading, worth: Sequence[float], found: Agreement) -> Svg:
    """One text: its sentences with the weight of each head and their worth. Below, all texts: the hits of each head."""
    weight, worth = weight_on(one)[:-1], torch.as_tensor(worth)
    count, most = sum(end - start for start, end in one.parts), weight.max().item()
    rows: list[str | Text | Panel] = [title("One text: weight by head, and what is lost without the sentence")]
    said = []
    for place, (start, end) in enumerate(one.parts):
        share = (end - start) / count
        rows += [" ".join(one.words[start:end]), _sentence(weight[:, place].tolist(), share, most, worth, place)]
        said.append(
            f"sentence {place + 1}: {share:.0%} of the words, {weight[:, place].mean():.0%} of the weight "
            f"(heads {weight[:, place].min():.0%} to {weight[:, place].max():.0%}), worth {worth[place]:.1f}"
        )
    shares = found.by_head.tolist()
    rivals = {"any": found.random, "the first": found.first, "the longest": found.longest}
    heads = {f"head {place + 1}": share for place, share in enumerate(shares[:-1])} | {"all heads": shares[-1]}
    rows += [title("All texts: how often is the sentence with the most weight the one that is missed most?")]
    chart = dict(title="", form="{:.0%}")
    left = bar_chart(heads, size=(560, 190), colour=WEIGHT.full, **chart)
    rows.append([left, bar_chart(rivals, size=(210, 190), colour=MUTED, **chart)])
    hits = ", ".join(f"{name} {share:.0%}" for name, share in (heads | rivals).items())
    return stacked(rows, width=830, alt=f"One text: {'; '.join(said)}. All texts, most weight is most missed: {hits}.")


def _sentence(weights: Sequence[float], share: float, most: float, worth: Tensor, place: int) -> Panel:
    """A bar for each head, a broken line at the sentence's share of the words, and the bar of its worth."""
    tall, step, x = 52, 26, 460
    scale = tall / max(most, share)
    parts = [bar(step * head, tall - scale * w, step - 6, scale * w, WEIGHT.full) for head, w in enumerate(weights)]
    right, chance = step * len(weights), tall - scale * share
    parts += [line(0, tall, right, tall, EDGE), line(0, chance, right + 6, chance, INK, stroke_dasharray="5 3")]
    parts += [words(right + 12, chance + 4, f"{share:.0%} of the words", size=12.5, fill=MUTED)]
    long = 220 * max(worth[place].item(), 0) / max(worth.max().item(), 1e-9)
    parts += [words(x - 8, tall - 22, "worth", anchor="end"), bar(x, tall - 36, long, 20, BLUE.full)]
    return Panel((800, tall + 6), "".join([*parts, words(x + long + 8, tall - 22, f"{worth[place]:.1f} nats")]))


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
