"""Exercises that stand inside the notebook: a ring reduce-scatter, a cut feed-forward layer, the 1F1B schedule."""

import torch

from tx_helpers.exercises.exercise import Exercise, random_tensors
from tx_helpers.lessons.scaling_up.simulated.collectives import all_gather, all_reduce
from tx_helpers.lessons.scaling_up.simulated.layouts import sum_over_ranks
from tx_helpers.lessons.scaling_up.simulated.on_ranks import on_ranks
from tx_helpers.lessons.scaling_up.simulated.schedules import Action, bubble, gpipe, in_flight, timeline

# --- a sum around the ring -------------------------------------------------------------------------------------------

ring = Exercise(
    "ring_reduce_scatter",
    inline=True,
    title="Average on a ring, step 1 of 2: a sum that travels around",
    goal="Each of n ranks has a list `parts` of n tensors, all of the same shape. Rank r shall return the sum of all "
    "ranks' part number r. Write the program of one rank: `rank.number` is r, `rank.count` is n, `rank.next` and "
    "`rank.previous` are its neighbours. `rank.send(tensor, to)` waits until the other rank receives it; "
    "`rank.receive(source)` waits until something arrives; `rank.swap(tensor, to=…, source=…)` does both at once and "
    "returns what it received. No rank may send and receive more than 2 (n − 1) parts altogether.",
    difficulty=3,
    minutes=12,
    cases=lambda: [
        (torch.tensor([[[1.0], [2.0]], [[10.0], [20.0]]]),),
        random_tensors((3, 3, 3), seed=161),
        random_tensors((4, 4, 3), seed=162),
    ],
    run=lambda program, parts: on_ranks(program, [list(mine) for mine in parts], buffered=False),
    hints=(
        "Each part travels once around the ring, and every rank on its way adds its own. After n − 1 steps it has "
        "arrived. At which rank must part r start, if it has to end at rank r?",
        "Part r starts at the rank behind r, rank.next of r. So rank r first sends part number rank.previous.",
        "In step 1, 2, … n − 1 rank r swaps with its neighbours, to=rank.next and source=rank.previous. It receives "
        "the part number (r − 1 − step) % n, adds its own part of that number, and sends the sum in the next step.",
    ),
)


@ring.solution
def ring_reduce_scatter(rank, parts):
    """The sum over all ranks of part number rank.number; parts: a list of this rank's n tensors."""
    n = rank.count
    on_its_way = parts[rank.previous]
    for number in range(rank.number - 2, rank.number - 1 - n, -1):
        on_its_way = rank.swap(on_its_way, to=rank.next, source=rank.previous) + parts[number % n]
    return on_its_way


ring.slips("""
send_before_receive    on_its_way = rank.swap(on_its_way, to=rank.next, source=rank.previous) →
      rank.send(on_its_way, rank.next) ⏎ on_its_way = rank.receive(rank.previous)
  Every rank sends first, and a send waits until the other side receives. So all wait for each other: a deadlock.
  rank.swap sends and receives at the same time.
receive_before_send    on_its_way = rank.swap(on_its_way, to=rank.next, source=rank.previous) + →
      received = rank.receive(rank.previous) ⏎ rank.send(on_its_way, rank.next) ⏎ on_its_way = received +
  Every rank receives first, and nobody has sent anything yet: a deadlock. rank.swap sends and receives at the same
  time.
nothing_added    + parts[number % n] →
  You pass on what arrives, without adding your own part. Rank r gets one rank's part, not the sum.
own_sent_each_time    on_its_way = rank.swap(on_its_way, to=rank.next, source=rank.previous) + parts[number % n] →
      rank.swap(on_its_way, to=rank.next, source=rank.previous) ⏎ on_its_way = parts[number % n]
  You send on your own part, and not the sum that arrived. Each part then collects only the last two ranks.
starts_with_own_number    parts[rank.previous] → parts[rank.number] ; rank.number - 2, rank.number - 1 - n →
      rank.number - 1, rank.number - n
  You begin with the part of the rank's own number. After n − 1 steps it has arrived one rank too early: rank r ends
  with the sum of part r + 1. Begin with part number rank.previous.
starts_two_back    parts[rank.previous] → parts[rank.number - 2] ; rank.number - 2, rank.number - 1 - n →
      rank.number - 3, rank.number - 2 - n
  You begin with part r − 2, so rank r ends with the sum of the part before its own. Begin with r − 1.
one_step_too_few    rank.number - 1 - n → rank.number - n
  You make n − 2 steps, so your own part is missing in the sum: n ranks on a ring are n − 1 steps apart.
one_step_too_many    rank.number - 1 - n → rank.number - 2 - n
  You make n steps. After n − 1 the sum was complete; then it moved on to the next rank, which added its part a second
  time.
always_the_part_of_the_own_number    parts[number % n] → parts[rank.number]
  You add part number rank.number in every step. What arrives is another part each time: add your own part of the number
  that arrives, (r − 1 − step) % n.
always_the_first_part_sent    parts[number % n] → parts[rank.previous]
  You add part number rank.previous in every step. What arrives is another part each time: add your own part of the
  number that arrives, (r − 1 − step) % n.
counted_upwards    range(rank.number - 2, rank.number - 1 - n, -1) → range(rank.number, rank.number + n - 1)
  Your part numbers grow with the step. The parts come from behind, so the numbers that arrive fall: (r − 1 − step) % n.
mean    return on_its_way → return on_its_way / n
  You divided by n: that is the mean. A reduce-scatter adds up; whoever wants a mean divides afterwards.
own_parts_added_up    return sum(parts)
  You added up your own n parts, and nothing was sent. The sum runs over the ranks, for one part number.
own_part_alone    return parts[rank.number]
  You returned your own part and sent nothing. The parts of the other ranks are missing.
whole_sum_then_a_part    return all_reduce(rank, torch.stack(list(parts)))[rank.number]
  Your sums are right, but you made an all-reduce and kept a part of it: twice the bytes. The second half, the
  all-gather, brings every rank the parts that you throw away.
""")


