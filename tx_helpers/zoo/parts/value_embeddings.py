"""Value embeddings: every token has a vector of its own in each layer, which is added to its values.

    v_t = x_t W_V + E[id_t]        with a table E (V, G·K) of its own in each layer

Attention mixes values. Deep in the stack the residual stream holds little of the token itself; the table gives it
back. A token looks up its row, so this costs no matrix product. The tables begin at 0: the untrained model is the same
with them and without. Source: Jordan et al. 2024 (github.com/KellerJordan/modded-nanogpt); it follows the value
residual of Zhou et al. 2024.
"""

import torch
import torch.nn.functional as F
from torch import Tensor, nn

from tx_helpers.nn.arguments import check_ids, check_numbers


class ValueEmbeddings(nn.Module):
    """ids (B, T) -> a tensor (B, T, G·K) for each layer.

    vocab_size  V; n_layers: how many tables; width: G·K, the width of all value heads of a layer together
    """

    def __init__(self, vocab_size: int, n_layers: int, width: int):
        super().__init__()
        check_numbers("ValueEmbeddings", least=1, whole=True, vocab_size=vocab_size, n_layers=n_layers, width=width)
        self.n_layers = n_layers
        self.tables = nn.Parameter(torch.zeros(vocab_size, n_layers * width))  # one look-up for all layers

    def forward(self, ids: Tensor) -> tuple[Tensor, ...]:
        check_ids("ValueEmbeddings", len(self.tables), ids=ids)
        return F.embedding(ids, self.tables).chunk(self.n_layers, dim=-1)
