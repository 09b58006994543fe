"""Mixture of experts: the formula, the router's choice, capacity, and balance by loss and by bias."""

import math

import pytest
import torch
from torch import Tensor

from parity import DEVICES, B, D, F, T, normal, randomise, tokens
from toy_models import close
from tx_helpers.nn.capture import capture
from tx_helpers.nn.layers import FeedForward, GatedFeedForward
from tx_helpers.nn.models import count_parameters
from tx_helpers.zoo.parts.experts import (
    ExpertGroups,
    ExpertsConfig,
    MixtureOfExperts,
    Router,
    Routing,
    balance_loss,
    expert_load,
    routes,
    within_capacity,
)
from wrong_arguments import faults

E, k = 5, 2
OPTIONS = {
    "mixtral": {},
    "switch": dict(gated=False, activation="relu", bias=True, normalised=False),
    "deepseek": dict(score="sigmoid", biased=True, scale=2.5, shared=2),
}
every_kind = pytest.mark.parametrize("options", OPTIONS.values(), ids=OPTIONS)


def layer(top_k: int = k, seed: int = 0, **options) -> MixtureOfExperts:
    made = randomise(MixtureOfExperts(D, F, E, top_k, **options).double(), seed)
    if made.router.bias is not None:
        made.router.bias.copy_(normal(E, seed=seed + 1))
    return made


@every_kind
@pytest.mark.parametrize("top_k", [1, k, E])
def test_a_position_gets_the_weighted_sum_of_its_experts(options, top_k):
    """One position at a time, with Python's own sorting."""
    made, x = layer(top_k, **options), normal(B, T, D)
    expected = torch.zeros_like(x)
    for b in range(B):
        for t in range(T):
            logits = made.router.logits(x[b, t])
            scores = logits.sigmoid() if made.router.config.score == "sigmoid" else logits.softmax(-1)
            order = scores if made.router.bias is None else scores + made.router.bias
            chosen = sorted(range(E), key=lambda i: -order[i])[:top_k]
            whole = sum(scores[i] for i in chosen) if made.router.config.normalised else 1.0
            for i in chosen:
                expected[b, t] += made.router.config.scale * scores[i] / whole * made.experts[i](x[b, t])
            if made.shared is not None:
                expected[b, t] += made.shared(x[b, t])
    close(made(x), expected, 1e-12)
    close(made(x[0, 0]), expected[0, 0], 1e-12)


def test_a_position_that_every_sigmoid_rejects_gets_nothing_and_no_nan():
    """Below −104 the sigmoid is 0 in float32, and the sum of the chosen scores, too."""
    router = Router(D, E, k, score="sigmoid")
    torch.nn.init.constant_(router.logits.weight, -200 / D)
    x = torch.ones(B, T, D, requires_grad=True)
    gates = router(x).gates
    gates.sum().backward()
    assert not gates.any()
    assert x.grad.isfinite().all() and router.logits.weight.grad.isfinite().all()


def test_one_expert_is_a_feed_forward_network():
    made = randomise(MixtureOfExperts(D, F, 1, 1).double())
    assert torch.equal(made(normal(B, T, D)), made.experts[0](normal(B, T, D)))
    assert isinstance(made.experts[0], GatedFeedForward)
    assert isinstance(MixtureOfExperts(D, F, 1, 1, gated=False).experts[0], FeedForward)


@every_kind
def test_an_expert_computes_the_positions_that_chose_it_and_no_others(options):
    made, x, seen = layer(**options), normal(B, T, D), []
    for expert in made.experts:
        expert.register_forward_hook(lambda _, inputs, __: seen.append(len(inputs[0])))
    made(x)
    chosen = made.router(x).chosen
    assert seen == [(chosen == i).sum().item() for i in range(E)]
    assert sum(seen) == B * T * k


@every_kind
def test_the_traced_form_agrees_with_gradients(options):
    """torch.func cannot read values, so every expert computes every position there."""
    made, x = layer(**options), normal(B, T, D)
    weights = {name: p.detach() for name, p in made.named_parameters()}

    def loss(weights, x):
        return torch.func.functional_call(made, weights, (x,)).square().sum()

    found = torch.func.grad(loss, argnums=(0, 1))(weights, x)
    wanted = x.clone().requires_grad_()
    made(wanted).square().sum().backward()
    close(found[1], wanted.grad)
    for name, parameter in made.named_parameters():
        close(found[0][name], parameter.grad)


