"""Exercises on numbers that go wrong: the first broken one, and the name of the fault, in two steps."""

import math

import torch

from tx_helpers.exercises.exercise import Exercise

# --- step 1: where does it begin? ------------------------------------------------------------------------------------

NAN, INF = math.nan, math.inf


def _named(**rows):
    return [(name.replace("_", "."), torch.tensor(row)) for name, row in rows.items()]


hunt = Exercise(
    "first_bad",
    title="Find the broken number, step 1 of 2",
    goal="`named` is a list of pairs (name, tensor), in the order in which they were computed. Return the name of the "
    "first tensor that holds a number which is not finite (NaN or infinite), or None if there is no such tensor.",
    difficulty=1,
    minutes=5,
    inline=True,
    cases=lambda: [
        (_named(query=[1.0, 2.0], scores=[0.5, NAN], output=[NAN, NAN], loss=[NAN, NAN]),),
        (_named(tokens=[1.0, -3.0], expand=[4.0, INF], norm=[NAN, NAN]),),
        (_named(block_0=[[1.0, 2.0], [0.0, 5.0]], block_1=[[0.1, 2.0], [0.0, -5.0]]),),
        (_named(value=[-INF, 1.0], output=[0.0, 0.0], loss=[NAN, 1.0]),),
        (_named(large=[3e38, 3e38], broken=[[0.0, 1.0], [0.0, NAN]], loss=[NAN, NAN]),),
    ],
    hints=(
        "Go through the pairs in their order, and stop at the first one that is broken.",
        "tensor.isfinite() is True where a number is neither NaN nor infinite. One False is enough.",
        "for name, tensor in named: if not tensor.isfinite().all(): return name",
    ),
)


@hunt.solution
def first_bad(named):
    """Name of the first tensor that is not finite everywhere, or None; named: pairs (name, tensor)."""
    for name, tensor in named:
        if not tensor.isfinite().all():
            return name
    return None


hunt.slips("""
nan_alone    return _first(named, lambda tensor: tensor.isnan().any())
  You looked for NaN alone. Infinity often comes first: ∞ − ∞ and 0 · ∞ make the NaN one layer later.
infinity_alone    return _first(named, lambda tensor: tensor.isinf().any())
  You looked for infinity alone. NaN is not infinite: a softmax over nothing gives it at once.
all_of_them    return _first(named, lambda tensor: not tensor.isfinite().any())
  You waited until all numbers of a tensor are broken. A single one is enough: here only one sentence is.
the_last_one    return _first(named[::-1], _broken)
  You returned the last broken tensor. All that follows the first one is broken, too: stop at the first.
its_place    return next((n for n, (_, tensor) in enumerate(named) if _broken(tensor)), None)
  You returned the place of the tensor in the list. Return its name, which leads you to the code.
every_name    return [name for name, tensor in named if _broken(tensor)]
  You returned the names of all broken tensors. Only the first one says where the fault begins.
the_first_sound_one    return _first(named, lambda tensor: not _broken(tensor))
  You returned the first tensor in which all is well. Turn the condition around.
its_first_number    return _first(named, lambda tensor: _broken(tensor.flatten()[0]))
  You looked at the first number of each tensor alone. The broken one may be anywhere in it.
large_numbers    return _first(named, lambda tensor: not (tensor.abs() < 1e6).all())
  You took large numbers for broken ones. 3e38 is large, but still a number: use isfinite().
never_none    return _first(named, _broken, otherwise=named[-1][0])
  Where all is well you returned a name all the same. Then the answer is None.
""")


def _first(named, broken, otherwise=None):
    return next((name for name, tensor in named if broken(tensor)), otherwise)


def _broken(tensor):
    return not tensor.isfinite().all()


# --- step 2: what is it? ---------------------------------------------------------------------------------------------


def _record(norms=(3.0, 2.0, 1.0), moved=(0.01,), end=0.5, last=0.5, validation=0.6):
    """A run of 20 steps: norms and moved, then the last of them again; the loss goes from 4 to `end`, and to `last`."""
    norms, moved = (torch.tensor([*row, *[row[-1]] * (20 - len(row))]) for row in (norms, moved))
    losses = torch.tensor([4.0] * 10 + [end] * 9 + [last])
    return {"losses": losses, "norms": norms, "moved": moved, "validation": validation}