@ring.mistake(
    "Your sums are right, but every rank sends all its parts to rank 0. Its link carries (n + 1)/2 times as many bytes "
    "as on the ring, while the other links do nothing: it is the bottleneck."
)
def all_to_rank_0(rank, parts):
    if rank.number:
        rank.send(torch.stack(list(parts)), 0)
        return rank.receive(0)
    total = torch.stack(list(parts))
    for source in range(1, rank.count):
        total = total + rank.receive(source)
    for to in range(1, rank.count):
        rank.send(total[to], to)
    return total[0]


ring.slips("""
all_parts_travel    on_its_way = parts[rank.previous] → on_its_way = total = torch.stack(parts) ;
      on_its_way = rank.swap(on_its_way, to=rank.next, source=rank.previous) + parts[number % n] →
      on_its_way = rank.swap(on_its_way, to=rank.next, source=rank.previous) ⏎ total = total + on_its_way ;
      return on_its_way → return total[rank.number]
  Your sums are right, but all n parts travel around the ring, n times as many bytes as needed. In each step a rank
  needs to send only one part.
""")


# --- a layer on n ranks ----------------------------------------------------------------------------------------------


def _split_on_ranks(program, n, x, W_1, b_1, W_2, b_2):
    """What happens on n ranks, for how many hidden units each has computed the activation, and for which of its own."""
    units, group = [0] * n, len(W_1) // n
    own = (x @ W_1.T + b_1).unflatten(1, (n, group)).transpose(0, 1)  # (n, T, F/n)
    seen = torch.zeros_like(own, dtype=torch.bool)

    def counted(number):
        def act(hidden):
            units[number] += hidden.numel() // len(x)
            seen[number] |= torch.isclose(own[number][..., None], hidden.flatten().to(own.dtype), atol=1e-5).any(-1)
            return torch.relu(hidden)

        return act

    whole = [[value] * n for value in (x, W_1, b_1, W_2, b_2)]
    found = on_ranks(program, *whole, [counted(number) for number in range(n)])
    counts = {"hidden units of each rank": torch.tensor(units), "units of the rank's own group": seen.all(1).sum(1)}
    return {"the ranks": found.pop("the ranks")} | counts | found


_SMALL = (  # x (2, 2), W_1 (2, 2), b_1, W_2 (2, 2), b_2
    torch.tensor([[1.0, 0.0], [2.0, -3.0]]),
    torch.tensor([[1.0, 1.0], [2.0, 0.0]]),
    torch.tensor([0.5, 1.0]),
    torch.tensor([[10.0, 100.0], [1.0, -1.0]]),
    torch.tensor([1000.0, 0.0]),
)

