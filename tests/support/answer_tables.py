"""How the tables of answers are written: exercise -> {name of an answer: the answer}.

`right.py` of a lesson's tests holds right answers by other algorithms (forms of the solution itself are made by
`answer_forms.py`), `unlike.py` wrong ones that were written without a look at the bank of mistakes. Each wrong one
runs, returns something of the right shape, and is wrong: in a corner, for some sizes only, by another paper's formula,
by aliasing, or in precision. Its name says what it does. There is at least one for each exercise, and there are more
where they are hard to reject: where few cases show them, or only a fine tolerance does. An easier one would add
nothing, since a mistake in the bank or another answer passes before it does.

An answer of one expression stands in its table as a lambda, a longer one above the table as a function:

    UNLIKE = {
        "attention_weights": named(weights_exp_that_overflows)
        | {
            "in_half_precision": lambda Q, K: (Q.half().T @ K.half() / math.sqrt(len(Q))).float().softmax(dim=-1),
        },
    }
"""

import torch.nn.functional as F


def named(*answers) -> dict[str, object]:
    """Functions and classes as entries of a table, under their own names."""
    return {answer.__name__: answer for answer in answers}


def layer_normed(x):
    """Each vector of x (…, D) normalised, without a gain."""
    return F.layer_norm(x, x.shape[-1:])