def test_gates_can_be_watched_and_an_expert_be_switched_off():
    made, x = layer(), normal(B, T, D)

    def without_first(gates: Tensor) -> Tensor:
        return gates * torch.tensor([0, 1, 1, 1, 1])

    with capture(made) as seen:
        out = made(x)
    gates = seen["router.gates"]
    assert gates.shape == seen["router.expert_scores"].shape == (B, T, E)
    assert (gates > 0).sum(-1).eq(k).all()
    assert gates[..., 0].any()
    close(gates.sum(-1), torch.ones(B, T).double(), 1e-12)
    assert torch.equal(seen["output"], out)
    with capture(made, edit={"router.gates": without_first}):
        close(made(x), out - gates[..., :1] * made.experts[0](x), 1e-12)


def test_the_bias_moves_the_choice_and_not_the_gates():
    made, x = layer(biased=True), normal(B, T, D)
    made.router.bias.copy_(torch.tensor([9.0, 0, 0, 0, 8.0]))
    routing = made.router(x)
    assert set(routing.chosen.flatten().tolist()) == {0, 4}
    two = routing.scores[..., [0, 4]]
    close(routing.gates[..., [0, 4]], two / two.sum(-1, keepdim=True), 1e-12)
    assert "router.bias" in made.state_dict()
    assert "router.bias" not in dict(made.named_parameters())


def test_groups_by_hand():
    scores = torch.tensor([[0.9, 0.0, 0.5, 0.5, 0.6, 0.3]])  # three groups of two
    best = ExpertGroups(3, 1).close_others(scores)
    assert best.isfinite().tolist() == [[True, True, False, False, False, False]]  # the highest score
    both = ExpertGroups(3, 1, best=2).close_others(scores + torch.tensor([0.0, 0.0, 0.1, 0.1, 0.0, 0.0]))
    assert both.isfinite().tolist() == [[False, False, True, True, False, False]]  # the highest sum of two
    torch.testing.assert_close(both[0, 2:4], torch.tensor([0.6, 0.6]))


