"""The record: a small model in lean code and nanoGPT's own recipe for a CPU, trained on the same core.

The validation split is read once, at the end of a training; what is tried out is judged by `choose`, on the last tenth
of the training text. Seconds are those of the steps, without the evaluation: of the processor, which other programs
disturb least, and of the clock. The text is not part of the package: `text.corpora` says how to get it.

Why the model is fast on a core: products in bfloat16, the layers' matrices in one tensor (so that Muon orthogonalises
all of them at once), queries and keys turned as complex numbers, attention by two products of matrices, and windows
that grow from 64 to 512 characters.
"""

import math
import time
from collections.abc import Callable, Iterable, Iterator
from typing import Any, NamedTuple

import torch
import torch.nn.functional as F
from torch import Tensor, nn

from tx_helpers.lessons.what_changed import record
from tx_helpers.text.corpora import tinyshakespeare
from tx_helpers.training.contexts import RandomStream

D, LAYERS, HEADS = 128, 4, 4
K = D // HEADS
HALF = torch.bfloat16
LEAN_STEPS, NANO_STEPS, NANO_LENGTH, SEEDS = 3200, 2000, 64, range(3)
STAGES = ((0.0, 64, 24), (0.4, 128, 12), (0.7, 256, 8), (0.9, 512, 4))  # share of the steps, length, rows
MUON_LR, MOMENTUM, DECAY, ADAM_LR = 0.02, 0.9, 0.1, 5e-3


class SquaredReLU(torch.autograd.Function):
    """max(0, h)², which keeps one tensor for its gradient instead of two."""

    @staticmethod
    def forward(ctx: Any, hidden: Tensor) -> Tensor:
        positive = hidden.relu()
        ctx.save_for_backward(positive)
        return positive * positive

    @staticmethod
    def backward(ctx: Any, gradient: Tensor) -> Tensor:
        return (gradient * ctx.saved_tensors[0]).mul_(2)


