"""The size of a training step (schedules) and its direction (AdamW, Muon).

A schedule is a pure function step -> factor, for steps 0, 1, 2 …; the learning rate of a step is the optimizer's own
`lr` times the factor. So a resumed run needs nothing stored, and the curve can be drawn by calling it.
"""

import math
from collections.abc import Callable, Iterable, Sequence
from numbers import Real
from typing import Any

import torch
from torch import Tensor, nn

from tx_helpers.nn.arguments import check_numbers, check_types
from tx_helpers.training.gradients import cut_like, whole

Schedule = Callable[[int], float]


def constant(*, warmup: int = 0) -> Schedule:
    """A linear rise to 1 over `warmup` steps, then 1."""
    _check_steps("constant", warmup=warmup)
    return lambda step: _rise(step, warmup)


def warmup_inverse_sqrt(d_model: int, *, warmup: int = 4000) -> Schedule:
    """The schedule of 2017: D^(−½) · min(n^(−½), n · warmup^(−3/2)) with n = step + 1; the optimizer's lr is then 1.

    Rises linearly for `warmup` steps, to (D · warmup)^(−½), then falls as 1/√n. Vaswani et al. 2017, eq. 3.
    """
    check_numbers("warmup_inverse_sqrt", least=1, whole=True, d_model=d_model, warmup=warmup)
    return lambda step: d_model**-0.5 * min((step + 1) ** -0.5, (step + 1) * warmup**-1.5)


def linear_warmup_decay(steps: int, *, warmup: int = 0) -> Schedule:
    """A linear rise to 1 over `warmup` steps, then a linear fall to 0 at step `steps`."""
    _check_steps("linear_warmup_decay", warmup=warmup, steps=steps)
    return lambda step: _rise(step, warmup) * (1 - _progress(step, warmup, steps))


def cosine(steps: int, *, warmup: int = 0, floor: float = 0.0) -> Schedule:
    """A linear rise to 1 over `warmup` steps, then half a cosine down to `floor` at step `steps`.

    Source: Loshchilov and Hutter 2017 (SGDR), eq. 5, without restarts.
    """
    _check_steps("cosine", warmup=warmup, steps=steps)
    check_numbers("cosine", least=0, most=1, floor=floor)

    def factor(step: int) -> float:
        fall = (1 + math.cos(math.pi * _progress(step, warmup, steps))) / 2
        return _rise(step, warmup) * (floor + (1 - floor) * fall)

    return factor


def adamw(
    model: nn.Module,
    lr: float = 1e-3,
    *,
    betas: tuple[float, float] = (0.9, 0.99),
    weight_decay: float = 0.1,
    eps: float = 1e-8,
) -> torch.optim.AdamW:
    """PyTorch's AdamW, with weight decay for matrices only, not for biases and norm scales.

    m ← β₁m + (1 − β₁)g,  v ← β₂v + (1 − β₂)g²,  w ← (1 − ηλ)w − η · m̂ / (√v̂ + ε), where ^ corrects for the start
    at 0. Kingma and Ba 2015; Loshchilov and Hutter 2019 for the decay outside of the gradient.
    """
    check_types("adamw", nn.Module, model=model)
    trained = [parameter for parameter in model.parameters() if parameter.requires_grad]
    return _adamw("adamw", trained, lr, betas, weight_decay, eps)


def muon(
    model: nn.Module,
    lr: float = 0.03,
    *,
    momentum: float = 0.9,
    adamw_lr: float = 1e-2,
    output_lr: float | None = None,
    betas: tuple[float, float] = (0.9, 0.99),
    weight_decay: float = 0.1,
) -> list[torch.optim.Optimizer]:
    """Muon for the matrices inside the blocks, AdamW for the rest: embeddings, output, biases, norms.

    "Inside the blocks" means inside an `nn.ModuleList`. The rest is left to AdamW because a row of an embedding, or a
    row of the output, belongs to one token, whereas Muon treats a matrix as one linear map. output_lr is the rate of
    linear maps outside the blocks, which is the output where it is not tied to an embedding; by default adamw_lr.
    """
    check_types("muon", nn.Module, model=model)
    check_numbers("muon", least=0, less_than=math.inf, optional=True, output_lr=output_lr)
    blocks = [module for module in model.modules() if isinstance(module, nn.ModuleList)]
    inside = {parameter for block in blocks for parameter in block.parameters()}
    trained = [parameter for parameter in model.parameters() if parameter.requires_grad]
    matrices = [p for p in trained if p in inside and p.ndim == 2]
    if not matrices:
        raise ValueError(
            f"muon: {type(model).__name__} has no matrix to train inside an nn.ModuleList of blocks; "
            "expected at least one (adamw trains any model)"
        )
    chosen = set(matrices)
    maps = {module.weight for module in model.modules() if isinstance(module, nn.Linear)}
    embeddings = {module.weight for module in model.modules() if isinstance(module, nn.Embedding)}
    output = [p for p in trained if p in maps - embeddings - chosen]
    rest = [p for p in trained if p not in chosen.union(output)]
    first = Muon(matrices, lr, momentum=momentum, weight_decay=weight_decay)
    if not rest and not output:
        return [first]
    rates = {"params": output, "lr": adamw_lr if output_lr is None else output_lr, "weight_decay": weight_decay}
    return [first, _adamw("muon", rest, adamw_lr, betas, weight_decay, 1e-8, rates)]


