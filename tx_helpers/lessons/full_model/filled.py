"""How the classes of the learner's model are examined: filled with numbers, run, and compared.

Before a model is run, every parameter is filled with numbers that depend on its name. So two models with the same names
compute the same, and names that are missing or too many are part of the result.
"""

import zlib

import torch
from torch import Tensor, nn

from tx_helpers.exercises.exercise import random_tensors


def examined(answer: type, right: type, sizes: tuple, *inputs: Tensor) -> dict[str, object]:
    """What the answer's module computes, and how its parameters' names differ from the right ones."""
    with torch.random.fork_rng(devices=[]):
        torch.manual_seed(0)
        model, plain = answer(*sizes), right(*sizes)
    if not isinstance(model, nn.Module):
        raise TypeError(f"{getattr(answer, '__name__', answer)} does not make an nn.Module")
    mine = dict(model.named_parameters(remove_duplicate=False))
    theirs = dict(plain.named_parameters(remove_duplicate=False))
    with torch.no_grad():
        output = filled(model)(*inputs)
    return {
        "list of missing parameters": sorted(theirs.keys() - mine.keys()),
        "list of parameters too many": sorted(mine.keys() - theirs.keys()),
        "output": output,
    }


def filled(model: nn.Module) -> nn.Module:
    """The model, its parameters filled with the numbers that belong to their names."""
    mine = dict(model.named_parameters(remove_duplicate=False))
    with torch.no_grad():
        for name in sorted(mine):  # a matrix with two names gets the numbers of the later one
            mine[name].copy_(_numbers(name, mine[name].shape))
    return model


def _numbers(name: str, shape: torch.Size) -> Tensor:
    (drawn,) = random_tensors(shape, seed=zlib.crc32(name.encode()))
    if drawn.dim() > 1:
        return drawn / shape[-1] ** 0.5
    return 0.3 * drawn + (1.0 if name.endswith("norm.weight") else 0.0)


def some_ids(*shape: int, words: int = 9, seed: int = 0) -> Tensor:
    """Ids of words, none of them padding."""
    return torch.randint(1, words, shape, generator=torch.Generator().manual_seed(seed))


def padding_of(*real: int) -> Tensor:
    """(B, 1, 1, S): row b has real[b] words, then padding."""
    return (torch.arange(max(real)) < torch.tensor(real)[:, None])[:, None, None]
