"""Files of tensors: what is written is read again to the bit, and a file that changes meanwhile is named."""

import pytest
import torch
from safetensors.torch import save_file

from tx_helpers.training.checkpoints import save_tensors
from tx_helpers.zoo.public.files import open_tensors, read_entries_of, read_tensor

TIED = torch.randn(3, 5)
TENSORS = {
    **{str(dtype): (TIED * 9).to(dtype) for dtype in (torch.float64, torch.float16, torch.bfloat16, torch.int8)},
    "tied": TIED,
    "tied again": TIED,
    "another view of it": TIED.T,
    "trained": torch.nn.Parameter(torch.ones(2)),
    "scalar": torch.tensor(2.5),
    "empty": torch.zeros(0, 4),
    "ä name, in UTF-8": torch.tensor([float("nan"), float("inf")]),
}


def test_what_is_written_is_read_to_the_bit(tmp_path):
    save_tensors(tmp_path / "x", TENSORS, {"facts": "ä"})
    entries = read_entries_of(tmp_path / "x")
    assert entries.keys() == TENSORS.keys()
    for name, tensor in TENSORS.items():
        assert (entries[name].dtype, entries[name].shape) == (tensor.dtype, tuple(tensor.shape))
        assert torch.equal(read_tensor(entries[name]).nan_to_num(), tensor.nan_to_num()), name
    with open_tensors(tmp_path / "x") as opened:
        assert opened.metadata() == {"format": "pt", "facts": "ä"}


def test_a_file_that_shrinks_while_it_is_read_is_named(tmp_path):
    save_file({"a": torch.ones(3), "b": torch.ones(5)}, tmp_path / "x")
    entry = read_entries_of(tmp_path / "x")["a"]
    (tmp_path / "x").write_bytes((tmp_path / "x").read_bytes()[:-1])
    with pytest.raises(ValueError, match="x: is damaged, or not in the format safetensors"):
        read_tensor(entry)
