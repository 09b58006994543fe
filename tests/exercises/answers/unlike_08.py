"""Wrong answers to notebook 08's exercises, unlike any in the bank: none may pass."""

import functools
import math

import torch
import torch.nn.functional as F

from answers.tables import layer_normed, named


def _normed(x):
    return F.layer_norm(x, x.shape[-1:])


def _attend(q, k):
    return torch.softmax(q @ k.T / math.sqrt(q.shape[-1]), 1) @ k


def block_with_parallel_branches(x, m, W):
    y = _normed(x)
    return x + _attend(y, y) + _attend(y, m) + F.relu(y @ W)


def block_with_a_last_norm(x, m, W):
    y = _normed(x)
    x = x + _attend(y, y)
    x = x + _attend(_normed(x), m)
    return _normed(x + F.relu(_normed(x) @ W))


def block_with_raw_keys(x, m, W):
    x = x + _attend(_normed(x), x)
    x = x + _attend(_normed(x), m)
    return x + F.relu(_normed(x) @ W)


def block_added_to_the_embedding_again(x, m, W):
    y = _normed(x)
    a = x + _attend(y, y)
    b = x + _attend(_normed(a), m)
    return b + F.relu(_normed(b) @ W)


def tied_by_cosine(h, E, V):
    E = E[:V]
    return torch.softmax(F.normalize(h, dim=1) @ F.normalize(E, dim=1).T, 1)


def tied_with_independent_odds(h, E, V):
    E = E[:V]
    odds = torch.sigmoid(h @ E.T)
    return odds / odds.sum(1, keepdim=True)


def tied_over_all_places_at_once(h, E, V):
    E = E[:V]
    return torch.softmax((h @ E.T).flatten(), 0).view(len(h), len(E)) * len(h)


def tied_with_the_last_row_everywhere(h, E, V):
    E = E[:V]
    return torch.softmax(h[-1:] @ E.T, 1).repeat(len(h), 1)


def start_with_one_matrix_turned_left_to_right(D, K):
    W = torch.randn(D, K) / D**0.5
    return W, W.flip(1) * torch.where(torch.arange(K) % 2 == 0, 1, -1)


def tied_fillings_logits_are_0(h, E, V):
    z = h @ E.T
    z[:, V:] = 0
    return z.softmax(-1)[:, :V]


def tied_row_0_taken_for_filling_too(h, E, V):
    z = h @ E[:V].T
    z[:, 0] = -math.inf
    return z.softmax(-1) if V > 1 else torch.ones_like(z)


def tied_the_filling_pushed_down_by_ten(h, E, V):
    z = h @ E.T
    z[:, V:] -= 10
    return z.softmax(-1)[:, :V]


def start_twice_the_same_tensor(D, K):
    W = torch.randn(D, K) / D**0.5
    return W, W


def start_a_copy_of_the_first(D, K):
    W = torch.randn(D, K) / D**0.5
    return W, W.clone()


def start_the_first_with_the_sign_turned(D, K):
    W = torch.randn(D, K) / D**0.5
    return W, -W


def start_the_first_with_rows_turned_round(D, K):
    W = torch.randn(D, K) / D**0.5
    return W, W.flip(0)


def start_the_first_shuffled(D, K):
    W = torch.randn(D, K) / D**0.5
    return W, W.flatten()[torch.randperm(D * K)].reshape(D, K)


def start_xavier(D, K):
    s = (2 / (D + K)) ** 0.5
    return torch.randn(D, K) * s, torch.randn(D, K) * s


def start_uniform_of_the_same_deviation(D, K):
    a = (3 / D) ** 0.5
    return (torch.rand(D, K) * 2 - 1) * a, (torch.rand(D, K) * 2 - 1) * a


def start_own_seed(D, K):
    torch.manual_seed(0)
    return torch.randn(D, K) / D**0.5, torch.randn(D, K) / D**0.5


def start_own_generator_with_a_fixed_seed(D, K):
    gen = torch.Generator().manual_seed(7)
    return torch.randn(D, K, generator=gen) / D**0.5, torch.randn(D, K, generator=gen) / D**0.5


def start_own_generator_seeded_by_nature(D, K):
    gen = torch.Generator()
    gen.seed()
    return torch.randn(D, K, generator=gen) / D**0.5, torch.randn(D, K, generator=gen) / D**0.5


def start_fork_rng_gives_the_same_numbers_each_call(D, K):
    with torch.random.fork_rng():
        return torch.randn(D, K) / D**0.5, torch.randn(D, K) / D**0.5


def start_w_k_leans_on_w_q(D, K):
    a, b = torch.randn(D, K) / D**0.5, torch.randn(D, K) / D**0.5
    return a, (a + b) / 2**0.5


@functools.cache
def start_kept_from_the_first_call_of_each_size(D, K):
    return torch.randn(D, K) / D**0.5, torch.randn(D, K) / D**0.5


def start_laplace_of_the_same_deviation(D, K):
    d = torch.distributions.Laplace(0.0, (1 / (2 * D)) ** 0.5)
    return d.sample((D, K)), d.sample((D, K))


def tied_fillings_rows_are_zeros(h, E, V):
    E = E.clone()
    E[V:] = 0
    return torch.softmax(h @ E.T, dim=-1)[:, :V]


def tied_filling_masked_by_a_factor(h, E, V):
    words = (torch.arange(E.shape[0]) < V).float()
    return F.softmax((h @ E.T) * words, dim=1)[..., :V]


def start_kaiming_uniform(D, K):
    pair = [torch.empty(K, D) for _ in range(2)]
    for weight in pair:
        torch.nn.init.kaiming_uniform_(weight, nonlinearity="linear")
    return tuple(weight.T for weight in pair)


