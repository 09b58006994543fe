"""A Transformer that sees: patches of an image are its words. With a convolution of equal size beside it.

    model = train_on_digits(TinyViT())
    accuracy(model, digits("test"))

An image is cut into patches, each patch becomes a vector by one matrix E, a learned class token goes in front, and
learned positions are added (Dosovitskiy et al. 2021, *An image is worth 16x16 words*, eq. 1 to 4):

    z₀ = [x_class; x¹ E; …; xᴺ E] + E_pos,    z = blocks(z₀),    logits = norm(z⁰) W

z⁰ is the last vector of the class token, the only one that is read out. The blocks are those of a model of
words: nothing in them knows that the patches lie in a plane, so only the learned positions can tell the model.
"""

import torch
import torch.nn.functional as F
from torch import Tensor, nn

from tx_helpers.lessons.beyond_text.digits import Digits, digits
from tx_helpers.lessons.beyond_text.small_models import small_blocks
from tx_helpers.nn.arguments import check_numbers, check_tensors, check_types
from tx_helpers.nn.observe import listening
from tx_helpers.nn.positions import LearnedPositions
from tx_helpers.training.contexts import RandomStream, in_mode
from tx_helpers.training.loop import fit
from tx_helpers.training.optimizers import adamw, linear_warmup_decay

SIDE, CLASSES = 8, 10  # pixels along a side of an image; digits


def patches(images: Tensor, size: int = 2) -> Tensor:
    """Images (B, 8, 8) cut into squares, row by row. -> (B, N, size²) with N = (8/size)²"""
    check_tensors("patches", images=(images, f"float B {SIDE} {SIDE}"))
    check_numbers("patches", least=1, most=SIDE, whole=True, size=size)
    if SIDE % size:
        raise ValueError(
            f"patches: images of {SIDE} × {SIDE} cannot be cut into patches of {size} × {size}; expected a divisor"
        )
    squares = images.unfold(1, size, size).unfold(2, size, size)  # (B, 8, 8) -> (B, rows, columns, size, size)
    return squares.flatten(3).flatten(1, 2)


class TinyViT(nn.Module):
    """Images (B, 8, 8) -> logits (B, 10): 16 patches of 2 × 2 and a class token through two blocks.

    The initial values depend on `seed` alone.
    """

    def __init__(
        self, *, d_model: int = 32, n_heads: int = 4, d_ff: int = 64, n_layers: int = 2, size: int = 2, seed: int = 0
    ):
        super().__init__()
        sizes = dict(d_model=d_model, n_heads=n_heads, d_ff=d_ff, n_layers=n_layers)
        check_numbers("TinyViT", sizes, least=1, whole=True)
        self.size, self.n_patches = size, patches(torch.zeros(1, SIDE, SIDE), size).shape[1]
        with RandomStream(seed).on(torch.device("cpu")):
            self.embed = nn.Linear(size * size, d_model)
            self.class_token = nn.Parameter(0.02 * torch.randn(d_model))
            self.positions = LearnedPositions(1 + self.n_patches, d_model)
            nn.init.normal_(self.positions.table.weight, std=0.02)
            self.blocks = small_blocks(d_model, n_layers, n_heads=n_heads, d_ff=d_ff)
            self.norm = nn.LayerNorm(d_model)
            self.output = nn.Linear(d_model, CLASSES)

    def forward(self, images: Tensor) -> Tensor:
        x = self.embed(patches(images, self.size))  # (B, N, size²) -> (B, N, D)
        x = torch.cat([self.class_token.expand(len(x), 1, -1), x], dim=1)  # (B, 1 + N, D)
        x = x + self.positions(torch.arange(x.shape[1], device=x.device))
        for block in self.blocks:
            x = block(x)
        return self.output(self.norm(x[:, 0]))


