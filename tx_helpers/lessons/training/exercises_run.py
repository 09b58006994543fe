"""Two exercises that build a training run: the rates of all its steps, then the run, with batches in pieces."""

import torch
from torch import nn

from tx_helpers.exercises.exercise import Exercise, random_tensors
from tx_helpers.lessons.training.exercises import Toy
from tx_helpers.text.data import sequence_batch

# --- the rates of a run -----------------------------------------------------------------------------------------------

phases = Exercise(
    "three_phases",
    title="A run of your own, step 1 of 2",
    goal="Return the learning rates of all `steps` steps as a list. The rate rises by the same amount in each of the "
    "first `warmup` steps, and the last of these has the rate `peak`. Then it stays. In the last `fall` steps it falls "
    "by equal amounts: the first of them still has the rate `peak`, and one step after the end it would be 0.",
    difficulty=2,
    minutes=8,
    source="Hu et al. 2024 (MiniCPM), section 4",
    cases=lambda: [(10, 4, 5, 1.0), (7, 2, 3, 0.2), (8, 2, 4, 0.5), (9, 1, 1, 0.3), (6, 3, 3, 0.6)],
    tolerance=1e-7,
    hints=(
        "Count the steps from 1. Step n of the warm-up has the share n / warmup. How many steps remain at step n?",
        "At step n, steps − n + 1 steps remain, this one included. In the last phase the share is this number / fall.",
        "share = n / warmup if n <= warmup else min(1, (steps - n + 1) / fall), for n in range(1, steps + 1)",
    ),
)


@phases.solution
def three_phases(steps, warmup, fall, peak):
    """The rates of steps 1 to `steps`: a rise, a plateau, a fall."""
    rates = []
    for n in range(1, steps + 1):
        share = n / warmup if n <= warmup else min(1.0, (steps - n + 1) / fall)
        rates.append(peak * share)
    return rates


phases.slips("""
from_zero    n / warmup → (n - 1) / warmup
  Your warm-up begins at 0, so the first step changes nothing. Count the steps from 1.
peak_too_late    n / warmup → n / (warmup + 1)
  Your warm-up reaches the peak one step too late. The last of the `warmup` steps has the rate `peak`.
no_warmup    n / warmup if n <= warmup else →
  The warm-up is missing: your first steps have the largest rate already.
no_fall    min(1.0, (steps - n + 1) / fall) → 1.0
  Your rate never falls. The last `fall` steps must go down.
ends_at_zero    n + 1 → n
  Your last step has the rate 0, so it changes nothing. The rate would be 0 one step later.
falls_from_the_start    return [peak * (n / warmup if n <= warmup else (steps - n + 1) / (steps - warmup))
      for n in range(1, steps + 1)]
  Your rate falls right after the warm-up. It should stay at the peak, and fall in the last `fall` steps.
falls_by_halves    (steps - n + 1) / fall → 0.5 ** (fall - (steps - n + 1))
  Your rate is halved at each of the last steps. It should fall by the same amount each time.
shares_only    return three_phases(steps, warmup, fall, 1.0)
  You returned shares of the peak. Multiply them by `peak`.
""")


# --- the run ----------------------------------------------------------------------------------------------------------


def _pieces():
    """Three batches for the toy, each a list of pieces with unequal numbers of words (0 is padding)."""
    long, short = ([3, 4], [4, 3, 3, 4, 4]), ([4], [3])
    other = ([4, 4], [3, 3])
    return [
        [sequence_batch([long, short]), sequence_batch([short])],
        [sequence_batch([other]), sequence_batch([long]), sequence_batch([short, other])],
        [sequence_batch([short]), sequence_batch([long, other])],
    ]


def _run(train_in_pieces, count, steps, warmup, fall, peak, clip):
    """The losses of a run on the first `count` batches, and the weights after it; an optimizer with two groups."""
    model = Toy(*random_tensors((5, 5), (5, 5), seed=7))
    groups = [{"params": [model.table], "weight_decay": 0.1}, {"params": [model.read], "weight_decay": 0.0}]
    optimizer = torch.optim.SGD(groups, lr=1.0, momentum=0.5)
    batches = [_pieces()[step % count] for step in range(steps)]
    losses = train_in_pieces(model, optimizer, batches, three_phases(steps, warmup, fall, peak), clip)
    if losses is None:
        raise ValueError("train_in_pieces returned None; is a `return` missing?")
    return {
        "losses": [loss.item() if isinstance(loss, torch.Tensor) and loss.numel() == 1 else loss for loss in losses],
        "weights": torch.cat([model.table, model.read]).detach().clone(),
    }


