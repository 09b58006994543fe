"""Pipeline schedules: which stage computes which microbatch when, how long it waits, and what it must keep.

The layers are cut into p stages, one on each rank, and the batch into m microbatches. A schedule is a list of actions
for each rank, in order. `timeline` starts each action as soon as its rank is free and what it needs has arrived.

    GPipe          all forward passes, then all backward passes           bubble (p − 1) / (m + p − 1), keeps m
    1F1B           backward as soon as possible                           the same bubble, keeps at most p
    interleaved    1F1B with v smaller stages on each rank                bubble (p − 1) / (v m + p − 1)

The bubble is the share of time in which a rank waits. Sources: Huang et al. 2019 (GPipe); Narayanan et al. 2021,
section 2.2, for the other two.
"""

from collections import Counter
from typing import NamedTuple

import torch
from torch import Tensor, nn

from tx_helpers.nn.arguments import check_numbers, check_one_of, check_tensors, check_types


class Action(NamedTuple):
    """A forward ("F") or a backward ("B") pass of one microbatch through one stage."""

    kind: str
    stage: int
    microbatch: int


class Span(NamedTuple):
    """An action with the rank that computes it, its start and its end."""

    action: Action
    rank: int
    start: float
    end: float


Schedule = list[list[Action]]  # for each rank its actions, in order


def gpipe(ranks: int, microbatches: int) -> Schedule:
    """All forward passes, then all backward passes in reverse: Huang et al. 2019, figure 2."""
    _check("gpipe", ranks, microbatches)
    order = range(microbatches)
    return [[*(Action("F", r, m) for m in order), *(Action("B", r, m) for m in reversed(order))] for r in range(ranks)]


def one_forward_one_backward(ranks: int, microbatches: int) -> Schedule:
    """1F1B: after enough forward passes to fill the pipeline, each rank alternates. Narayanan et al. 2021, figure 4."""
    return interleaved(ranks, microbatches, 1)


