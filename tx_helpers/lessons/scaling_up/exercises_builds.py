"""The second steps of the two builds: a model's gradients averaged on a ring, and a planner's search for what fits."""

import torch

from tx_helpers.exercises.exercise import Exercise, random_tensors
from tx_helpers.lessons.scaling_up.simulated.collectives import all_gather, all_reduce, reduce_scatter
from tx_helpers.lessons.scaling_up.simulated.on_ranks import on_ranks

# --- all gradients in one trip around the ring ------------------------------------------------------------------------


def _averaged(program, gradients):
    """gradients: for each parameter those of all ranks (n, …). A rank gets its own, and step 1's function."""
    n = len(gradients[0])
    own = [[of_all[rank] for of_all in gradients] for rank in range(n)]
    return on_ranks(lambda rank, mine: program(rank, mine, reduce_scatter, all_gather), own)


averaging = Exercise(
    "average_gradients",
    inline=True,
    title="Average on a ring, step 2 of 2: all gradients of a model at once",
    goal="Each of n ranks has `gradients`, a list of tensors of any shapes, the same on all ranks. Return the list of "
    "their means over the ranks, in the old shapes. Join them into one long vector first, so that the ring turns only "
    "once. `reduce_scatter(rank, parts)` is your step 1: n parts of one size give the sum of part number rank.number. "
    "`all_gather(rank, part)` gives the list of all ranks' parts. Use each once. If the vector's length is not a "
    "multiple of n, fill it up with zeros, and remove them at the end.",
    difficulty=3,
    minutes=12,
    source="PyTorch's DistributedDataParallel calls the long vector a bucket (Li et al. 2020, section 3.2)",
    cases=lambda: [
        ([torch.tensor([[1.0, 2.0], [3.0, 6.0]])],),
        (list(random_tensors((3, 2, 4), (3, 5), seed=181)),),
        (list(random_tensors((4, 7), (4, 2, 3), (4, 1), seed=182)),),
    ],
    run=_averaged,
    hints=(
        "Four steps: one vector out of all gradients, filled up with zeros; cut it into n parts; reduce-scatter and "
        "all-gather; cut the result back into the old shapes.",
        "vector = torch.cat([gradient.flatten() for gradient in gradients]). It needs -len(vector) % n zeros. Then "
        "vector.chunk(n) has n parts of one size.",
        "torch.cat(all_gather(rank, reduce_scatter(rank, list(vector.chunk(n))))) / n is the mean. Its first numbers "
        "belong to gradients[0]: take gradients[0].numel() of them, and view_as(gradients[0]).",
    ),
)


@averaging.solution
def average_gradients(rank, gradients, reduce_scatter, all_gather):
    """The means over all ranks of the tensors in `gradients`, in a list."""
    sizes = [gradient.numel() for gradient in gradients]
    zeros = gradients[0].new_zeros(-sum(sizes) % rank.count)
    vector = torch.cat([gradient.flatten() for gradient in gradients] + [zeros])
    summed = reduce_scatter(rank, list(vector.chunk(rank.count)))
    means = torch.cat(all_gather(rank, summed / rank.count))
    pieces = means[: sum(sizes)].split(sizes)
    return [piece.view_as(gradient) for piece, gradient in zip(pieces, gradients, strict=True)]


averaging.slips("""
sum    / rank.count →
  You returned the sum of the gradients. Every rank has a mean over its own rows, so divide the sum by n.
divided_twice    summed / rank.count → summed / rank.count**2
  You divided by n twice, once before and once after the sum. Once is enough.
own_gradients    = lambda rank, gradients, *_: list(gradients)
  You returned this rank's own gradients. Nothing travelled, so the ranks' models would drift apart.
parts_in_reverse    all_gather(rank, summed / rank.count) → all_gather(rank, summed / rank.count)[::-1]
  You joined the gathered parts in the wrong order. all_gather returns them in the order of the ranks.
own_part_repeated    torch.cat(all_gather(rank, summed / rank.count)) → (summed / rank.count).repeat(rank.count)
  You filled the vector with copies of this rank's part. The other parts come from the others: all_gather.
joined_in_reverse    gradient.flatten() for gradient in gradients] → gradient.flatten() for gradient in gradients[::-1]]
  You joined the gradients in reverse order, but cut the result in the old order: the numbers of one parameter end up in
  another.
zeros_in_front    [gradient.flatten() for gradient in gradients] + [zeros] →
      [zeros] + [gradient.flatten() for gradient in gradients]
  Your zeros stand in front of the vector, but you removed numbers at its end. So all means are shifted.
one_ring_each    = lambda rank, gradients, *_: [all_reduce(rank, gradient) / rank.count for gradient in gradients
      for _ in "12"][::2]
  Your means are right, but some parts went around more than once, or with too many zeros: join all gradients into one
  vector, and send it around once.
a_ring_for_each_tensor    return [average_gradients(rank, [one], reduce_scatter, all_gather)[0] for one in gradients]
  Your means are right, but each tensor goes around by itself, with zeros of its own. Join all gradients into one vector
  first.
all_vectors_gathered    summed = reduce_scatter(rank, list(vector.chunk(rank.count))) → ;
      torch.cat(all_gather(rank, summed / rank.count)) → sum(all_gather(rank, vector)) / rank.count
  Your means are right, but every rank gathered the whole vectors of all ranks. That is n − 1 vectors for each;
  reduce-scatter and all-gather together send less than two.
""")