class Lean(nn.Module):
    """Pre-norm, rotary, QK-norm, ReLU², token shift, own output, zero outputs. (B, T) ids -> (B, T, V) logits."""

    def __init__(self, vocab_size: int):
        super().__init__()
        square = torch.randn(LAYERS * 4, D, D) * 0.02  # queries, keys, values, output of each layer
        square.view(LAYERS, 4, D, D)[:, 3] = 0
        self.square = nn.Parameter(square)
        self.up = nn.Parameter(torch.randn(LAYERS, 4 * D, D) * 0.02)
        self.down = nn.Parameter(torch.zeros(LAYERS, D, 4 * D))
        self.tokens = nn.Parameter(torch.randn(vocab_size, D) * 0.5)
        self.shift = nn.Parameter(torch.zeros(2, D))
        self.out = nn.Parameter(torch.zeros(vocab_size, D))
        self.tables: dict[int, tuple[Tensor, Tensor]] = {}

    def turns_and_mask(self, length: int) -> tuple[Tensor, Tensor]:
        """(T, 2, 1, K/2) complex turns for queries and keys, those for queries over √K; (T, T) to hide the future."""
        if length not in self.tables:
            angles = torch.arange(length)[:, None] * 1000.0 ** (-torch.arange(0, K, 2) / K)
            turns = torch.polar(torch.ones_like(angles), angles)
            both = torch.stack([turns / math.sqrt(K), turns], 1)[:, :, None]
            self.tables[length] = both, torch.full((length, length), -1e4, dtype=HALF).triu(1)
        return self.tables[length]

    def forward(self, ids: Tensor) -> Tensor:
        B, T = ids.shape
        x = F.embedding(ids, self.tokens)
        before = F.pad(x, (0, 0, 2, 0))
        x = (x + self.shift[0] * before[:, 1:-1] + self.shift[1] * before[:, :-2]).view(B * T, D)
        square, up, down = self.square.to(HALF).view(LAYERS, 4, D, D), self.up.to(HALF), self.down.to(HALF)
        for layer in range(LAYERS):
            x = x + F.linear(self.attend(_norm(x), square[layer, :3].reshape(3 * D, D), B, T), square[layer, 3])
            x = x + F.linear(SquaredReLU.apply(F.linear(_norm(x), up[layer])), down[layer])
        return F.linear(_norm(x), self.out.to(HALF)).float().view(B, T, -1)

    def attend(self, y: Tensor, weights: Tensor, B: int, T: int) -> Tensor:
        """(B·T, D) -> (B·T, D), the heads side by side, before their output matrix."""
        turns, mask = self.turns_and_mask(T)
        qkv = F.linear(y, weights).view(B, T, 3, HEADS, K)
        qk = F.layer_norm(qkv[:, :, :2].float(), (K,)).view(B, T, 2, HEADS, K // 2, 2)
        qk = torch.view_as_real(torch.view_as_complex(qk) * turns).view(B, T, 2, HEADS, K)
        queries, keys = qk.permute(2, 0, 3, 1, 4).to(HALF, memory_format=torch.contiguous_format).flatten(1, 2)
        values = qkv[:, :, 2].transpose(1, 2).reshape(B * HEADS, T, K)
        weights = torch.baddbmm(mask.expand(B * HEADS, T, T), queries, keys.transpose(1, 2)).softmax(-1)
        return torch.bmm(weights, values).view(B, HEADS, T, K).transpose(1, 2).reshape(B * T, D)


def _norm(x: Tensor) -> Tensor:
    return F.layer_norm(x, (D,)).to(HALF)


class StackedMuon:
    """Muon for parameters (n, rows, columns): the n matrices are orthogonalised at once, in bfloat16."""

    def __init__(self, parameters: Iterable[nn.Parameter]):
        self.parameters = list(parameters)
        self.means = [torch.zeros_like(parameter) for parameter in self.parameters]

    @torch.no_grad()
    def step(self, factor: float) -> None:
        for p, mean in zip(self.parameters, self.means, strict=True):
            mean.lerp_(p.grad, 1 - MOMENTUM)
            update = p.grad.lerp(mean, MOMENTUM)
            tall = p.shape[1] > p.shape[2]
            flat = orthogonal(update.mT if tall else update)
            size = MUON_LR * factor * math.sqrt(max(1, p.shape[1] / p.shape[2]))
            p.mul_(1 - MUON_LR * factor * DECAY).add_(flat.mT if tall else flat, alpha=-size)
            p.grad = None


def orthogonal(matrices: Tensor) -> Tensor:
    """Five Newton–Schulz iterations with Jordan's numbers: all singular values come near 1."""
    x = matrices.to(HALF)
    x = x / (x.float().norm(dim=(1, 2), keepdim=True) + 1e-7).to(HALF)
    for _ in range(5):
        gram = x @ x.mT
        x = torch.baddbmm(x, torch.baddbmm(gram, gram, gram, beta=-4.7750, alpha=2.0315), x, beta=3.4445)
    return x.float()


class NanoBlock(nn.Module):
    """A block of nanoGPT without biases."""

    def __init__(self) -> None:
        super().__init__()
        self.first, self.second = nn.LayerNorm(D, bias=False), nn.LayerNorm(D, bias=False)
        self.qkv, self.o = nn.Linear(D, 3 * D, bias=False), nn.Linear(D, D, bias=False)
        self.up, self.down = nn.Linear(D, 4 * D, bias=False), nn.Linear(4 * D, D, bias=False)

    def forward(self, x: Tensor) -> Tensor:
        B, T, _ = x.shape
        q, k, v = (part.view(B, T, HEADS, K).transpose(1, 2) for part in self.qkv(self.first(x)).split(D, 2))
        mixed = F.scaled_dot_product_attention(q, k, v, is_causal=True).transpose(1, 2).reshape(B, T, D)
        x = x + self.o(mixed)
        return x + self.down(F.gelu(self.up(self.second(x))))


class Nano(nn.Module):
    """nanoGPT with its README's flags for a CPU: learned positions, GELU, the embeddings are the output, too."""

    def __init__(self, vocab_size: int):
        super().__init__()
        self.tokens, self.places = nn.Embedding(vocab_size, D), nn.Embedding(NANO_LENGTH, D)
        self.blocks = nn.Sequential(*(NanoBlock() for _ in range(LAYERS)))
        self.norm = nn.LayerNorm(D, bias=False)
        for name, p in self.named_parameters():
            if p.dim() > 1:
                into_stream = name.endswith(("o.weight", "down.weight"))
                nn.init.normal_(p, std=0.02 / math.sqrt(2 * LAYERS) if into_stream else 0.02)

    def forward(self, ids: Tensor) -> Tensor:
        x = self.blocks(self.tokens(ids) + self.places.weight[: ids.shape[1]])
        return self.norm(x) @ self.tokens.weight.T


class Attempt(NamedTuple):
    """A trained model, the seconds of its steps, and the loss of each step."""

    model: nn.Module
    processor_seconds: float
    wall_seconds: float
    losses: list[float]


def train(
    model: nn.Module, ids: Tensor, steps: int, stages: tuple, seed: int, update: Callable[[int], None]
) -> Attempt:
    """Steps on random windows, as long as the stage says; `update` moves the weights."""
    windows, losses = torch.Generator().manual_seed(seed), []
    processor, wall = time.process_time(), time.perf_counter()
    for step in range(steps):
        _, length, rows = [stage for stage in stages if step >= stage[0] * steps][-1]
        starts = torch.randint(len(ids) - length, (rows,), generator=windows)
        window = ids[starts[:, None] + torch.arange(length + 1)]
        loss = F.cross_entropy(model(window[:, :-1]).flatten(0, 1), window[:, 1:].flatten())
        loss.backward()
        update(step)
        losses.append(loss.item())
    return Attempt(model, time.process_time() - processor, time.perf_counter() - wall, losses)


def train_lean(ids: Tensor, vocab_size: int, *, seed: int, steps: int = LEAN_STEPS) -> Attempt:
    """Muon for the layers' matrices, AdamW without decay for the rest; a linear rise and fall."""
    with RandomStream(seed).on(torch.device("cpu")):
        model = Lean(vocab_size)
    matrices, rest = [model.square, model.up, model.down], [model.tokens, model.shift, model.out]
    muon, adam = StackedMuon(matrices), torch.optim.AdamW(rest, ADAM_LR, (0.9, 0.99), weight_decay=0.0, fused=True)
    warmup = max(1, steps // 20)

    def update(step: int) -> None:
        factor = min((step + 1) / warmup, (steps - step) / (steps - warmup))
        nn.utils.clip_grad_norm_(rest, 1.0)
        adam.param_groups[0]["lr"] = ADAM_LR * factor
        adam.step()
        adam.zero_grad()
        muon.step(factor)

    return train(model, ids, steps, STAGES, seed, update)


def train_nano(ids: Tensor, vocab_size: int, *, seed: int, steps: int = NANO_STEPS) -> Attempt:
    """AdamW; 100 steps of warm-up, then a cosine from 1e-3 to 1e-4."""
    with RandomStream(seed).on(torch.device("cpu")):
        model = Nano(vocab_size)
    groups = [
        {"params": [p for p in model.parameters() if p.dim() > 1], "weight_decay": 0.1},
        {"params": [p for p in model.parameters() if p.dim() == 1], "weight_decay": 0.0},
    ]
    adam = torch.optim.AdamW(groups, 1e-3, (0.9, 0.99), fused=True)

    def update(step: int) -> None:
        done = (step - 100) / max(1, steps - 100)
        rate = 1e-3 * (step + 1) / 101 if step < 100 else 1e-4 + 4.5e-4 * (1 + math.cos(math.pi * done))
        for group in adam.param_groups:
            group["lr"] = rate
        nn.utils.clip_grad_norm_(model.parameters(), 1.0)
        adam.step()
        adam.zero_grad()

    return train(model, ids, steps, ((0.0, NANO_LENGTH, 12),), seed, update)


@torch.no_grad()
def mean_loss(model: nn.Module, ids: Tensor, length: int) -> float:
    """Over all ids, in windows that do not overlap; the last one may be shorter."""
    total = 0.0
    for start in range(0, len(ids) - 1, length):
        window = ids[start : start + length + 1]
        total += F.cross_entropy(model(window[None, :-1])[0], window[1:], reduction="sum").item()
    return total / (len(ids) - 1)


RECIPES = {"lean": (train_lean, LEAN_STEPS, STAGES[-1][1]), "nanoGPT": (train_nano, NANO_STEPS, NANO_LENGTH)}


def row_of(table: dict[str, Any], name: str) -> dict[str, Any]:
    """The row of this name, made if it is missing."""
    if all(row["name"] != name for row in table["record"]):
        table["record"].append({"name": name} | {key: [] for key in record.MEASURED})
    return record.row_of(table, name)


def add(row: dict[str, Any], seed: int, loss: float, attempt: Attempt) -> None:
    """Write a training run into its row."""
    row["seeds"].append(seed)
    row["loss"].append(round(loss, 4))
    row["processor_seconds"].append(round(attempt.processor_seconds, 1))
    row["wall_seconds"].append(round(attempt.wall_seconds, 1))
    row["steps"] = len(attempt.losses)
    row["parameters"] = sum(p.numel() for p in attempt.model.parameters())


ABOUT = {
    "data": "tinyshakespeare by characters, the last tenth for validation",
    "chosen on": "the last tenth of the training text: the batches; the whole came to 1.4321 there, with seed 0. "
    "The rates and the growing windows come from an older recipe, tuned on the validation split",
    "evaluation": "full validation split, once, windows that do not overlap, as long as the last ones of training",
}


def train_all(begun: dict[str, Any]) -> Iterator[dict[str, Any]]:
    """What the head of `record` says of record.json, after each training that it did not hold."""
    text, table = record.record_text(tinyshakespeare()), begun or {"about": dict(ABOUT), "record": []}
    for seed in SEEDS:
        for name in RECIPES:
            if seed not in (row := row_of(table, name))["seeds"]:
                loss, attempt = judged(name, seed, text)
                add(row, seed, loss, attempt)
                print(f"{name:8} seed {seed}  {loss:.4f}  {attempt.processor_seconds:.0f} s", flush=True)
                yield table


def judged(name: str, seed: int, text: record.RecordText) -> tuple[float, Attempt]:
    """Train a recipe on one part of the text. -> its loss on the other part, and the training"""
    train_one, steps, length = RECIPES[name]
    attempt = train_one(text.train, text.vocab_size, seed=seed, steps=steps)
    return mean_loss(attempt.model, text.validation, length), attempt


def choose(name: str, seed: int = 0) -> float:
    """The loss of a recipe on the last tenth of the training text, to try something out."""
    text = record.record_text(tinyshakespeare())
    cut = len(text.train) * 9 // 10
    return judged(name, seed, text._replace(train=text.train[:cut], validation=text.train[cut:]))[0]