def interleaved(ranks: int, microbatches: int, chunks: int) -> Schedule:
    """1F1B where rank r has the stages r, r + p, r + 2p, …: `chunks` of them. Narayanan et al. 2021, section 2.2.

    With several chunks the microbatches must be a multiple of the ranks.
    """
    _check("interleaved", ranks, microbatches)
    check_numbers("interleaved", least=1, whole=True, chunks=chunks)
    if chunks > 1 and microbatches % ranks:
        raise ValueError(f"interleaved: {microbatches} microbatches, expected a multiple of the {ranks} ranks")
    total = microbatches * chunks
    group = ranks * chunks

    def action(kind: str, rank: int, count: int) -> Action:
        # A group: `ranks` microbatches through each of the rank's chunks in turn; backward takes the last chunk first.
        if chunks == 1:
            return Action(kind, rank, count)
        chunk = count % group // ranks
        chunk = chunk if kind == "F" else chunks - 1 - chunk
        return Action(kind, rank + chunk * ranks, count // group * ranks + count % ranks)

    schedule = []
    for rank in range(ranks):
        ahead = ranks - rank - 1 if chunks == 1 else 2 * (ranks - rank - 1) + (chunks - 1) * ranks
        ahead = min(ahead, total)
        actions = [action("F", rank, count) for count in range(ahead)]
        for count in range(total - ahead):
            actions += [action("F", rank, ahead + count), action("B", rank, count)]
        schedule.append(actions + [action("B", rank, count) for count in range(total - ahead, total)])
    return schedule


def timeline(schedule: Schedule, *, forward: float = 1, backward: float = 2) -> list[Span]:
    """When each action runs, if a stage takes `forward` and `backward` units of time and messages take none.

    A forward pass needs that of the stage before, a backward pass that of the stage behind and its own forward pass.
    Errors: a ValueError if an action stands twice, if a forward pass has no backward pass, or if no rank can go on.
    """
    check_types("timeline", list, schedule=schedule)
    for i, actions in enumerate(schedule):
        check_types("timeline", list, **{f"rank {i}": actions})
        for action in actions:
            check_types("timeline", Action, action=action)
    check_numbers("timeline", above=0, less_than=float("inf"), forward=forward, backward=backward)
    everything = [action for actions in schedule for action in actions]
    _check_whole(everything)
    last = max(action.stage for action in everything)
    ended: dict[Action, float] = {}
    free, position, spans = [0.0] * len(schedule), [0] * len(schedule), []
    while len(spans) < len(everything):
        before = len(spans)
        for rank, actions in enumerate(schedule):
            while position[rank] < len(actions):
                action = actions[position[rank]]
                needed = _needed(action, last)
                if any(one not in ended for one in needed):
                    break
                start = max([free[rank], *(ended[one] for one in needed)])
                end = start + (forward if action.kind == "F" else backward)
                spans.append(Span(action, rank, start, end))
                ended[action] = free[rank] = end
                position[rank] += 1
        if len(spans) == before:
            raise ValueError(f"timeline: nobody can go on: {_stuck(schedule, position, ended, last)}")
    return sorted(spans, key=lambda span: (span.start, span.rank))


def bubble(spans: list[Span]) -> float:
    """The share of all ranks' time, from the first start to the last end, in which they wait."""
    check_types("bubble", list, spans=spans)
    for span in spans:
        check_types("bubble", Span, span=span)
    time = max(span.end for span in spans) - min(span.start for span in spans)
    ranks = len({span.rank for span in spans})
    return 1 - sum(span.end - span.start for span in spans) / (ranks * time)


def bubble_by_formula(ranks: int, microbatches: int, chunks: int = 1) -> float:
    """(p − 1) / (v m + p − 1): the share for GPipe and 1F1B (v = 1), and for the interleaved schedule."""
    _check("bubble_by_formula", ranks, microbatches)
    check_numbers("bubble_by_formula", least=1, whole=True, chunks=chunks)
    return (ranks - 1) / (chunks * microbatches + ranks - 1)


def in_flight(schedule: Schedule) -> list[int]:
    """For each rank the largest number of forward passes whose activations wait for their backward pass."""
    check_types("in_flight", list, schedule=schedule)
    most = []
    for actions in schedule:
        check_types("in_flight", list, actions=actions)
        waiting, highest = 0, 0
        for action in actions:
            check_types("in_flight", Action, action=action)
            waiting += 1 if action.kind == "F" else -1
            highest = max(highest, waiting)
        most.append(highest)
    return most


def run_pipeline(stages: list[nn.Module], schedule: Schedule, x: Tensor, d_out: Tensor) -> Tensor:
    """Send a batch through the stages in the order of the timeline. Returns the output (B, …).

    x (B, …) is cut into the microbatches; d_out (B, …) is the gradient of the output. Gradients are added to the
    stages' parameters, and equal those of the whole batch through all stages at once.
    """
    check_types("run_pipeline", list, stages=stages)
    for i, stage in enumerate(stages):
        check_types("run_pipeline", nn.Module, **{f"stage {i}": stage})
    check_tensors("run_pipeline", x=(x, "…"), d_out=(d_out, "float …"))
    spans = timeline(schedule)
    last = max(span.action.stage for span in spans)
    count = 1 + max(span.action.microbatch for span in spans)
    if len(stages) != last + 1:
        raise ValueError(f"run_pipeline: {len(stages)} stages, but the schedule has {last + 1}")
    if not (x.dim() and d_out.dim() and count <= len(x) == len(d_out)):
        raise ValueError(
            f"run_pipeline: x {tuple(x.shape)} and d_out {tuple(d_out.shape)}, expected one row for each of the "
            f"{count} microbatches, or more, and as many in both"
        )
    arrives: dict[Action, Tensor] = {Action("F", 0, m): part for m, part in enumerate(x.tensor_split(count))}
    arrives |= {Action("B", last, m): part for m, part in enumerate(d_out.tensor_split(count))}
    entered, left, outputs = {}, {}, {}
    for (kind, stage, m), *_ in spans:
        part = arrives.pop(Action(kind, stage, m))
        if kind == "F":
            entered[stage, m] = part.detach().requires_grad_() if part.is_floating_point() else part
            left[stage, m] = stages[stage](entered[stage, m])
            outputs[m] = arrives[Action("F", stage + 1, m)] = left[stage, m].detach()
        else:
            left.pop((stage, m)).backward(part)
            arrives[Action("B", stage - 1, m)] = entered.pop((stage, m)).grad
    return torch.cat([outputs[m] for m in range(count)])


def _needed(action: Action, last: int) -> list[Action]:
    kind, stage, microbatch = action
    if kind == "F":
        return [Action("F", stage - 1, microbatch)] if stage else []
    own = Action("F", stage, microbatch)
    return [own, Action("B", stage + 1, microbatch)] if stage < last else [own]


def _check_whole(everything: list[Action]) -> None:
    for kind, stage, microbatch in everything:
        check_one_of("timeline", ("F", "B"), kind=kind)
        check_numbers("timeline", least=0, whole=True, stage=stage, microbatch=microbatch)
    stages = 1 + max(action.stage for action in everything)
    microbatches = 1 + max(action.microbatch for action in everything)
    expected = {Action(kind, s, m) for kind in "FB" for s in range(stages) for m in range(microbatches)}
    twice = sorted(action for action, count in Counter(everything).items() if count > 1)
    missing = sorted(expected - set(everything))
    for what, actions in (("stand twice", twice), ("are missing", missing)):
        if actions:
            raise ValueError(
                f"timeline: {len(actions)} actions {what}, expected each once; among them {_said(actions[0])}"
            )


def _stuck(schedule: Schedule, position: list[int], ended: dict, last: int) -> str:
    waits = []
    for rank, actions in enumerate(schedule):
        if position[rank] < len(actions):
            action = actions[position[rank]]
            lacking = next(one for one in _needed(action, last) if one not in ended)
            waits.append(f"rank {rank} wants {_said(action)} and waits for {_said(lacking)}")
    return "; ".join(waits)


def _said(action: Action) -> str:
    return f"{action.kind} of microbatch {action.microbatch} at stage {action.stage}"


def _check(where: str, ranks: int, microbatches: int) -> None:
    check_numbers(where, least=1, whole=True, ranks=ranks, microbatches=microbatches)
