"""Real ranks: processes that torchrun has started, behind the same `send`, `receive` and `swap` as the simulated ones.

The collectives of `collectives` run on a `ProcessRank` as they stand, over a real network.
"""

import torch
import torch.distributed as dist
from torch import Tensor

from tx_helpers.lessons.scaling_up.simulated.ranks import Message, Rank

DTYPES = (torch.float64, torch.float32, torch.bfloat16, torch.int64)
MOST_DIMENSIONS = 6


class ProcessRank(Rank):
    """This process, one of those of torch.distributed, which must be initialised. `messages` are those it has sent.

    A receiver must know the shape of what it receives. So each tensor follows a message of 8 numbers, its number of
    dimensions, shape and dtype, which is not counted.
    """

    def __init__(self) -> None:
        self.number, self.count = dist.get_rank(), dist.get_world_size()
        self.messages: list[Message] = []

    def send(self, tensor: Tensor, to: int) -> None:
        """Send the tensor, and wait until it is on its way."""
        for work in self._post(tensor, to):
            work.wait()

    def receive(self, source: int) -> Tensor:
        """The next tensor from that rank, in the order in which it was sent."""
        header = torch.empty(MOST_DIMENSIONS + 2, dtype=torch.int64)
        dist.recv(header, source)
        dimensions, dtype, *shape = header.tolist()
        tensor = torch.empty(shape[:dimensions], dtype=DTYPES[dtype])
        dist.recv(tensor, source)
        return tensor

    def swap(self, tensor: Tensor, *, to: int, source: int) -> Tensor:
        """Send and receive at the same time."""
        works = self._post(tensor, to)
        received = self.receive(source)
        for work in works:
            work.wait()
        return received

    def _post(self, tensor: Tensor, to: int) -> list[dist.Work]:
        if tensor.dtype not in DTYPES or tensor.dim() > MOST_DIMENSIONS:
            raise ValueError(
                f"send: {tuple(tensor.shape)} of {tensor.dtype}, expected at most {MOST_DIMENSIONS} dimensions of one "
                f"of {', '.join(map(str, DTYPES))}"
            )
        tensor = tensor.detach().contiguous()
        shape = list(tensor.shape) + [0] * (MOST_DIMENSIONS - tensor.dim())
        header = torch.tensor([tensor.dim(), DTYPES.index(tensor.dtype), *shape])
        self.messages.append(Message(self.number, to, tensor.nbytes))
        return [dist.isend(header, to), dist.isend(tensor, to)]
