"""Multi-head latent attention (MLA): the cache keeps one short vector for each position, not keys and values.

    c = norm(x W_c)                    latent (L), cached; head i has the key k_i = c W_K,i and the value v_i = c W_V,i
    r = rotate(x W_r)                  rotary key (R), cached, the same for all heads
    score_i = q_i · k_i + q′_i · r     a content part and a position part

The rotation cannot act on k_i: then a matrix that changes from position to position would stand between W_K,i and c,
and the absorbed form below would not exist. So positions have a part of their own: they are "decoupled".

The absorbed form: q_i · (c W_K,i) = (q_i W_K,iᵀ) · c. With W_K moved to the query, and W_V applied to the mixture, no
key or value is ever made. What remains is multi-query attention whose one key is (c, r) and whose one value is c.

Letters beside the legend's: L width of the latent, R of the rotary key, C of the content in a head's query and key; V
is here the width of a head's value. In config.json: L kv_lora_rank, R qk_rope_head_dim, C qk_nope_head_dim, V
v_head_dim, and q_lora_rank the width of the queries' latent. Source: DeepSeek-AI 2024 (DeepSeek-V2), section 2.1.
"""

import math
from collections.abc import Callable
from dataclasses import dataclass

import torch
from torch import Tensor, nn

from tx_helpers.nn.arguments import check_numbers, check_tensors
from tx_helpers.nn.attention import scaled_dot_product_attention
from tx_helpers.nn.building import new_attend
from tx_helpers.nn.cache import KVCache
from tx_helpers.nn.config import TransformerConfig
from tx_helpers.nn.layers import RMSNorm
from tx_helpers.nn.observe import observe
from tx_helpers.nn.parts import Mixer


@dataclass(frozen=True)
class LatentConfig(Mixer):
    """`LatentAttention` as a part of a config; None: as wide as in DeepSeek-V3 in proportion, C = 2 R and V = C."""

    d_latent: int
    d_rotary: int
    d_content: int | None = None  # 2 · d_rotary
    d_value: int | None = None  # d_content
    d_query_latent: int | None = None

    def __post_init__(self) -> None:
        check_numbers("LatentConfig", least=1, whole=True, d_latent=self.d_latent, d_rotary=self.d_rotary)
        widths = dict(d_content=self.d_content, d_value=self.d_value, d_query_latent=self.d_query_latent)
        check_numbers("LatentConfig", widths, least=1, whole=True, optional=True)

    @property
    def widths(self) -> dict[str, int | None]:
        """All widths, those that follow from others as well."""
        d_content = self.d_content or 2 * self.d_rotary
        return {**vars(self), "d_content": d_content, "d_value": self.d_value or d_content}

    def rotary_width(self, d_head: int) -> int:
        return self.d_rotary

    def new(self, config: TransformerConfig) -> "LatentAttention":
        options = dict(scale=config.attention.scale, dropout=config.dropout, attend=new_attend(config))
        return LatentAttention(config.d_model, config.attention.n_heads, **self.widths, **options)


