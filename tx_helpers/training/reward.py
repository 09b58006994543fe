"""Learning from reward: the model writes answers, a checker says what each is worth, and good ones become likelier.

    records = train_on_reward(model, prompts, reward, stop=EOS, max_new=16, updates=60)

The parts are pure functions. For each of P problems the model writes G answers; together these are B = P·G rows of ids
(B, T), a prompt and an answer each. `answer` (B, T) says which ids the model wrote, the end among them: these alone are
pushed. ln p of position t + 1 stands at place t, so all tables of ln p are (B, T − 1).

    samples = sample_answers(model, prompts, stop=EOS, max_new=16)
    advantages = group_advantages(rewards)                                    # (P, G), from what the checker says
    log_p = answer_log_probs(model, samples.ids, samples.answer)
    policy_loss(log_p, samples.log_p, advantages.flatten(), samples.answer, clip=0.2).backward()

Sources: Williams 1992 (REINFORCE); Schulman et al. 2017 (PPO: ratio and clip); Shao et al. 2024 (DeepSeekMath: GRPO);
Liu et al. 2025 (Dr. GRPO: neither deviation nor length); Schulman 2020 (the estimator of KL); Chen et al. 2021
(right at k).
"""

import math
from collections.abc import Callable, Mapping
from copy import deepcopy
from dataclasses import dataclass
from typing import Any, NamedTuple

import torch
from torch import Tensor, nn

from tx_helpers.generation.sampling import precise, sampler
from tx_helpers.generation.search import begin
from tx_helpers.nn.arguments import Function, check_numbers, check_one_of, check_tensors, check_types
from tx_helpers.training.contexts import in_mode
from tx_helpers.training.loop import fit
from tx_helpers.training.optimizers import adamw

MEANS = ("tokens", "answers", "constant")
Prompts = Tensor | Callable[[int, torch.Generator], Tensor]
Reward = Callable[[Tensor, Tensor], Tensor]
After = Callable[[int, dict[str, float]], Mapping[str, float] | None]


class Sampled(NamedTuple):
    """Answers that a model wrote: ids (B, T) behind their prompts, `answer` (B, T): what is theirs, log_p (B, T − 1).

    log_p is ln of the probability with which each token was drawn, and 0 outside the answers.
    """

    ids: Tensor
    answer: Tensor
    log_p: Tensor


# --- the parts --------------------------------------------------------------------------------------------------------
def answer_log_probs(model: nn.Module, ids: Tensor, answer: Tensor) -> Tensor:
    """ln p(id t + 1 | ids up to t) where `answer` says that the model wrote it, 0 elsewhere: (B, T) -> (B, T − 1)."""
    check_types("answer_log_probs", nn.Module, model=model)
    check_tensors("answer_log_probs", ids=(ids, "int B T"), answer=(answer, "bool B T"))
    log_p = precise(model(ids[:, :-1])).log_softmax(-1)
    return log_p.gather(-1, ids[:, 1:, None].long())[..., 0].masked_fill(~answer[:, 1:], 0.0)


def group_advantages(rewards: Tensor, *, scaled: bool = True) -> Tensor:
    """How much better than its group is an answer? rewards (P, G) -> (P, G): A = (r − mean) / (deviation + 10⁻⁴).

    The mean and the deviation are those of the G answers to one problem. A group of equal rewards gets 0.
    With scaled=False nothing is divided: A = r − mean (Dr. GRPO).
    """
    check_tensors("group_advantages", rewards=(rewards, "float P G"))
    if rewards.shape[1] < 2:
        raise ValueError(f"group_advantages: groups of {rewards.shape[1]}, expected at least 2 answers to a problem")
    centred = rewards - rewards.mean(dim=1, keepdim=True)
    return centred / (rewards.std(dim=1, keepdim=True) + 1e-4) if scaled else centred