def test_a_router_chooses_within_its_groups_alone():
    made = Router(D, 6, 2, groups=ExpertGroups(3, 1)).double()
    chosen = made(normal(B, T, D)).chosen
    assert (chosen[..., 0] // 2 == chosen[..., 1] // 2).all()
    whole = Router(D, 6, 2, groups=ExpertGroups(3, 3)).double()
    whole.load_state_dict(made.state_dict())
    plain = Router(D, 6, 2).double()
    plain.load_state_dict(made.state_dict())
    assert torch.equal(whole(normal(B, T, D)).chosen, plain(normal(B, T, D)).chosen)


@pytest.mark.parametrize(
    ("call", "message"),
    [
        (lambda: ExpertGroups(3, 4), "ExpertGroups: kept=4, but there are n=3 groups"),
        (
            lambda: ExpertsConfig(7, 2, groups=ExpertGroups(3, 2)),
            "ExpertGroups: 7 experts in n=3 groups, expected equal",
        ),
        (
            lambda: ExpertsConfig(3, 2, groups=ExpertGroups(3, 2, 2)),
            "3 experts in n=3 groups, expected equal ones of 2",
        ),
        (lambda: ExpertsConfig(6, 3, groups=ExpertGroups(3, 1)), "top_k=3, but the kept=1 groups have 2 experts"),
        (lambda: ExpertsConfig(6, 3, groups=3), "ExpertsConfig: groups is 3, expected an ExpertGroups"),
    ],
)
def test_bad_groups_are_named(call, message):
    with pytest.raises(ValueError, match=message):
        call()


def test_capacity_by_hand():
    """Three positions, two experts, k = 2, room for two choices each: all first choices come before any second one."""
    chosen = torch.tensor([[0, 1], [0, 1], [0, 1]])
    room = within_capacity(chosen, 2, 2 / 3)
    assert room.tolist() == [[True, True], [True, True], [False, False]]
    chosen = torch.tensor([[0, 1], [1, 0], [1, 0]])  # expert 0 is the first choice of one, the second of two
    assert within_capacity(chosen, 2, 1 / 3).tolist() == [[True, False], [True, False], [False, False]]
    assert within_capacity(chosen, 2, 1.0).all()
    assert within_capacity(chosen.view(1, 3, 2), 2, 1 / 3).shape == (1, 3, 2)


@pytest.mark.parametrize("factor", [0.3, 0.75, 1.0, 1.25])
def test_capacity_drops_in_training_alone(factor):
    made, x = layer(capacity_factor=factor), normal(B, T, D)
    full = layer()
    room = math.ceil(factor * B * T * k / E)
    gates = made.train().router(x).gates
    used = (gates > 0).sum(dim=(0, 1))
    assert torch.equal(used, expert_load(full.router(x).chosen, E).mul(B * T).round().long().clamp(max=room))
    kept = gates > 0
    assert torch.equal(gates[kept], full.router(x).gates[kept])
    dropped = ~kept.any(-1)
    if factor == 0.3:
        assert dropped.any()
        assert not made(x)[dropped].any()
    close(made.eval()(x), full(x), 1e-12)


def test_a_capacity_lets_the_future_leak_in_training_and_not_in_evaluation():
    """Two positions, one place at expert 0: the later one's first choice takes it from the earlier one's second."""
    earlier, later = [1, 0], [0, 1]
    alone = within_capacity(torch.tensor([earlier]), 2, 1.0)
    assert alone.tolist() == [[True, True]]
    assert within_capacity(torch.tensor([earlier, later]), 2, 0.5).tolist() == [[True, False], [True, False]]
    made, x = layer(capacity_factor=0.3), normal(1, 30, D)
    changed = torch.cat([x[:, :15], normal(1, 15, D, seed=9)], dim=1)
    assert not torch.allclose(made.train()(x)[:, :15], made(changed)[:, :15])
    close(made.eval()(x)[:, :15], made(changed)[:, :15], 1e-12)


# ------------------------------------------------------------------------------------------------------------- balance


def skewed(seed: int, positions: int = 400) -> Tensor:
    """Vectors with one direction in common: a random router sends most of them to the same experts."""
    return normal(positions, D, seed=seed) + 2 * normal(D, seed=seed + 100)


def share_of_the_busiest(chosen: Tensor) -> float:
    """1/E where all are used alike."""
    return (expert_load(chosen, E).max() / chosen.shape[-1]).item()


@pytest.mark.parametrize("seed", range(5))
@pytest.mark.parametrize("remedy", ["loss", "bias"])
def test_a_collapsed_router_is_balanced(remedy, seed):
    options = dict(score="sigmoid", biased=True) if remedy == "bias" else {}
    router, x = randomise(Router(D, E, k, **options).double(), seed, std=0.1), skewed(seed)
    before = share_of_the_busiest(router(x).chosen)
    assert before > 0.35
    for _ in range(200):
        routing = router(x)
        if remedy == "bias":
            router.rebalance(routing.chosen, rate=0.005)
        else:
            router.zero_grad()
            balance_loss([routing]).backward()
            with torch.no_grad():
                router.logits.weight -= 0.05 * router.logits.weight.grad
    assert share_of_the_busiest(router(x).chosen) < (0.25 if remedy == "bias" else 0.8 * before)
    if remedy == "bias":  # the gates are still those of the scores
        close(routing.gates.sum(-1), torch.ones(400).double(), 1e-12)


def test_padding_does_not_move_the_bias():
    router = Router(D, E, 1, biased=True)
    router.rebalance(torch.tensor([[0], [1], [1], [1]]), real=torch.tensor([True, False, False, False]), rate=0.5)
    assert router.bias.tolist() == [-0.5, *[0.5] * (E - 1)]


def routing_to(experts: list[int], n: int = 4) -> Routing:
    """Every position prefers these experts with certainty."""
    chosen = torch.tensor(experts).expand(n, -1)
    scores = torch.zeros(n, E).scatter(-1, chosen, 1 / len(experts))
    return Routing(scores, chosen, scores)


def test_balance_loss_by_hand():
    close(balance_loss([routing_to([2])]), torch.tensor(float(E)))  # one expert gets all
    uniform = Routing(torch.full((E, E), 1 / E), torch.arange(E).unsqueeze(-1), torch.eye(E))
    close(balance_loss([uniform]), torch.tensor(1.0), 1e-6)
    close(balance_loss([routing_to([0]), uniform]), torch.tensor((E + 1) / 2), 1e-6)


def test_pooled_over_layers_one_favourite_hides_the_other():
    """Each of five layers sends everything to one expert of its own: pooled, that is perfect balance."""
    layers = [routing_to([i]) for i in range(E)]
    close(balance_loss(layers), torch.tensor(float(E)))
    close(balance_loss(layers, pooled=True), torch.tensor(1.0), 1e-6)


def test_padding_does_not_count_in_the_balance():
    scores, real = normal(B, T, E, dtype=torch.float32).softmax(-1), torch.ones(B, T, dtype=torch.bool)
    real[1, 3:] = False
    whole = Routing(scores, scores.topk(k).indices, scores)
    alone = Routing(scores[real], scores[real].topk(k).indices, scores[real])
    close(balance_loss([whole], real=real), balance_loss([alone]), 1e-6)
    assert not torch.allclose(balance_loss([whole]), balance_loss([alone]))


def test_the_gradient_of_the_loss_lowers_the_score_of_the_busy_expert():
    logits = torch.zeros(4, E, requires_grad=True)
    balance_loss([Routing(logits.softmax(-1), torch.tensor([[1]]).expand(4, 1), logits)]).backward()
    assert (logits.grad[:, 1] > 0).all()
    assert (logits.grad[:, [0, 2, 3, 4]] < 0).all()


def test_routes_collects_every_router_with_its_graph_and_leaves_no_hook():
    made = torch.nn.Sequential(layer(), layer(seed=1))
    with routes(made) as found:
        made(normal(B, T, D))
    assert list(found) == ["0.router", "1.router"]
    assert found["0.router"].scores.requires_grad
    assert not any(module._forward_hooks for module in made.modules())


def test_the_parameters_of_all_experts():
    made = MixtureOfExperts(D, F, E, k, shared=2)
    assert count_parameters(made) == D * E + (E + 2) * 3 * D * F


# --------------------------------------------------------------------------------------------------- like other layers


@every_kind
@pytest.mark.parametrize("device", [*DEVICES, "meta"])
@pytest.mark.parametrize("dtype", [torch.float64, torch.float32, torch.bfloat16])
def test_it_follows_device_and_precision(device, dtype, options):
    made, x = layer(E, **options), normal(B, T, D)  # all experts: in half precision another one could be chosen
    expected = made(x)
    out = made.to(device, dtype)(x.to(device, dtype))
    assert (out.shape, out.dtype, out.device.type) == ((B, T, D), dtype, device)
    if device != "meta":
        tolerance = {torch.float64: 1e-9, torch.float32: 1e-4, torch.bfloat16: 0.1}[dtype]
        scale = expected.abs().max()
        close(out.cpu().double() / scale, expected / scale, tolerance)


@pytest.mark.parametrize(
    ("call", "arguments"),
    [
        (ExpertsConfig, dict(n_experts=E, top_k=k, shared=1, score="sigmoid", scale=2.0, capacity_factor=1.25)),
        (Router, dict(d_model=D, n_experts=E, top_k=k, score="softmax", scale=1.0, capacity_factor=1.5)),
        (MixtureOfExperts, dict(d_model=D, d_ff=F, n_experts=E, top_k=k, shared=1, activation="silu")),
        (Router(D, E, k).double(), dict(x=normal(B, T, D))),
        (MixtureOfExperts(D, F, E, k).double(), dict(x=normal(B, T, D))),
        (within_capacity, dict(chosen=tokens(B, T, k, low=0, high=E), n_experts=E, capacity_factor=1.0)),
        (Router(D, E, k, biased=True).rebalance, dict(chosen=tokens(B, T, k, low=0, high=E), rate=0.1)),
        (balance_loss, dict(routings=[routing_to([1])])),
    ],
    ids=lambda value: getattr(value, "__name__", type(value).__name__),
)
def test_every_wrong_argument_is_named(call, arguments):
    assert faults(call, arguments) == []


@pytest.mark.parametrize(
    ("call", "message"),
    [
        (lambda: ExpertsConfig(3, 4), "ExpertsConfig: top_k=4, but there are n_experts=3"),
        (
            lambda: routes(torch.nn.Linear(2, 3)).__enter__(),
            "routes: the Linear has no router, expected a model with a MixtureOfExperts",
        ),
        (lambda: layer().router.rebalance(torch.zeros(3, k).long()), "the router was made with biased=False"),
        (lambda: layer()(torch.ones(B, T, 7)), r"Router: x of shape \(2, 5, 7\), expected float \(…, 12\)"),
        (
            lambda: balance_loss([routing_to([1])], real=torch.ones(3, dtype=torch.bool)),
            r"experts: real of shape \(3,\), expected \(4,\)",
        ),
    ],
)
def test_bad_input_is_named(call, message):
    with pytest.raises(ValueError, match=message):
        call()
