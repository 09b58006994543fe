"""Explorer: temperature, top-k, top-p and min-p on the distribution of one step.

    sampling_explorer(next_word(translator, "four hundred"))       the next German word, after the words you type
    sampling_explorer(next_character(writer), "Once a ")           the next character, after the text you type

The model's own distribution p and the one that is drawn from, q = softmax(filter_logits(z)), stand side by side. What
is ruled out is grey. The rules are those of `sampling.filter_logits`; nothing of them is repeated here.
"""

from collections.abc import Callable, Sequence
from functools import lru_cache
from typing import Any, NamedTuple

import torch
from torch import Tensor

from tx_helpers.generation.sampling import filter_logits, precise
from tx_helpers.nn.arguments import check_types, described
from tx_helpers.show.charts import Panel, side_by_side
from tx_helpers.show.controls import slider, typed
from tx_helpers.show.explore import Explore
from tx_helpers.show.plots import Svg
from tx_helpers.show.shapes import BLUE, GREY, INK, MUTED, bar, visible, words
from tx_helpers.text.data import BOS
from tx_helpers.zoo.recipes import Translator, Writer

SHOWN = 12  # tokens in the picture; the rest is summed up in a line
PALE = dict(fill=GREY.tint, stroke=MUTED)  # the model's own p


# --- compute ---------------------------------------------------------------------------------------------------------
class NextToken(NamedTuple):
    """A model asked for one more token: from the text so far to its logits (V,), and what the V ids stand for."""

    logits: Callable[[str], Tensor]
    tokens: Sequence[str]
    between: str = ""  # what stands between two tokens of a text


def next_word(translator: Translator, text: str) -> NextToken:
    """The next word of the translation of `text`, after those written so far; ValueError for words it does not know."""
    check_types("next_word", Translator, translator=translator)
    check_types("next_word", str, text=text)
    tokenizer, model = translator.data.target_tokenizer, translator.model
    source = torch.tensor([translator.data.source_tokenizer.encode(text)])  # (1, S)

    @torch.no_grad()
    def logits(so_far: str) -> Tensor:
        return model(source, torch.tensor([[BOS, *tokenizer.encode(so_far)]]))[0, -1]

    return NextToken(logits, tokenizer.tokens, " ")


def next_character(writer: Writer) -> NextToken:
    """The next character after a text, of which the writer sees as much as its context holds."""
    check_types("next_character", Writer, writer=writer)

    @torch.no_grad()
    def logits(so_far: str) -> Tensor:
        if not so_far:
            raise ValueError("next_character: no text so far, expected at least one character")
        ids = writer.tokenizer.encode(so_far)[-writer.context :]
        return writer.model(torch.tensor([ids]))[0, -1]

    return NextToken(logits, writer.tokenizer.tokens)


def continued(model: NextToken, text: str, tokens: int = 3) -> list[str]:
    """The text, and how it goes on token by token, if the likeliest is always taken."""
    texts = [text]
    for _ in range(tokens):
        token = model.tokens[int(model.logits(texts[-1]).argmax())]
        if len(token) > 1 and token[0] == "<":  # the end
            break
        texts.append(f"{texts[-1]}{model.between if texts[-1] else ''}{token}")
    return texts


class Shaped(NamedTuple):
    """One distribution before and after a rule: p, q and which tokens stay, each (V,)."""

    p: Tensor
    q: Tensor
    stays: Tensor

    @property
    def order(self) -> list[int]:
        """The ids, the likeliest first."""
        return self.p.argsort(descending=True, stable=True).tolist()

    @property
    def cut(self) -> float:
        """The probability that the model itself gave to the tokens that are ruled out."""
        return self.p[~self.stays].sum().item()

    @property
    def entropies(self) -> tuple[float, float]:
        """H(p) and H(q), in nats."""
        return torch.special.entr(self.p).sum().item(), torch.special.entr(self.q).sum().item()


def shape(logits: Tensor, **rule: Any) -> Shaped:
    """What `filter_logits(logits, **rule)` makes of the softmax of logits (V,)."""
    logits = precise(logits)
    filtered = filter_logits(logits, **rule)
    return Shaped(logits.softmax(-1), filtered.softmax(-1), filtered.isfinite())


