"""Wrong answers to notebook 05's exercises, unlike any in the bank: none may pass."""

import math
from functools import partial

import torch

from answers.tables import named


def _unpacked(packed, H):
    return packed.unflatten(-1, (H, 3, -1)).permute(3, 0, 2, 1, 4)


def heads_always_two(packed, H):
    B, T, W = packed.shape
    return tuple(part.reshape(B, H, T, W // H // 3) for part in _unpacked(packed, 2))


def heads_whose_values_are_keys(packed, H):
    Q, K, _ = _unpacked(packed, H)
    return Q, K, K


def _rows(z, moved):
    H, B, T, K = z.shape
    return moved.reshape(B, T, H * K)


def joined_right_in_the_first_sentence_only(z):
    H, B, T, K = z.shape
    result = z.transpose(0, 1).reshape(B, T, H * K).clone()
    result[0] = z[:, 0].transpose(0, 1).flatten(1)
    return result


def _shared(x, W_q, W_k, W_v, H):
    K = x.shape[-1] // H
    q, k, v = ((x @ W).unflatten(-1, (-1, K)).transpose(1, 2) for W in (W_q, W_k, W_v))
    return q, *(z.repeat_interleave(H // z.shape[1], 1) for z in (k, v))


def heads_that_attend_to_each_other(x, W_q, W_k, W_v, W_o, H):
    q, k, v = (z.transpose(1, 2) for z in _shared(x, W_q, W_k, W_v, H))
    return (torch.softmax(q @ k.mT / math.sqrt(q.shape[-1]), -1) @ v).flatten(2) @ W_o


def heads_with_shared_mean_weights(x, W_q, W_k, W_v, W_o, H):
    q, k, v = _shared(x, W_q, W_k, W_v, H)
    weights = torch.softmax(q @ k.mT / math.sqrt(q.shape[-1]), -1).mean(1, keepdim=True)
    return (weights @ v).transpose(1, 2).flatten(2) @ W_o


def heads_scaled_by_their_number(x, W_q, W_k, W_v, W_o, H):
    q, k, v = _shared(x, W_q, W_k, W_v, H)
    return (torch.softmax(q @ k.mT / math.sqrt(H), -1) @ v).transpose(1, 2).flatten(2) @ W_o


def heads_with_residual(x, W_q, W_k, W_v, W_o, H):
    q, k, v = _shared(x, W_q, W_k, W_v, H)
    return x + (torch.softmax(q @ k.mT / math.sqrt(q.shape[-1]), -1) @ v).transpose(1, 2).flatten(2) @ W_o


class ProjectionsOfTheFirstHead(torch.nn.Module):
    """All heads are there, the first one answers for all."""

    def __init__(self, D, H):
        super().__init__()
        self.heads = torch.nn.ModuleList(torch.nn.Linear(D, D // H, bias=False) for _ in range(H))

    def forward(self, x):
        return torch.stack([self.heads[0](x) for _ in self.heads], 1)


class ProjectionsMadeAnewInForward(torch.nn.Module):
    """Nothing is kept from one call to the next."""

    def __init__(self, D, H):
        super().__init__()
        self.D, self.H = D, H

    def forward(self, x):
        return torch.stack([torch.nn.Linear(self.D, self.D // self.H, bias=False)(x) for _ in range(self.H)], 1)


class ProjectionsInBuffers(torch.nn.Module):
    """The weights are saved but never learnt."""

    def __init__(self, D, H):
        super().__init__()
        self.register_buffer("W", torch.randn(H, D, D // H) / D**0.5)

    def forward(self, x):
        return x[:, None] @ self.W


class ProjectionsAllZero(torch.nn.Module):
    """The right parameters, which forward does not use."""

    def __init__(self, D, H):
        super().__init__()
        self.heads = torch.nn.ModuleList(torch.nn.Linear(D, D // H, bias=False) for _ in range(H))

    def forward(self, x):
        return torch.zeros(len(x), len(self.heads), x.shape[1], x.shape[2] // len(self.heads))


class ProjectionsInADictionary(torch.nn.Module):
    """An ordinary dict, which hides its layers."""

    def __init__(self, D, H):
        super().__init__()
        self.heads = {h: torch.nn.Linear(D, D // H, bias=False) for h in range(H)}

    def forward(self, x):
        return torch.stack([self.heads[h](x) for h in sorted(self.heads)], dim=1)


def grouped_with_a_narrow_output(D, H, G):
    K = D // H
    return D * D + 2 * D * G * K + G * K * D


def split_time_and_heads_by_reshape(packed, H):
    B, T, _C = packed.shape
    return tuple(a.reshape(B, H, T, -1) for a in packed.reshape(B, T, H, 3, -1).unbind(3))


def split_straight_to_heads_in_front(packed, H):
    B, T, _ = packed.shape
    Q, K, V = packed.reshape(B, H, T, 3, -1).unbind(3)
    return Q, K, V


def split_batch_left_out_thirds_taken_of_all(packed, H):
    B, T, _C = packed.shape
    Q, K, V = packed.reshape(T, B, H, 3, -1).permute(3, 1, 2, 0, 4)
    return Q, K, V


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


def join_heads_sorted_by_size(z):
    order = z.abs().sum(dim=(1, 2, 3)).argsort()
    return z[order].permute(1, 2, 0, 3).flatten(2)


def _grouped(x, W_q, W_k, W_v, W_o, H, *, share="inter", scale=None, dim=-1, join="ok", split="ok"):
    B, T, D = x.shape
    k = D // H

    def heads(W):
        a = x @ W
        if split == "ok":
            return a.reshape(B, T, -1, k).transpose(1, 2)
        if split == "turn":
            return a.reshape(B, T, k, -1).permute(0, 3, 1, 2)
        return a.reshape(B, -1, T, k)

    Q, K, V = map(heads, (W_q, W_k, W_v))
    r = H // K.shape[1]
    if share == "inter":
        K, V = K.repeat_interleave(r, 1), V.repeat_interleave(r, 1)
    elif share == "tile":
        K, V = K.repeat(1, r, 1, 1), V.repeat(1, r, 1, 1)
    elif share == "first":
        K, V = K[:, :1], V[:, :1]
    elif share == "kinter":
        K, V = K.repeat_interleave(r, 1), V.repeat(1, r, 1, 1)
    elif share == "back":
        K, V = K.flip(1).repeat_interleave(r, 1), V.flip(1).repeat_interleave(r, 1)
    w = (Q @ K.mT / math.sqrt(scale or k)).softmax(dim)
    z = w @ V
    if join == "ok":
        z = z.transpose(1, 2).flatten(2)
    elif join == "turn":
        z = z.permute(0, 2, 3, 1).flatten(2)
    else:
        z = z.reshape(B, T, D)
    return z @ W_o


def multi_the_batch_as_one_long_text(x, W_q, W_k, W_v, W_o, H):
    B, T, D = x.shape
    return _grouped(x.reshape(1, B * T, D), W_q, W_k, W_v, W_o, H).reshape(B, T, D)


class ProjectionsDetached(ProjectionsAllZero):
    """The optimiser finds the parameters; no gradient ever reaches them."""  # forward(x).requires_grad

    def forward(self, x):
        return torch.stack([layer(x).detach() for layer in self.heads], 1)


class ProjectionsFrozen(ProjectionsDetached):
    """Parameters that are not to be learnt."""  # [p.requires_grad for p in module.parameters()]

    def __init__(self, D, H):
        super().__init__(D, H)
        self.requires_grad_(False)


class ProjectionsWithNoise(ProjectionsAllZero):
    """Not even two calls agree."""  # forward(x) twice

    def forward(self, x):
        return torch.stack([torch.randn_like(layer(x)) for layer in self.heads], 1)


class ProjectionsOfTheFirstSentence(ProjectionsAllZero):
    """The second sentence gets the first one's."""  # B = 2, different sentences

    def forward(self, x):
        return torch.stack([layer(x[:1]) for layer in self.heads], 1).expand(len(x), -1, -1, -1)


class ProjectionsBent(ProjectionsAllZero):
    """A ReLU that nobody asked for."""  # any x: negative entries

    def forward(self, x):
        return torch.stack([layer(x).relu() for layer in self.heads], 1)


UNLIKE = {
    "split_heads": {
        "always_two": lambda x, H: x.reshape(*x.shape[:2], 2, -1).transpose(1, 2).reshape(len(x), H, x.shape[1], -1),
        "one_number_too_far": lambda x, H: x.roll(1, -1).unflatten(-1, (H, -1)).transpose(1, 2),
        "time_reversed": lambda x, H: x.flip(1).unflatten(-1, (H, -1)).transpose(1, 2),
        "of_the_first_sentence": lambda x, H: x[:1].expand_as(x).unflatten(-1, (H, -1)).transpose(1, 2),
        "copied_wide": lambda x, H: x[:, None, :, ::H].expand(-1, H, -1, -1),
    },
    "multi_head": {
        "no_softmax": lambda x, W_q, W_k, W_v, W_o, H: x @ W_v @ W_o,
        "plain_w_o_turned": lambda x, W_q, W_k, W_v, W_o, H: _grouped(x, W_q, W_k, W_v, W_o.T, H),
        "plain_residual": lambda x, W_q, W_k, W_v, W_o, H: x + _grouped(x, W_q, W_k, W_v, W_o, H),
        "plain_keys_for_queries": lambda x, W_q, W_k, W_v, W_o, H: _grouped(x, W_k, W_k, W_v, W_o, H),
        "plain_heads_taking_turns": partial(_grouped, split="turn", join="turn"),
        "plain_scaled_by_their_number": lambda x, W_q, W_k, W_v, W_o, H: _grouped(x, W_q, W_k, W_v, W_o, H, scale=H),
    },
    "split_packed": named(
        heads_always_two,
        heads_whose_values_are_keys,
        split_time_and_heads_by_reshape,
        split_straight_to_heads_in_front,
        split_batch_left_out_thirds_taken_of_all,
        split_queries_packed_by_heads_the_rest_in_halves,
    )
    | {
        "thirds_first": lambda packed, H: tuple(
            third.unflatten(-1, (H, -1)).transpose(1, 2) for third in packed.chunk(3, dim=-1)
        ),
        "feature_by_feature": lambda packed, H: tuple(packed.unflatten(-1, (H, -1, 3)).permute(4, 0, 2, 1, 3)),
        "heads_and_features_swapped": lambda packed, H: tuple(packed.unflatten(-1, (-1, 3, H)).permute(3, 0, 4, 1, 2)),
        "keys_before_queries": lambda packed, H: tuple(_unpacked(packed, H)[[1, 0, 2]]),
        "values_before_keys": lambda packed, H: tuple(_unpacked(packed, H)[[0, 2, 1]]),
        "last_head_first": lambda packed, H: tuple(_unpacked(packed, H).flip(2)),
        "heads_of_the_first_sentence": lambda packed, H: tuple(_unpacked(packed[:1].expand_as(packed), H)),
        "heads_with_time_reversed": lambda packed, H: tuple(_unpacked(packed, H).flip(3)),
    },
    "join_heads": named(
        joined_right_in_the_first_sentence_only,
        join_first_two_heads_exchanged_when_there_are_more_than,
        join_heads_sorted_by_size,
    )
    | {
        "join_straight_reshape": lambda z: _rows(z, z),
        "join_as_if_the_batch_were_in_front": lambda z: _rows(z, z.transpose(1, 2)),
        "join_batch_in_front_then_flatten_over_heads_and_time": lambda z: _rows(z, z.permute(1, 0, 2, 3)),
        "join_time_and_batch_exchanged_by_reshape": lambda z: _rows(z, z.permute(2, 1, 0, 3)),
        "join_cat_along_time_then_reshape": lambda z: _rows(z, torch.cat(list(z), dim=1)),
        "joined_with_a_feature_too_far": lambda z: z.permute(1, 2, 0, 3).flatten(2).roll(1, -1),
        "joined_one_head_repeated": lambda z: z[0].repeat(1, 1, len(z)),
        "join_features_of_the_heads_interleaved": lambda z: z.permute(1, 2, 3, 0).flatten(2),
        "join_last_head_first": lambda z: z.flip(0).permute(1, 2, 0, 3).flatten(2),
        "join_features_of_every_head_turned_round": lambda z: z.flip(-1).permute(1, 2, 0, 3).flatten(2),
    },
    "grouped_heads": named(
        heads_that_attend_to_each_other,
        heads_with_shared_mean_weights,
        heads_scaled_by_their_number,
        heads_with_residual,
        multi_the_batch_as_one_long_text,
    )
    | {
        "multi_key_heads_in_turn": partial(_grouped, share="tile"),
        "multi_only_the_values_in_turn": partial(_grouped, share="kinter"),
        "multi_all_share_key_head_0": partial(_grouped, share="first"),
        "multi_groups_from_the_back": partial(_grouped, share="back"),
        "multi_scale_from_d": lambda x, W_q, W_k, W_v, W_o, H: _grouped(x, W_q, W_k, W_v, W_o, H, scale=x.shape[-1]),
        "multi_scale_from_the_keys_whole_width": lambda x, W_q, W_k, W_v, W_o, H: _grouped(
            x, W_q, W_k, W_v, W_o, H, scale=W_k.shape[1]
        ),
        "multi_softmax_over_the_queries": partial(_grouped, dim=-2),
        "multi_joined_by_reshape": partial(_grouped, join="raw"),
        "multi_joined_feature_by_feature": partial(_grouped, join="turn"),
        "multi_split_with_the_heads_features_far_apart": partial(_grouped, split="turn", join="turn"),
        "multi_split_without_the_transpose": partial(_grouped, split="raw"),
        "multi_w_o_turned": lambda x, W_q, W_k, W_v, W_o, H: _grouped(x, W_q, W_k, W_v, W_o.T, H),
        "multi_keys_and_values_swapped": lambda x, W_q, W_k, W_v, W_o, H: _grouped(x, W_q, W_v, W_k, W_o, H),
        "multi_w_o_left_out": lambda x, W_q, W_k, W_v, W_o, H: _grouped(x, W_q, W_k, W_v, torch.eye(x.shape[-1]), H),
    },
    "HeadProjections": named(
        ProjectionsMadeAnewInForward,
        ProjectionsInBuffers,
        ProjectionsInADictionary,
        ProjectionsOfTheFirstHead,
        ProjectionsAllZero,
        ProjectionsDetached,
        ProjectionsFrozen,
        ProjectionsWithNoise,
        ProjectionsOfTheFirstSentence,
        ProjectionsBent,
    ),
    "grouped_parameters": named(grouped_with_a_narrow_output)
    | {
        "as_if_multi_query": lambda D, H, G: 2 * D * D + 2 * D * (D // H),
        "with_wide_groups": lambda D, H, G: 2 * D * D + 2 * D * (D // G) // (H // G),
        "with_biases": lambda D, H, G: 2 * D * D + 2 * D * G * (D // H) + 2 * D + 2 * G * (D // H),
    },
}
