"""Weights that come with the lesson, in half the bytes: float16 in a safetensors file."""

from pathlib import Path
from typing import TypeVar

from safetensors.torch import load_file, save_file
from torch import nn

Model = TypeVar("Model", bound=nn.Module)


def save_small(model: nn.Module, file: Path) -> None:
    """Write the weights in float16."""
    save_file({name: weight.half().contiguous() for name, weight in model.state_dict().items()}, file)


def load_small(model: Model, name: str) -> Model:
    """The model with the weights of `name`.safetensors of this folder, ready to be used."""
    weights = load_file(Path(__file__).with_name(f"{name}.safetensors"))
    model.load_state_dict({key: value.float() for key, value in weights.items()})
    return model.eval()