# --- draw -------------------------------------------------------------------------------------------------------------
def draw(shaped: Shaped, tokens: Sequence[str]) -> Svg:
    """The likeliest tokens, each with two bars: p, pale, and q below it, in colour if the token stays."""
    order = shaped.order
    p, q = shaped.p.tolist(), shaped.q.tolist()
    parts = [
        words(96, 16, "the model's own p", fill=MUTED, size=12),
        words(236, 16, "drawn from q", fill=BLUE.shade, size=12, font_weight="bold"),
        words(346, 16, "ruled out", fill=MUTED, size=12),
        bar(78, 6, 12, 10, **PALE),
        bar(218, 6, 12, 10, BLUE.full),
        words(332, 16, "✗", fill=MUTED, size=12),
        words(690, 16, "p → q", anchor="end", fill=MUTED, size=12),
    ]
    for row, i in enumerate(order[:SHOWN]):
        y, stays = 26 + 24 * row, bool(shaped.stays[i])
        if stays:
            ink, drawn_from = INK, bar(78, y + 9, 500 * q[i], 10, BLUE.full)
            numbers = f"{p[i]:.2f} → {q[i]:.2f}"
        else:
            ink, drawn_from = MUTED, words(78, y + 19, "✗", fill=MUTED, size=10)
            numbers = f"{p[i]:.2f} ✗"
        parts += [
            words(70, y + 15, visible(tokens[i]), anchor="end", fill=ink),
            bar(78, y + 1, 500 * p[i], 8, **PALE),
            drawn_from,
            words(690, y + 15, numbers, anchor="end", size=12),
        ]
    y = 26 + 24 * min(SHOWN, len(order))
    if rest := order[SHOWN:]:
        sums = f"{sum(p[i] for i in rest):.2f} → {sum(q[i] for i in rest):.2f}"
        parts.append(words(78, y + 15, f"{len(rest)} more tokens together", fill=MUTED, size=12))
        parts.append(words(690, y + 15, sums, anchor="end", fill=MUTED, size=12))
    return side_by_side([Panel((720, 26 + y), "".join(parts))], alt=describe(shaped, tokens))


# --- describe ---------------------------------------------------------------------------------------------------------
def describe(shaped: Shaped, tokens: Sequence[str]) -> str:
    """How many tokens stay, what is cut, the entropies, and what becomes of the likeliest token."""
    stays, first = shaped.stays.sum().item(), shaped.order[0]
    before, after = shaped.entropies
    return (
        f"{stays} of {len(tokens)} tokens {'stays' if stays == 1 else 'stay'}; {shaped.cut:.2f} of the model's "
        f"probability is cut; entropy {before:.2f} → {after:.2f} nats; the likeliest, {visible(tokens[first])!r}, "
        f"{shaped.p[first]:.2f} → {shaped.q[first]:.2f}."
    )


# --- bind -------------------------------------------------------------------------------------------------------------
def sampling_explorer(model: NextToken, so_far: str = "", *, name: str = "sampling") -> Explore:
    """Turn the four controls and see what is left to draw from; type another beginning and see another distribution.

    At the start nothing is ruled out: temperature 1, all V tokens, p = 1, m = 0.
    """
    check_types("sampling_explorer", NextToken, model=model)
    if not isinstance(so_far, str):
        raise ValueError(f"sampling_explorer: so_far is {described(so_far)}, expected a text")
    V, logits = len(model.tokens), lru_cache(maxsize=16)(model.logits)

    def picture(so_far: str, **rule: Any) -> Svg:
        return draw(shape(logits(so_far), **rule), model.tokens)

    return Explore(
        picture,
        name=name,
        told=True,
        recorded={"so_far": lambda: continued(model, so_far)},
        so_far=typed("Written so far", so_far, at_once=False),
        temperature=slider("Temperature", 0.1, 3, step=0.1, start=1),
        top_k=slider("Top-k", 1, V, start=V),
        top_p=slider("Top-p", 0.05, 1, step=0.05, start=1),
        min_p=slider("Min-p", 0, 1, step=0.05),
    )