class LatentAttention(nn.Module):
    """Causal self-attention over latents. (B, T, D) -> (B, T, D)

    d_latent        L, of what keys and values are made from
    d_rotary        R, of the rotary key that all heads share
    d_content       C, the part of a head's queries and keys without position
    d_value         V, of a head's values
    d_query_latent  queries are made from a latent of this width, too; None: from x itself. This makes no cache smaller;
                    it saves parameters, and memory in training
    scale           of the scores, by default 1/√(C + R)
    """

    def __init__(
        self,
        d_model: int,
        n_heads: int,
        *,
        d_latent: int,
        d_rotary: int,
        d_content: int,
        d_value: int,
        d_query_latent: int | None = None,
        norm_eps: float = 1e-6,
        scale: float | None = None,
        dropout: float = 0.0,
        attend: Callable[..., Tensor] = scaled_dot_product_attention,
    ):
        super().__init__()
        widths = dict(d_latent=d_latent, d_rotary=d_rotary, d_content=d_content, d_value=d_value)
        check_numbers("LatentAttention", widths, least=1, whole=True, d_model=d_model, n_heads=n_heads)
        check_numbers("LatentAttention", least=1, whole=True, optional=True, d_query_latent=d_query_latent)
        self.d_model, self.n_heads, self.attend, self.dropout = d_model, n_heads, attend, dropout
        self.scale = 1 / math.sqrt(d_content + d_rotary) if scale is None else scale
        self.d_latent, self.d_rotary, self.d_content, self.d_value = d_latent, d_rotary, d_content, d_value
        if d_query_latent is None:
            self.compress_query, self.query_norm = nn.Identity(), nn.Identity()
        else:
            self.compress_query = nn.Linear(d_model, d_query_latent, bias=False)
            self.query_norm = RMSNorm(d_query_latent, eps=norm_eps)
        self.query = nn.Linear(d_query_latent or d_model, n_heads * (d_content + d_rotary), bias=False)
        self.compress = nn.Linear(d_model, d_latent, bias=False)
        self.latent_norm = RMSNorm(d_latent, eps=norm_eps)
        self.rotary_key = nn.Linear(d_model, d_rotary, bias=False)
        self.key = nn.Linear(d_latent, n_heads * d_content, bias=False)
        self.value = nn.Linear(d_latent, n_heads * d_value, bias=False)
        self.output = nn.Linear(n_heads * d_value, d_model, bias=False)

    @property
    def cache_width(self) -> int:
        """The numbers that a cache keeps of one position: L + R."""
        return self.d_latent + self.d_rotary

    def forward(
        self,
        x: Tensor,
        *,
        mask: Tensor | None = None,
        bias: Tensor | None = None,
        causal: bool = True,
        rotate: Callable[[Tensor], Tensor] | None = None,
        cache: KVCache | None = None,
        absorbed: bool | None = None,
    ) -> Tensor:
        """x (B, T, D) holds the positions that follow those in the cache. -> (B, T, D)

        rotate    what `Rotary(d_rotary).at(positions)` gives
        absorbed  which form; None: absorbed where a cache already holds positions, which is where it saves most
        """
        check_tensors("LatentAttention", x=(x, f"float B T {self.d_model}"))
        if absorbed is None:
            absorbed = cache is not None and len(cache) > 0
        q = self.query(self.query_norm(self.compress_query(x))).unflatten(-1, (self.n_heads, -1)).transpose(1, 2)
        content, turning = q.split([self.d_content, self.d_rotary], dim=-1)  # (B, H, T, C), (B, H, T, R)
        latent = observe("latent", self.latent_norm(self.compress(x))).unsqueeze(1)  # (B, 1, T, L)
        shared = self.rotary_key(x).unsqueeze(1)  # (B, 1, T, R)
        if rotate is not None:
            turning, shared = rotate(turning), rotate(shared)
        if cache is not None:
            shared, latent = cache.append(shared, latent)
            mask, bias = cache.columns(mask), cache.columns(bias)
        options = dict(mask=mask, bias=bias, causal=causal, scale=self.scale)
        options["dropout"] = self.dropout if self.training else 0.0
        form = self._absorbed if absorbed else self._expanded
        heads = observe("heads", form(content, turning, latent, shared, options))  # (B, H, T, V)
        return observe("output", self.output(heads.transpose(1, 2).flatten(-2)))

    def _expanded(self, content: Tensor, turning: Tensor, latent: Tensor, shared: Tensor, options: dict) -> Tensor:
        """Make the keys and values of every head, then attend as always."""
        k = self.key(latent.squeeze(1)).unflatten(-1, (self.n_heads, -1)).transpose(1, 2)  # (B, H, S, C)
        v = self.value(latent.squeeze(1)).unflatten(-1, (self.n_heads, -1)).transpose(1, 2)  # (B, H, S, V)
        k = torch.cat([k, shared.expand(-1, self.n_heads, -1, -1)], dim=-1)  # (B, H, S, C + R)
        return self.attend(torch.cat([content, turning], dim=-1), k, v, **options)

    def _absorbed(self, content: Tensor, turning: Tensor, latent: Tensor, shared: Tensor, options: dict) -> Tensor:
        """Multi-query attention to the latents themselves."""
        to_latent = self.key.weight.unflatten(0, (self.n_heads, -1))  # (H, C, L)
        q = torch.cat([content @ to_latent, turning], dim=-1)  # (B, H, T, L + R)
        mixed = self.attend(q, torch.cat([latent, shared], dim=-1), latent, **options)  # (B, H, T, L)
        return mixed @ self.value.weight.unflatten(0, (self.n_heads, -1)).transpose(-2, -1)  # @ (H, L, V)
