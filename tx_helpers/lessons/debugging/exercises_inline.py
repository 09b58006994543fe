"""Exercises on probes: one that stands inline, one for the padding, and the search for the broken of three models."""

import torch

from tx_helpers.exercises.exercise import Exercise, random_tensors

# --- models to probe -------------------------------------------------------------------------------------------------

WORDS, WIDTH, PAD = 9, 6, 0  # ids 1 … 8 are words


def _translator(bug, pad=PAD, seed=0):
    """A function (source, read) -> logits, like a translator of one layer; with a bug, or with none."""
    of_source, of_read, output = random_tensors((WORDS, WIDTH), (WORDS, WIDTH), (WIDTH, WORDS), seed=seed)

    def model(source, read):
        T, S = read.shape[1], source.shape[1]
        reach = {"no causal mask": T, "mask one too far": 1}.get(bug, 0)
        allowed = torch.ones(T, T).tril(reach)
        kept = ((source != pad) | (bug == "padding not masked")).float()[..., None]  # (B, S, 1)
        heard = (of_source[source] * torch.linspace(0.5, 1.5, 12)[:S, None] * kept).sum(1) / kept.sum(1)
        x = of_read[read] + (allowed / allowed.sum(-1, keepdim=True)) @ of_read[read] + heard[:, None]
        if bug == "norm over the batch":
            x = x - x.mean(dim=0)
        return x.tanh() @ output  # (B, T, V)

    return model


def _ids(*shape, seed):
    return torch.randint(1, WORDS, shape, generator=torch.Generator().manual_seed(seed))


def _others(read, seed):
    """Another word in every place."""
    return 1 + (read - 1 + _ids(*read.shape, seed=seed) % (WORDS - 2) + 1) % (WORDS - 1)


# --- the future ------------------------------------------------------------------------------------------------------


def _future(answer, bug, t):
    """What the probe says, and what the decoder's words are afterwards."""
    source, read = _ids(3, 4, seed=1), _ids(3, 6, seed=2)
    largest = answer(_translator(bug), source, read, _others(read, seed=3), t)
    return {"largest movement": largest, "read, afterwards": read}


future = Exercise(
    "future_leak",
    title="A probe for the future",
    goal="model(source, read) returns logits (B, T, V). `read` (B, T) holds the words that the decoder reads; `other` "
    "(B, T) holds other words. Replace the words at positions t, t + 1, … by those of `other`. Return how far the "
    "logits *before* position t move: the largest change, as a number without sign. 0 means that no future leaks.",
    difficulty=2,
    minutes=8,
    inline=True,
    run=_future,
    cases=lambda: [("mask one too far", 2), ("none", 3), ("no causal mask", 4), ("no causal mask", 2)],
    hints=(
        "You need the logits twice: once for `read`, once for a copy of it with other words at the end.",
        "torch.cat([read[:, :t], other[:, t:]], dim=1) is that copy. Which positions of the difference count?",
        "moved = model(source, changed) − model(source, read); then moved[:, :t].abs().max().item()",
    ),
)


@future.solution
def future_leak(model, source, read, other, t):
    """Largest change of the logits before position t when the decoder's words from t on are those of `other`."""
    changed = torch.cat([read[:, :t], other[:, t:]], dim=1)
    moved = model(source, changed) - model(source, read)
    return moved[:, :t].abs().max().item()


future.slips("""
all_positions    moved[:, :t] → moved
  You also looked at the positions from t on. They read new words, and may move: only those before t count.
position_t_counts    moved[:, :t] → moved[:, : t + 1]
  You looked at position t as well. It reads a new word itself, so it may move: stop before t.
one_position_left_out    moved[:, :t] → moved[:, : t - 1]
  You left out position t − 1, the one that a mask one too far moves first.
sign_kept    .abs().max().item() → .max().item()
  You kept the sign, so a logit that falls is overlooked. Take the absolute value before the largest.
mean_change    .abs().max() → .abs().mean()
  You averaged the changes. A leak at one position disappears among many that stay: take the largest.
all_of_other    torch.cat([read[:, :t], other[:, t:]], dim=1) → other
  You gave the model all of `other`, so the past changed, too. Keep the words before t.
length_of_the_change    .abs().max() → .norm()
  You took the norm, the length of the whole change. Return the largest single change: abs().max().
yes_or_no    .abs().max().item() → .any().float()
  You said whether something moves. Return by how much: a rounding error of 1e-7 is no leak.
past_changed    read[:, :t], other[:, t:] → other[:, :t], read[:, t:]
  You changed the words before t and kept those from t on. That is the past, which every position may see.
first_sentence_only    moved[:, :t] → moved[0, :t]
  You looked at the first sentence of the batch alone. A leak may show more in another one.
compared_with_itself    moved = → read[:, t:] = other[:, t:] ⏎ moved =
  You changed `read` itself before you computed its logits. So you compare the new words with themselves, and every
  model seems to be right. Change a copy.
changed_in_place    changed = torch.cat([read[:, :t], other[:, t:]], dim=1) → before = model(source, read) ⏎
      read[:, t:] = other[:, t:] ; model(source, changed) - model(source, read) → model(source, read) - before
  Your number is right, but you changed `read` in place: the next probe gets other words. Use a copy.
one_word_changed    other[:, t:]] → other[:, t : t + 1], read[:, t + 1 :]]
  You changed the word at position t alone. Change all words from t on: a model may look several positions ahead.
changed_too_late    read[:, :t], other[:, t:] → read[:, : t + 1], other[:, t + 1 :]
  You changed the words after t, and left the one at t. A mask that reaches one position too far goes unseen: position t
  − 1 sees t and nothing more.
""")


