"""Exercises whose answers are programs of one rank: shards, and attention on a ring, simulated."""

import torch

from tx_helpers.exercises.exercise import Exercise, random_tensors
from tx_helpers.lessons.scaling_up.simulated.on_ranks import on_ranks
from tx_helpers.zoo.parts.flash import merge, partial_attention

# --- a step on shards ------------------------------------------------------------------------------------------------


def _step_on_ranks(program, weight, rows, wanted, lr):
    """Each rank has a part of the weight (P,) of a linear model, and rows of its own: rows (n, B, P), wanted (n, B)."""

    def gradient_of(own_rows, own_wanted):
        return lambda whole: (whole @ own_rows.T - own_wanted) @ own_rows / len(own_rows)

    functions = [gradient_of(*own) for own in zip(rows, wanted, strict=True)]
    return on_ranks(program, list(weight.chunk(len(rows))), functions, [lr] * len(rows))


sharded = Exercise(
    "sharded_step",
    title="A step on shards",
    inline=True,
    goal="Each of n ranks keeps its part of a weight, P/n neighbouring numbers. `gradient_of(whole)` takes the whole "
    "weight (P,) and returns the gradient (P,) of the mean loss over this rank's rows, equally many on all ranks. Take "
    "a step of gradient descent with the rate lr on the mean of all ranks' gradients. Return this rank's new part. "
    "all_gather(rank, part) gives the list of all parts, reduce_scatter(rank, parts) the sum of all ranks' part number "
    "rank.number. Use each once.",
    difficulty=2,
    minutes=10,
    source="Rajbhandari et al. 2020, section 5.3",
    formula=r"w_r \leftarrow w_r - \frac{\eta}{n} \Bigl(\sum_{i} g_i\Bigr)_{r}",
    cases=lambda: [
        (torch.tensor([1.0, 2.0]), torch.tensor([[[1.0, 0.0]], [[0.0, 1.0]]]), torch.tensor([[3.0], [8.0]]), 0.5),
        (*random_tensors((6,), (3, 2, 6), (3, 2), seed=173), 0.1),
        (*random_tensors((8,), (4, 3, 8), (4, 3), seed=174), 0.3),
    ],
    run=_step_on_ranks,
    hints=(
        "First gather the whole weight: gradient_of needs it. Then each rank has the gradient of its own rows for all "
        "P numbers, but has to update only its own part.",
        "torch.cat(all_gather(rank, part)) is the whole weight. gradient.chunk(rank.count) cuts the gradient into the "
        "parts that reduce_scatter expects.",
        "part - lr * reduce_scatter(rank, list(gradient.chunk(rank.count))) / rank.count",
    ),
)


@sharded.solution
def sharded_step(rank, part, gradient_of, lr):
    """This rank's part (P/n,) after a step on the mean gradient of all ranks."""
    from tx_helpers.lessons.scaling_up.simulated.collectives import all_gather, reduce_scatter

    own_rows = gradient_of(torch.cat(all_gather(rank, part)))
    summed = reduce_scatter(rank, list(own_rows.chunk(rank.count)))  # over the ranks, of this rank's part
    return part.sub(summed, alpha=lr / rank.count)


sharded.slips("""
sum_for_mean    lr / rank.count → lr
  You used the sum of the gradients. The loss is a mean over all rows, so divide by n; AdamW would hide this mistake,
  because it ignores the size of gradients.
divided_twice    lr / rank.count → lr / rank.count**2
  You divided by n twice. Each rank's gradient is a mean over its rows already; their mean takes one n.
own_rows_alone    summed = reduce_scatter(rank, list(own_rows.chunk(rank.count))) →
      summed = own_rows.chunk(rank.count)[rank.number] ; lr / rank.count → lr
  You updated with the gradient of this rank's own rows. Each part would learn from other data: reduce_scatter adds the
  gradients of all ranks.
own_rows_divided    summed = reduce_scatter(rank, list(own_rows.chunk(rank.count))) →
      summed = own_rows.chunk(rank.count)[rank.number]
  You divided this rank's own gradient by n, but the gradients of the other ranks are missing.
part_of_the_next_rank    list(own_rows.chunk(rank.count)) → list(own_rows.roll(-len(part)).chunk(rank.count))
  You updated with the gradient of another rank's part. reduce_scatter gives each rank the part of its own number: pass
  the parts in their order.
parts_reversed    list(own_rows.chunk(rank.count)) → list(own_rows.chunk(rank.count))[::-1]
  You passed the parts of the gradient in reverse order, so the ranks update with each other's.
own_part_repeated    torch.cat(all_gather(rank, part)) → part.repeat(rank.count)
  You filled the whole weight with copies of this rank's part. gradient_of needs everybody's: all_gather.
zeros_for_the_others    torch.cat(all_gather(rank, part)) →
      torch.cat([part * (r == rank.number) for r in range(rank.count)])
  You put zeros in place of the other ranks' parts. The gradient depends on all of them: all_gather.
uphill    lr / rank.count → -lr / rank.count
  You added the gradient. It points uphill; the step goes the other way.
rate_forgotten    lr / rank.count → 1 / rank.count
  You took a step of the whole gradient, without the rate lr.
all_reduce    all_gather, reduce_scatter ⏎ → all_gather, all_reduce ⏎ ;
      reduce_scatter(rank, list(own_rows.chunk(rank.count))) → all_reduce(rank, own_rows).chunk(rank.count)[rank.number]
  Your parts are right, but you used an all-reduce where half of one is enough. An all-gather brings the weights
  together, and a reduce-scatter adds up the only part of the gradient that this rank needs.
gradients_gathered    reduce_scatter(rank, list(own_rows.chunk(rank.count))) →
      sum(all_gather(rank, own_rows)).chunk(rank.count)[rank.number]
  Your parts are right, but every rank gathers the whole gradients of all ranks. reduce_scatter adds them on the way,
  with a small part of the bytes.
""")