class Muon(torch.optim.Optimizer):
    """Momentum, orthogonalised: every direction of a matrix moves by the same amount.

    M ← μM + (1 − μ)G,  U = μM + (1 − μ)G (Nesterov: one step ahead),
    W ← (1 − ηλ)W − η · √max(1, rows/columns) · orthogonalise(U)

    G is the gradient, μ momentum, η lr, λ weight_decay. The gradients of a layer point mostly in a few directions.
    AdamW leaves that as it is; Muon moves the weak directions as far as the strong ones.

    The update is that of `torch.optim.Muon` with adjust_lr_fn="original", up to rounding (tested): the step is scaled
    as in Jordan's code, not to the size of AdamW's (Moonshot). We have our own because torch's always multiplies in
    bfloat16, which most processors only emulate: for the six matrices of a block of width 128 it then takes 139 ms a
    step, and this one 9. On a processor with bfloat16 both take the same time and reach the same loss.
    Source: Jordan et al. 2024 (kellerjordan.github.io/posts/muon); weight decay: Liu et al. 2025 (Moonshot).
    """

    def __init__(
        self,
        parameters: Iterable[nn.Parameter],
        lr: float = 0.02,
        *,
        momentum: float = 0.95,
        weight_decay: float = 0.1,
    ):
        check_numbers("Muon", least=0, less_than=math.inf, lr=lr, weight_decay=weight_decay)
        check_numbers("Muon", least=0, less_than=1, momentum=momentum)
        super().__init__(parameters, {"lr": lr, "momentum": momentum, "weight_decay": weight_decay})

    def add_param_group(self, param_group: dict[str, Any]) -> None:
        """One more group of matrices, with options of its own; ValueError if a parameter is no matrix."""
        super().add_param_group(param_group)
        shapes = [tuple(parameter.shape) for parameter in self.param_groups[-1]["params"]]
        if other := [shape for shape in shapes if len(shape) != 2]:
            del self.param_groups[-1]
            raise ValueError(f"Muon: a parameter of shape {other[0]}, expected matrices")

    @torch.no_grad()
    def step(self, closure: Callable[[], Tensor] | None = None) -> Tensor | None:  # type: ignore[override]
        """One update of all matrices that have a gradient. -> the closure's loss, if there is a closure"""
        loss = None
        if closure is not None:
            with torch.enable_grad():
                loss = closure()
        for group in self.param_groups:
            lr, momentum = group["lr"], group["momentum"]
            by_shape: dict[tuple[int, ...], list[tuple[nn.Parameter, Tensor]]] = {}
            for parameter in group["params"]:
                if parameter.grad is not None:
                    by_shape.setdefault(tuple(sorted(parameter.shape)), []).append((parameter, parameter.grad))
            for matrices in by_shape.values():
                ahead = [whole(self._nesterov(*matrix, momentum)) for matrix in matrices]
                wide = [update.T if update.shape[0] > update.shape[1] else update for update in ahead]
                updates = orthogonalise(torch.stack(wide))
                for (matrix, _), update in zip(matrices, updates, strict=True):
                    rows, columns = matrix.shape
                    matrix.mul_(1 - lr * group["weight_decay"])
                    update = update.T if rows > columns else update
                    matrix.add_(cut_like(matrix, update), alpha=-lr * math.sqrt(max(1, rows / columns)))
        return loss

    def _nesterov(self, matrix: nn.Parameter, gradient: Tensor, momentum: float) -> Tensor:
        state = self.state[matrix]
        if not state:
            state["momentum_buffer"] = torch.zeros_like(matrix)
        state["momentum_buffer"].lerp_(gradient, 1 - momentum)
        return gradient.lerp(state["momentum_buffer"], momentum)


