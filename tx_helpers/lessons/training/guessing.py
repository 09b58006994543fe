"""What it costs to guess a German number without its English: the least loss of a model that cannot see its input."""

import math
from collections import Counter
from collections.abc import Sequence
from typing import Any


def guessing_costs(pairs: Sequence[Any]) -> dict[str, float]:
    """Nats a word for guessing "any number", and "one of our pairs", as `text.number_words` draws them.

    The entropy of the number, spread over the words of a sentence with its <eos>. Any number: first the number of
    digits is drawn, 1 to 6, then a number of that length; the numbers of one digit are 0 to 9.
    """
    of_length = [10, *(9 * 10 ** (digits - 1) for digits in range(2, 7))]
    any_number = math.log(6) + sum(map(math.log, of_length)) / 6
    shares = [count / len(pairs) for count in Counter(pair.number for pair in pairs).values()]
    ours = -sum(share * math.log(share) for share in shares)
    words_each = sum(len(pair.target.split()) + 1 for pair in pairs) / len(pairs)
    return {"any number": any_number / words_each, "one of our pairs": ours / words_each}