# --- causal attention on a ring --------------------------------------------------------------------------------------


def _ring_attention(visible, q, k, v, count):
    """Ring attention of `count` ranks over q, k, v (S, K), with visible(…) as the mask of each step."""
    T, K = len(q) // count, q.shape[1]

    def program(rank, q, k, v):
        found = None
        for step in range(count):
            seen = torch.as_tensor(visible(rank.number, step, count, T)).bool()
            if seen.shape != (T, T):
                raise ValueError(f"visible_keys returned the shape {tuple(seen.shape)}, expected {(T, T)}")
            new = partial_attention(q, k, v, scale=K**-0.5, allowed=seen)
            found = new if found is None else merge(found, new)
            k, v = (rank.swap(x, to=rank.next, source=rank.previous) for x in (k, v))
        return found.out

    return on_ranks(program, *(list(x.chunk(count)) for x in (q, k, v)), traffic=False)


around = Exercise(
    "visible_keys",
    title="The mask of ring attention",
    goal="A sequence is cut into `count` pieces of T positions; rank r has the queries of piece r. The keys travel: in "
    "step 0 every rank has the keys of its own piece, and after each step it passes them to the next rank, r + 1, and "
    "the last rank to rank 0. Attention is causal: a query sees its own and all earlier positions of the whole "
    "sequence. Return, for rank `number` in step `step`, the mask (T, T): True where the query of the row may see the "
    "key of the column. Ring attention then runs with your masks, and must give what one rank would compute.",
    difficulty=2,
    minutes=8,
    source="after Liu et al. 2023, section 3",
    formula=r"\mathrm{visible}_{ij} = \bigl[\, \mathrm{owner} \cdot T + j \le \mathrm{number} \cdot T + i \,\bigr]",
    cases=lambda: [
        (*random_tensors((4, 1), (4, 1), (4, 1), seed=178), 2),
        (*random_tensors((6, 3), (6, 3), (6, 3), seed=179), 3),
        (*random_tensors((12, 2), (12, 2), (12, 2), seed=180), 4),
    ],
    run=_ring_attention,
    hints=(
        "Whose keys has rank `number` after `step` steps? They came from the ranks behind it.",
        "owner = (number - step) % count. The keys have the positions owner · T + 0 … T − 1, the queries number · T + "
        "0 … T − 1.",
        "places = torch.arange(T); owner * T + places[None, :] <= number * T + places[:, None]",
    ),
)


@around.solution
def visible_keys(number, step, count, T):
    """(T, T), True where a query (row) of rank `number` sees a key (column) of the piece that it has in this step."""
    earlier = (
        number - step >= 0
    )  # the piece has not passed the last rank, so it comes from an earlier one or is our own
    return torch.full((T, T), earlier).tril(diagonal=0 if step == 0 else T)


around.slips("""
local_positions    earlier = ( ⏎ number - step >= 0 ⏎ ) → earlier = True ; 0 if step == 0 else T → 0
  You compared positions within the pieces, so every step has the same triangle. A piece before ours is visible as a
  whole, a later one not at all: compare the positions in the whole sequence.
keys_from_the_other_side    number - step >= 0 → step == 0 or number + step >= count
  You took the keys for those of rank number + step. They travel to the next rank, so they come from behind: (number −
  step) % count.
step_for_the_owner    number - step >= 0 → step <= number ; 0 if step == 0 else T → 0 if step == number else T
  You took the keys of step s for those of piece s. In step s each rank has another piece: (number − step) % count.
not_around_the_ring    - step → + step
  You left out % count. A piece that has passed the last rank gets a negative number, so it looks early; but it is a
  later piece, which must stay hidden.
everything_visible    return torch.ones(T, T, dtype=torch.bool)
  You let every query see all keys. Attention is causal here: nothing behind the query's own position.
own_piece_alone    return torch.full((T, T), step == 0).tril()
  Your queries see keys of their own piece only. What the ring brings from earlier pieces counts, too.
earlier_pieces_alone    return torch.full((T, T), 0 < step <= number)
  Your queries see the earlier pieces only. In step 0 they see their own piece up to themselves.
own_piece_whole    return torch.full((T, T), step <= number)
  Your queries see their own piece as a whole, also the keys behind them. There it needs the triangle.
without_the_diagonal    0 if step == 0 → -1 if step == 0
  Your queries do not see their own position: <= in place of <.
transposed    return torch.full((T, T), True).triu() if step == 0 else torch.full((T, T), step > number)
  Your mask is transposed: queries see themselves and what comes later.
last_step_left_out    return visible_keys(number, step, count, T) & (step < max(number, 1))
  You hide the piece of the last step that brings an earlier one. Rank r sees earlier pieces in the steps 1 to r, the
  last one included.
""")
