"""What `AttentionView` shows: the recorded scores or weights of one kind of attention, and the arithmetic on them.

The view sends the raw numbers to the browser once, which computes the weights. Here is the same arithmetic in NumPy,
for the summary and the stored picture. Shapes: L layers, H heads, T queries, S keys.
"""

import math
import unicodedata
from collections.abc import Sequence
from dataclasses import dataclass, replace

import numpy as np
from torch import Tensor

from tx_helpers.nn.arguments import described
from tx_helpers.show.shapes import visible

SHOWN = 18  # characters of a token on the screen; the whole of it stands in its title
NOTHING_TO_UNMASK = "from weights alone nothing can be unmasked"
ONLY_INFINITE = "the masked scores were recorded as -inf, so nothing can be unmasked"
ANOTHER_SEQUENCE = "the keys are another sequence: none of them is in the future"
ONE_QUERY = "one query is the last position, which may see everything"
WEIGHTS_ONLY = "only weights were given, and the factor is in them"
EDITED = "these weights are not the softmax of their scores (edited?), so they are all there is"
UNKNOWN_WIDTH = "d_k is unknown: give d_head, or capture the queries and keys as well"
Numbers = Tensor | np.ndarray | Sequence  # what `stacked` reads


@dataclass(frozen=True)
class Attention:
    """One kind of attention, such as the cross-attention of all decoder layers.

    values      (L, H, T, S) float32: raw scores (before the mask, finite), or weights where `from_scores` is False
    allowed     boolean (T, S) or (L, H, T, S), True = might attend in the recorded pass
    d_head  d_k, where the scores are known to be q·k/√d_k; else None, and `scale_reason` says why
    """

    label: str
    values: np.ndarray
    allowed: np.ndarray
    queries: tuple[str, ...]
    keys: tuple[str, ...]
    from_scores: bool
    d_head: int | None = None
    scale_reason: str = UNKNOWN_WIDTH
    infinite: bool = False

    @property
    def causal(self) -> bool:
        """Whether the recorded pass let no query look ahead (and there was something ahead to look at)."""
        ahead = self._ahead()
        return bool(ahead.any() and not (self.allowed & ahead).any())

    @property
    def causal_reason(self) -> str:
        """Why the causal mask cannot be switched; empty where it can."""
        if self.queries != self.keys[-len(self.queries) :]:
            return ANOTHER_SEQUENCE
        if len(self.queries) == 1:
            return ONE_QUERY
        if self.causal and not self.from_scores:
            return NOTHING_TO_UNMASK
        return ONLY_INFINITE if self.causal and self.infinite else ""

    def weights(
        self, layer: int, head: int, *, temperature: float = 1.0, causal: bool | None = None, scaled: bool = True
    ) -> np.ndarray:
        """softmax(score / temperature) over the allowed keys, (T, S); a query that may look at nothing gets zeros."""
        values = self.values[layer, head].astype(np.float64)
        base = np.broadcast_to(self.allowed, self.values.shape)[layer, head]
        allowed = base
        if causal is not None and causal != self.causal:
            ahead = self._ahead()
            allowed = base & ~ahead if causal else base | (ahead & base.any(0))  # a padded key stays masked
        if not self.from_scores:
            if temperature == 1.0 and allowed is base:
                return values
            with np.errstate(divide="ignore"):
                values = np.log(values)
        factor = 1.0 if scaled or self.d_head is None else math.sqrt(self.d_head)
        scores = np.where(allowed, values * factor / temperature, -np.inf)
        top = scores.max(-1, keepdims=True)
        powers = np.exp(scores - np.where(np.isfinite(top), top, 0.0))
        return powers / np.maximum(powers.sum(-1, keepdims=True), 1e-300)

    def _ahead(self) -> np.ndarray:
        T, S = self.values.shape[-2:]
        return np.arange(S) > np.arange(T)[:, None] + (S - T)  # aligned bottom-right, as `causal_mask`


def attention_from_weights(label: str, weights: Numbers, queries: Sequence[str], keys: Sequence[str]) -> Attention:
    """Checked weights (L, H, T, S): finite, not negative, the rows summing to 1 (or 0: fully masked)."""
    values, queries, keys = _checked(label, weights, queries, keys)
    if not np.isfinite(values).all():
        raise ValueError(
            f"{label}: {int((~np.isfinite(values)).sum())} of {values.size} weights are NaN or infinite, expected none"
        )
    sums = values.sum(-1)
    wrong = ~((abs(sums - 1) < 0.05) | (abs(sums) < 1e-6))
    if values.min() < 0 or wrong.any():
        raise ValueError(
            f"{label}: weights from {values.min():.3g} to {values.max():.3g}, rows summing to {sums.min():.3g} … "
            f"{sums.max():.3g}, expected 1; for raw scores say scores=True (dropout spoils the sums: call model.eval())"
        )
    return Attention(label, values, (values > 0).any((0, 1)), queries, keys, False, scale_reason=WEIGHTS_ONLY)


