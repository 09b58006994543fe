"""The same parts of a block, put together in other ways: what may be changed about the Transformer's block.

A wiring is a function (block, x) -> x over a block's `attention`, `feed_forward` and its four `norms`. `blocks` holds
the course's own block, which is wired as pre- or post-norm; here any wiring can be tried on a small stack, and what
the depth does to gradients and tokens can be measured.
"""

from collections.abc import Callable, Sequence

import torch
import torch.nn.functional as F
from torch import Tensor, nn

from tx_helpers.attention import MultiHeadAttention
from tx_helpers.capture import capture
from tx_helpers.layers import FeedForward
from tx_helpers.observe import observe
from tx_helpers.positions import SinusoidalPositions
from tx_helpers.training.contexts import RandomStream, cpu_threads

Wiring = Callable[["WiredBlock", Tensor], Tensor]


def pre_norm(block: "WiredBlock", x: Tensor) -> Tensor:
    """x ← x + A(norm x), x ← x + FFN(norm x). Xiong et al. 2020."""
    x = x + block.attention(block.norms[0](x))
    return x + block.feed_forward(block.norms[1](x))


def post_norm(block: "WiredBlock", x: Tensor) -> Tensor:
    """x ← norm(x + A(x)), x ← norm(x + FFN(x)). Vaswani et al. 2017."""
    x = block.norms[0](x + block.attention(x))
    return block.norms[1](x + block.feed_forward(x))


def no_norm(block: "WiredBlock", x: Tensor) -> Tensor:
    """x ← x + A(x), x ← x + FFN(x)."""
    x = x + block.attention(x)
    return x + block.feed_forward(x)


def pre_norm_without_residual(block: "WiredBlock", x: Tensor) -> Tensor:
    """x ← FFN(norm A(norm x))."""
    return block.feed_forward(block.norms[1](block.attention(block.norms[0](x))))


def post_norm_without_residual(block: "WiredBlock", x: Tensor) -> Tensor:
    """x ← norm FFN(norm A(x))."""
    return block.norms[1](block.feed_forward(block.norms[0](block.attention(x))))


def nothing_around(block: "WiredBlock", x: Tensor) -> Tensor:
    """x ← FFN(A(x)): neither norm nor residual."""
    return block.feed_forward(block.attention(x))


class WiredBlock(nn.Module):
    """Self-attention, feed-forward and four LayerNorms, used as the wiring says. (B, T, D) -> (B, T, D)"""

    def __init__(self, wiring: Wiring, d_model: int, n_heads: int):
        super().__init__()
        self.wiring = wiring
        self.attention = MultiHeadAttention(d_model, n_heads)
        self.feed_forward = FeedForward(d_model, 4 * d_model)
        self.norms = nn.ModuleList(nn.LayerNorm(d_model) for _ in range(4))

    def forward(self, x: Tensor) -> Tensor:
        return observe("hidden", self.wiring(self, x))


class WiredStack(nn.Module):
    """Ids (B, T) -> logits (B, T, V): embedding, sinusoidal positions, `depth` blocks of a wiring, norm, output.

    First values: Xavier's for all matrices, zero for the biases, drawn from `seed` alone, so that stacks of the same
    sizes have the same numbers whatever their wiring.
    """

    def __init__(
        self,
        wiring: Wiring,
        *,
        vocab_size: int = 16,
        d_model: int = 32,
        depth: int = 6,
        n_heads: int = 4,
        seed: int = 0,
    ):
        super().__init__()
        if depth < 1:
            raise ValueError(f"WiredStack: depth={depth}, expected at least 1")
        with RandomStream(seed).on(torch.device("cpu")):
            self.tokens = nn.Embedding(vocab_size, d_model)
            self.positions = SinusoidalPositions(d_model)
            self.blocks = nn.ModuleList(WiredBlock(wiring, d_model, n_heads) for _ in range(depth))
            self.norm = nn.LayerNorm(d_model)
            self.output = nn.Linear(d_model, vocab_size)
            for name, parameter in self.named_parameters():
                if parameter.dim() == 2 and not name.startswith("tokens"):
                    nn.init.xavier_uniform_(parameter)
                elif name.endswith("bias"):
                    nn.init.zeros_(parameter)

    def forward(self, ids: Tensor) -> Tensor:
        x = self.tokens(ids)
        x = observe("start", x + self.positions(torch.arange(ids.shape[1], device=ids.device), x.dtype))
        for block in self.blocks:
            x = block(x)
        return self.output(self.norm(x))


def gradient_by_block(stack: WiredStack, ids: Tensor, target: Tensor) -> list[float]:
    """For each block the length of ∂loss/∂W over its attention and feed-forward; ids and target (B, T)."""
    loss = F.cross_entropy(stack(ids).flatten(0, 1), target.flatten())
    weights = [[p for part in (b.attention, b.feed_forward) for p in part.parameters()] for b in stack.blocks]
    flat = iter(torch.autograd.grad(loss, [p for block in weights for p in block]))
    return [sum(next(flat).square().sum() for _ in block).sqrt().item() for block in weights]


def likeness_by_block(stack: WiredStack, ids: Tensor) -> list[float]:
    """How alike the tokens of a sentence are, at the start and after each block: see `likeness`."""
    with capture(stack, "start", "*.hidden") as seen, torch.no_grad():
        stack(ids)
    return [likeness(seen[name]) for name in seen]


def likeness(hidden: Tensor) -> float:
    """Mean cosine between the vectors of two different positions of one sentence; hidden (B, T, D), T ≥ 2."""
    T = hidden.shape[1]
    if T < 2:
        raise ValueError(f"likeness: hidden of shape {tuple(hidden.shape)} has {T} positions, expected at least 2")
    unit = F.normalize(hidden, dim=-1)
    cosines = unit @ unit.mT  # (B, T, T)
    return ((cosines.sum(dim=(1, 2)) - T) / (T * (T - 1))).mean().item()


def train_to_sort(
    stack: WiredStack,
    *,
    steps: int,
    warmup: int = 0,
    lr: float = 2e-3,
    length: int = 8,
    seed: int = 0,
) -> list[float]:
    """Teach a stack to write a row of ids in rising order; the losses of all steps, in nats.

    Adam on 32 new rows of ids 1 … V − 1 a step; the rate rises over `warmup` steps and then stays. Rows depend on
    `seed` alone.
    """
    if steps < 1 or warmup < 0:
        raise ValueError(f"train_to_sort: steps={steps} and warmup={warmup}, expected at least 1 and 0")
    generator = torch.Generator().manual_seed(seed)
    optimizer = torch.optim.Adam(stack.parameters(), lr=lr, fused=True)
    schedule = torch.optim.lr_scheduler.LambdaLR(optimizer, lambda step: min(1.0, (step + 1) / max(1, warmup)))
    losses: list[float] = []
    with cpu_threads(1):  # two threads wait for each other at these sizes
        for _ in range(steps):
            ids = rows(stack.output.out_features, length, generator)
            loss = F.cross_entropy(stack(ids).flatten(0, 1), ids.sort(dim=1).values.flatten())
            optimizer.zero_grad()
            loss.backward()
            optimizer.step()
            schedule.step()
            losses.append(loss.item())
    return losses


def rows(vocab_size: int, length: int, generator: torch.Generator, batch: int = 32) -> Tensor:
    """Ids 1 … V − 1 at random (batch, length)."""
    return torch.randint(1, vocab_size, (batch, length), generator=generator)


def mean_of_last(losses: Sequence[float], number: int = 10) -> float:
    """The mean of the last losses, which is steadier than the last one."""
    return sum(losses[-number:]) / len(losses[-number:])
