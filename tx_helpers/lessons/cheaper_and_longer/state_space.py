"""A selective state-space layer (Mamba): a recurrence whose step size, input and output depend on the token.

    h_t = e^(Δ_t A) ∘ h_{t−1} + Δ_t B_t x_t,      y_t = C_t · h_t + D x_t

Each channel of x has a state h of N numbers. A large Δ_t forgets the past and writes this token; Δ_t = 0 skips it.
The recurrence h_t = a_t h_{t−1} + b_t is linear in h, so two steps are one step of the same form, and T steps can be
computed in log₂ T rounds: `scan`. Source: Gu & Dao 2023, section 3 and algorithm 2; the scan: Hillis & Steele 1986.

Shapes: x (B, T, D) outside, (B, T, I) inside with the inner width I, h (B, I, N). The paper's B and C are called
`write` and `read` here, because B is the batch. Left out on purpose: a fused kernel, so h is held for all T at once.
"""

from typing import NamedTuple

import torch
import torch.nn.functional as F
from torch import Tensor, nn

from tx_helpers.nn.arguments import check_numbers, check_tensors


def scan(a: Tensor, b: Tensor, start: Tensor | None = None) -> Tensor:
    """h_t = a_t h_{t−1} + b_t along dimension 1, from 0 or start: a, b (B, T, …) -> all h (B, T, …), in log₂ T rounds.

    Two steps in a row are one: (a₁, b₁), then (a₂, b₂), is (a₂ a₁, a₂ b₁ + b₂).
    After the round with distance d, position t holds the last 2d steps as one.
    """
    _check_recurrence("scan", a, b, start)
    if start is not None:  # the first step begins at `start`
        b = torch.cat([b[:, :1] + a[:, :1] * start[:, None], b[:, 1:]], dim=1)
    distance = 1
    while distance < a.shape[1]:
        later_a, later_b = a[:, distance:], b[:, distance:]
        earlier_a, earlier_b = a[:, :-distance], b[:, :-distance]
        b = torch.cat([b[:, :distance], later_a * earlier_b + later_b], dim=1)
        a = torch.cat([a[:, :distance], later_a * earlier_a], dim=1)
        distance *= 2
    return b


def selective_state_space(
    x: Tensor, delta: Tensor, rate: Tensor, write: Tensor, read: Tensor, skip: Tensor, start: Tensor | None = None
) -> tuple[Tensor, Tensor]:
    """The equation above by `scan`. -> y (B, T, I), the last state (B, I, N)

    x, delta     (B, T, I): the input, and Δ > 0 for each of its channels
    rate         (I, N): A < 0
    write, read  (B, T, N): the paper's B and C
    skip         (I,): the paper's D
    start        (B, I, N): the state to begin with, or None for zeros
    """
    sizes = check_tensors(
        "selective_state_space",
        x=(x, "float B T I"),
        delta=(delta, "float B T I"),
        rate=(rate, "float I N"),
        write=(write, "float B T N"),
        read=(read, "float B T N"),
        skip=(skip, "float I"),
    )
    if start is not None:
        check_tensors("selective_state_space", sizes, start=(start, "float B I N"))
    kept = torch.exp(delta[..., None] * rate)  # (B, T, I, N)
    written = (delta * x)[..., None] * write[:, :, None, :]
    h = scan(kept, written, start)
    return torch.einsum("btin,btn->bti", h, read) + skip * x, h[:, -1]


class StateSpaceState(NamedTuple):
    """What the layer keeps of the past, however long it was."""

    inputs: Tensor  # (B, kernel − 1, I): the last inputs of the convolution
    h: Tensor  # (B, I, N)


