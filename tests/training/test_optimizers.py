import math

import pytest
import torch
from torch import nn

from tx_helpers.training.optimizers import (
    Muon,
    adamw,
    constant,
    cosine,
    fast_bfloat16,
    linear_warmup_decay,
    muon,
    orthogonalise,
    warmup_inverse_sqrt,
)


class Toy(nn.Module):
    """Two blocks of matrices of three shapes, with an embedding and an output outside of them."""

    def __init__(self):
        super().__init__()
        self.tokens = nn.Embedding(11, 12)
        self.blocks = nn.ModuleList(nn.Sequential(nn.Linear(12, 20), nn.Linear(20, 12)) for _ in range(2))
        self.norm = nn.LayerNorm(12)
        self.output = nn.Linear(12, 11, bias=False)

    def forward(self, ids):
        x = self.tokens(ids)
        for block in self.blocks:
            x = x + block(x)
        return self.output(self.norm(x))


def toy(dtype=torch.float32) -> Toy:
    torch.manual_seed(0)
    return Toy().to(dtype)


# ---- schedules: whole curves


def test_2017s_schedule_is_equation_3():
    D, warmup = 12, 5
    schedule = warmup_inverse_sqrt(D, warmup=warmup)
    by_paper = [D**-0.5 * min(n**-0.5, n * warmup**-1.5) for n in range(1, 20)]
    assert [schedule(step) for step in range(19)] == pytest.approx(by_paper, rel=1e-12)
    assert max(range(19), key=schedule) == warmup - 1
    assert schedule(warmup - 1) == pytest.approx((D * warmup) ** -0.5)


def test_linear_schedule():
    curve = [linear_warmup_decay(10, warmup=4)(step) for step in range(12)]
    assert curve == pytest.approx([1 / 4, 2 / 4, 3 / 4, 1, 1, 5 / 6, 4 / 6, 3 / 6, 2 / 6, 1 / 6, 0, 0])
    assert [linear_warmup_decay(4)(step) for step in range(5)] == pytest.approx([1, 3 / 4, 2 / 4, 1 / 4, 0])


def test_cosine_schedule_is_pytorchs_after_the_warm_up():
    steps, warmup, floor = 13, 3, 0.1
    schedule = cosine(steps, warmup=warmup, floor=floor)
    optimizer = torch.optim.SGD([nn.Parameter(torch.zeros(1))], lr=1.0)
    theirs = torch.optim.lr_scheduler.CosineAnnealingLR(optimizer, steps - warmup, eta_min=floor)
    expected = [1 / 3, 2 / 3, 1.0]
    for _ in range(warmup, steps + 1):
        expected.append(optimizer.param_groups[0]["lr"])
        optimizer.step()
        theirs.step()
    assert [schedule(step) for step in range(steps + 1)] == pytest.approx(expected)
    assert schedule(steps + 5) == pytest.approx(floor)


def test_constant_schedule():
    assert [constant(warmup=2)(step) for step in range(4)] == [0.5, 1.0, 1.0, 1.0]
    assert constant()(0) == 1.0


@pytest.mark.parametrize(
    ("make", "message"),
    [
        (lambda: constant(warmup=-1), "constant: warmup=-1, expected at least 0"),
        (
            lambda: warmup_inverse_sqrt(12, warmup=0),
            "warmup_inverse_sqrt: warmup=0, expected at least 1",
        ),
        (lambda: linear_warmup_decay(5, warmup=5), "linear_warmup_decay: steps=5, expected more than warmup=5"),
        (lambda: cosine(4, warmup=7), "cosine: steps=4, expected more than warmup=7"),
        (lambda: cosine(4, floor=1.5), "cosine: floor=1.5, expected at least 0 and at most 1"),
    ],
)
def test_schedules_refuse(make, message):
    with pytest.raises(ValueError) as error:
        make()
    assert str(error.value) == message


# ---- AdamW


@pytest.mark.parametrize("dtype", [torch.float32, torch.float64])
def test_adamw_is_its_formula_with_decay_on_matrices_only(dtype):
    model = toy(dtype)
    lr, (b1, b2), decay, eps = 0.01, (0.8, 0.95), 0.3, 1e-6
    optimizer = adamw(model, lr, betas=(b1, b2), weight_decay=decay, eps=eps)
    expected = {name: p.detach().clone() for name, p in model.named_parameters()}
    m, v = ({name: torch.zeros_like(p) for name, p in expected.items()} for _ in range(2))
    for n in range(1, 4):
        optimizer.zero_grad()
        model(torch.tensor([[3, 1, 4, 1, n]])).square().sum().backward()
        for name, p in model.named_parameters():
            m[name] = b1 * m[name] + (1 - b1) * p.grad
            v[name] = b2 * v[name] + (1 - b2) * p.grad**2
            step = (m[name] / (1 - b1**n)) / ((v[name] / (1 - b2**n)).sqrt() + eps)
            kept = 1 - lr * decay if p.ndim == 2 else 1
            expected[name] = kept * expected[name] - lr * step
        optimizer.step()
    for name, p in model.named_parameters():
        torch.testing.assert_close(p.detach(), expected[name], msg=lambda m, name=name: f"{name}: {m}")


