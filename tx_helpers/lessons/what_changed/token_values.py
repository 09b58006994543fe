"""Value embeddings: every token has a vector of its own in each layer, which is added to its values.

    v_t = x_t W_V + E[id_t]        with a table E (V, G, K) of its own in each layer

Attention mixes values. Deep in the stack the residual stream holds little of the token itself; the table gives it
back. A token looks up its row, so this costs no matrix product. The tables begin at 0: the untrained model is the same
with them and without. Source: Jordan et al. 2024 (github.com/KellerJordan/modded-nanogpt); it follows the value
residual of Zhou et al. 2024.
"""

from dataclasses import dataclass
from typing import Any, ClassVar

import torch
import torch.nn.functional as F
from torch import Tensor, nn

from tx_helpers.nn.arguments import check_ids, check_numbers
from tx_helpers.nn.attention import MultiHeadAttention
from tx_helpers.nn.building import new_attention
from tx_helpers.nn.config import TransformerConfig
from tx_helpers.nn.observe import observe
from tx_helpers.nn.parts import Mixer


@dataclass(frozen=True)
class TokenValues(Mixer):
    """`TokenValueAttention` as a part of a config, whose `attention` says all the rest."""

    sees_ids: ClassVar[bool] = True

    def rotary_width(self, d_head: int) -> int:
        return d_head

    def new(self, config: TransformerConfig) -> MultiHeadAttention:
        vocab_size = max(config.vocab_size, config.source_vocab_size or 0)
        return new_attention(config, TokenValueAttention, vocab_size=vocab_size)


class TokenValueAttention(MultiHeadAttention):
    """Self-attention that adds a row of a table (V, G, K) to the values of each token."""

    def __init__(self, *sizes: int, vocab_size: int, **options: Any):
        super().__init__(*sizes, **options)
        check_numbers("TokenValueAttention", least=1, whole=True, vocab_size=vocab_size)
        self.table = nn.Parameter(torch.zeros(vocab_size, self.n_kv_heads, self.d_head))

    def values(self, source: Tensor, *, ids: Tensor) -> Tensor:  # type: ignore[override]  # it needs the ids
        """(B, T, D) and its ids (B, T) -> (B, G, T, K)"""
        check_ids("TokenValueAttention", len(self.table), ids=ids)
        of_tokens = F.embedding(ids, self.table.flatten(1)).unflatten(-1, self.table.shape[1:])  # (B, T, G, K)
        v = self.split(self.value(source), self.n_kv_heads)
        return observe("values", v + of_tokens.transpose(1, 2).to(v.dtype))