class SelectiveStateSpace(nn.Module):
    """x (B, T, D) -> y (B, T, D), in the place of attention and feed-forward: Gu & Dao 2023, section 3.4, figure 3.

    x, z = W_in u;  x = silu(conv(x));  Δ = softplus(W_Δ W_r x);  B, C = W_B x, W_C x;  y = W_out (ssm(x) ∘ silu(z))

    d_inner  I, by default 2 D        d_state  N        kernel  positions of the causal convolution
    rank     of the map from x to Δ, by default D/16, rounded up
    """

    def __init__(
        self, d_model: int, *, d_inner: int | None = None, d_state: int = 16, kernel: int = 4, rank: int | None = None
    ):
        super().__init__()
        optional = dict(d_inner=d_inner, rank=rank)
        check_numbers("SelectiveStateSpace", least=1, whole=True, d_model=d_model, d_state=d_state, kernel=kernel)
        check_numbers("SelectiveStateSpace", optional, least=1, whole=True, optional=True)
        self.d_model, self.d_inner, self.d_state = d_model, d_inner or 2 * d_model, d_state
        self.kernel, self.rank = kernel, rank or -(-d_model // 16)
        self.input = nn.Linear(d_model, 2 * self.d_inner, bias=False)
        self.convolution = nn.Conv1d(self.d_inner, self.d_inner, kernel, groups=self.d_inner)
        self.select = nn.Linear(self.d_inner, self.rank + 2 * d_state, bias=False)
        self.step_size = nn.Linear(self.rank, self.d_inner)
        self.log_rate = nn.Parameter(torch.arange(1.0, d_state + 1).log().repeat(self.d_inner, 1))  # A = −1 … −N
        self.skip = nn.Parameter(torch.ones(self.d_inner))
        self.output = nn.Linear(self.d_inner, d_model, bias=False)
        self.first_values()

    @torch.no_grad()
    def first_values(self) -> None:
        """Δ begins between 0.001 and 0.1: Gu & Dao 2023, section 3.6."""
        first = torch.exp(torch.empty(self.d_inner, device=self.skip.device).uniform_(-6.9, -2.3))
        self.step_size.bias.copy_(first + torch.log(-torch.expm1(-first)))  # softplus of it is `first`

    def forward(
        self, u: Tensor, state: StateSpaceState | None = None, *, real: Tensor | None = None
    ) -> tuple[Tensor, StateSpaceState]:
        """From a state or from nothing. -> y (B, T, D), the state afterwards, as in PyTorch's recurrent layers

        real  (B, T), True at real tokens: padding leaves the state as it is
        """
        check_tensors("SelectiveStateSpace", u=(u, f"float B T {self.d_model}"))
        if not u.shape[1]:
            raise ValueError(f"SelectiveStateSpace: u of shape {tuple(u.shape)}, expected T >= 1")
        x, z = self.input(u).chunk(2, dim=-1)
        if real is not None:
            x = x * real[..., None]
        before = x.new_zeros(len(x), self.kernel - 1, self.d_inner) if state is None else state.inputs
        inputs = torch.cat([before, x], dim=1)
        x = F.silu(self.convolution(inputs.transpose(1, 2)).transpose(1, 2))
        low_rank, write, read = self.select(x).split([self.rank, self.d_state, self.d_state], dim=-1)
        delta = F.softplus(self.step_size(low_rank))
        if real is not None:
            delta = delta * real[..., None]
        start = None if state is None else state.h
        y, h = selective_state_space(x, delta, -self.log_rate.exp(), write, read, self.skip, start)
        return self.output(y * F.silu(z)), StateSpaceState(inputs[:, inputs.shape[1] - self.kernel + 1 :], h)


def _check_recurrence(where: str, a: Tensor, b: Tensor, start: Tensor | None) -> None:
    check_tensors(where, a=(a, "float …"), b=(b, "float …"))
    if a.dim() < 2 or a.shape != b.shape or not a.shape[1]:
        raise ValueError(f"{where}: a {tuple(a.shape)}, b {tuple(b.shape)}; expected (B, T, …) twice, with T >= 1")
    if start is not None:
        rest = " ".join(str(size) for size in (a.shape[0], *a.shape[2:]))
        check_tensors(where, start=(start, f"float {rest}"))
