"""Exercises whose answers are programs of one rank: gradients, shards, a ring and experts, simulated."""

import torch

from tx_helpers.exercises.exercise import Exercise, random_tensors
from tx_helpers.lessons.scaling_up.simulated.collectives import all_reduce
from tx_helpers.lessons.scaling_up.simulated.layouts import expert_parallel
from tx_helpers.lessons.scaling_up.simulated.on_ranks import on_ranks
from tx_helpers.zoo.parts.flash import merge, partial_attention

# --- the mean over all targets ---------------------------------------------------------------------------------------

targets = Exercise(
    "mean_over_all_targets",
    title="Ranks with different numbers of targets",
    goal="In data parallelism every rank has its own sentences, and so another number of targets: some are padding. A "
    "rank has `gradient` (P,), the gradient of the mean loss over its own targets, and `count`, how many these are (0 "
    "is possible; the gradient is 0 then). Return, on every rank, the gradient of the mean loss over all ranks' "
    "targets. `all_reduce(rank, tensor)` returns the sum of all ranks' tensors on every rank.",
    difficulty=2,
    minutes=8,
    cases=lambda: [
        (torch.tensor([[6.0], [2.0]]), [1, 3]),
        (random_tensors((3, 4), seed=171)[0], [7, 2, 4]),
        (random_tensors((4, 5), seed=172)[0] * torch.tensor([[1.0], [1.0], [0.0], [1.0]]), [12, 3, 0, 30]),
    ],
    run=lambda program, gradients, counts: on_ranks(program, list(gradients), counts, traffic=False),
    hints=(
        "The mean over all targets is the sum of all losses divided by the number of all targets.",
        "gradient * count is the gradient of the sum of this rank's losses. Sums can be added over the ranks.",
        "all_reduce(rank, gradient * count) / all_reduce(rank, torch.tensor(float(count)))",
    ),
)


@targets.solution
def mean_over_all_targets(rank, gradient, count):
    """The gradient (P,) of the mean loss over all ranks' targets; this rank's mean is over `count` of them."""
    from tx_helpers.lessons.scaling_up.simulated.collectives import all_reduce

    both = torch.cat([gradient * count, gradient.new_tensor([count])])  # one all-reduce for both
    *total, targets = all_reduce(rank, both)
    return torch.stack(total) / targets


targets.slips("""
mean_of_means    return all_reduce(rank, gradient) / rank.count
  You averaged the ranks' gradients. A rank with few targets then counts as much as one with many, and each of its
  targets counts more. Weight each gradient by its number of targets.
sum_of_means    return all_reduce(rank, gradient)
  You summed the ranks' means. With n ranks the step is about n times too long, and ranks with few targets count too
  much.
not_divided    / targets →
  You summed over all targets and did not divide by their number: the step grows with the batch.
divided_by_the_ranks    return all_reduce(rank, gradient * count) / rank.count
  You weighted by the targets, but divided by the number of ranks. Divide by the number of all targets.
divided_by_the_own_targets    return all_reduce(rank, gradient * count) / max(count * rank.count, 1)
  You divided the sum by this rank's targets times n, so each rank gets another gradient, and their weights drift apart.
  Divide by the sum of all counts.
divided_twice    return all_reduce(rank, gradient * count) / _total(rank, count) / rank.count
  You divided by the number of all targets and again by the number of ranks. Once is enough.
own_gradient    return gradient
  You returned this rank's own gradient. Then every rank takes another step, and there are n models.
own_share    return gradient * count / _total(rank, count)
  Your gradient has the right weight, but the sum over the ranks is missing.
means_over_ranks_with_targets    return all_reduce(rank, gradient) / _total(rank, count > 0)
  You averaged over the ranks that have targets. They still count alike, however many targets each has.
roots_for_weights    return all_reduce(rank, gradient * count**0.5) / _total(rank, count**0.5)
  You weighted by the root of the counts. That is for standard errors; a mean over targets takes the count.
""")


def _total(rank, number):
    return all_reduce(rank, torch.tensor([float(number)]))


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
    goal="Each of n ranks keeps only its part of a weight, P/n neighbouring numbers. `gradient_of(whole)` takes the "
    "whole weight (P,) and returns the gradient (P,) of the mean loss over this rank's rows; all ranks have the same "
    "number of rows. Take a step of gradient descent with the rate lr on the mean of all ranks' gradients, and return "
    "this rank's new part. You have all_gather(rank, part), a list of all parts in order, and reduce_scatter(rank, "
    "parts), the sum of all ranks' part number rank.number. Send no more bytes than these two, once each.",
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


# --- the norm of all shards ------------------------------------------------------------------------------------------

