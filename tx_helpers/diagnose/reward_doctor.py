"""The doctor for runs that learn from reward: what they have recorded, and what is wrong with them.

    from tx_helpers.diagnose.reward_doctor import reward_doctor

    records = train_on_reward(model, prompts, reward, stop=EOS, max_new=16, updates=60)
    reward_doctor(records, max_new=16)

`records` is what `train_on_reward` returns, or any list of a dictionary for each update with some of its names: reward,
length, entropy, kl, equal, ratio, age, and `true`, the share that a checker without a hole calls right. A check that
lacks what it needs is skipped, and says so. First and last are means over a tenth of the updates.

What each alarm rests on. The limits were chosen after a look at 48 healthy runs (seeds 0 to 3) and 45 with a planted
fault (seeds 0 to 2): 20 to 60 updates of a model of 0.1 million parameters on sums of four and six digits. No healthy
run gets an alarm; 37 of the 45 faults do. Seed 4 was not used to choose: of 12 healthy runs of the same kinds none got
an alarm, and 12 of 15 faults of the same kinds were found. These runs were made once, on 2026-11-23. They are not kept,
and the project has no script that repeats the counts; its tests hold the limits, and judge three small runs.

    cheated   the true score falls by 0.1, and stays 0.2 behind what the reward gains
    reward    the end is below 40 % of the start
    equal     above 80 % of the groups have equal rewards, and the reward is below 70 % of the best
    entropy   it ends below 35 % of the first entropy, and the reward is below 70 % of the best
    length    answers end above 85 % of the most tokens
    kl        above 1 nat a token in the middle of the last quarter: healthy at most 0.42, with an alarm 1.7 and more
    stale     a ratio above 2,000 in the middle update: healthy at most 7.4, with an alarm 43,000 and more

Not found, in all four seeds: a reward by the fall of a coin, which changes little in so few updates; and a hole on sums
of six, which the model never found: no record shows a hole before the model uses it. At three seeds of four a judge who
likes steps was not found, because the true score falls slowly.
"""

import math
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from numbers import Real
from statistics import fmean, median

from tx_helpers.diagnose.doctor import Check, RunReport
from tx_helpers.diagnose.report import RIGHT, SKIPPED, WRONG, Reasons, Report, Result
from tx_helpers.nn.arguments import check_numbers, check_types, described

SHORTEST = 10  # updates: of fewer nothing can be said
LOST, ALL_EQUAL, LITTLE, GONE, CUT_OFF, FAR, STALE, FALLS, APART = 0.4, 0.8, 0.7, 0.35, 0.85, 1.0, 2000.0, 0.1, 0.2
NAMES = ("reward", "length", "entropy", "kl", "equal", "ratio", "age", "true")


