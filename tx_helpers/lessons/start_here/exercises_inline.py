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


choice.add_mistakes(
    {
        "first_row": (
            "You read the first row. It belongs to the word after <bos>; the next word belongs to the last row.",
            lambda logits: logits[0, 0].argmax().item(),
        ),
        "over_all_rows": (
            "You looked for the largest of all T · V logits. Take the last row first, then the place of its largest.",
            lambda logits: logits.argmax().item(),
        ),
        "rows_added": (
            "You mixed the rows of all words. Each row answers for another place; only the last one is needed here.",
            lambda logits: logits[0].sum(dim=0).argmax().item(),
        ),
        "the_logit_itself": (
            "You return the largest logit. The id is the place where it stands: argmax in place of max.",
            lambda logits: logits[0, -1].max().item(),
        ),
        "its_probability": (
            "You return the probability of the likeliest word. Its id is the place where this probability stands.",
            lambda logits: logits[0, -1].softmax(-1).max().item(),
        ),
        "least_likely": (
            "You chose the smallest logit. The larger the logit, the likelier the word.",
            lambda logits: logits[0, -1].argmin().item(),
        ),
        "last_word_of_the_vocabulary": (
            "You read the last column: the logits of one word in all rows. The axes are (1, T, V): rows come first.",
            lambda logits: logits[0, :, -1].argmax().item(),
        ),
        "counted_from_one": (
            "Your id is one too large: ids and places are counted from 0.",
            lambda logits: logits[0, -1].argmax().item() + 1,
        ),
        "size_of_the_logit": (
            "You took the logit with the largest absolute value. A large negative logit belongs to an unlikely word.",
            lambda logits: logits[0, -1].abs().argmax().item(),
        ),
        "every_row": (
            "You have the likeliest word of every row, (1, T). Only the last row belongs to the next word: take it "
            "first, logits[0, -1].",
            lambda logits: logits.argmax(-1),
        ),
        "every_row_of_the_sentence": (
            "You took the sentence, but still all its rows: you have one id for each of the T words. Take the last "
            "row, too: logits[0, -1].",
            lambda logits: logits[0].argmax(-1),
        ),
        "value_and_place": (
            "max(-1) gives two things, the largest logit and its place. The id is the place alone: argmax().",
            lambda logits: logits[0, -1].max(-1),
        ),
    }
)