split = Exercise(
    "split_feed_forward",
    inline=True,
    title="One layer on n ranks",
    goal="The layer act(x W₁ᵀ + b₁) W₂ᵀ + b₂ shall run on n ranks, each with F/n of its F hidden units; F is a "
    "multiple of n. Every rank has x (T, D) and the whole weights: W_1 (F, D), b_1 (F,), W_2 (D, F), "
    "b_2 (D,). Rank r computes the r-th group of F/n neighbouring units, and `act` of no others. `sum_over_ranks(rank, "
    "tensor)` returns the sum of all ranks' tensors on every rank; use it once. Return the layer's output (T, D) on "
    "every rank.",
    difficulty=2,
    minutes=10,
    source="Shoeybi et al. 2019, section 3",
    formula=r"\sum_{r=0}^{n-1} \mathrm{act}\bigl(x\, W_1[r]^\top + b_1[r]\bigr)\, W_2[r]^\top + b_2",
    cases=lambda: [
        (2, *_SMALL),
        (3, random_tensors((3, 6), seed=164)[0], *_layer(18, 6, seed=165)),
        (4, random_tensors((4, 4), seed=166)[0], *_layer(16, 4, seed=167)),
    ],
    run=_split_on_ranks,
    hints=(
        "A hidden unit needs one row of W_1, one entry of b_1 and one column of W_2, and x as a whole.",
        "units = len(W_1) // rank.count, and mine = slice(rank.number * units, (rank.number + 1) * units). Then "
        "W_1[mine] and W_2[:, mine].",
        "The outputs of the groups are summands: sum_over_ranks(rank, hidden @ W_2[:, mine].T). b_2 is one vector for "
        "all groups, so add it once, after the sum.",
    ),
)


def _layer(F, D, seed):
    """W_1 (F, D), b_1 (F,), W_2 (D, F), b_2 (D,)."""
    return random_tensors((F, D), (F,), (D, F), (D,), seed=seed)


@split.solution
def split_feed_forward(rank, x, W_1, b_1, W_2, b_2, act):
    """act(x W_1ᵀ + b_1) W_2ᵀ + b_2 (T, D) on every rank; rank r has the r-th F/n of the F hidden units."""
    units = len(W_1) // rank.count
    mine = slice(rank.number * units, (rank.number + 1) * units)
    hidden = act(x @ W_1[mine].T + b_1[mine])  # (T, F/n)
    return sum_over_ranks(rank, hidden @ W_2[:, mine].T) + b_2