def test_adamw_leaves_frozen_parameters_out():
    model = toy()
    model.tokens.weight.requires_grad_(False)
    held = {p for group in adamw(model).param_groups for p in group["params"]}
    assert held == set(model.parameters()) - {model.tokens.weight}


# ---- Muon


def test_orthogonalise_keeps_the_directions_and_evens_out_the_singular_values():
    torch.manual_seed(0)
    matrices = torch.randn(3, 12, 20, dtype=torch.float64) @ torch.diag(torch.logspace(-1, 1, 20, dtype=torch.float64))
    U, S, Vt = torch.linalg.svd(matrices, full_matrices=False)
    assert (S.amax(-1) / S.amin(-1) > 5).all()
    between = U.mT @ orthogonalise(matrices) @ Vt.mT  # diagonal where the singular vectors are the same
    values = between.diagonal(dim1=-2, dim2=-1)
    assert ((values > 0.6) & (values < 1.3)).all(), values
    torch.testing.assert_close(between, torch.diag_embed(values), atol=0.05, rtol=0)


def test_orthogonalise_handles_each_matrix_alone_and_zero_as_zero():
    torch.manual_seed(0)
    matrices = torch.stack([torch.randn(5, 7), torch.zeros(5, 7), 1000 * torch.randn(5, 7)])
    together = orthogonalise(matrices)
    assert torch.equal(together[1], torch.zeros(5, 7))
    for matrix, result in zip(matrices, together, strict=True):
        torch.testing.assert_close(orthogonalise(matrix[None])[0], result, atol=0.02, rtol=0)


def _distance_to_pytorchs_muon(**settings) -> float:
    """The largest difference of any element after five steps with the same gradients, in units of one step."""
    lr = 0.05
    shapes = [(12, 20), (20, 12), (12, 12), (12, 20), (7, 3)]
    torch.manual_seed(0)
    ours = [nn.Parameter(torch.randn(shape)) for shape in shapes]
    theirs = [nn.Parameter(p.detach().clone()) for p in ours]
    a = Muon(ours, lr, **({"momentum": 0.8, "weight_decay": 0.3} | settings))
    b = torch.optim.Muon(theirs, lr, momentum=0.8, weight_decay=0.3)
    for _ in range(5):
        for p, q in zip(ours, theirs, strict=True):
            p.grad = torch.randn_like(p)
            q.grad = p.grad.clone()
        a.step()
        b.step()
    return max((p - q).abs().max().item() for p, q in zip(ours, theirs, strict=True)) / lr


def test_muon_is_pytorchs():
    assert _distance_to_pytorchs_muon() < 0.05  # five steps in bfloat16


def test_the_comparison_of_muon_would_notice_another_update(monkeypatch):
    assert _distance_to_pytorchs_muon(momentum=0.7) > 0.1
    assert _distance_to_pytorchs_muon(weight_decay=0.2) > 0.1
    monkeypatch.setattr(Muon, "_nesterov", lambda self, matrix, gradient, momentum: gradient)
    assert _distance_to_pytorchs_muon() > 0.1


def test_muon_in_float32_and_in_bfloat16_agree(monkeypatch):
    torch.manual_seed(0)
    matrices = torch.randn(2, 12, 20)
    results = []
    for fast in (True, False):
        monkeypatch.setattr("tx_helpers.training.optimizers.fast_bfloat16", lambda device, fast=fast: fast)
        results.append(orthogonalise(matrices))
    assert not torch.equal(*results)
    torch.testing.assert_close(*results, atol=0.05, rtol=0)


def test_muon_takes_the_matrices_inside_the_blocks_and_leaves_the_rest_to_adamw():
    model = toy()
    first, rest = muon(model, 0.03, adamw_lr=0.01, output_lr=0.002)
    names = {p: name for name, p in model.named_parameters()}
    assert [names[p] for p in first.param_groups[0]["params"]] == [
        f"blocks.{block}.{layer}.weight" for block in (0, 1) for layer in (0, 1)
    ]
    decayed, others, output = ([names[p] for p in group["params"]] for group in rest.param_groups)
    assert (decayed, output) == (["tokens.weight"], ["output.weight"])
    assert others == [f"blocks.{b}.{layer}.bias" for b in (0, 1) for layer in (0, 1)] + ["norm.weight", "norm.bias"]
    assert (type(first), type(rest)) == (Muon, torch.optim.AdamW)
    assert first.param_groups[0]["lr"] == 0.03
    assert [group["lr"] for group in rest.param_groups] == [0.01, 0.01, 0.002]
    assert [group["weight_decay"] for group in rest.param_groups] == [0.1, 0.0, 0.1]
    assert [group["lr"] for group in muon(model, adamw_lr=0.01)[1].param_groups] == [0.01] * 3


