"""LoRA: to fine-tune a model, train two narrow matrices beside each large one, and add their product to it afterwards.

    add_lora(model, rank=4)         # the queries and values of all blocks; all else is frozen
    …                               # train: `adamw(model)` takes what is not frozen
    merge_lora(model)               # the model of before, with other weights

A linear map is replaced by

    y = W x + b + (α / r) B A x          A (r, in) drawn at random, B (out, r) zero, W and b frozen

so before training it is the same map, bit for bit: what is added is exactly zero. α scales the change. After merging,
W is W + (α / r) B A, rounded once; outputs then differ from those before only by rounding (below 1e-6 in float32), and
the model has no part more than before. Source: Hu et al. 2022, section 4.1.

Left out on purpose: dropout of the LoRA path.
"""

from collections.abc import Sequence

import torch
from torch import Tensor, nn
from torch.nn.functional import linear as apply_linear

from tx_helpers.nn.arguments import check_numbers, check_types


class LoRA(nn.Module):
    """A linear map W x + b, frozen, plus (α / r) B A x, which is trained. (…, in) -> (…, out)"""

    def __init__(self, linear: nn.Linear, rank: int = 4, alpha: float = 8.0):
        super().__init__()
        check_types("LoRA", nn.Linear, linear=linear)
        check_numbers("LoRA", least=1, whole=True, rank=rank)
        check_numbers("LoRA", above=0, alpha=alpha)
        self.linear = linear.requires_grad_(False)
        self.in_features, self.out_features = linear.in_features, linear.out_features
        self.scale = alpha / rank
        like = dict(dtype=linear.weight.dtype, device=linear.weight.device)
        self.down = nn.Parameter(torch.randn(rank, linear.in_features, **like) * linear.in_features**-0.5)  # A
        self.up = nn.Parameter(torch.zeros(linear.out_features, rank, **like))  # B

    def forward(self, x: Tensor) -> Tensor:
        narrow = apply_linear(x, self.down)  # (…, in) -> (…, r)
        return self.linear(x) + self.scale * apply_linear(narrow, self.up)  # (…, r) -> (…, out)

    @torch.no_grad()
    def merged(self) -> nn.Linear:
        """The one linear map that does the same; the frozen one, whose weight is changed."""
        self.linear.weight += self.scale * (self.up @ self.down)
        return self.linear.requires_grad_(True)


def add_lora(
    model: nn.Module, rank: int = 4, alpha: float = 8.0, *, targets: Sequence[str] = ("query", "value")
) -> nn.Module:
    """Freeze the model and put a `LoRA` in place of each linear map inside its blocks that has one of these names.

    "Inside its blocks" means inside an `nn.ModuleList`. The model itself is changed, and returned. A is drawn from
    torch's generator. Source of the default targets: Hu et al. 2022, section 4.2 and table 5.
    """
    check_types("add_lora", nn.Module, model=model)
    check_types("add_lora", (tuple, list), targets=targets)
    if any(isinstance(module, LoRA) for module in model.modules()):
        raise ValueError("add_lora: the model has LoRA in it already, expected none: call merge_lora first")
    blocks = [module for module in model.modules() if isinstance(module, nn.ModuleList)]
    places = {  # a block inside a block is walked twice
        (parent, name): child
        for block in blocks
        for parent in block.modules()
        for name, child in parent.named_children()
        if name in targets and isinstance(child, nn.Linear)
    }
    if not places:
        name = type(model).__name__
        raise ValueError(f"add_lora: {name} has no linear map named {' or '.join(targets)} in a block, expected some")
    if len({id(child) for child in places.values()}) < len(places):
        raise ValueError("add_lora: two parts share a linear map, but LoRA needs each in one place only")
    model.requires_grad_(False)
    for (parent, name), child in places.items():
        setattr(parent, name, LoRA(child, rank, alpha))
    return model


def merge_lora(model: nn.Module) -> nn.Module:
    """Put the merged linear map in place of each `LoRA`. All parameters can be trained again. The model is returned."""
    check_types("merge_lora", nn.Module, model=model)
    found = [
        (parent, name, child)
        for parent in model.modules()
        for name, child in parent.named_children()
        if isinstance(child, LoRA)
    ]
    if not found:
        raise ValueError(f"merge_lora: {type(model).__name__} has no LoRA in it, expected a model after add_lora")
    for parent, name, child in found:
        setattr(parent, name, child.merged())
    return model.requires_grad_(True)
