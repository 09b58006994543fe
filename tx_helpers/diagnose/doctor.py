"""The training doctor: what a run has recorded, and what is wrong with it.

    from tx_helpers.diagnose.doctor import doctor

    record = {"losses": losses, "gradient_norms": norms, "rates": rates, "ratios": ratios, "validation": {70: 0.31}}
    print(doctor(record))
    print(doctor(run, ratios=ratios))                a run of `fit` has the first three, and its evaluations

`diagnose` looks at a model; the doctor sees plain numbers alone. All but the losses may be left out: a check that lacks
what it needs is skipped, and says so.

    losses          the training loss of each step
    gradient_norms  the norm of all gradients together of each step, before clipping
    rates           the learning rate of each step
    ratios          {part: for each step ‖new weight − old weight‖ / ‖old weight‖}: the parts are matrices, or layers
    validation      {steps done: loss on data that are not trained on}
    guess           the loss of the best answer that does not look at the input, for instance by the words' frequencies

What each alarm rests on. The limits were chosen between 45 healthy runs (other rates, schedules, optimizers, batches,
sizes), none of which gets an alarm, and 81 with a planted fault, 74 of which do: small translators of 80 to 250 steps.
The figures are what was measured in those that are found. On seeds that were not used to choose, 24 healthy runs of the
same kinds got no alarm, and 27 faults of 27 of the same kinds were found.

    check    alarm                                                                  healthy          with the fault
    finite   a loss that is not finite, or after the first fifth gradients that
             are not, in 5 % of the steps                                           none             all
    norm     a norm above 8 times the largest of the first five                     at most 2.2      88,000 and more
    spike    a loss 1 nat and by half above the median of the five steps before,    at most 0.5      4.3 and more
             or a mean of the last tenth as far above the least mean                at most 0.02     none planted
    rate     weights that change by more than 6 % a step, over five steps           0.6 … 2.2 %      6.4 … 17 %
             weights that change by less than 7 % in the whole run, and a loss
             that is still above half of its first value                            24 % and more    0.5 … 3 %
    warm-up  a first step at half the largest rate or more that changes the
             weights by more than 4.5 %, and a loss that is stuck halfway           at most 2.9 %    5.7 … 23 %
    parts    a part that changes by less than 2 % of what the others do             14 % and more    0
    repeats  a validation loss of twice the training loss, and 0.4 nats above it    at most 0.35     0.44 … 2.1
    labels   a loss that ends above 92 % of the guess (a run that came there in     at most 54 %     99.8 … 101 %
             its second half may stand on a plateau: look)

The ratios are those of short runs: by the rule of thumb a long one changes its weights by 0.1 % a step. First weights
of deviation 0.02 are small for our rates: there the ratio reaches 9 %, and the doctor says so. Not found: matrices that
start five times too large (ten times is found; of twenty times only labels speaks, so say the guess), an overflow that
stops by itself, and targets that belong to the neighbour's input, where the guess has to be the loss of a model that
cannot see its input. What no record shows: a leak (`diagnose` finds it), and every fault of the data that leaves
something to be learned.
"""

import math
from collections.abc import Callable
from dataclasses import dataclass
from html import escape
from statistics import fmean, median
from textwrap import fill
from typing import Any

from tx_helpers.diagnose.record import Record, read_record
from tx_helpers.diagnose.report import LOOK, RIGHT, SKIPPED, WRONG, Finding, Reasons, Report, Result

OVERFLOWS, NORM_TIMES, LEAP, LEAP_TIMES = 0.05, 8.0, 1.0, 1.5
TOO_FAST, TOO_STILL, FIRST_STEP, STUCK = 0.06, 0.07, 0.045, 0.4
FROZEN, GAP, GAP_TIMES, NEAR_GUESS = 0.02, 0.4, 2.0, 0.08
BACK = 5  # steps: the model is soon over a bad batch
LAST_LINE = "Limits from small translators of 80 to 250 steps. No record shows a leak: use `diagnose`."


