"""Two exercises that build a stack: a block from its parts, then the stream through all blocks, read after each."""

from functools import partial

import torch
import torch.nn.functional as F

from tx_helpers.exercises.exercise import Exercise, random_tensors


def _layer_norm(gain, x):
    """LayerNorm of x (T, D) with this gain (D,)."""
    return F.layer_norm(x, x.shape[-1:]) * gain


def _norm(gain):
    return partial(_layer_norm, gain)  # not a lambda, whose repr would differ from call to call


def _means(x):
    """A causal attention whose weights are all alike: each position takes the mean of all up to itself."""
    return x.cumsum(0) / torch.arange(1.0, len(x) + 1)[:, None]


def _two_matrices(W, V, x):
    return (x @ W).relu() @ V


def _network(seed, D):
    return partial(_two_matrices, *random_tensors((D, 2 * D), (2 * D, D), seed=seed))


def _parts(seed, D):
    """A block's parts: attention, network, and a norm for each."""
    gains = random_tensors((D,), (D,), seed=seed + 50)
    return _means, _network(seed, D), _norm(1 + gains[0]), _norm(1 + gains[1])


# --- a block ----------------------------------------------------------------------------------------------------------

block = Exercise(
    "pre_norm_block",
    title="A stack that you can read, step 1 of 2",
    goal="Put a pre-norm block together. x is the stream (T, D). `attention` and `network` are functions from (T, D) "
    "to (T, D). So are their norms: `norm_a` for attention, `norm_n` for the network. Attention comes first. Return "
    "the stream (T, D) behind the block.",
    difficulty=2,
    minutes=6,
    source="Xiong et al. 2020, figure 1",
    cases=lambda: [
        (torch.tensor([[1.0, -1.0, 0.0], [4.0, 0.0, 2.0]]), *_parts(1, 3)),
        (random_tensors((4, 6), seed=5)[0], *_parts(2, 6)),
        (3 * random_tensors((3, 5), seed=6)[0], *_parts(3, 5)),
    ],
    hints=(
        "Look at the right half of the drawing of the two blocks: what does a sub-layer read, and where is it added?",
        "There are two sums. The network reads the stream to which attention has already added.",
        "x = x + attention(norm_a(x)), and then the same with the network and its norm.",
    ),
)


@block.solution
def pre_norm_block(x, attention, network, norm_a, norm_n):
    """The stream (T, D) behind a block of two sub-layers, each with a norm of its own."""
    x = x + attention(norm_a(x))
    return x + network(norm_n(x))


block.slips("""
no_residual    return network(norm_n(attention(norm_a(x))))
  The residual connections are missing: each sub-layer replaces the stream, and tokens become alike.
one_residual    return x + → return
  Your network replaces the stream, so what attention has added is lost. Each of them has a sum.
one_sum_for_both    return x + network(norm_n(attention(norm_a(x))))
  You added only at the end of the block. Attention's result must be added before the network reads.
in_parallel    return x + attention(norm_a(x)) + network(norm_n(x))
  Your network reads the stream from before attention: that is a parallel block. Here it reads the new one.
post_norm    return norm_n(norm_a(x + attention(x)) + network(norm_a(x + attention(x))))
  You wrote post-norm: you normalised the sums. Pre-norm normalises only the copy that a sub-layer reads.
normed_stream    return norm_n(norm_a(x) + attention(norm_a(x))) + network(norm_n(norm_a(x) + attention(norm_a(x))))
  You added to the normalised x. The stream itself is never normalised: x + …, not norm(x) + …
normed_result    return x + norm_a(attention(x)) + norm_n(network(x + norm_a(attention(x))))
  You normalised what the sub-layers write. Pre-norm normalises what they read.
network_first    return pre_norm_block(x, network, attention, norm_n, norm_a)
  Your network comes before attention, so it can make nothing of what attention brings.
norms_swapped    return pre_norm_block(x, attention, network, norm_n, norm_a)
  You swapped the two norms. Each has a gain of its own: norm_a stands before attention.
one_norm_for_both    return pre_norm_block(x, attention, network, norm_a, norm_a)
  You used attention's norm for the network, too. Each sub-layer has a norm with a gain of its own.
no_norms    return pre_norm_block(x, attention, network, lambda y: y, lambda y: y)
  There is no norm before your sub-layers, so what they read grows from block to block.
no_norm_before_the_network    return pre_norm_block(x, attention, network, norm_a, lambda y: y)
  The norm before the network is missing, so it reads the stream at its full length.
no_norm_before_attention    return pre_norm_block(x, attention, network, lambda y: y, norm_n)
  The norm before attention is missing, so it reads the stream at its full length.
attention_replaces    x = x + → x =
  Your attention replaces the stream, so what each token brought along is lost. Each of them has a sum.
old_stream_added    return x + network(norm_n(x + attention(norm_a(x))))
  You added the network's result to the x from before attention, so what attention has added is lost.
""")