class SmallConvolution(nn.Module):
    """Images (B, 8, 8) -> logits (B, 10): three convolutions of 3 × 3. As given it has as many parameters as TinyViT;
    with widths (16, 24, 23) it does as many multiplications (`multiplications` counts them).

    A convolution looks at neighbours only, and everywhere with the same weights (LeCun et al. 1989): it knows the plane
    from the beginning.
    """

    def __init__(self, *, widths: tuple[int, int, int] = (16, 32, 30), seed: int = 0):
        super().__init__()
        first, second, third = widths
        check_numbers("SmallConvolution", least=1, whole=True, first=first, second=second, third=third)
        with RandomStream(seed).on(torch.device("cpu")):
            self.first = nn.Conv2d(1, first, 3, padding=1)
            self.second = nn.Conv2d(first, second, 3, padding=1)
            self.third = nn.Conv2d(second, third, 3, padding=1)
            self.output = nn.Linear(third * (SIDE // 2) ** 2, CLASSES)

    def forward(self, images: Tensor) -> Tensor:
        check_tensors("SmallConvolution", images=(images, f"float B {SIDE} {SIDE}"))
        x = F.relu(self.second(F.relu(self.first(images[:, None]))))  # (B, 32, 8, 8)
        x = F.relu(self.third(F.max_pool2d(x, 2)))  # (B, channels, 4, 4)
        return self.output(x.flatten(1))


def train_on_digits(
    model: nn.Module,
    shown: Digits | None = None,
    *,
    steps: int = 500,
    rate: float = 3e-3,
    rows: int = 64,
    seed: int = 0,
) -> nn.Module:
    """AdamW on batches of the digits (by default the training part), drawn from `seed`; the rate rises, then falls to
    0. -> the model
    """
    check_types("train_on_digits", nn.Module, model=model)
    check_numbers("train_on_digits", least=1, whole=True, steps=steps, rows=rows)
    check_numbers("train_on_digits", above=0, rate=rate)
    images, labels = digits("train") if shown is None else shown
    drawn = torch.randint(len(labels), (steps, rows), generator=torch.Generator().manual_seed(seed))
    fit(
        model,
        lambda step: Digits(images[drawn[step]], labels[drawn[step]]),
        steps=steps,
        loss=lambda model, batch: F.cross_entropy(model(batch.images), batch.labels),
        optimizer=adamw(model, rate),
        schedule=linear_warmup_decay(steps, warmup=steps // 10),
        clip=None,
        progress=False,
    )
    return model.eval()


@torch.no_grad()
def multiplications(model: nn.Module) -> int:
    """How many multiplications the model's matrices and tables of scores take for one image."""
    done = []

    def count(layer: nn.Module, _: tuple, out: Tensor) -> None:
        done.append(out.numel() * layer.weight[0].numel())

    hooks = [one.register_forward_hook(count) for one in model.modules() if isinstance(one, (nn.Linear, nn.Conv2d))]
    model(torch.zeros(1, SIDE, SIDE))
    for hook in hooks:
        hook.remove()
    if isinstance(model, TinyViT):  # scores and mixtures: T · T · D each
        done.append(len(model.blocks) * 2 * (1 + model.n_patches) ** 2 * model.embed.out_features)
    return sum(done)


@torch.no_grad()
def accuracy(model: nn.Module, shown: Digits) -> float:
    """The share of images that the model names rightly."""
    with in_mode(model, training=False):
        return (model(shown.images).argmax(-1) == shown.labels).double().mean().item()


@torch.no_grad()
def class_attention(model: TinyViT, images: Tensor) -> Tensor:
    """Where the class token looks: its weights on itself and on the patches, (B, L, H, 1 + N)."""
    check_types("class_attention", TinyViT, model=model)
    weights = []  # of each block, (B, H, 1 + N, 1 + N)
    with (
        in_mode(model, training=False),
        listening(lambda name, tensor: weights.append(tensor) if name == "weights" else None),
    ):
        model(images)
    return torch.stack([block[:, :, 0] for block in weights], dim=1)