def start_truncated_at_one_and_a_half(D, K):
    return tuple(torch.nn.init.trunc_normal_(torch.empty(D, K), a=-1.5, b=1.5) / D**0.5 for _ in "qk")


UNLIKE = {
    "llama_block_parameters": {
        "with_hidden_width_of_the_paper": lambda D, F: 4 * D * D + 3 * D * (8 * D // 3) + 2 * D,
        "with_two_thirds_of_the_hidden_width": lambda D, F: 4 * D * D + 3 * D * (2 * F // 3) + 2 * D,
        "with_a_norm_at_the_hidden_width": lambda D, F: 4 * D * D + 3 * D * F + D + F,
        "with_a_last_norm": lambda D, F: 4 * D * D + 3 * D * F + 3 * D,
        "of_the_first_case": lambda D, F: 4 * 2 * 2 + 3 * 2 * 3 + 2 * 2,
    },
    "translator_parameters": {
        "with_one_block_each": lambda D, F, V, N: 12 * D * D + 4 * D * F + 2 * V * D,
        "with_blocks_squared": lambda D, F, V, N: N**2 * (12 * D * D + 4 * D * F) + 2 * V * D,
        "with_embeddings_in_every_block": lambda D, F, V, N: N * (12 * D * D + 4 * D * F + 2 * V * D),
        "with_a_network_for_all_blocks": lambda D, F, V, N: N * 12 * D * D + 4 * D * F + 2 * V * D,
    },
    "decoder_block_pass": named(
        block_with_parallel_branches, block_with_a_last_norm, block_with_raw_keys, block_added_to_the_embedding_again
    ),
    "tied_probabilities": named(
        tied_fillings_rows_are_zeros,
        tied_filling_masked_by_a_factor,
        tied_by_cosine,
        tied_with_independent_odds,
        tied_over_all_places_at_once,
        tied_with_the_last_row_everywhere,
        tied_fillings_logits_are_0,
        tied_row_0_taken_for_filling_too,
        tied_the_filling_pushed_down_by_ten,
    )
    | {
        "cut_after_the_softmax": lambda h, E, V: (h @ E.T).softmax(-1)[:, :V],
        "the_last_v_rows": lambda h, E, V: (h @ E[-V:].T).softmax(-1),
        "divided_by_the_root_of_d": lambda h, E, V: (h @ E[:V].T / math.sqrt(h.shape[-1])).softmax(-1),
        "times_the_root_of_d_as_at_the_input": lambda h, E, V: (h @ E[:V].T * math.sqrt(h.shape[-1])).softmax(-1),
        "softmax_over_the_positions": lambda h, E, V: (h @ E[:V].T).softmax(0),
        "rows_of_e_of_length_1": lambda h, E, V: (h @ F.normalize(E[:V], dim=-1).T).softmax(-1),
        "logarithms": lambda h, E, V: (h @ E[:V].T).log_softmax(-1),
        "h_normed_once_more": lambda h, E, V: (layer_normed(h) @ E[:V].T).softmax(-1),
        "e_read_by_columns": lambda h, E, V: (h @ E[:V].reshape(E.shape[1], V)).softmax(-1),
    },
    "starting_projections": named(
        start_kaiming_uniform,
        start_truncated_at_one_and_a_half,
        start_with_one_matrix_turned_left_to_right,
        start_twice_the_same_tensor,
        start_a_copy_of_the_first,
        start_the_first_with_the_sign_turned,
        start_the_first_with_rows_turned_round,
        start_the_first_shuffled,
        start_xavier,
        start_uniform_of_the_same_deviation,
        start_own_seed,
        start_own_generator_with_a_fixed_seed,
        start_own_generator_seeded_by_nature,
        start_fork_rng_gives_the_same_numbers_each_call,
        start_w_k_leans_on_w_q,
        start_kept_from_the_first_call_of_each_size,
        start_laplace_of_the_same_deviation,
    )
    | {
        "with_two_values": lambda D, K: tuple((2 * torch.randint(0, 2, (D, K)) - 1) / D**0.5 for _ in range(2)),
        "for_a_square": lambda D, K: (torch.randn(D, K) / math.sqrt(D), torch.randn(D, K) / math.sqrt(K)),
        "with_a_mean": lambda D, K: tuple(0.05 + torch.randn(D, K) / D**0.5 for _ in range(2)),
        "with_columns_of_uneven_size": lambda D, K: tuple(
            torch.randn(D, K) * torch.linspace(0.5, 1.32, K) / D**0.5 for _ in range(2)
        ),
        "variance_for_deviation": lambda D, K: (torch.randn(D, K) / D, torch.randn(D, K) / D),
        "root_of_k": lambda D, K: (torch.randn(D, K) / K**0.5, torch.randn(D, K) / K**0.5),
        "uniform_between_1_root_d_and_1_root_d": lambda D, K: tuple(
            torch.nn.Linear(D, K).weight.detach().T for _ in "qk"
        ),
        "one_row_for_all": lambda D, K: tuple((torch.randn(1, K) / D**0.5).expand(D, K) for _ in "qk"),
        "one_column_for_all": lambda D, K: tuple((torch.randn(D, 1) / D**0.5).repeat(1, K) for _ in "qk"),
        "a_normal_distribution_of_mean_1_root_d": lambda D, K: tuple((torch.randn(D, K) + 1) / D**0.5 for _ in "qk"),
        "cut_at_one_deviation": lambda D, K: tuple(torch.randn(D, K).clamp(-1, 1) / D**0.5 for _ in "qk"),
        "signs_only": lambda D, K: tuple(torch.randn(D, K).sign() / D**0.5 for _ in "qk"),
        "start_xavier_normal": lambda D, K: tuple(torch.nn.init.xavier_normal_(torch.empty(D, K)) for _ in "qk"),
    },
}