# --- the checks: a record -> what was found ---------------------------------------------------------------------------
def finite(run: Record) -> Result:
    """Is a loss NaN or infinite? If so: did the gradient norm grow before it, or was it sudden?"""
    lost = [step for step, loss in enumerate(run.losses) if not math.isfinite(loss)]
    over = [step for step, norm in enumerate(run.gradient_norms) if not math.isfinite(norm)]
    first = min([*lost, *over], default=None)
    later = [step for step in over if step >= len(run.losses) // 5]  # a scaled loss finds its scale in the first steps
    if first is None or not (lost or len(later) > OVERFLOWS * len(run.losses)):
        return Result(RIGHT, "all are" if first is None else f"all losses; {len(over)} steps were skipped", len(over))
    before = run.gradient_norms[max(0, first - 20) : first]
    grown = len(before) > 1 and max(before[-5:]) > NORM_TIMES * median(before)
    stays = len(lost) > 1 and lost[0] + len(lost) == len(run.losses)
    figure = f"the loss is {run.losses[lost[0]]:g} from step {lost[0]} on; " if stays else ""
    if lost and not stays:
        are, at = ("is", "in") if len(lost) == 1 else ("are", "first in")
        figure = f"{len(lost)} of {len(run.losses)} losses {are} {run.losses[lost[0]]:g}, {at} step {lost[0]}; "
    if over:
        figure += f"gradients are not finite in {len(over)} of {len(run.losses)} steps, first in step {over[0]}; "
    if before:
        figure += f"the norm before was {before[-1]:.2g}"
    else:
        figure += "all was finite before (gradient_norms say more)" if first else "it was so from the beginning"
    causes: tuple[str, ...] = (
        ("grown", "overflow") if grown else ("overflow", "grown") if over else ("sudden", "overflow")
    )
    if stays and first and not run.gradient_norms:
        causes = ("overflow", "grown", "sudden")
    return Result(WRONG, figure, first, causes)


def norm(run: Record) -> Result:
    """How much larger than at the beginning do the gradients become?"""
    norms = [norm if math.isfinite(norm) else 0.0 for norm in run.gradient_norms]
    start = max(norms[:5])
    if not start:
        return Result(SKIPPED, "the first norms are 0 or not finite")
    top = max(norms[5:])
    figure = f"at most {top:.3g}, in step {norms.index(top)}; in the first five steps {start:.2g}"
    return Result(WRONG if top > NORM_TIMES * start else RIGHT, figure, top / start)


def spike(run: Record) -> Result:
    """The largest leap of the loss above the five steps before; and does it end far above its least?"""
    leaps = {}
    for at in range(5, len(run.losses)):
        usual = median(run.losses[at - 5 : at])
        if math.isfinite(run.losses[at]) and run.losses[at] > LEAP_TIMES * usual:
            leaps[at] = run.losses[at] - usual
    step = max(leaps, key=leaps.__getitem__, default=None)
    means = run.means()
    least, end = min(means), means[-1]
    if end - least > LEAP and end > LEAP_TIMES * least:
        figure = f"the loss ends at {end:.3g}, its least was {least:.3g} about step {means.index(least)}"
        return Result(WRONG, figure, end - least, ("diverged", "resumed", "rate"))
    if step is None or leaps[step] < LEAP:
        return Result(RIGHT, "none", 0.0 if step is None else leaps[step])
    usual = run.losses[step] - leaps[step]
    figure = f"in step {step} the loss is {run.losses[step]:.3g}, in the five steps before {usual:.2g}"
    if len(leaps) >= 5:
        return Result(WRONG, figure, leaps[step], ("rate", "batch"))
    back = (later for later in range(step, len(run.losses)) if run.losses[later] < usual + leaps[step] / 4)
    steps = next(back, len(run.losses)) - step
    if steps > BACK:
        figure += f"; it takes {steps} steps to come back by three quarters"
        return Result(WRONG, figure, leaps[step], ("resumed", "rate", "batch"))
    return Result(WRONG, figure, leaps[step], ("batch", "rate"))


def rate(run: Record) -> Result:
    """How far do the updates take the weights, in a step and in all?"""
    moved = run.moved
    top = max(fmean(moved[step : step + 5]) for step in range(5, len(moved) - 4))
    way = sum(moved)
    figure = f"weights change by at most {top:.2%} a step, {median(moved):.2%} in the middle, {way:.0%} in all"
    if top > TOO_FAST:
        return Result(WRONG, figure, top, ("high",))
    if way < TOO_STILL and run.end > run.losses[0] / 2:
        return Result(
            WRONG, f"{figure}; the loss has only come from {run.losses[0]:.2f} to {run.end:.2f}", way, ("low", "scale")
        )
    return Result(RIGHT, figure, top)


def warmup(run: Record) -> Result:
    """Is the first step a full one, and does it do harm?"""
    share, first = run.rates[0] / (max(run.rates) or 1.0), run.moved[0]
    half = run.around(len(run.losses) // 2)
    figure = f"the first step has {share:.0%} of the largest rate and changes the weights by {first:.1%}"
    if share < 0.5 and rate(run).causes == ("high",):  # there is a warm-up, but a first step of 28 % is not right
        return Result(SKIPPED, "mend first what rate found")
    if share >= 0.5 and first > FIRST_STEP and not half < STUCK * run.losses[0]:
        return Result(WRONG, f"{figure}; halfway the loss is {half:.2f}, after {run.losses[0]:.2f}", first)
    return Result(RIGHT, figure, first)


def parts(run: Record) -> Result:
    """Does a part change much less than the others?"""
    way = {name: sum(row) for name, row in run.ratios.items()}
    top = max(way.values())
    if len(way) < 3 or not top > 0:
        return Result(SKIPPED, "say ratios of at least three parts, one of which learns")
    usual = median(far for far in way.values() if far >= FROZEN * top)  # of the parts that learn
    still = [name for name, far in way.items() if far < FROZEN * usual]
    least = min(way, key=way.__getitem__)
    figure = f"{least} changes by {way[least]:.2%} in all, the parts in the middle by {usual:.0%}"
    if not still:
        return Result(RIGHT, figure, way[least] / usual)
    figure = (
        f"{len(still)} of {len(way)} parts do not: {', '.join(still[:3])}{', …' if len(still) > 3 else ''}; {figure}"
    )
    return Result(WRONG, figure, way[least] / usual)


def repeats(run: Record) -> Result:
    """How far above the training loss is the validation loss?"""
    (step, last), least = list(run.validation.items())[-1], min(run.validation.values())
    trained = run.around(min(step, len(run.losses)) - 1)
    figure = f"after {step} steps the validation loss is {last:.2f} (at its best {least:.2f}), "
    figure += f"the training loss {trained:.2f}"
    return Result(WRONG if last > GAP_TIMES * trained and last - trained > GAP else RIGHT, figure, last - trained)


def labels(run: Record) -> Result:
    """Has the loss stopped where an answer without a look at the input stands?"""
    assert run.guess is not None
    share, near = run.end / run.guess, 1 - NEAR_GUESS
    half = run.around(len(run.losses) // 2)
    figure = f"the loss ends at {run.end:.2f} (halfway {half:.2f}), the guess without the input has {run.guess:.2f}"
    if share <= near:
        return Result(RIGHT, figure, share)
    if share >= 1 + NEAR_GUESS:
        return Result(WRONG, figure, share, ("worse",))
    if half <= (1 + NEAR_GUESS) * run.guess:
        return Result(WRONG, figure, share, ("shuffled", "plateau"))
    return Result(LOOK, figure, share, ("plateau", "shuffled"))


@dataclass(frozen=True)
class Check:
    """A check of what a run has recorded, the names that it needs, and its texts."""

    look: Callable[[Any], Result]
    needs: tuple[str, ...]
    reasons: Reasons


CHECKS: dict[str, Check] = {
    "finite": Check(
        finite,
        (),
        Reasons(
            "Are all numbers finite?",
            {
                "overflow": "half precision overflows: float16 ends at 65,504, and the loss is scaled too far",
                "grown": "the norm grew before: the rate is too high, and nothing clips the gradients",
                "sudden": "it came at once: 0/0, the logarithm of 0, or a softmax over a row that is masked entirely",
            },
            "find the first layer whose output is not finite in the forward pass of that step's batch",
            {
                "overflow": "bfloat16 in place of float16; else a loss scale that is halved after each overflow "
                "(torch.amp.GradScaler)",
                "grown": "clip the gradients to norm 1, and divide the rate by 10",
            },
        ),
    ),
    "norm": Check(
        norm,
        ("gradient_norms",),
        Reasons(
            "Do the gradients stay as large as at the beginning?",
            {"exploding": "exploding gradients: a rate that is too high, no clipping, or a depth without norms"},
            "clip the gradients to norm 1; if the norm still grows, divide the rate by 10",
        ),
    ),
    "spike": Check(
        spike,
        (),
        Reasons(
            "Does the loss ever leap up, or rise for good?",
            {
                "diverged": "it has diverged: the rate is too high for this stage, or half precision (float16, "
                "attention scores that grow) has spoilt the weights",
                "resumed": "a resumed run: the optimizer's means, its rate or the order of the data were not restored",
                "batch": "a bad batch: look at the examples of this very step",
                "rate": "steps that are too long: the loss leaps again and again",
            },
            "compute the loss of this batch in the model as it was before; if it is high there, too, it is the data",
            {
                "diverged": "go back to a checkpoint before the rise, divide the rate by 3, and clip the gradients to "
                "norm 1",
                "resumed": "load optimizer, schedule and data position with the weights; the first loss after it must "
                "be the last one before",
            },
        ),
    ),
    "rate": Check(
        rate,
        ("ratios",),
        Reasons(
            "Do the updates fit the weights?",
            {
                "high": "the learning rate is too high",
                "low": "the learning rate is too low",
                "scale": "or the weights start too large for it",
            },
            "divide the rate by 10, then go up again in factors of 3",
            {"low": "multiply the rate by 10, until the largest change is about 1 % a step in a short run"},
        ),
    ),
    "warm-up": Check(
        warmup,
        ("rates", "ratios"),
        Reasons(
            "Do the first steps do harm?",
            {"missing": "no warm-up: the first steps are the longest, and the model does not recover"},
            "let the rate rise from 0 over the first tenth of the steps",
        ),
    ),
    "parts": Check(
        parts,
        ("ratios",),
        Reasons(
            "Do all parts learn?",
            {
                "frozen": "a frozen part: requires_grad=False, a detach() or no_grad() in the forward pass, or "
                "parameters that the optimizer was never given",
                "lost": "gradients that vanish on their way: no residual connections, or units that are dead",
            },
            "print parameter.requires_grad and parameter.grad.norm() of this part after one backward()",
        ),
    ),
    "repeats": Check(
        repeats,
        ("validation",),
        Reasons(
            "Does what is learned hold on other data?",
            {"repeated": "data repeated: the same few examples come again and again, and are learned by heart"},
            "count the different examples of the first hundred batches; is the loader shuffled, is the list cut short?",
        ),
    ),
    "labels": Check(
        labels,
        ("guess",),
        Reasons(
            "Does the model learn more than a guess?",
            {
                "shuffled": "labels shuffled: targets that do not belong to their inputs leave only frequencies "
                "to learn",
                "plateau": "a plateau, where a sound run may stand for a while, or a run that is too short",
                "worse": "not even frequencies are learned: weights or logits that start far too large, a rate that "
                "does not fit, or targets that are no ids of these inputs",
            },
            "print ten inputs with their targets, just as the model gets them",
            {
                "plateau": "train three times as long, and print ten inputs with their targets meanwhile",
                "worse": "compare the first loss with ln V, and the deviation of the first weights with 0.02 … 0.1",
            },
        ),
    ),
}
EXPLAINED_BY = {"labels": ("finite", "rate", "warm-up", "parts"), "rate": ("finite",), "parts": ("finite",)}
EXPLAINED_BY |= {"repeats": ("finite",), "warm-up": ("finite",)}


class RunReport(Report):
    """A report about a run: it has checks in place of probes, and its last line says what they rest on."""

    last_line = LAST_LINE

    @property
    def summary(self) -> str:
        return super().summary.replace("probe", "check")

    def text(self, width: int = 80) -> str:
        return f"{super().text(width)}\n{fill(self.last_line, width)}"

    def _repr_html_(self) -> str:
        return super()._repr_html_().replace(">Probe<", ">Check<") + f"<p>{escape(self.last_line)}</p>"


def doctor(record: Any, **more: Any) -> Report:
    """Say what is wrong with a training run, from its numbers alone. -> a report with a line for each check

    record  a dictionary of lists, or a run of `fit`; more: entries beside it, for instance ratios=…, guess=2.83
    """
    run = read_record(record, **more)
    findings: dict[str, Finding] = {}
    for name, check in CHECKS.items():
        missing = [need for need in check.needs if not getattr(run, need)]
        alarms = [other for other in EXPLAINED_BY.get(name, ()) if findings[other].state == WRONG]
        if missing:
            result = Result(SKIPPED, f"say {' and '.join(missing)}")
        elif alarms:
            result = Result(SKIPPED, f"mend first what {alarms[0]} found")
        else:
            result = check.look(run)
        findings[name] = check.reasons.explain(name, result)
    title = f"Run of {len(run.losses)} steps, loss {run.losses[0]:.2f} to {run.losses[-1]:.2f}"
    return RunReport(title, tuple(findings.values()))