# --- what fits --------------------------------------------------------------------------------------------------------


def _table(program, parameters, ranks, room):
    """The stage for each number of pieces, -1 where it is left out."""
    found = program(parameters, ranks, room, zero_bytes)
    if not isinstance(found, (list, tuple)) or any(len(one) != 2 for one in found):
        return found
    stages = {pieces: torch.tensor(-1.0) for pieces in _powers(ranks)}
    stages.update({pieces: torch.as_tensor(float(stage)) for pieces, stage in found if pieces in stages})
    said = {f"the stage for {pieces} pieces": stage for pieces, stage in stages.items()}
    return said | {"how many layouts": torch.tensor(float(len(found)))}


def _powers(ranks):
    return [2**k for k in range(ranks.bit_length()) if 2**k <= ranks]


def zero_bytes(parameters, ranks, stage):
    """Step 1: the bytes on each rank at ZeRO's stage."""
    return parameters * sum(size / (ranks if stage >= cut else 1) for size, cut in ((12, 1), (2, 2), (2, 3)))


planning = Exercise(
    "layouts_that_fit",
    title="A planner of your own, step 2 of 2: which layouts fit?",
    goal="A model may first be cut into `pieces` (by tensor and pipeline), so that a rank has 1/pieces of its "
    "parameters. Then ranks/pieces ranks have the same piece, and share its memory by a stage of ZeRO. "
    "`bytes_of(parameters, ranks, stage)` is your step 1. For pieces = 1, 2, 4 … up to `ranks` (a power of 2) find the "
    "lowest stage, 0 to 3, with at most `room` bytes on a rank. Return the list of all (pieces, stage), the smallest "
    "number of pieces first. Leave out numbers for which no stage fits.",
    difficulty=2,
    minutes=12,
    cases=lambda: [
        (100, 8, 400.0),
        (100, 8, 800.0),
        (175_000_000_000, 1024, 77e9),
        (175_000_000_000, 64, 77e9),
        (1_000, 16, 250.0),
        (1_000, 4, 4000.0),
        (70, 8, 1e6),
    ],
    run=_table,
    hints=(
        "Two loops: over the pieces, and inside over the stages 0, 1, 2, 3. The inner one ends with the first that "
        "fits.",
        "A rank has parameters / pieces, and shares them with ranks / pieces ranks: these two go into bytes_of.",
        "if bytes_of(parameters / pieces, ranks // pieces, stage) <= room: append (pieces, stage), then break.",
    ),
)


@planning.solution
def layouts_that_fit(parameters, ranks, room, bytes_of):
    """All (pieces, stage) that fit into `room` bytes: for each number of pieces the lowest stage."""
    found = []
    pieces = 1
    while pieces <= ranks:
        for stage in range(4):
            if bytes_of(parameters / pieces, ranks // pieces, stage) <= room:
                found.append((pieces, stage))
                break
        pieces *= 2
    return found


planning.slips("""
parameters_not_cut    parameters / pieces, → parameters,
  You gave bytes_of all parameters. A rank has only 1/pieces of them.
ranks_not_cut    ranks // pieces → ranks
  You shared a piece among all ranks. Only ranks / pieces of them have the same piece.
shared_among_the_pieces    ranks // pieces → pieces
  You shared a piece among `pieces` ranks. So many have different pieces; the same one have ranks / pieces.
highest_stage    range(4) → range(3, -1, -1)
  You took the highest stage that fits. Each stage cuts more, and sends more: the lowest is wanted.
all_stages    (pieces, stage)) ⏎ break → (pieces, stage))
  You listed every stage that fits. For each number of pieces only the lowest is wanted: leave the inner loop when you
  have found it.
stage_0_alone    range(4) → range(1)
  You tried stage 0 only. A higher stage can fit where plain copies do not.
stage_3_left_out    range(4) → range(3)
  You tried the stages 0 to 2. range(3) ends before 3: stage 3 cuts the weights, too.
room_must_remain    <= room → < room
  A layout that needs exactly `room` bytes fits: at most means <=.
what_does_not_fit    <= room → > room
  You collected the stages that do not fit. Turn the comparison around.
first_that_fits    return found → return found[:1]
  You stopped at the first number of pieces that fits. The list shall have all, because more pieces may allow a lower
  stage, which sends less.
""")
