"""Wrong answers to the lesson's exercises, unlike any in the bank: none may pass."""

import math
from functools import partial

import torch

from answer_tables import named


def _unpacked(packed, H):
    return packed.unflatten(-1, (H, 3, -1)).permute(3, 0, 2, 1, 4)


def heads_always_two(packed, H):
    B, T, W = packed.shape
    return tuple(part.reshape(B, H, T, W // H // 3) for part in _unpacked(packed, 2))


def heads_whose_values_are_keys(packed, H):
    Q, K, _ = _unpacked(packed, H)
    return Q, K, K


class ProjectionsAllZero(torch.nn.Module):
    """The right parameters, which forward does not use."""

    def __init__(self, D, H):
        super().__init__()
        self.heads = torch.nn.ModuleList(torch.nn.Linear(D, D // H, bias=False) for _ in range(H))

    def forward(self, x):
        return torch.zeros(len(x), len(self.heads), x.shape[1], x.shape[2] // len(self.heads))


def split_queries_packed_by_heads_the_rest_in_halves(packed, H):
    B, T, _C = packed.shape
    h = packed.reshape(B, T, H, -1).transpose(1, 2)
    k = h.shape[-1] // 3
    return h[..., :k], h[..., k::2], h[..., k + 1 :: 2]


def join_first_two_heads_exchanged_when_there_are_more_than(z):
    parts = list(z)
    if len(parts) > 2:
        parts[-1], parts[-2] = parts[-2], parts[-1]
    return torch.cat(parts, dim=-1)


def _grouped(x, W_q, W_k, W_v, W_o, H, *, keys="neighbours", values="neighbours", scale=None, in_turn=False):
    """Heads that share keys and values, as neighbours or in turn; in_turn: the features of a head are H apart."""
    B, T, D = x.shape
    k = D // H

    def heads(W):
        a = x @ W
        return a.reshape(B, T, k, -1).permute(0, 3, 1, 2) if in_turn else a.reshape(B, T, -1, k).transpose(1, 2)

    def for_all(z, share):
        r = H // z.shape[1]
        return z.repeat_interleave(r, 1) if share == "neighbours" else z.repeat(1, r, 1, 1)

    Q, K, V = heads(W_q), for_all(heads(W_k), keys), for_all(heads(W_v), values)
    z = (Q @ K.mT / math.sqrt(scale or k)).softmax(-1) @ V
    z = z.permute(0, 2, 3, 1) if in_turn else z.transpose(1, 2)
    return z.flatten(2) @ W_o


def multi_the_batch_as_one_long_text(x, W_q, W_k, W_v, W_o, H):
    B, T, D = x.shape
    return _grouped(x.reshape(1, B * T, D), W_q, W_k, W_v, W_o, H).reshape(B, T, D)


class ProjectionsDetached(ProjectionsAllZero):
    """The optimiser finds the parameters; no gradient ever reaches them."""  # forward(x).requires_grad

    def forward(self, x):
        return torch.stack([layer(x).detach() for layer in self.heads], 1)


class ProjectionsOfTheFirstSentence(ProjectionsAllZero):
    """The second sentence gets the first one's."""  # B = 2, different sentences

    def forward(self, x):
        return torch.stack([layer(x[:1]) for layer in self.heads], 1).expand(len(x), -1, -1, -1)


def order_by_the_largest_difference(shares):
    """Removes by the largest single entry of the difference, in place of its squares."""
    gone, left = [], list(range(len(shares)))
    while left:
        gone.append(min(left, key=lambda h: shares[[*gone, h]].sum(0).abs().max().item()))
        left.remove(gone[-1])
    return gone


def shares_without_the_second_sentence(z, W_o):
    H, K = z.shape[1], z.shape[3]
    return z[:1].expand_as(z).transpose(0, 1) @ W_o.reshape(H, 1, K, -1)


UNLIKE = {
    "head_shares": named(shares_without_the_second_sentence),
    "removal_order": named(order_by_the_largest_difference),
    "split_heads": {
        "always_two": lambda x, H: x.reshape(*x.shape[:2], 2, -1).transpose(1, 2).reshape(len(x), H, x.shape[1], -1),
    },
    "multi_head": {
        "plain_heads_taking_turns": partial(_grouped, in_turn=True),
    },
    "split_packed": named(
        heads_always_two, heads_whose_values_are_keys, split_queries_packed_by_heads_the_rest_in_halves
    ),
    "join_heads": named(join_first_two_heads_exchanged_when_there_are_more_than),
    "grouped_heads": named(multi_the_batch_as_one_long_text)
    | {
        "heads_scaled_by_their_number": lambda x, W_q, W_k, W_v, W_o, H: _grouped(x, W_q, W_k, W_v, W_o, H, scale=H),
        "multi_key_heads_in_turn": partial(_grouped, keys="turn", values="turn"),
        "multi_only_the_values_in_turn": partial(_grouped, values="turn"),
    },
    "HeadProjections": named(ProjectionsDetached, ProjectionsOfTheFirstSentence),
    "grouped_parameters": {
        "as_if_multi_query": lambda D, H, G: 2 * D * D + 2 * D * (D // H),
        "with_biases": lambda D, H, G: 2 * D * D + 2 * D * G * (D // H) + 2 * D + 2 * G * (D // H),
    },
}