@dataclass(frozen=True)
class Rewarded:
    """What a run has recorded of each update, by name; the reward of a right answer; the most tokens of an answer."""

    of: dict[str, list[float]]
    best: float
    max_new: int | None

    def first(self, name: str) -> float:
        """The mean of the first tenth."""
        return fmean(self.of[name][: max(2, len(self.of[name]) // 10)])

    def last(self, name: str) -> float:
        """The mean of the last tenth."""
        return fmean(self.of[name][-max(2, len(self.of[name]) // 10) :])

    def way(self, name: str, digits: int = 2) -> str:
        """From where to where, in words."""
        return f"from {self.first(name):.{digits}f} to {self.last(name):.{digits}f}"


def read_records(records: Sequence[Mapping[str, float]], *, best: float, max_new: int | None) -> Rewarded:
    """The records by name. Raises ValueError for wrong ones."""
    check_types("reward_doctor", Sequence, records=records)
    check_numbers("reward_doctor", above=0, best=best)
    check_numbers("reward_doctor", least=1, whole=True, optional=True, max_new=max_new)
    for update, record in enumerate(records):
        if not isinstance(record, Mapping) or "reward" not in record:
            raise ValueError(
                f"reward_doctor: record {update} is {described(record)}, expected a dictionary with reward"
            )
    if len(records) < SHORTEST:
        raise ValueError(f"reward_doctor: {len(records)} records, expected at least {SHORTEST}")
    of: dict[str, list[float]] = {}
    for name in NAMES:
        given = [record.get(name) for record in records]
        if given.count(None) == len(given):
            continue
        of[name] = []
        for update, value in enumerate(given):
            if isinstance(value, bool) or not isinstance(value, Real):
                raise ValueError(f"reward_doctor: {name} of record {update} is {described(value)}, expected a number")
            if math.isnan(value):
                raise ValueError(f"reward_doctor: {name} of record {update} is NaN: the run ended there")
            of[name].append(float(value))
    return Rewarded(of, best, max_new)


# --- the checks -------------------------------------------------------------------------------------------------------
def reward(run: Rewarded) -> Result:
    """Is less earned at the end than at the start?"""
    bad = run.last("reward") < LOST * run.first("reward")
    return Result(WRONG if bad else RIGHT, f"the reward goes {run.way('reward')}", run.last("reward"))


def equal(run: Rewarded) -> Result:
    """Are there groups from which something can be learned, as long as there is something to learn?"""
    share, earned = run.last("equal"), run.last("reward")
    figure = f"at the end {share:.0%} of the groups have equal rewards, and the reward is {earned:.2f}"
    bad = share > ALL_EQUAL and earned < LITTLE * run.best
    return Result(WRONG if bad else RIGHT, figure, share, ("never",) if run.first("equal") > ALL_EQUAL else ("lost",))


def entropy(run: Rewarded) -> Result:
    """Does the model still try different answers, as long as it does not know the right ones?"""
    share = run.last("entropy") / max(run.first("entropy"), 1e-9)
    figure = f"the entropy goes {run.way('entropy')} nats a token, and the reward is {run.last('reward'):.2f}"
    return Result(WRONG if share < GONE and run.last("reward") < LITTLE * run.best else RIGHT, figure, share)


def length(run: Rewarded) -> Result:
    """Do answers end by themselves?"""
    assert run.max_new is not None
    figure = f"answers go {run.way('length', 1)} tokens, of {run.max_new} at most"
    bad = run.last("length") > CUT_OFF * run.max_new
    return Result(WRONG if bad else RIGHT, figure, run.last("length") / run.max_new)


def distance(run: Rewarded) -> Result:
    """How far is the model from where it began?"""
    far = median(run.of["kl"][-max(2, len(run.of["kl"]) // 4) :])
    figure = f"in the last quarter the KL to the first model is {far:.2f} nats a token"
    return Result(WRONG if far > FAR else RIGHT, figure, far)


def stale(run: Rewarded) -> Result:
    """Are the answers still those of the model that learns from them?"""
    usual, age = median(run.of["ratio"]), max(run.of.get("age", [0.0]))
    figure = f"in the middle update the largest ratio is {usual:,.3g}, {age:.0f} steps after the answers were written"
    return Result(WRONG if usual > STALE else RIGHT, figure, usual)


def cheated(run: Rewarded) -> Result:
    """Does the true score follow the reward?"""
    gained, truly = (run.last(name) - run.first(name) for name in ("reward", "true"))
    figure = f"the reward goes {run.way('reward')}, the true score {run.way('true')}"
    return Result(WRONG if truly < -FALLS and gained - truly > APART else RIGHT, figure, truly)


CHECKS: dict[str, Check] = {
    "cheated": Check(
        cheated,
        ("true",),
        Reasons(
            "Does the true score follow the reward?",
            {"hole": "the reward pays for something else than right answers, and the model has found it"},
            "read twenty answers with a high reward; close the hole in the checker, and begin again",
        ),
    ),
    "reward": Check(
        reward,
        ("reward",),
        Reasons(
            "Is more earned than at first?",
            {"rate": "steps that are too long: the model has forgotten what it could do"},
            "divide the rate by 10, and begin again with the first model: this one is lost",
        ),
    ),
    "equal": Check(
        equal,
        ("equal",),
        Reasons(
            "Do the answers to a problem differ in reward?",
            {
                "never": "problems that the model never solves (or a checker that never pays): all advantages are 0",
                "lost": "the model writes the same to every problem, or nothing that can be read",
            },
            "easier problems or larger groups, until the first model solves some; print ten answers",
            {"lost": "divide the rate by 10, and begin again with the first model"},
        ),
    ),
    "entropy": Check(
        entropy,
        ("entropy",),
        Reasons(
            "Does the model still try something?",
            {"gone": "entropy gone: it is certain of answers that are not right, and draws no others"},
            "a lower rate, a weight for the KL, or more problems in an update; temperature 1 for sampling",
        ),
    ),
    "length": Check(
        length,
        ("length", "max_new"),
        Reasons(
            "Do answers end by themselves?",
            {
                "paid": "length running away: the reward or the mean of the loss pays for tokens",
                "end": "or the end token is not among those that are pushed",
            },
            "look at who is paid for what: an answer that is cut off should earn nothing; use mean='constant'",
        ),
    ),
    "kl": Check(
        distance,
        ("kl",),
        Reasons(
            "Is the model still near the first one?",
            {"far": "KL exploding: a rate that is too high, or a reward for texts that the first model never wrote"},
            "divide the rate by 10, or give kl_weight (0.02 and more); read the answers",
        ),
    ),
    "stale": Check(
        stale,
        ("ratio",),
        Reasons(
            "Do the answers belong to this model?",
            {"old": "samples older than the policy: too many steps on the same answers, or steps that are too long"},
            "fewer epochs, a clip of 0.2, or a lower rate",
        ),
    ),
}


def reward_doctor(records: Sequence[Mapping[str, float]], *, best: float = 1.0, max_new: int | None = None) -> Report:
    """Say what is wrong with a run that learns from reward. -> a report with a line for each check

    best     the reward of a right answer
    max_new  the most tokens that an answer may have
    """
    run = read_records(records, best=best, max_new=max_new)
    findings = {}
    for name, check in CHECKS.items():
        known = {*run.of, *(["max_new"] if run.max_new else [])}
        missing = [need for need in check.needs if need not in known]
        result = Result(SKIPPED, f"say {' and '.join(missing)}") if missing else check.look(run)
        findings[name] = check.reasons.explain(name, result)
    return RewardReport(f"Run of {len(records)} updates, reward {run.way('reward')}", tuple(findings.values()))


class RewardReport(RunReport):
    """A report about such a run; its last line says what the limits rest on."""

    last_line = "Limits from runs of 20 to 60 updates of a model of 0.1 million parameters, on sums."