clipping = Exercise(
    "clip_over_shards",
    title="Gradient clipping over shards",
    goal="A gradient is cut over the ranks; `part` is this rank's. Where the norm of the whole gradient, the root of "
    "the sum of all squares, is larger than `limit`, scale the gradient so that its norm is `limit`; else keep it. "
    "Return this rank's part of the result. Parts may have different sizes. Send single numbers only: "
    "`all_reduce(rank, tensor)` returns the sum of all ranks' tensors on every rank.",
    difficulty=1,
    minutes=6,
    source="Pascanu et al. 2013, algorithm 1",
    formula=r"g \leftarrow g \cdot \min\Bigl(1, \frac{\mathrm{limit}}{\lVert g \rVert}\Bigr), \qquad "
    r"\lVert g \rVert = \sqrt{\textstyle\sum_r \lVert g_r \rVert^2}",
    cases=lambda: [
        (torch.tensor([3.0, 4.0]), 2, 1.0),
        (torch.tensor([0.3, 0.4, 0.0]), 2, 1.0),
        (random_tensors((7,), seed=175)[0], 3, 1.5),
        (random_tensors((9,), seed=176)[0] * torch.tensor([9.0] * 3 + [0.1] * 6), 4, 2.0),
        (random_tensors((9,), seed=177)[0] * 0.3, 4, 1.5),
    ],
    run=lambda program, gradient, n, limit: on_ranks(
        program, list(gradient.tensor_split(n)), [limit] * n, traffic=False, single=True
    ),
    hints=(
        "Squares can be added over the ranks; norms cannot.",
        "norm = all_reduce(rank, part.square().sum()).sqrt(), the same on every rank.",
        "part * (limit / norm).clamp(max=1)",
    ),
)


@clipping.solution
def clip_over_shards(rank, part, limit):
    """This rank's part of the gradient, scaled so that the norm of all parts together is at most `limit`."""
    from tx_helpers.lessons.scaling_up.simulated.collectives import all_reduce

    squares = all_reduce(rank, part @ part)
    return part * limit / squares.sqrt().clamp(min=limit)