def policy_loss(
    log_p: Tensor,
    old_log_p: Tensor,
    advantages: Tensor,
    answer: Tensor,
    *,
    clip: float | None = 0.2,
    mean: str = "tokens",
    most: int | None = None,
) -> Tensor:
    """The mean of −min(ρ A, clamp(ρ, 1 − clip, 1 + clip) A) over the answers' tokens, ρ = p / p_old. -> scalar

    log_p, old_log_p (B, T − 1), advantages A (B,), answer (B, T). With clip=None it is the mean of −ρ A; where the
    model is the one that wrote the answers, ρ = 1, and the gradient is that of −A ln p.
    mean    "tokens"     over all tokens: each token counts alike, so long answers count more
            "answers"    over the tokens of each answer, then over the answers (GRPO)
            "constant"   a sum over the tokens, divided by B · most (Dr. GRPO): the length of an answer divides nothing
    most    tokens that an answer may have; None: those of the longest one here
    """
    check_tensors("policy_loss", log_p=(log_p, "float B S"), old_log_p=(old_log_p, "float B S"))
    check_tensors("policy_loss", {"B": len(log_p), "T": log_p.shape[1] + 1}, answer=(answer, "bool B T"))
    check_tensors("policy_loss", {"B": len(log_p)}, advantages=(advantages, "float B"))
    check_numbers("policy_loss", above=0, optional=True, clip=clip)
    check_numbers("policy_loss", least=1, whole=True, optional=True, most=most)
    check_one_of("policy_loss", MEANS, mean=mean)
    written = answer[:, 1:]
    ratio = (log_p - old_log_p.detach()).exp()
    gain = ratio * advantages[:, None]
    if clip is not None:
        gain = torch.minimum(gain, ratio.clamp(1 - clip, 1 + clip) * advantages[:, None])
    gain, lengths = gain.masked_fill(~written, 0.0), written.sum(dim=1)
    if mean == "answers":
        return -(gain.sum(dim=1) / lengths.clamp(min=1)).mean()
    if mean == "tokens":
        return -gain.sum() / lengths.sum().clamp(min=1)
    return -gain.sum() / (len(gain) * (most or int(lengths.max().clamp(min=1))))


def kl_to_reference(log_p: Tensor, reference_log_p: Tensor, answer: Tensor) -> Tensor:
    """An estimate of KL(p ‖ reference) a token, from answers of p: the mean of eᵈ − d − 1, d = ln reference − ln p.

    log_p, reference_log_p (B, T − 1), answer (B, T). It is never negative, and right on average ("k3", Schulman 2020).
    """
    check_tensors("kl_to_reference", log_p=(log_p, "float B S"), reference_log_p=(reference_log_p, "float B S"))
    check_tensors("kl_to_reference", {"B": len(log_p), "T": log_p.shape[1] + 1}, answer=(answer, "bool B T"))
    d = reference_log_p - log_p
    return (d.exp() - d - 1).masked_fill(~answer[:, 1:], 0.0).sum() / answer[:, 1:].sum().clamp(min=1)


def right_at_k(right: Tensor, n: int, k: int) -> Tensor:
    """The chance that one of k answers is right, if `right` (P,) of the n that were drawn are: (P,) -> (P,).

    1 − C(n − right, k) / C(n, k): the share of all choices of k among these n that hold a right one. On average it is
    what k fresh answers give; 1 − (1 − right / n)ᵏ is less than that. Source: Chen et al. 2021, section 2.1.
    """
    check_tensors("right_at_k", right=(right, "P"))
    check_numbers("right_at_k", least=1, whole=True, n=n)
    check_numbers("right_at_k", least=1, most=n, whole=True, k=k)
    counts = right.tolist()
    for count in counts:
        if not (0 <= count <= n and count == int(count)):
            raise ValueError(f"right_at_k: {count} of n={n} answers are right, expected whole numbers from 0 to {n}")
    return torch.tensor([1 - math.comb(n - int(count), k) / math.comb(n, k) for count in counts])


