"""Our reader and writer of safetensors against the library's: the same tensors, both ways, to the bit."""

import pytest
import torch
from safetensors.torch import load_file, save_file

from tx_helpers.training.tensor_file import DTYPES, read_header, read_tensor, write_tensors


def some(dtype: torch.dtype) -> torch.Tensor:
    numbers = torch.randint(0, 100, (3, 5), generator=torch.Generator().manual_seed(0))
    return (numbers / 7 - 3 if dtype.is_floating_point else numbers).to(dtype)


TENSORS = {
    **{f"a.{name}": some(dtype) for name, dtype in DTYPES.items()},
    "scalar": torch.tensor(2.5),
    "empty": torch.zeros(0, 4),
    "ä name, in UTF-8": torch.tensor([float("nan"), float("inf")]),
}


def assert_the_same(found: dict[str, torch.Tensor]) -> None:
    assert found.keys() == TENSORS.keys()
    for name, tensor in TENSORS.items():
        assert (found[name].dtype, found[name].shape) == (tensor.dtype, tensor.shape)
        assert torch.equal(found[name].reshape(-1).view(torch.uint8), tensor.reshape(-1).view(torch.uint8)), name


def test_what_the_library_writes_is_read(tmp_path):
    save_file(TENSORS, tmp_path / "x.safetensors", metadata={"format": "pt"})
    assert_the_same({name: read_tensor(entry) for name, entry in read_header(tmp_path / "x.safetensors").items()})


def test_what_is_written_is_read_by_the_library(tmp_path):
    shapes = {name: (tensor.dtype, tuple(tensor.shape)) for name, tensor in TENSORS.items()}
    write_tensors(tmp_path / "x.safetensors", shapes, TENSORS.__getitem__)
    assert_the_same(load_file(tmp_path / "x.safetensors"))


def test_a_file_that_shrinks_while_it_is_read_is_named(tmp_path):
    write_tensors(tmp_path / "x", {"a": (torch.float32, (3,))}, lambda name: torch.ones(3))
    entry = read_header(tmp_path / "x")["a"]
    (tmp_path / "x").write_bytes((tmp_path / "x").read_bytes()[:-1])
    with pytest.raises(ValueError, match="x: ends within tensor 'a'; 1 bytes are missing"):
        read_tensor(entry)