split.slips("""
bias_on_each_rank    hidden @ W_2[:, mine].T) + b_2 → hidden @ W_2[:, mine].T + b_2)
  You add b_2 on each rank before the sum, so the output has it n times. Add it once, after the sum.
no_sum    sum_over_ranks(rank, hidden @ W_2[:, mine].T) → hidden @ W_2[:, mine].T
  You return this rank's summand alone. Each output is a sum over all F units: sum_over_ranks.
mean    W_2[:, mine].T) + → W_2[:, mine].T) / rank.count +
  You divided by the number of ranks. The units of the groups add up, as they do in one matrix product; only gradients
  of different rows of a batch are averaged.
second_bias_forgotten    .T) + b_2 → .T)
  b_2 is missing in your output: add it once, after the sum.
first_bias_forgotten    + b_1[mine] →
  b_1 is missing: each rank needs the entries of b_1 that belong to its units.
first_group_for_all    slice(rank.number * units, (rank.number + 1) * units) → slice(units)
  Every rank computes the first group of units, so the sum has it n times and lacks all others. Start the cut at
  rank.number · F/n.
every_nth_unit    W_1[mine].T + b_1[mine] → W_1[rank.number :: rank.count].T + b_1[rank.number :: rank.count]
  You take every n-th row of W_1 with neighbouring columns of W_2: the units of the first matrix are not those of the
  second one. Use the same units in both.
activation_after_the_sum    hidden = act(x @ W_1[mine].T + b_1[mine]) → hidden = x @ W_1[mine].T + b_1[mine] ;
      sum_over_ranks(rank, hidden @ W_2[:, mine].T) → act(sum_over_ranks(rank, hidden @ W_2[:, mine].T))
  You apply `act` to the sum of the outputs. It belongs on the hidden units, between W_1 and W_2.
bias_of_other_units    b_1[mine] → b_1[:units]
  Your biases b_1 belong to the first group of units, on every rank. Cut b_1 at the same places as W_1.
columns_of_other_units    W_2[:, mine] → W_2[:, :units]
  Your columns of W_2 are those of the first group on every rank. Cut W_2 at the same places as W_1, along dimension 1.
nothing_cut    return act(x @ W_1.T + b_1) @ W_2.T + b_2
  Every rank computes the whole layer. The output is right, but nothing is saved: each rank needs all weights and all
  the time.
cut_after_the_activation    act(x @ W_1[mine].T + b_1[mine]) → act(x @ W_1.T + b_1)[:, mine]
  You compute all F units and cut afterwards. The output is right, but each rank needs the whole of W_1 and the time of
  all units. Cut W_1 and b_1 first.
sum_before_the_activation    act(x @ W_1[mine].T + b_1[mine]) →
      act(sum_over_ranks(rank, x.chunk(rank.count, 1)[rank.number] @ W_1.chunk(rank.count, 1)[rank.number].T) + b_1) ;
      sum_over_ranks(rank, hidden @ W_2[:, mine].T) → hidden @ W_2.T
  You cut W_1 by its inputs (columns), so each unit must be summed before the activation. The output is right, but every
  rank computes `act` of all F units, and more bytes travel. Cut W_1 by its rows.
activation_of_summands    act(x @ W_1[mine].T + b_1[mine]) →
      act(x.chunk(rank.count, 1)[rank.number] @ W_1.chunk(rank.count, 1)[rank.number].T + b_1) ;
      hidden @ W_2[:, mine].T) → hidden) @ W_2.T
  You cut W_1 by its inputs (columns) and applied `act` to each rank's summand. The activation of a sum is not the sum
  of the activations. Cut W_1 by its rows: then each unit is whole on one rank.
gathered_in_between    sum_over_ranks(rank, hidden @ W_2[:, mine].T) → torch.cat(all_gather(rank, hidden), 1) @ W_2.T
  Your output is right, but you gather all hidden units on every rank between the matrices: more bytes, and each rank
  computes the whole second product. Cut W_2 by its columns, and sum the outputs.
gathered_twice    sum_over_ranks(rank, hidden @ W_2[:, mine].T) → torch.cat(all_gather(rank, torch.cat(all_gather(rank,
      hidden), 1) @ W_2.tensor_split(rank.count)[rank.number].T), 1)
  Your output is right, but you gather twice, the hidden units and then the outputs, because you cut W_2 by its rows.
  Cut along its columns, it needs one sum only.
summands_gathered    sum_over_ranks(rank, hidden @ W_2[:, mine].T) → sum(all_gather(rank, hidden @ W_2[:, mine].T))
  Your output is right, but every rank receives all n summands and adds them up itself. sum_over_ranks adds on the way,
  so the bytes per rank hardly grow with n.
tokens_cut    act(x @ W_1[mine].T + b_1[mine]) → act(x.tensor_split(rank.count)[rank.number] @ W_1.T + b_1) ;
      sum_over_ranks(rank, hidden @ W_2[:, mine].T) → torch.cat(all_gather(rank, hidden @ W_2.T))
  You cut the tokens: each rank computes all F units for T/n of them, and so needs both matrices whole. Here the weights
  shall be cut, because they do not fit on one rank.
""")


# --- forward and backward in turn ------------------------------------------------------------------------------------


def _run_schedule(schedule_of, ranks, microbatches):
    """Does it run, how many passes are computed, the bubble, and the microbatches that each rank keeps."""
    schedule = schedule_of(ranks, microbatches)
    if any(isinstance(actions, Action) for actions in schedule):
        raise ValueError("your schedule is one list of actions, expected a list of its own for each rank")
    schedule = [[Action(*action) for action in actions] for actions in schedule]
    found = {"the pipeline": "it runs", "passes": sum(map(len, schedule)), "bubble": 0.0, "kept by each rank": 0}
    try:
        spans = timeline(schedule)
    except ValueError as error:
        return found | {"the pipeline": str(error).removeprefix("timeline: ")}
    return found | {"bubble": bubble(spans), "kept by each rank": torch.tensor(in_flight(schedule))}