clipping.slips("""
own_norm    all_reduce(rank, part @ part) → part @ part
  You used the norm of this rank's part. Each part is then scaled by another factor, so the gradient turns; and its
  whole norm is up to √n times the limit.
sum_of_norms    all_reduce(rank, part @ part) → all_reduce(rank, part.norm()) ** 2
  You added up the norms of the parts. Squares add up, norms do not: the sum is too large, and the gradient is clipped
  too much.
mean_of_squares    all_reduce(rank, part @ part) → all_reduce(rank, part @ part) / rank.count
  You averaged the squares over the ranks. The norm of the whole gradient has their sum.
root_forgotten    squares.sqrt() → squares
  You compared the sum of squares with the limit, without the root.
largest_norm    import all_reduce → import all_gather ; all_reduce(rank, part @ part) →
      torch.stack(all_gather(rank, part.norm())).amax(0) ** 2
  You took the largest norm of a part. The whole norm is the root of the sum of their squares.
largest_entry    import all_reduce → import all_gather ; all_reduce(rank, part @ part) →
      torch.stack(all_gather(rank, part.abs().max())).amax(0) ** 2
  You compared the largest entry with the limit. The norm counts all entries.
always_scaled    .clamp(min=limit) →
  You scale every gradient to the limit. Small gradients stay as they are: the factor is at most 1.
factor_upside_down    part * limit / squares.sqrt().clamp(min=limit) → part * squares.sqrt().clamp(min=limit) / limit
  Your factor is upside down: it makes large gradients larger. Multiply by limit/norm.
scaled_to_norm_1    part * limit / squares.sqrt().clamp(min=limit) →
      part / squares.sqrt() if squares > limit**2 else part
  You divided by the norm where it is too large. Then the norm is 1; multiply by the limit.
entries_clamped    return part.clamp(-limit, limit)
  You clamped each entry. That changes the direction of the gradient, and is another method.
limit_shared_out    return part * (limit / rank.count**0.5 / part.norm()).clamp(max=1)
  You gave each rank the limit limit/√n for its own part. The parts differ: where one of them is large, and the others
  are small, it is clipped too much.
never_clipped    return part.clone()
  You returned the part as it was, however large the gradient is.
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


# --- experts on other ranks ------------------------------------------------------------------------------------------


def _experts_on_ranks(program, x, chosen, experts):
    """x (n, N, D), chosen (n, N); rank r computes tanh(tokens @ experts[r]) with experts (n, D, D)."""

    def expert(matrix):
        return lambda tokens: torch.tanh(tokens @ matrix)

    return on_ranks(program, list(x), list(chosen), [expert(matrix) for matrix in experts])


def _tokens(n, N, D, seed):
    """x (n, N, D), the chosen expert of each token (n, N), and a matrix for each expert (n, D, D)."""
    x, experts, drawn = random_tensors((n, N, D), (n, D, D), (n, N), seed=seed)
    return x, (drawn.abs() * n).long() % n, experts


dispatch = Exercise(
    "send_to_experts",
    title="Tokens travel to their experts",
    goal="Each of n ranks has one expert, and T tokens x (T, D). chosen (T,) is the number of each token's expert, "
    "which is also the number of its rank. `expert(tokens)` computes this rank's own expert for tokens (M, D), any M, "
    "also 0. Return (T, D): for each token the result of its expert, in the order of x. all_to_all(rank, parts) sends "
    "part j of your list to rank j and returns a list with one part from each rank; parts may differ in length. Send "
    "each token to one rank only.",
    difficulty=3,
    minutes=14,
    source="Lepikhin et al. 2020; here without a limit for an expert's tokens",
    cases=lambda: [
        (
            torch.tensor([[[1.0], [2.0], [3.0]], [[4.0], [5.0], [6.0]]]) / 10,
            torch.tensor([[1, 0, 1], [0, 0, 1]]),
            torch.tensor([[[1.0]], [[-2.0]]]),
        ),
        _tokens(3, 5, 2, seed=181),
        _tokens(4, 6, 3, seed=182),
    ],
    run=_experts_on_ranks,
    hints=(
        "Two all-to-alls: tokens go to their experts, results come back. Rank j returns your results in the order in "
        "which you sent your tokens to it.",
        "places = [(chosen == j).nonzero()[:, 0] for j in range(rank.count)] are your tokens for each rank: send "
        "[x[p] for p in places]. Compute expert(part) for each part that arrives, and send the results back.",
        "back = all_to_all(rank, results); then out[torch.cat(places)] = torch.cat(back) puts each result where its "
        "token was.",
    ),
)


@dispatch.solution
def send_to_experts(rank, x, chosen, expert):
    """The result (T, D) of each token's expert, in the order of x (T, D); expert number j is on rank j."""
    from tx_helpers.lessons.scaling_up.simulated.collectives import all_to_all

    sorted_by_rank = chosen.argsort()
    arrived = all_to_all(rank, list(x[sorted_by_rank].split(chosen.bincount(minlength=rank.count).tolist())))
    results = expert(torch.cat(arrived)).split([len(part) for part in arrived])
    out = torch.empty_like(x)
    out[sorted_by_rank] = torch.cat(all_to_all(rank, list(results)))
    return out


dispatch.slips("""
left_in_the_order_of_the_ranks    out[sorted_by_rank] = → out[:] =
  Your results are right, but in the order of their experts. Each must go back to its token's place: the next layer
  cannot know that you sorted.
sorted_once_more    out[sorted_by_rank] = torch.cat(all_to_all(rank, list(results))) →
      out = torch.cat(all_to_all(rank, list(results)))[sorted_by_rank]
  You indexed the results with the order in which you sorted the tokens: results[order] sorts once more. Undo it:
  out[order] = results, or results[order.argsort()].
reversed    out[sorted_by_rank] = torch.cat(all_to_all(rank, list(results))) →
      out = torch.cat(all_to_all(rank, list(results))).flip(0)
  Your results are in reverse order. Put each where its token was: out[order] = results.
cut_without_sorting    chosen.argsort() → torch.arange(len(x))
  You cut x as if it were sorted by expert. The first tokens then go to expert 0, whatever they chose. Sort by `chosen`
  first, or pick x[chosen == j] for each rank.
own_expert_for_all    return expert(x)
  You computed all tokens with this rank's own expert, and nothing was sent.
own_tokens_alone    return expert(x) * (chosen == rank.number)[:, None]
  You computed the tokens whose expert is on this rank, and left the others at 0. They have to travel.
own_tokens_left_out    return send_to_experts(rank, x, chosen, expert) * (chosen != rank.number)[:, None]
  The tokens whose expert is on their own rank are missing in your result. They do not travel, but they count.
next_rank    return send_to_experts(rank, x, (chosen + 1) % rank.count, expert)
  Your tokens go to the rank behind that of their expert. Part j of the list goes to rank j.
experts_counted_from_the_end    return send_to_experts(rank, x, rank.count - 1 - chosen, expert)
  Your list begins with the tokens of the last expert. Part j of the list goes to rank j.
numbers_sent_along    return expert_parallel(rank, x, chosen, lambda number, tokens: expert(tokens))
  Your results are right, but you also send each token's number of its expert. With one expert on each rank nobody needs
  it: whatever arrives is for the expert that is here.
all_tokens_to_all_ranks    sorted_by_rank = chosen.argsort() →
      results = all_to_all(rank, [expert(part) for part in all_to_all(rank, [x] * rank.count)]) ⏎
      return torch.stack(results)[chosen, torch.arange(len(x))]
  Your results are right, but every token is sent to every rank, and each expert computes all of them. Send a token to
  its own expert only: that is what a mixture of experts saves.
""")