# --- the stack, read after each block ---------------------------------------------------------------------------------


def _stack(seed, T, D, V, blocks):
    """A case: stream, parts of the blocks, final norm, table, and the block of step 1."""
    (x,), (table, gain) = random_tensors((T, D), seed=seed), random_tensors((V, D), (D,), seed=seed + 1)
    return x, [_parts(seed + n, D) for n in range(blocks)], _norm(1 + gain), table, pre_norm_block


lens = Exercise(
    "read_the_stream",
    title="A stack that you can read, step 2 of 2",
    goal="Send the stream x (T, D) through N blocks, and read it on the way. `blocks` is a list. Each entry holds the "
    "four parts of a block, in the order in which `block(x, …)`, your function of step 1, takes them. To read the "
    "stream, apply the final norm `norm`, and take the dot product of each position with each row of the word table"
    " `table` (V, D). Do so before the first block and after each one. Return the N + 1 readings as logits (N + 1, "
    "T, V). They say what the model would answer if it stopped there.",
    difficulty=3,
    minutes=14,
    source="nostalgebraist 2020, *Interpreting GPT: the logit lens*",
    cases=lambda: [_stack(10, 2, 3, 4, 1), _stack(20, 4, 6, 5, 3), _stack(30, 3, 4, 7, 2)],
    hints=(
        "Two things go on at once: a stream that runs through the blocks, and a list of readings that grows.",
        "A reading is norm(x) @ table.T. It is a copy: the stream itself goes on as it is, without that norm.",
        "Begin with [norm(x) @ table.T]. For parts in blocks: x = block(x, *parts), then append its reading. "
        "At the end, torch.stack.",
    ),
)


@lens.solution
def read_the_stream(x, blocks, norm, table, block):
    """Logits (N + 1, T, V): the stream x (T, D) read before the first of N blocks and after each."""
    readings = [norm(x) @ table.T]
    for parts in blocks:
        x = block(x, *parts)
        readings.append(norm(x) @ table.T)
    return torch.stack(readings)


lens.slips("""
without_the_final_norm    return _read(x, blocks, block, lambda n, s: s[n] @ table.T)
  Your readings leave out the final norm. The stream grows from block to block, and the logits with it.
norm_at_the_end_alone    return _read(x, blocks, block, lambda n, s: (norm(s[n]) if n == len(blocks) else s[n])
      @ table.T)
  You applied the final norm only to the last reading. Every reading asks what the model would say there.
normed_stream_goes_on    return _read(x, blocks, block, lambda n, s: norm(s[n]) @ table.T, carry=norm)
  You sent the normalised stream into the next block. The reading is a copy; the stream goes on untouched.
norm_written_back    return _read(x, blocks, block, lambda n, s: (s[n] if n else norm(s[n])) @ table.T,
      step=lambda y, *parts: norm(block(y, *parts)))
  You normalised what each block returns, and went on with that. The norm belongs to the reading alone.
updates_read    return _read(x, blocks, block, lambda n, s: norm(s[n] - s[n - 1] if n else s[0]) @ table.T)
  You read what each block has added. The question is what the whole stream says by then.
each_from_the_start    return torch.stack([norm(y) @ table.T for y in (x, *(block(x, *parts) for parts in blocks))])
  Each of your blocks begins with the first x, so what the blocks before have added is lost.
the_first_block_again    return read_the_stream(x, [blocks[0]] * len(blocks), norm, table, block)
  You used the parts of the first block every time. Each block has parts of its own.
backwards    return read_the_stream(x, blocks[::-1], norm, table, block)
  You went through the blocks from the last to the first.
probabilities    return read_the_stream(x, blocks, norm, table, block).softmax(-1)
  You returned probabilities. The readings are right, but the exercise asks for logits, before the softmax.
read_late    return _read(x, blocks, block, lambda n, s: norm(s[-1]) @ table.T)
  All your readings show the end: you kept the last stream N + 1 times. Read before you go on.
added_again    x = block → x += block
  You added the block's result to the stream. Your block of step 1 returns the whole stream already.
first_reading_missing    return read_the_stream(x, blocks, norm, table, block)[1:]
  Your first reading is missing, the one before any block. N blocks give N + 1 readings.
last_reading_missing    return read_the_stream(x, blocks, norm, table, block)[:-1]
  Your last reading is missing, the one after all blocks. N blocks give N + 1 readings.
joined    return read_the_stream(x, blocks, norm, table, block).flatten(0, 1)
  You joined the readings one below the other. torch.stack gives them an axis of their own, in front.
""")


def _read(x, blocks, block, say, step=None, carry=lambda x: x):
    """A mistake that reads in another way, goes on with something else, or takes other steps."""
    states = [x]
    for parts in blocks:
        states.append((step or block)(carry(states[-1]), *parts))
    return torch.stack([say(n, states) for n in range(len(states))])