def test_muon_gives_a_tied_output_the_rate_of_the_embedding():
    model = toy()
    model.output.weight = model.tokens.weight
    rates = {
        p: group["lr"] for group in muon(model, adamw_lr=0.01, output_lr=0.002)[1].param_groups for p in group["params"]
    }
    assert rates[model.tokens.weight] == 0.01


def test_muon_skips_what_has_no_gradient_and_its_state_is_stored():
    model = toy()
    first, _ = muon(model)
    a, b = first.param_groups[0]["params"][:2]
    a.grad = torch.ones_like(a)
    before = b.detach().clone()
    first.step()
    assert torch.equal(b, before)
    again, _ = muon(toy())
    again.load_state_dict(first.state_dict())
    (state,) = again.state.values()
    assert torch.equal(state["momentum_buffer"], first.state[a]["momentum_buffer"])


def test_muon_takes_a_closure_and_further_groups_as_pytorchs_optimizers_do():
    matrix, other = nn.Parameter(torch.ones(3, 5)), nn.Parameter(torch.ones(5, 3))
    optimizer = Muon([matrix], 0.1)
    optimizer.add_param_group({"params": [other], "lr": 0.2})
    with pytest.raises(ValueError, match=r"^Muon: a parameter of shape \(7,\), expected matrices$"):
        optimizer.add_param_group({"params": [nn.Parameter(torch.zeros(7))]})
    assert [group["lr"] for group in optimizer.param_groups] == [0.1, 0.2]

    def closure():
        optimizer.zero_grad()
        loss = (matrix @ other).sum()
        loss.backward()
        return loss

    assert optimizer.step(closure).item() == 45.0
    assert not torch.equal(matrix, torch.ones(3, 5)) and not torch.equal(other, torch.ones(5, 3))
    assert optimizer.step() is None


@pytest.mark.parametrize(
    ("make", "message"),
    [
        (
            lambda: muon(nn.Linear(3, 5)),
            "muon: Linear has no matrix to train inside an nn.ModuleList of blocks; "
            "expected at least one (adamw trains any model)",
        ),
        (
            lambda: Muon([nn.Parameter(torch.zeros(5))]),
            "Muon: a parameter of shape (5,), expected matrices",
        ),
        (
            lambda: Muon([nn.Parameter(torch.zeros(3, 5))], momentum=1.0),
            "Muon: momentum=1.0, expected at least 0 and less than 1",
        ),
    ],
)
def test_muon_refuses(make, message):
    with pytest.raises(ValueError) as error:
        make()
    assert str(error.value) == message


@pytest.mark.parametrize("make", [adamw, muon])
@pytest.mark.parametrize("name", ["lr", "weight_decay"])
@pytest.mark.parametrize("number", [math.inf, math.nan, -1.0])
def test_a_rate_that_is_no_finite_number_is_refused(make, name, number):
    with pytest.raises(
        ValueError, match=rf"(?i){make.__name__}: {name}={number}, expected at least 0 and less than inf"
    ):
        make(toy(), **{name: number})


@pytest.mark.parametrize("make", [adamw, muon])
def test_a_compiled_model_is_one_like_any_other(make):
    """torch.compile puts a module around the model that has a length in name only."""
    model = toy()
    made, plain = make(torch.compile(model)), make(model)
    held = [
        [p for one in (o if isinstance(o, list) else [o]) for group in one.param_groups for p in group["params"]]
        for o in (made, plain)
    ]
    assert [id(p) for p in held[0]] == [id(p) for p in held[1]]


def test_fast_bfloat16_is_what_the_processor_says(monkeypatch):
    cpu = torch.device("cpu")
    for capabilities, expected in (({"avx512_bf16": True}, True), ({"amx_bf16": True}, True), ({"avx2": True}, False)):
        monkeypatch.setattr(torch.cpu, "get_capabilities", lambda c=capabilities: c, raising=False)
        assert fast_bfloat16(cpu) is expected
    monkeypatch.delattr(torch.cpu, "get_capabilities")  # torch 2.9
    assert fast_bfloat16(cpu) is False
    assert fast_bfloat16(torch.device("meta")) is False