# --- the padding -----------------------------------------------------------------------------------------------------


def _padding(answer, bug, pad, extra):
    """What the probe says about a model with this id of padding."""
    return answer(_translator(bug, pad), _ids(3, 4, seed=4), _ids(3, 5, seed=5), pad, extra)


padding = Exercise(
    "padding_leak",
    title="A probe for the padding",
    goal="model(source, read) returns logits (B, T, V). Append `extra` ids `pad` to each row of source (B, S). Return "
    "how far the logits move: the largest change, as a number without sign. 0 means that the padding is masked.",
    difficulty=1,
    minutes=6,
    run=_padding,
    cases=lambda: [("padding not masked", 0, 3), ("none", 0, 2), ("padding not masked", 8, 1)],
    hints=(
        "The decoder reads the same words both times. Only the source gets longer, at its end.",
        "torch.nn.functional.pad(source, (0, extra), value=pad) appends columns; so does torch.cat with a full tensor.",
        "(model(longer, read) − model(source, read)).abs().max().item()",
    ),
)


@padding.solution
def padding_leak(model, source, read, pad, extra):
    """Largest change of the logits when `extra` ids `pad` follow each row of the source."""
    longer = torch.nn.functional.pad(source, (0, extra), value=pad)
    return (model(longer, read) - model(source, read)).abs().max().item()


padding.slips("""
at_the_left    (0, extra) → (extra, 0)
  You put the padding in front. Then every word has another position, and even the right model moves.
a_word_for_padding    value=pad → value=0
  You appended the id 0, not `pad`. Where 0 is a word, the model gets a longer sentence, and must move.
last_word_repeated    torch.nn.functional.pad(source, (0, extra), value=pad) →
      torch.cat([source, source[:, -1:].repeat(1, extra)], 1)
  You repeated the last word. That is another sentence. Append the id `pad`, which means nothing.
sign_kept    .abs().max() → .max()
  You took the largest rise of a logit. The largest change may be a fall: take the absolute value first.
mean_change    .abs().max() → .abs().mean()
  You averaged the changes. One sentence that moves disappears among many that stay: take the largest.
last_position_only    .abs().max() → [:, -1].abs().max()
  You looked at the last position of the decoder alone. A leak may show more at another one.
one_only    (0, extra) → (0, 1)
  You appended a single id. `extra` says how many: more padding moves a wrong model further.
words_overwritten    torch.nn.functional.pad(source, (0, extra), value=pad) →
      torch.nn.functional.pad(source[:, :-extra], (0, extra), value=pad)
  You overwrote the last words by padding. Those words are gone, so every model must move. Append the padding.
decoder_padded    longer = torch.nn.functional.pad(source → longer = torch.nn.functional.pad(read ;
      (model(longer, read) - model → (model(source, longer)[:, : read.shape[1]] - model
  You padded what the decoder reads, not the source. There the causal mask hides it, even if no padding is masked.
""")


# --- three models ----------------------------------------------------------------------------------------------------

ORDERS = {"mask one too far": 2, "padding not masked": 1, "norm over the batch": 1, "no causal mask": 0}


def _three(answer, bug):
    """The place that the answer finds among three models with other weights, one of which has the bug."""
    place = ORDERS[bug]
    models = [_translator(bug if n == place else "none", seed=n) for n in range(3)]
    read = _ids(4, 6, seed=7)
    return answer(models, _ids(4, 5, seed=6), read, _others(read, seed=8), PAD)


