"""Preferences: people like one of two answers better, and the model learns from such pairs (DPO).

    pairs = preference_pairs(400)              # of two stories about a person the one that ends well is better
    happy = align(tuned, pairs, beta=0.1)      # trained against `tuned`, which stays as it is
    measure(happy, tuned, preference_pairs(100, split="test"))

Here a rule takes the place of people: of two stories about the same person, the one whose last feeling is a good one is
better. So whether a model follows the preference can be measured on every story that it writes.

The loss is eq. 7 of Rafailov et al. 2023 (Direct Preference Optimization). With y the answers, x the question, π the
model and π_ref the one before training:

    margin = β [ln π(better | x) − ln π_ref(better | x)] − β [ln π(worse | x) − ln π_ref(worse | x)]
    loss = −ln σ(margin)

β ln (π / π_ref) is the reward that a model of preferences would have given. A large β holds the model near π_ref.
"""

import re
from collections.abc import Callable, Sequence
from copy import deepcopy
from typing import NamedTuple

import torch
import torch.nn.functional as F
from torch import Tensor, nn

from tx_helpers.nn.arguments import check_numbers, check_tensors, check_types
from tx_helpers.text.data import IGNORE, TextBatch, text_batch
from tx_helpers.text.world import little_world
from tx_helpers.text.world_words import WORDS
from tx_helpers.training.contexts import in_mode
from tx_helpers.training.loop import fit
from tx_helpers.training.optimizers import adamw, linear_warmup_decay
from tx_helpers.zoo.world_chat import Chat, ask_all, chat_ids, hero

GOOD, BAD = (re.split("[ ~]", WORDS[kind]) for kind in ("good", "bad"))
NOT = ("far from", "anything but", "not feel", "hardly felt")
FEELING = re.compile(rf"\b({'|'.join(NOT)}|was|felt) ({'|'.join(GOOD + BAD)})\b")
STEPS, BATCH, RATE = 40, 16, 2e-4


class Pair(NamedTuple):
    """A question, the better answer and the worse one."""

    asked: str
    better: str
    worse: str

    @property
    def chats(self) -> tuple[Chat, Chat]:
        """The chat with the better answer, and that with the worse one."""
        question = {"role": "user", "content": self.asked}
        better, worse = ({"role": "assistant", "content": said} for said in (self.better, self.worse))
        return [question, better], [question, worse]


class PairBatch(NamedTuple):
    """Chats with better and with worse answers, and ln π_ref (B,) of each answer."""

    better: TextBatch
    worse: TextBatch
    reference_better: Tensor
    reference_worse: Tensor

    def to(self, device: torch.device | str) -> "PairBatch":
        return PairBatch(*(part.to(device) for part in self))


def scored_log_p(logits: Tensor, targets: Tensor) -> Tensor:
    """ln p of each row's answer (B,), in nats: logits (B, T, V); targets (B, T), IGNORE where nothing is scored."""
    losses = F.cross_entropy(logits.mT, targets, ignore_index=IGNORE, reduction="none")  # (B, T)
    return -losses.sum(-1)


def answer_log_probability(model: nn.Module, batch: TextBatch) -> Tensor:
    """ln π(answer | question) of each row (B,), in nats: the sum over the targets that are scored."""
    return scored_log_p(model(batch.input), batch.target)


def dpo_loss(
    better: Tensor, worse: Tensor, reference_better: Tensor, reference_worse: Tensor, *, beta: float = 0.1
) -> Tensor:
    """−ln σ(margin), the mean over the pairs: four ln π(answer | question), each (B,) -> scalar. Eq. 7.

    It is ln 2 at the start of a training run, where the model is the reference.
    """
    return -F.logsigmoid(reward_margin(better, worse, reference_better, reference_worse, beta=beta)).mean()


def reward_margin(
    better: Tensor, worse: Tensor, reference_better: Tensor, reference_worse: Tensor, *, beta: float = 0.1
) -> Tensor:
    """How much higher the reward β ln (π / π_ref) of the better answer is: four (B,) -> (B,)."""
    check_numbers("dpo_loss", above=0, beta=beta)
    check_tensors(
        "dpo_loss",
        better=(better, "float B"),
        worse=(worse, "float B"),
        reference_better=(reference_better, "float B"),
        reference_worse=(reference_worse, "float B"),
    )
    return beta * ((better - reference_better) - (worse - reference_worse))


def preference_pairs(count: int, *, split: str = "train", seed: int = 0) -> list[Pair]:
    """ "how was mia 's day ?" with a story that ends well and one that ends badly, both about mia."""
    check_numbers("preference_pairs", least=1, whole=True, count=count)
    world, waiting, pairs = little_world(split), {}, []
    for text in world.texts(10**12, seed=seed):
        feeling = last_feeling(text)
        if feeling == "none":
            continue
        about, other = hero(world.truth(text)), "negative" if feeling == "positive" else "positive"
        if (about, other) in waiting:
            two = {feeling: text, other: waiting.pop((about, other))}
            pairs.append(Pair(f"how was {about} 's day ?", two["positive"], two["negative"]))
        else:
            waiting[about, feeling] = text
        if len(pairs) == count:
            break
    return pairs