def attention_from_scores(
    label: str, scores: Numbers, queries: Sequence[str], keys: Sequence[str], *, weights: Numbers | None = None,
    d_head: int | None = None, scale_reason: str | None = None,
) -> Attention:  # fmt: skip
    """Raw scores (L, H, T, S), -inf where masked; or finite ones with the weights, which tell the mask in force.

    Weights that are not the softmax of their scores (somebody edited them) are shown as weights.
    """
    values, queries, keys = _checked(label, scores, queries, keys)
    if np.isnan(values).any() or (values == np.inf).any():
        raise ValueError(f"{label}: scores with NaN or +inf; expected finite numbers, or -inf where masked")
    masked = values < -1e30  # -inf, or the smallest number of a precision, as additive masks have it
    values = np.where(masked, 0.0, values).astype(np.float32)
    given = None if weights is None else attention_from_weights(label, weights, queries, keys)
    if given is None:
        allowed = ~masked
    elif given.values.shape != values.shape:
        raise ValueError(f"{label}: scores {values.shape}, but weights {given.values.shape}")
    else:
        top = np.where(given.values > 0, values, -np.inf).max(-1, keepdims=True)
        underflow = (given.values == 0) & ~masked & (values - top < -80)  # allowed, but too small for the precision
        allowed = (given.values > 0) | underflow
    if (allowed == allowed[:1, :1]).all():
        allowed = allowed[0, 0]
    if scale_reason is None:
        scale_reason = "" if d_head else UNKNOWN_WIDTH
    made = Attention(label, values, allowed, queries, keys, True, d_head, scale_reason, bool(masked.any()))
    if given is not None:
        heads = np.ndindex(values.shape[:2])  # (layer, head)
        gap = max(abs(made.weights(*head) - given.values[head]).max() for head in heads)
        if gap > 5e-3:  # the rounding of bfloat16 is smaller
            return replace(given, scale_reason=EDITED)
    return made


def stacked(operation: str, values: Numbers) -> np.ndarray:
    """A tensor, array or nested list as float32, with layers and heads in front: (T, S) and (H, T, S) will do too."""
    expected = "expected numbers of shape (layers, heads, T, S)"
    if isinstance(values, Tensor):
        if values.is_complex():
            raise ValueError(f"{operation}: a tensor of {values.dtype}, {expected}")
        values = values.detach().float().cpu().numpy()
    try:
        array = np.asarray(values, dtype=np.float32)
    except (TypeError, ValueError):
        raise ValueError(f"{operation}: {described(values)}, {expected}") from None
    while 2 <= array.ndim < 4:
        array = array[None]
    if array.ndim != 4:
        raise ValueError(f"{operation}: a tensor of shape {array.shape}, expected (layers, heads, T, S)")
    return array


def shown(token: str) -> str:
    """A token as the screen shows it: what cannot be seen by a sign or by its number, and at most 18 characters."""
    label = "".join(map(_label, visible(token[: 2 * SHOWN]))) or "(empty)"
    return label if len(label) <= SHOWN and len(token) <= 2 * SHOWN else label[: SHOWN - 1] + "…"


def rounded(weight: float) -> str:
    """Two decimals, halves upwards, as the browser's arithmetic has it."""
    return f"{math.floor(weight * 100 + 0.5) / 100:.2f}"


def sentence(weights: np.ndarray, queries: Sequence[str], keys: Sequence[str], side: str, token: int) -> str:
    """What the picked token looks at (or is looked at by), or what each of the first four queries looks at most."""
    if token >= 0 and side == "key":
        best = int(weights[:, token].argmax())
        return f"'{shown(keys[token])}' is looked at most by '{shown(queries[best])}' ({rounded(weights[best, token])})"
    rows = [token] if token >= 0 else list(range(min(4, len(queries))))
    parts = []
    for row in rows:
        best = int(weights[row].argmax())
        aim = f"looks most at '{shown(keys[best])}' ({rounded(weights[row, best])})"
        parts.append(f"'{shown(queries[row])}' {aim if weights[row, best] > 0 else 'may look at nothing'}")
    return "; ".join(parts) + ("; …" if token < 0 and len(queries) > len(rows) else "")


def _label(character: str) -> str:
    return f"⟨{ord(character):X}⟩" if unicodedata.category(character)[0] in "CZ" else character


def _checked(
    label: str, values: Numbers, queries: Sequence[str], keys: Sequence[str]
) -> tuple[np.ndarray, tuple[str, ...], tuple[str, ...]]:
    values = stacked(label, values)
    for side, tokens in (("queries", queries), ("keys", keys)):
        if isinstance(tokens, str):
            raise ValueError(f"{label}: {side} is one string of {len(tokens)} characters, expected a list of tokens")
        if not isinstance(tokens, Sequence):
            raise ValueError(f"{label}: {side} is {described(tokens)}, expected a list of tokens")
    if 0 in (*values.shape, len(queries), len(keys)):
        raise ValueError(
            f"{label}: values {values.shape} with {len(queries)} queries and {len(keys)} keys, expected at least one"
        )
    if values.shape[-2:] != (len(queries), len(keys)):
        raise ValueError(f"{label}: values {values.shape}, but there are {len(queries)} queries and {len(keys)} keys")
    return values, _clean(queries), _clean(keys)


def _clean(tokens: Sequence[str]) -> tuple[str, ...]:
    """The tokens with "?" for each lone surrogate, which no message to the browser can carry."""
    return tuple(str(token).encode("utf-8", "replace").decode() for token in tokens)