@torch.no_grad()
def sample_answers(
    model: nn.Module,
    prompts: Tensor,
    *,
    stop: int,
    max_new: int,
    temperature: float = 1.0,
    generator: torch.Generator | None = None,
) -> Sampled:
    """Let the model write an answer behind each prompt (B, T), until `stop` or for max_new tokens; see `Sampled`.

    Shorter prompts are padded on the left, with the model's own pad_id, which also fills up the answers on the right
    (without one: `stop`). Temperature 0 takes the likeliest token each time; log_p is then that of temperature 1.
    """
    check_types("sample_answers", nn.Module, model=model)
    check_tensors("sample_answers", prompts=(prompts, "int B T"))
    check_numbers("sample_answers", least=0, whole=True, stop=stop)
    check_numbers("sample_answers", least=1, whole=True, max_new=max_new)
    choose = sampler(temperature, generator=generator)
    device = next(model.parameters()).device
    pad = getattr(getattr(model, "config", None), "pad_id", None)
    ids = new = prompts.to(device)
    alive = torch.ones(len(ids), dtype=torch.bool, device=device)
    written, chances = [], []
    with in_mode(model, training=False):
        state = begin(model, len(ids))
        for _ in range(max_new):
            logits = precise(state.step(new)[:, -1])
            drawn = choose(logits)
            log_p = (logits / (temperature or 1.0)).log_softmax(-1).gather(-1, drawn[:, None])[:, 0]
            new = drawn.masked_fill(~alive, stop if pad is None else pad)[:, None]
            ids = torch.cat([ids, new], dim=1)
            written.append(alive)
            chances.append(log_p.masked_fill(~alive, 0.0))
            alive = alive & (drawn != stop)
            if not alive.any():
                break
    of_prompts = torch.zeros(prompts.shape, dtype=torch.bool, device=device)
    answer = torch.cat([of_prompts, torch.stack(written, dim=1)], dim=1)
    return Sampled(ids, answer, torch.cat([of_prompts[:, 1:].float(), torch.stack(chances, dim=1)], dim=1))


# --- the loop ---------------------------------------------------------------------------------------------------------
def train_on_reward(
    model: nn.Module,
    prompts: Prompts,
    reward: Reward,
    *,
    stop: int,
    max_new: int,
    updates: int,
    problems: int = 32,
    group: int = 16,
    rate: float = 2e-4,
    clip: float | None = None,
    epochs: int = 1,
    kl_weight: float = 0.0,
    scaled: bool = True,
    mean: str = "tokens",
    seed: int = 0,
    after: After | None = None,
    **options: Any,
) -> list[dict[str, float]]:
    """Train a model on the reward of its own answers, in place. -> a record for each update

    prompts    (M, T), of which `problems` are drawn for each update; or prompts(problems, generator) -> (P, T)
    reward     reward(ids, answer) -> (B,), numbers; ids (B, T) and answer (B, T) as in `Sampled`
    group      answers to each problem; epochs: steps of AdamW on the same answers
    kl_weight  the weight of `kl_to_reference` in the loss; the reference is the model as it is now
    after      after(update, record) is called after each update; what it returns is added to the record
    options    of `fit`, for instance checkpoint and resume; a Ctrl-C ends the training after its step

    A record holds update, reward (mean), length (tokens of an answer, mean), entropy (nats a token, estimated by
    −ln p of what was drawn), kl (to the reference, nats a token; without kl_weight of every tenth update alone), equal
    (share of groups whose rewards are all equal), ratio (the largest of p / p_old and p_old / p in the last step), and
    age (steps since the answers were written). The model runs without dropout, with which the ratio would not be 1.
    """
    check_numbers("train_on_reward", least=1, whole=True, updates=updates, epochs=epochs)
    check_numbers("train_on_reward", least=0, less_than=math.inf, rate=rate, kl_weight=kl_weight)
    check_numbers("train_on_reward", above=0, optional=True, clip=clip)
    check_one_of("train_on_reward", MEANS, mean=mean)
    check_types("train_on_reward", (Function, type(None)), after=after)
    every = 1 if kl_weight else 10
    rounds = _Rounds(model, prompts, reward, problems, group, epochs, scaled, stop, max_new, seed, every)

    def loss(model: nn.Module, one: _Round) -> Tensor:
        old, answer = one.samples.log_p, one.samples.answer
        with in_mode(model, training=False):
            log_p = answer_log_probs(model, one.samples.ids, answer)
        rounds.last["ratio"] = (log_p.detach() - old).abs().max().exp().item()
        loss = policy_loss(log_p, old, one.advantages, answer, clip=clip, mean=mean, most=max_new)
        if one.reference_log_p is not None:
            kl = kl_to_reference(log_p, one.reference_log_p, answer)
            rounds.last["kl"] = kl.item()
            loss = loss + kl_weight * kl
        return loss

    def record(_: nn.Module) -> dict[str, float]:
        found = rounds.record() | rounds.last
        return found | dict((after and after(int(found["update"]), found)) or {})

    known: dict[str, Any] = {"progress": False, "optimizer": adamw(model, rate, weight_decay=0.0), "seed": seed}
    options = known | options
    return fit(model, rounds, loss=loss, steps=updates * epochs, evaluate=record, every=epochs, **options).evaluations


