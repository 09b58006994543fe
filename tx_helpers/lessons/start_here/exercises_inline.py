"""The exercise that stands where the notebook needs it: the id of the likeliest next word."""

import torch

from tx_helpers.exercises.compare import as_tensor
from tx_helpers.exercises.exercise import Exercise, random_tensors


def _number(choose, logits):
    """What was chosen; a tensor with one number counts as this number."""
    chosen = as_tensor(choose(logits))
    return chosen.reshape(()) if isinstance(chosen, torch.Tensor) and chosen.numel() == 1 else chosen


choice = Exercise(
    "next_id",
    title="Choose the next word",
    goal="`logits` (1, T, V) is the decoder's answer for one sentence: for each of the T words that are written so far "
    "a row of V logits. The last row belongs to the next word. Return the id of the likeliest next word.",
    difficulty=1,
    minutes=3,
    inline=True,
    one_call=True,
    cases=lambda: [
        (torch.tensor([[[0.0, 3.0, 1.0], [2.0, -3.0, 0.5]]]),),
        *((logits,) for logits in random_tensors((1, 1, 5), (1, 3, 35), (1, 6, 35), (1, 9, 20), seed=5)),
    ],
    run=_number,
    hints=(
        "Which row of `logits` belongs to the next word? Its index can be counted from the end.",
        "logits[0, -1] has V numbers, one for each word. An id is a place in this row, not a logit.",
        "logits[0, -1].argmax() gives the place of the largest number.",
    ),
)


@choice.solution
def next_id(logits):
    """The id of the likeliest next word, from logits (1, T, V)."""
    return logits[0, -1].argmax().item()


choice.slips("""
first_row    logits[0, -1] → logits[0, 0]
  You read the first row. It belongs to the word after <bos>; the next word belongs to the last row.
over_all_rows    logits[0, -1] → logits
  You looked for the largest of all T · V logits. Take the last row first, then the place of its largest.
rows_added    logits[0, -1] → logits[0].sum(dim=0)
  You mixed the rows of all words. Each row answers for another place; only the last one is needed here.
the_logit_itself    argmax → max
  You return the largest logit. The id is the place where it stands: argmax in place of max.
its_probability    argmax → softmax(-1).max
  You return the probability of the likeliest word. Its id is the place where this probability stands.
least_likely    argmax → argmin
  You chose the smallest logit. The larger the logit, the likelier the word.
last_word_of_the_vocabulary    logits[0, -1] → logits[0, :, -1]
  You read the last column: the logits of one word in all rows. The axes are (1, T, V): rows come first.
counted_from_one    item() → item() + 1
  Your id is one too large: ids and places are counted from 0.
size_of_the_logit    argmax → abs().argmax
  You took the logit with the largest absolute value. A large negative logit belongs to an unlikely word.
every_row    return logits.argmax(-1)
  You have the likeliest word of every row, (1, T). Only the last row belongs to the next word: take it first, logits[0,
  -1].
every_row_of_the_sentence    return logits[0].argmax(-1)
  You took the sentence, but still all its rows: you have one id for each of the T words. Take the last row, too:
  logits[0, -1].
value_and_place    argmax().item() → max(-1)
  max(-1) gives two things, the largest logit and its place. The id is the place alone: argmax().
""")
