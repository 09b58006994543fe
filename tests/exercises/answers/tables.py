"""How the tables of answers are written: exercise -> {name of an answer: the answer}.

`right_NN.py` holds right answers in unusual forms, `unlike_NN.py` wrong ones that were written without a look at the
bank of mistakes. Each wrong one runs, returns something of the right shape, and is wrong: in a corner, for some sizes
only, by another paper's formula, by aliasing, in precision, or by an attempt to deceive the comparison. Its name says
what it does. An answer of one expression stands in its table as a lambda, a longer one above the table as a function:

    UNLIKE = {
        "attention_weights": named(weights_with_noise, weights_of_nan)
        | {
            "scale_from_the_number_of_keys": lambda Q, K: (Q.T @ K / math.sqrt(K.shape[1])).softmax(dim=-1),
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