def align(
    model: nn.Module,
    pairs: Sequence[Pair],
    *,
    beta: float = 0.1,
    steps: int = STEPS,
    lr: float = RATE,
    seed: int = 0,
    loss: Callable[..., Tensor] | None = None,
    log_p: Callable[[Tensor, Tensor], Tensor] = scored_log_p,
    evaluate: Callable[[nn.Module], dict[str, float]] | None = None,
    every: int = 10,
) -> nn.Module:
    """A copy of the model, trained by DPO; the model itself is the reference and stays as it is.

    loss: a function like `dpo_loss`, called with four (B,) and beta. log_p: one like `scored_log_p`. evaluate: called
    each `every` steps.
    """
    check_types("align", Sequence, pairs=pairs)
    compare = loss or (lambda *four_and_beta: dpo_loss(*four_and_beta[:4], beta=four_and_beta[4]))

    def pair_loss(model: nn.Module, batch: PairBatch) -> Tensor:
        better, worse = (log_p(model(side.input), side.target) for side in (batch.better, batch.worse))
        return compare(better, worse, batch.reference_better, batch.reference_worse, beta)

    aligned = deepcopy(model)
    fit(
        aligned,
        pair_batches(model, pairs, BATCH, seed=seed),
        steps=steps,
        loss=pair_loss,
        optimizer=adamw(aligned, lr, weight_decay=0.0),
        schedule=linear_warmup_decay(steps, warmup=min(10, steps // 2)),
        seed=seed,
        evaluate=evaluate,
        every=every,
        progress=False,
    )
    return aligned.eval()


def pair_batches(
    reference: nn.Module, pairs: Sequence[Pair], batch_size: int, *, seed: int = 0
) -> Callable[[int], PairBatch]:
    """batches(step) -> PairBatch of pairs drawn at random. The reference reads each answer once, before training."""
    rows = [[chat_ids(chat) for chat in side] for side in zip(*(pair.chats for pair in pairs), strict=True)]
    known = [reference_log_probabilities(reference, side) for side in rows]

    def batch(step: int) -> PairBatch:
        chosen = torch.randint(len(pairs), (batch_size,), generator=torch.Generator().manual_seed(seed + 10_000 * step))
        better, worse = (text_batch([side[place] for place in chosen.tolist()]) for side in rows)
        return PairBatch(better, worse, known[0][chosen], known[1][chosen])

    return batch


def reference_log_probabilities(model: nn.Module, rows: Sequence[tuple[list[int], list[int]]]) -> Tensor:
    """ln π(answer | question) of rows (input, target) of any length -> (N,), without gradients."""
    with in_mode(model, training=False), torch.no_grad():
        parts = [answer_log_probability(model, text_batch(rows[n : n + 64])) for n in range(0, len(rows), 64)]
    return torch.cat(parts)


def last_feeling(story: str) -> str:
    """The last feeling that a story names: "positive", "negative" or "none". "hardly felt sad" is positive."""
    found = FEELING.findall(story)
    if not found:
        return "none"
    how, word = found[-1]
    return "positive" if (word in GOOD) != (how in NOT) else "negative"


def is_true(asked: str, story: str) -> bool:
    """Is it a text of the world, about the person who was asked for?"""
    try:
        return hero(little_world().truth(story)) == asked.split()[2]
    except ValueError:
        return False


def measure(
    model: nn.Module, reference: nn.Module, pairs: Sequence[Pair], *, beta: float = 0.1, seed: int = 0
) -> dict[str, float]:
    """What training has changed, measured on other pairs, and on a story for each of their questions.

    margin     mean difference of reward between the better and the worse answer
    ranked     share of the pairs in which the better answer has the higher reward
    positive, negative, none    share of the stories, drawn at temperature 1, with this `last_feeling`
    preferred  share of the positive ones among the stories that name a feeling at all; 0 if none does
    true       share of the stories that are texts of the world about this person
    kl         KL(π ‖ π_ref) of a story, in nats: how far the model is from the reference on what it writes itself
    """
    check_types("measure", Sequence, pairs=pairs)
    sides = [[chat_ids(chat) for chat in side] for side in zip(*(pair.chats for pair in pairs), strict=True)]
    own = [reference_log_probabilities(model, side) for side in sides]
    theirs = [reference_log_probabilities(reference, side) for side in sides]
    margins = reward_margin(*own, *theirs, beta=beta)
    asked = [pair.asked for pair in pairs]
    stories = ask_all(model, asked, temperature=1.0, generator=torch.Generator().manual_seed(seed))
    feelings = [last_feeling(story) for story in stories]
    true = [is_true(question, story) for question, story in zip(asked, stories, strict=True)]
    told = [Pair(question, story, "").chats[0] for question, story in zip(asked, stories, strict=True)]
    return {
        "margin": margins.mean().item(),
        "ranked": (margins > 0).float().mean().item(),
        **{kind: feelings.count(kind) / len(feelings) for kind in ("positive", "negative", "none")},
        "preferred": feelings.count("positive") / max(len(feelings) - feelings.count("none"), 1),
        "true": sum(true) / len(true),
        "kl": story_divergence(model, reference, told),
    }


def story_divergence(model: nn.Module, reference: nn.Module, chats: Sequence[Chat]) -> float:
    """The mean over chats that `model` wrote of Σₜ KL(π(· | before t) ‖ π_ref(· | before t)), in nats.

    Its expectation is KL(π ‖ π_ref) of full answers, by the chain rule.
    """
    batch = text_batch([chat_ids(chat) for chat in chats])
    with in_mode(model, training=False), in_mode(reference, training=False), torch.no_grad():
        log_p, log_q = (one(batch.input).log_softmax(-1) for one in (model, reference))  # (B, T, V)
    divergence = (log_p.exp() * (log_p - log_q)).sum(-1)  # (B, T)
    per_chat = divergence.masked_fill(batch.target == IGNORE, 0.0).sum(-1)
    return per_chat.mean().item()
