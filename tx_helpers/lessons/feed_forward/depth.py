"""What depth does to gradients and tokens, measured on stacks of blocks with any wiring.

`ToyEncoder` is small enough to be trained in seconds. Its task is to sort a row of numbers.
"""

from collections.abc import Sequence

import torch
import torch.nn.functional as F
from torch import Tensor, nn

from tx_helpers.nn.arguments import check_numbers, check_tensors
from tx_helpers.nn.attention import MultiHeadAttention
from tx_helpers.nn.blocks import Block, InputEmbedding, Wiring
from tx_helpers.nn.capture import capture
from tx_helpers.nn.layers import FeedForward
from tx_helpers.nn.positions import SinusoidalPositions
from tx_helpers.training.contexts import RandomStream, cpu_threads


class ToyEncoder(nn.Module):
    """Ids (B, T) -> logits (B, T, V): embedding, sinusoidal positions, `n_layers` blocks of a wiring, norm, output.

    Each block has two norms for each sub-layer, so that a wiring may use up to four. All matrices start with Xavier
    values and all biases at zero. The values are drawn from `seed` alone: two models of the same sizes start with the
    same values, whatever their wiring.
    """

    def __init__(
        self,
        wiring: Wiring,
        *,
        vocab_size: int = 16,
        d_model: int = 32,
        n_layers: int = 6,
        n_heads: int = 4,
        seed: int = 0,
    ):
        super().__init__()
        sizes = dict(vocab_size=vocab_size, d_model=d_model, n_layers=n_layers, n_heads=n_heads)
        check_numbers("ToyEncoder", sizes, least=1, whole=True)
        with RandomStream(seed).on(torch.device("cpu")):
            self.input = InputEmbedding(nn.Embedding(vocab_size, d_model), SinusoidalPositions(d_model))
            self.blocks = nn.ModuleList(_new_block(wiring, d_model, n_heads) for _ in range(n_layers))
            self.norm = nn.LayerNorm(d_model)
            self.output = nn.Linear(d_model, vocab_size)
            for name, parameter in self.named_parameters():
                if parameter.dim() == 2 and not name.startswith("input"):
                    nn.init.xavier_uniform_(parameter)
                elif name.endswith("bias"):
                    nn.init.zeros_(parameter)

    def forward(self, ids: Tensor) -> Tensor:
        x = self.input(ids, torch.arange(ids.shape[1], device=ids.device))
        for block in self.blocks:
            x = block(x)
        return self.output(self.norm(x))


def _new_block(wiring: Wiring, d_model: int, n_heads: int) -> Block:
    attention, feed_forward = MultiHeadAttention(d_model, n_heads), FeedForward(d_model, 4 * d_model)
    return Block(attention, feed_forward, lambda: nn.LayerNorm(d_model), wiring=wiring, norms_per_sublayer=2)


def gradient_by_block(model: ToyEncoder, ids: Tensor, target: Tensor) -> list[float]:
    """For each block the length of ∂loss/∂W, over its attention and feed-forward together; ids and target (B, T)."""
    loss = F.cross_entropy(model(ids).flatten(0, 1), target.flatten())
    weights = [[*block.self_attention.parameters(), *block.feed_forward.parameters()] for block in model.blocks]
    gradients = iter(torch.autograd.grad(loss, [weight for block in weights for weight in block]))
    squares = [sum(next(gradients).square().sum() for _ in block) for block in weights]
    return [square.sqrt().item() for square in squares]


def token_similarity_by_block(model: ToyEncoder, ids: Tensor) -> list[float]:
    """How similar the tokens of a sentence are, in the embedding and after each block: see `token_similarity`."""
    with capture(model, "*.hidden") as activations, torch.no_grad():
        model(ids)
    return [token_similarity(activations[name]) for name in activations]


def token_similarity(hidden: Tensor) -> float:
    """Mean cosine similarity of two different positions of one sentence; hidden (B, T, D), T ≥ 2."""
    T = check_tensors("token_similarity", hidden=(hidden, "float B T D"))["T"]
    if T < 2:
        raise ValueError(f"token_similarity: hidden of shape {tuple(hidden.shape)} has T = {T}, expected at least 2")
    unit = F.normalize(hidden, dim=-1)
    cosines = unit @ unit.mT  # (B, T, D) @ (B, D, T) -> (B, T, T)
    # the diagonal holds T ones: each position with itself
    return ((cosines.sum(dim=(1, 2)) - T) / (T * (T - 1))).mean().item()


def train_to_sort(
    model: ToyEncoder,
    *,
    steps: int,
    warmup: int = 0,
    lr: float = 2e-3,
    length: int = 8,
    seed: int = 0,
) -> list[float]:
    """Train a model to sort rows of ids; returns the loss of each step, in nats.

    Adam, with 32 new rows of ids 1 … V − 1 in each step. The learning rate rises over `warmup` steps and then stays.
    The rows depend on `seed` alone.
    """
    check_numbers("train_to_sort", least=1, whole=True, steps=steps)
    check_numbers("train_to_sort", least=0, whole=True, warmup=warmup)
    generator = torch.Generator().manual_seed(seed)
    optimizer = torch.optim.Adam(model.parameters(), lr=lr, fused=True)
    schedule = torch.optim.lr_scheduler.LambdaLR(optimizer, lambda step: min(1.0, (step + 1) / max(1, warmup)))
    losses: list[float] = []
    with cpu_threads(1):  # two threads wait for each other at these sizes
        for _ in range(steps):
            ids = random_rows(model.output.out_features, length, generator)
            loss = F.cross_entropy(model(ids).flatten(0, 1), ids.sort(dim=1).values.flatten())
            optimizer.zero_grad()
            loss.backward()
            optimizer.step()
            schedule.step()
            losses.append(loss.item())
    return losses


def random_rows(vocab_size: int, length: int, generator: torch.Generator, batch: int = 32) -> Tensor:
    """Random ids 1 … V − 1, (batch, length)."""
    return torch.randint(1, vocab_size, (batch, length), generator=generator)


def mean_of_last(losses: Sequence[float], number: int = 10) -> float:
    """The mean of the last losses, which is steadier than the last one."""
    return sum(losses[-number:]) / len(losses[-number:])