def orthogonalise(matrices: Tensor) -> Tensor:
    """Roughly the nearest matrices whose singular values are all 1: U S Vᵀ -> U S' Vᵀ with S' between 0.7 and 1.2.

    matrices (N, rows, columns), rows <= columns. Instead of a singular value decomposition: 5 Newton–Schulz iterations
    X ← aX + bAX + cA²X with A = XXᵀ, an odd polynomial of every singular value that pulls (0, 1] towards 1. Its
    coefficients make small values grow fastest; in return the values do not converge to 1 exactly. It needs only matrix
    products, in bfloat16 where the hardware is fast at them. Source: Jordan et al. 2024.
    """
    a, b, c = 3.4445, -4.7750, 2.0315
    x = matrices.to(torch.bfloat16 if fast_bfloat16(matrices.device) else torch.float32)
    # the Frobenius norm is no smaller than the largest singular value
    x = x / x.norm(dim=(-2, -1), keepdim=True).clamp(min=1e-7)
    for _ in range(5):
        A = x @ x.mT
        polynomial = torch.baddbmm(A, A, A, beta=b, alpha=c)  # bA + cA²
        x = torch.baddbmm(x, polynomial, x, beta=a)  # ax + (bA + cA²)x
    return x.to(matrices.dtype)


def fast_bfloat16(device: torch.device) -> bool:
    """Does this device multiply bfloat16 matrices in hardware? If not, they take up to 20 times as long as float32."""
    if device.type == "cuda":
        return torch.cuda.is_bf16_supported(including_emulation=False)
    if device.type != "cpu":
        return False
    capabilities: dict[str, bool] = getattr(torch.cpu, "get_capabilities", dict)()  # older torch: unknown, so no
    return any(capabilities.get(name, False) for name in ("avx512_bf16", "amx_bf16"))


def trained_by(optimizers: list[torch.optim.Optimizer], model: nn.Module) -> dict[str, nn.Parameter]:
    """The parameters that the optimizers hold, by their names in the model, in its order."""
    held = [parameter for o in optimizers for group in o.param_groups for parameter in group["params"]]
    distinct = set(held)
    trained = {name: parameter for name, parameter in model.named_parameters() if parameter in distinct}
    if len(distinct) < len(held):
        raise ValueError(f"fit: of {len(held)} parameters in the optimizers some are held twice, expected each once")
    if len(trained) < len(held):
        raise ValueError(
            f"fit: of {len(held)} parameters in the optimizers only {len(trained)} are this model's: "
            "the optimizer must be made from the model that it trains"
        )
    return trained


def _adamw(
    name: str,
    parameters: list[nn.Parameter],
    lr: float,
    betas: tuple[float, float],
    weight_decay: float,
    eps: float,
    *more: dict[str, Any],
) -> torch.optim.AdamW:
    check_numbers(name, least=0, less_than=math.inf, lr=lr, weight_decay=weight_decay, eps=eps)
    check_types(name, Sequence, betas=betas)
    if len(betas) != 2 or not all(isinstance(beta, Real) and 0 <= beta < 1 for beta in betas):
        raise ValueError(f"{name}: betas={betas}, expected two numbers from 0 to less than 1")
    decayed = [parameter for parameter in parameters if parameter.ndim >= 2]
    others = [parameter for parameter in parameters if parameter.ndim < 2]
    groups: list[dict[str, Any]] = [{"params": decayed, "weight_decay": weight_decay}]
    groups += [{"params": others, "weight_decay": 0.0}, *more]
    groups = [group for group in groups if group["params"]]
    fused = all(p.device.type in ("cpu", "cuda") for group in groups for p in group["params"])
    return torch.optim.AdamW(groups, lr=lr, betas=betas, eps=eps, fused=fused)


def _rise(step: int, warmup: int) -> float:
    return min(1.0, (step + 1) / warmup) if warmup else 1.0


def _progress(step: int, warmup: int, steps: int) -> float:
    """How much of the way from the end of the warm-up to `steps` is done, 0 … 1."""
    return min(1.0, max(0.0, (step - warmup) / (steps - warmup)))


def _check_steps(name: str, *, warmup: int, steps: int | None = None) -> None:
    check_numbers(name, least=0, whole=True, warmup=warmup)
    check_numbers(name, whole=True, optional=True, steps=steps)
    if steps is not None and steps <= warmup:
        raise ValueError(f"{name}: steps={steps}, expected more than warmup={warmup}")