run = Exercise(
    "train_in_pieces",
    title="A run of your own, step 2 of 2",
    goal="A batch may be too large for the memory. Then it comes in pieces, and the gradients of the pieces are added "
    "before a single step. Train with `batches`, a list with the list of pieces of each step, and `rates`, your list "
    'of step 1. In each step give its rate to every group of `optimizer.param_groups` (key "lr"). The gradient '
    "must be that of the whole batch: the mean cross-entropy of all its words that are not padding (id 0). The pieces "
    "have different numbers of words. Clip to `clip`, take the step, and return the list of the losses of the whole "
    "batches, as numbers.",
    difficulty=3,
    minutes=20,
    run=_run,
    tolerance=1e-5,
    cases=lambda: [
        (1, 1, 1, 1, 0.5, 100.0),
        (3, 3, 2, 1, 0.5, 100.0),
        (3, 6, 2, 3, 0.8, 100.0),
        (3, 6, 2, 3, 0.8, 0.2),
    ],
    hints=(
        "Two loops: over the steps, and in each over its pieces. Which of the calls belong to the inner loop?",
        "Only forward and backward belong to the inner loop. Let words be the number of targets of the whole batch "
        'that are not 0. With reduction="sum" each piece\'s loss is a sum; divide it by words before backward.',
        "for pieces, rate in zip(batches, rates): set the rates, zero_grad; for piece in pieces: loss = "
        'F.cross_entropy(…, ignore_index=0, reduction="sum") / words; loss.backward(); then clip and step.',
    ),
)


@run.solution
def train_in_pieces(model, optimizer, batches, rates, clip):
    """The losses of a run; batches holds the list of pieces of each step, rates its learning rates."""
    losses = []
    for pieces, rate in zip(batches, rates, strict=True):
        for group in optimizer.param_groups:
            group["lr"] = rate
        optimizer.zero_grad()
        words = sum((piece.target != 0).sum() for piece in pieces)
        total = 0.0
        for piece in pieces:
            logits = model(piece.source, piece.decoder_input)  # (B, T, V)
            summed = torch.nn.functional.cross_entropy(
                logits.flatten(0, 1), piece.target.flatten(), ignore_index=0, reduction="sum"
            )
            loss = summed / words
            loss.backward()
            total += loss.item()
        torch.nn.utils.clip_grad_norm_(model.parameters(), clip)
        optimizer.step()
        losses.append(total)
    return losses


run.slips("""
means_averaged    summed / words → summed / (piece.target != 0).sum() / len(pieces)
  You averaged the means of the pieces. A piece with few words then counts as much as one with many: weigh each by its
  number of words.
means_added    summed / words → summed / (piece.target != 0).sum()
  You added the means of the pieces: with two pieces the gradient is about twice as long as that of the whole batch.
sums_added    summed / words → summed
  You added the losses of all words and never divided by their number.
weighed_by_places    summed / words →
      summed / (piece.target != 0).sum() * piece.target.numel() / sum(one.target.numel() for one in pieces)
  You weighed the pieces by all their places, padding included. Count the targets that are not 0.
weighed_by_sentences    summed / words →
      summed / (piece.target != 0).sum() * len(piece.target) / sum(len(one.target) for one in pieces)
  You weighed the pieces by their number of sentences. A loss is a mean over words, so count words.
padding_counted    (piece.target != 0).sum() for → piece.target.numel() for ; ignore_index=0, →
  Your loss counts the padding: ignore_index=0 is missing, and the words are those that are not 0.
padding_summed    ignore_index=0, →
  You divided by the number of words, but your sum also has the padding in it: ignore_index=0 is missing.
only_the_last_piece    logits = → optimizer.zero_grad() ⏎ logits =
  You cleared the gradients before each piece, so only the last piece is left at the step.
never_cleared    optimizer.zero_grad() →
  You never clear the gradients: those of the steps before are still in them.
a_step_for_each_piece    total += loss.item() → total += loss.item() ⏎ optimizer.step() ; clip) ⏎ optimizer.step() →
      clip)
  You took a step after each piece. The weights must not move before the whole batch has been seen.
clipped_piece_by_piece    total += loss.item() → total += loss.item() ⏎
      torch.nn.utils.clip_grad_norm_(model.parameters(), clip) ;
      torch.nn.utils.clip_grad_norm_(model.parameters(), clip) ⏎ optimizer → optimizer
  You clipped after each piece. Clip once, when the gradient of the whole batch is there.
not_clipped    torch.nn.utils.clip_grad_norm_(model.parameters(), clip) →
  Your gradients are not clipped: call clip_grad_norm_ once, before the step.
one_group_only    in optimizer.param_groups → in optimizer.param_groups[:1]
  You gave the rate to the first group only. The optimizer has two: loop over optimizer.param_groups.
rate_not_set    group["lr"] = rate → pass
  Your rates have no effect: every step has the rate that the optimizer came with. Set group["lr"] in each.
rate_too_late    for group in optimizer.param_groups: ⏎ group["lr"] = rate → ; losses.append(total) →
      losses.append(total) ⏎ for group in optimizer.param_groups: ⏎     group["lr"] = rate
  You set the rate after the step, so each step has the rate of the one before.
loss_of_the_last_piece    total += → total =
  You trained well, but returned the last piece's part of the loss. Add up the parts of all pieces.
""")