pipeline = Exercise(
    "alternating_schedule",
    title="The schedule 1F1B",
    goal="A model is cut into p stages, and rank r has stage r. Write the schedule that alternates: for each rank the "
    'list of its actions, ("F", stage, microbatch) for a forward pass and ("B", stage, microbatch) for a '
    "backward pass, microbatches counted from 0. It begins with enough forward passes to fill the pipeline, then takes "
    "one forward and one backward pass in turn, and ends with the backward passes that remain. The schedule is run: "
    "the bubble must be as small as GPipe's, (p − 1)/(m + p − 1), and rank r may keep no more than p − r microbatches.",
    difficulty=3,
    minutes=12,
    cases=lambda: [(2, 2), (3, 5), (4, 2), (4, 8)],
    run=_run_schedule,
    hints=(
        "The last rank can take its first backward pass right after its first forward pass. How many more forward "
        "passes can the rank before it take in the meantime?",
        "Rank r first takes p − 1 − r forward passes, or m if there are fewer microbatches. Then, for each microbatch, "
        "the next forward pass (if one is left) and one backward pass.",
        'ahead = min(ranks - 1 - r, microbatches); then for each m: ("F", r, m + ahead) if m + ahead < '
        'microbatches, and ("B", r, m).',
    ),
)


@pipeline.solution
def alternating_schedule(ranks, microbatches):
    """For each rank the list of its actions: forward passes to fill the pipeline, then forward and backward in turn."""
    schedule = []
    for r in range(ranks):
        forward = [("F", r, m) for m in range(microbatches)]
        backward = [("B", r, m) for m in range(microbatches)]
        ahead = ranks - 1 - r
        pairs = [action for pair in zip(forward[ahead:], backward, strict=False) for action in pair]
        schedule.append(forward[:ahead] + pairs + backward[len(pairs) // 2 :])
    return schedule


pipeline.slips("""
gpipe    = gpipe
  All your forward passes come before the first backward pass: that is GPipe. The bubble is as small, but each rank
  keeps the activations of all m microbatches.
nothing_ahead    ranks - 1 - r → 0
  Your ranks take one forward and one backward pass from the start, so a single microbatch is under way and all ranks
  but one wait. Rank r needs p − 1 − r forward passes first.
one_ahead_too_few    ranks - 1 - r → max(ranks - 2 - r, 0)
  Your ranks begin with one forward pass too few. They wait for a gradient while the next microbatch could already go
  through: the bubble grows. Rank r needs p − 1 − r.
one_ahead_too_many    ranks - 1 - r → ranks - r
  Your ranks begin with one forward pass too many. The bubble stays the same, but each rank keeps a microbatch more than
  needed: the turn adds one forward pass before the first backward pass.
same_for_all    ranks - 1 - r → ranks - 1
  All your ranks begin with p − 1 forward passes. Only rank 0 has to fill the whole pipeline; the later ranks keep more
  microbatches than they need. Rank r needs p − 1 − r.
counted_from_the_wrong_end    ranks - 1 - r → r
  Your rank r takes r forward passes ahead. Then nobody can go on: the first rank waits for a gradient, and the last one
  for more microbatches. Count from the end: p − 1 − r.
newest_first    = _alternating(newest=True)
  Your backward passes take the newest microbatch first. The last rank finishes the oldest one first, so the others wait
  for gradients. Backward in the same order as forward.
rest_forgotten    + backward[len(pairs) // 2 :] →
  The backward passes of the microbatches taken ahead are missing at the end, so their gradients are never computed.
more_than_there_are    = _alternating(lambda p, r, m: p - 1 - r)
  With fewer microbatches than ranks you take forward passes of microbatches that do not exist. Take no more than m
  ahead.
""")


def _alternating(ahead=lambda p, r, m: min(p - 1 - r, m), newest=False, rest=True):
    """A mistake: another number of forward passes ahead, the newest microbatch backward first, or none at the end."""

    def schedule_of(p, m):
        schedule = []
        for r in range(p):
            first = ahead(p, r, m)
            actions, waiting = [Action("F", r, i) for i in range(first)], list(range(first))
            for i in range(first, m):
                waiting.append(i)
                actions += [Action("F", r, i), Action("B", r, waiting.pop(-1 if newest else 0))]
            schedule.append(actions + [Action("B", r, i) for i in (waiting[::-1] if newest else waiting) if rest])
        return schedule

    return schedule_of


@pipeline.mistake(
    "You drain the pipeline after every p microbatches and fill it again. Each time the ranks wait: the bubble is that "
    "of p microbatches, whatever m is."
)
def drained_in_groups(p, m):
    groups = [range(start, min(start + p, m)) for start in range(0, m, p)]
    return [[Action(kind, r, i) for group in groups for kind in "FB" for i in group] for r in range(p)]
