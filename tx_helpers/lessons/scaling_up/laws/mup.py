"""μP: learning rates by width, so that the rate found for a small model is right for a large one.

With Adam every entry of a matrix moves by about the learning rate in each step, whatever its gradient's size. An output
of a matrix is a sum over its inputs. Twice as many inputs that all move together move the output twice as far. So the
rate of a matrix whose inputs grow with the width is divided by the width, and the rates of embeddings, biases and norm
scales stay as they are. Source: Yang et al. 2021 ("Tensor Programs V"), table 3, column Adam.
"""

import torch
from torch import Tensor, nn

from tx_helpers.nn.arguments import check_numbers, check_types


def matrix_like(model: nn.Module) -> list[Tensor]:
    """The matrices whose number of inputs grows with the width: all linear maps; embeddings are only looked up."""
    check_types("matrix_like", nn.Module, model=model)
    embeddings = {id(module.weight) for module in model.modules() if isinstance(module, nn.Embedding)}
    maps = [module.weight for module in model.modules() if isinstance(module, nn.Linear)]
    if tied := [weight for weight in maps if id(weight) in embeddings]:
        raise ValueError(
            f"matrix_like: a matrix {tuple(tied[0].shape)} is embedding and output at once, and μP has two rates for "
            "them; expected EmbeddingConfig(tied=False)"
        )
    return maps


@torch.no_grad()
def scale_matrices(model: nn.Module, output: nn.Linear, *, width: int, base_width: int) -> None:
    """Multiply each of these matrices by √(base_width / width), and that of the output layer by base_width / width.

    For a model whose entries were drawn with the same standard deviation at every width. Hidden values then have the
    size they have at the base. The output is scaled further because training makes its inputs line up with it.
    """
    check_numbers("scale_matrices", least=1, whole=True, width=width, base_width=base_width)
    check_types("scale_matrices", nn.Linear, output=output)
    for weight in matrix_like(model):
        weight.mul_((base_width / width) ** (1.0 if weight is output.weight else 0.5))


def mup_adamw(
    model: nn.Module, lr: float, *, width: int, base_width: int, betas: tuple[float, float] = (0.9, 0.99)
) -> torch.optim.AdamW:
    """AdamW without decay: rate lr · base_width / width for `matrix_like` matrices, lr for the rest.

    At the base width it is Adam with one rate.
    """
    check_numbers("mup_adamw", least=0, lr=lr)
    check_numbers("mup_adamw", least=1, whole=True, width=width, base_width=base_width)
    matrices = matrix_like(model)
    rest = [p for p in model.parameters() if all(p is not weight for weight in matrices)]
    groups = [{"params": matrices, "lr": lr * base_width / width}, {"params": rest, "lr": lr}]
    return torch.optim.AdamW(groups, betas=betas, weight_decay=0.0)