three = Exercise(
    "broken_model",
    title="Find the broken one",
    goal="`models` holds three functions model(source, read) -> logits (B, T, V), each with weights of its own. One of "
    "them is wrong: its decoder sees the future, or the source's padding (id `pad`) is not masked, or the rows of a "
    "batch influence each other. Return its place, 0, 1 or 2. `other` (B, T) holds words for the decoder to read in "
    "place of those of `read` (B, T). `source` has no padding yet.",
    difficulty=3,
    minutes=15,
    run=_three,
    cases=lambda: [(bug,) for bug in ORDERS],
    hints=(
        "Three bugs need three probes. Each changes something that must not matter, and measures what moves.",
        "The future: change the last word, look before it. The padding: append some. The neighbours: a row alone.",
        "Sum up the three largest changes of each model. In a right one they are below 1e-5; return the place of the "
        "largest sum.",
    ),
)


@three.solution
def broken_model(models, source, read, other, pad):
    """Place of the model whose logits move though they must not: by the future, the padding or the neighbours."""
    changed = torch.cat([read[:, :-1], other[:, -1:]], dim=1)
    longer = torch.nn.functional.pad(source, (0, 3), value=pad)
    moved = []
    for model in models:
        logits = model(source, read)
        ahead = model(source, changed)[:, :-1] - logits[:, :-1]
        padded = model(longer, read) - logits
        alone = model(source[:1], read[:1]) - logits[:1]
        moved.append(sum(x.abs().max() for x in (ahead, padded, alone)).item())
    return moved.index(max(moved))


three.slips("""
future_only    (ahead, padded, alone) → (ahead,) ; moved.index(max(moved)) →
      next((n for n, size in enumerate(moved) if size > 1e-4), 2)
  You probed the future alone. A missing padding mask, or rows that influence each other, move nothing there.
padding_only    (ahead, padded, alone) → (padded,) ; moved.index(max(moved)) →
      next((n for n, size in enumerate(moved) if size > 1e-4), 2)
  You probed the padding alone. A leak from the future moves nothing there.
neighbours_only    (ahead, padded, alone) → (alone,) ; moved.index(max(moved)) →
      next((n for n, size in enumerate(moved) if size > 1e-4), 2)
  You probed the neighbours alone: a row by itself and in the batch. The masks need probes of their own.
no_neighbours    (ahead, padded, alone) → (ahead, padded) ; moved.index(max(moved)) →
      next((n for n, size in enumerate(moved) if size > 1e-4), 2)
  You left out the neighbours: a norm over the batch moves nothing as long as all rows stay the same.
no_padding    (ahead, padded, alone) → (ahead, alone) ; moved.index(max(moved)) →
      next((n for n, size in enumerate(moved) if size > 1e-4), 2)
  You left out the padding probe. A model that takes padding for words is right as long as there is none.
future_or_0    (ahead, padded, alone) → (ahead,) ; max(moved) → max(moved) if max(moved) > 1e-4 else moved[0]
  You have one probe, the future, and return 0 where nothing moves. A missing padding mask, or rows that influence each
  other, need probes of their own.
padding_or_0    (ahead, padded, alone) → (padded,) ; max(moved) → max(moved) if max(moved) > 1e-4 else moved[0]
  You have one probe, the padding, and return 0 where nothing moves. The future, and rows that influence each other,
  need probes of their own.
neighbours_or_0    (ahead, padded, alone) → (alone,) ; max(moved) → max(moved) if max(moved) > 1e-4 else moved[0]
  You have one probe, the neighbours, and return 0 where nothing moves. The future and the padding need probes of their
  own.
no_padding_or_0    (ahead, padded, alone) → (ahead, alone) ; max(moved) → max(moved) if max(moved) > 1e-4 else moved[0]
  You left out the padding probe, and return 0 where nothing moves. A model that takes padding for words is right as
  long as there is none.
no_neighbours_or_0    (ahead, padded, alone) → (ahead, padded) ; max(moved) →
      max(moved) if max(moved) > 1e-4 else moved[0]
  You left out the neighbours, and return 0 where nothing moves. A norm over the batch needs its own probe.
counted_from_one    moved.index(max(moved)) → moved.index(max(moved)) + 1
  You counted the models from 1. Their places are 0, 1 and 2.
odd_one_out    logits = model(source, read) →
      logits = model(source, read) - sum(m(source, read) for m in models) / len(models) ;
      sum(x.abs().max() for x in (ahead, padded, alone)) → logits.abs().mean()
  You looked for the model whose logits differ most from the others'. Their weights differ, so their logits do, too.
  Compare each model with itself.
the_stillest    max(moved) → min(moved)
  You returned the model that moves least. That is a right one: the broken one moves though it must not.
all_positions    model(source, changed)[:, :-1] - logits[:, :-1] → model(source, changed) - logits
  Your probe of the future looks at the last position, too. It reads the changed word, and moves in every model.
""")
