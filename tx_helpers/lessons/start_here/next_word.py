"""The next word of a text, as a chatbot chooses it: a small model that comes with the package says how likely each is.

    next_words("Nora has a garden with a")      # [("pear", 0.20), ("lime", 0.19), …]

p(word | text) = softmax of the decoder's logits after the last word. The model knows 506 words: `zoo.world_models`.
"""

from functools import cache

import torch

from tx_helpers.nn.arguments import check_numbers, check_types
from tx_helpers.text.data import BOS
from tx_helpers.text.world_vocabulary import world_tokenizer
from tx_helpers.zoo.world_models import world_model


@cache
def _model() -> torch.nn.Module:
    return world_model("decoder")


def next_words(text: str, count: int = 5) -> list[tuple[str, float]]:
    """The `count` likeliest next words of a text with their probabilities, the likeliest first.

    Raises ValueError for a text without words, and for words that the model does not know.
    """
    check_types("next_words", str, text=text)
    tokenizer = world_tokenizer()
    check_numbers("next_words", least=1, most=len(tokenizer), whole=True, count=count)
    words = tokenizer.split(text.lower())
    strange = [word for word in words if word not in tokenizer.tokens]
    if strange or not words:
        what = f"does not know {', '.join(map(repr, strange[:3]))}" if strange else "needs at least one word"
        raise ValueError(f"next_words: the model {what}; its world has names, animals, fruit, places and shops")
    ids = torch.tensor([[BOS, *tokenizer.encode(text.lower())]])  # (1, T)
    with torch.no_grad():
        p = _model()(ids)[0, -1].softmax(dim=-1)  # (V,)
    chances, best = p.topk(count)
    return [(tokenizer.tokens[i], chance) for i, chance in zip(best.tolist(), chances.tolist(), strict=True)]