class _Round(NamedTuple):
    """The answers of one update, their rewards (P, G) and advantages (B,), and what the reference says of them."""

    samples: Sampled
    rewards: Tensor
    advantages: Tensor
    reference_log_p: Tensor | None

    def to(self, device: torch.device | str) -> "_Round":
        return self  # they were written where the model is


@dataclass
class _Rounds:
    """`batches` of `fit`: answers that the model writes as it is now, kept for `epochs` steps and in checkpoints."""

    model: nn.Module
    prompts: Prompts
    reward: Reward
    problems: int
    group: int
    epochs: int
    scaled: bool
    stop: int
    max_new: int
    seed: int
    every: int  # updates from one look at the reference to the next

    def __post_init__(self) -> None:
        where = "train_on_reward"
        check_types(where, nn.Module, model=self.model)
        check_types(where, (Tensor, Function), prompts=self.prompts)
        check_types(where, Function, reward=self.reward)
        check_numbers(where, least=1, whole=True, problems=self.problems)
        check_numbers(where, least=2, whole=True, group=self.group)
        check_numbers(where, least=0, whole=True, seed=self.seed)
        if isinstance(self.prompts, Tensor):
            check_tensors(where, prompts=(self.prompts, "int M T"))
        self.reference = deepcopy(self.model)
        self.step = self.written_at = 0
        self.round: _Round | None = None
        self.last = {"kl": 0.0}  # the latest ratio and kl

    def state_dict(self) -> dict[str, Any]:
        """For a run that goes on within an update: the model that wrote these answers is gone by then."""
        parts = self.round and [*self.round.samples, *self.round[1:]]
        return {"round": parts, "written_at": self.written_at, "last": dict(self.last)}

    def load_state_dict(self, state: dict[str, Any]) -> None:
        """Load a state; an error leaves everything as it was."""
        device = next(self.model.parameters()).device
        parts: list[Any] = [None if part is None else part.to(device) for part in state["round"] or ()]
        round = _Round(Sampled(*parts[:3]), *parts[3:]) if parts else None
        self.round, self.written_at, self.last = round, state["written_at"], dict(state["last"])

    def __call__(self, step: int) -> _Round:
        self.step, round = step, self.round
        if round is None or step % self.epochs == 0:
            round = self.round = self._write(step // self.epochs)
            self.written_at = step
        return round

    def _write(self, update: int) -> _Round:
        device = next(self.model.parameters()).device
        generator = torch.Generator(device).manual_seed(self.seed * 1_000_003 + update)
        if isinstance(self.prompts, Tensor):
            drawn = torch.randint(len(self.prompts), (self.problems,), generator=generator, device=device)
            chosen = self.prompts[drawn.to(self.prompts.device)]
        else:
            chosen = self.prompts(self.problems, generator)
            check_tensors("train_on_reward", **{"the prompts": (chosen, "int P T")})
        rows = chosen.repeat_interleave(self.group, dim=0)
        samples = sample_answers(self.model, rows, stop=self.stop, max_new=self.max_new, generator=generator)
        rewards = self.reward(samples.ids, samples.answer)
        check_tensors("train_on_reward", {"B": len(rows)}, **{"the reward": (rewards, "float B")})
        if not rewards.isfinite().all():
            raise ValueError("train_on_reward: the reward has numbers that are not finite, expected finite ones")
        rewards = rewards.to(device).view(len(chosen), self.group)
        advantages, reference_log_p = group_advantages(rewards, scaled=self.scaled).flatten(), None
        if (update + 1) % self.every == 0:
            with torch.no_grad(), in_mode(self.reference, training=False):
                reference_log_p = answer_log_probs(self.reference, samples.ids, samples.answer)
        return _Round(samples, rewards, advantages, reference_log_p)

    def record(self) -> dict[str, float]:
        """What is known of the last answers without another look at the model."""
        assert self.round is not None
        samples, rewards = self.round.samples, self.round.rewards
        written = samples.answer.sum()
        return {
            "update": self.step // self.epochs + 1,
            "reward": rewards.mean().item(),
            "length": (written / len(samples.ids)).item(),
            "entropy": (-samples.log_p.sum() / written).item(),
            "equal": (rewards == rewards[:, :1]).all(dim=1).float().mean().item(),
            "age": self.step - self.written_at,
        }