fault = Exercise(
    "name_fault",
    title="Find the broken number, step 2 of 2",
    goal="`record` is a dict: `losses`, `norms` and `moved`, each (N,), hold for each step the loss, the norm of the "
    "gradient, and by which share of their length the weights moved; the number `validation` is the final loss on "
    "held-out data. Name the fault. If a norm is not finite: 'exploding' if the norm one step before it is more than "
    "ten times the very first norm, otherwise 'overflow'. If all are finite: 'too low' if the weights moved by less "
    "than 0.05 in all steps together; else 'repeated' if the validation loss is more than twice the mean of the last "
    "ten losses; else 'healthy'. `first_bad` is your function of step 1: give it pairs (step, norm).",
    difficulty=3,
    minutes=12,
    inline=True,
    run=lambda answer, record: answer(dict(record), first_bad),
    cases=lambda: [  # on both sides of each limit, and near it
        (_record(),),
        (_record(norms=[2.0, 1.0, 1.5, 20.5, INF]),),
        (_record(norms=[2.0, 1.0, 1.5, 1.2, INF]),),
        (_record(norms=[INF, INF]),),
        (_record(norms=[0.5, 0.4, 6.0, NAN]),),
        (_record(norms=[8.0, 9.0, 78.0, INF]),),
        (_record(norms=[2.0, 40.0, 2.0, 1.0, INF]),),
        (_record(norms=[1.0, 4.0, 15.0, INF]),),
        (_record(moved=[0.0024], end=3.5, last=3.5, validation=3.6),),
        (_record(moved=[0.0026]),),
        (_record(moved=[0.06, 0.001]),),
        (_record(end=0.1, last=0.1, validation=0.8),),
        (_record(end=0.5, last=0.2, validation=0.92),),
        (_record(end=0.1, last=3.0, validation=0.76),),
        (_record(end=0.1, last=1.1, validation=0.41),),
        (_record(moved=[0.0001], end=0.1, last=0.1, validation=0.9),),
    ],
    hints=(
        "First the norms: which step is the first broken one? first_bad(list(enumerate(record['norms']))) says it.",
        "The answer may be step 0, and None if all is well. So ask `is None`; and step 0 has no step before it.",
        "Three conditions are left, in their order: moved.sum() < 0.05, validation > 2 * losses[-10:].mean(), none.",
    ),
)


@fault.solution
def name_fault(record, first_bad):
    """'exploding', 'overflow', 'too low', 'repeated' or 'healthy', by the record of a run of N steps."""
    norms = record["norms"]
    step = first_bad(list(enumerate(norms)))
    if step is not None:
        grown = step > 0 and norms[step - 1] > 10 * norms[0]
        return "exploding" if grown else "overflow"
    if record["moved"].sum() < 0.05:
        return "too low"
    if record["validation"] > 2 * record["losses"][-10:].mean():
        return "repeated"
    return "healthy"


fault.slips("""
zero_is_no_step    return _by(record, step=lambda record: _broken_step(record) or None)
  You asked `if step:`. The first broken step may be step 0, which counts as False: ask `step is not None`.
never_exploding    return _by(record, grown=lambda norms, step: False)
  You named every norm that is not finite 'overflow'. If the norm grew before, it has exploded.
the_broken_norm    return _by(record, grown=lambda norms, step: not norms[step] <= 10 * norms[0])
  You compared the broken norm itself, and infinity is more than ten times anything. Look one step before.
ten_and_not_ten_times    return _by(record, grown=lambda norms, step: step > 0 and norms[step - 1] > 10)
  You asked whether the norm before is above 10. Compare it with the first: every model has its own size.
the_largest_norm    return _by(record, grown=lambda norms, step: step > 0 and norms[:step].max() > 10 * norms[0])
  You took the largest norm of all steps before. One leap that is long over does not explain the overflow.
the_step_before_that    return _by(record, grown=lambda norms, step: step > 1 and norms[step - 1] > 10
      * norms[step - 2])
  You compared two steps that follow each other. A norm may grow in several steps: compare with the first.
losses_in_place_of_norms    return _by(record, step=lambda record: None)
  You looked for broken losses. In half precision the gradients overflow while the losses stay finite.
mean_in_place_of_sum    return _by(record, low=lambda moved: moved.mean() < 0.05)
  You took the mean of what the weights moved in a step. What counts is how far they came in all steps.
the_largest_move    return _by(record, low=lambda moved: moved.max() < 0.05)
  You took the largest of what the weights moved in a step. Small steps add up: take the sum of them all.
the_last_loss_alone    return _by(record, repeated=lambda record: record["validation"] > 2 * record["losses"][-1])
  You compared with the last loss alone. The loss of one batch says little: take the mean of the last ten.
the_median    return _by(record, repeated=lambda record: record["validation"] > 2 * record["losses"][-10:].median())
  You compared with the median of the last ten losses. Take their mean, in which a single leap counts.
the_mean_of_all_losses    return _by(record, repeated=lambda record: record["validation"] > 2 * record["losses"].mean())
  You compared with the mean of all losses. It holds the beginning, when nothing was learned yet.
above_and_not_twice    return _by(record, repeated=lambda record: record["validation"] > record["losses"][-10:].mean())
  You named every run 'repeated' whose validation loss is above the training loss. That is usual: ask for twice as much.
""")


def _broken_step(record):
    return first_bad(list(enumerate(record["norms"])))


def _by(record, grown=None, low=None, repeated=None, step=None):
    """The solution, in which some of the conditions are others."""
    norms, step = record["norms"], (step or _broken_step)(record)
    if step is not None:
        right = step > 0 and norms[step - 1] > 10 * norms[0]
        return "exploding" if (right if grown is None else grown(norms, step)) else "overflow"
    if record["moved"].sum() < 0.05 if low is None else low(record["moved"]):
        return "too low"
    twice = 2 * record["losses"][-10:].mean()
    wrong = record["validation"] > twice if repeated is None else repeated(record)
    return "repeated" if wrong else "healthy"


@fault.mistake("You looked for 'repeated' before 'too low'. A run that hardly moved has learned nothing by heart.")
def in_another_order(record, first_bad):
    found = _by(record)
    return _by(record, low=lambda moved: False) if found == "too low" else found
