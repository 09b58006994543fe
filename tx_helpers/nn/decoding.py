"""Decoding step by step, with a cache or without.

A `DecodingState` is what `model.start` gives and what `generation` works with: `step` feeds new ids and gives their
logits, `select` rearranges the rows, `rewind` forgets the last ids. `PlainDecoding` does the first two for a model that
has no `start`.
"""

import math
from collections.abc import Callable
from contextlib import nullcontext
from typing import Any

import torch
from torch import Tensor, nn

from tx_helpers.nn.arguments import check_ids, check_numbers, check_tensors, traced
from tx_helpers.nn.blocks import BlockCache
from tx_helpers.nn.observe import observed

Shortcut = Callable[[Tensor, int, list[BlockCache]], Tensor | None]


class DecodingState:
    """A sequence that grows: all ids so far, and, if cached, the keys and values computed for them.

    Without the cache every step computes the full prefix again, with the same logits as result.

    If gradients are off and there is no listener (`observe`), a step runs in PyTorch's inference mode, which records
    nothing for autograd; the logits are ordinary tensors all the same. There, a single token takes the `shortcut`, if
    one was handed in: shortcut(stack) -> a function (ids (B, 1), start, caches) -> hidden (B, 1, D) or None, or None
    where this stack has no such way. `generation` hands in `quick_step`.
    """

    shortcut: Callable[[nn.Module], Shortcut | None] | None = None

    def __init__(
        self,
        stack: nn.Module,
        logits: Callable[[Tensor], Tensor],
        *,
        batch: int,
        memory: Tensor | None = None,
        memory_mask: Tensor | None = None,
        caches: list[BlockCache] | None = None,
    ):
        self.stack, self.logits = stack, logits
        self.memory, self.memory_mask = memory, memory_mask
        self.ids = torch.empty(batch, 0, dtype=torch.long, device=next(stack.parameters()).device)
        self.caches = caches
        self._in_inference_mode = False  # were the caches written in inference mode?
        self._short: Shortcut | None = None

    def __getstate__(self) -> dict[str, Any]:
        """A copy has weights of its own, so it leaves out the short way, which holds the weights of this one."""
        return vars(self) | {"_short": None}

    def step(self, ids: Tensor) -> Tensor:
        """Feed new ids (B, t). Returns their logits (B, t, V)."""
        check_tensors("step", ids=(ids, "int …"))
        if ids.dim() != 2 or ids.shape[0] != self.ids.shape[0] or ids.shape[1] == 0:
            raise ValueError(f"step: ids of shape {tuple(ids.shape)}, expected ({self.ids.shape[0]}, t) with t >= 1")
        so_far = torch.cat([self.ids, ids.to(self.ids.device)], dim=1)
        inference = not (torch.is_grad_enabled() or observed())
        if self._in_inference_mode and not inference:  # autograd accepts only copies of what inference mode made
            self.select(torch.arange(len(so_far), device=so_far.device))
        with torch.inference_mode() if inference else nullcontext():
            hidden = self._hidden(so_far, ids.shape[1], inference)
            logits = self.logits(hidden[:, -ids.shape[1] :])
        self.ids, self._in_inference_mode = so_far, inference
        return logits.clone() if inference else logits

    def _hidden(self, so_far: Tensor, new: int, inference: bool) -> Tensor:
        """Hidden states (B, …, D), those of the new positions last."""
        start = so_far.shape[1] - new
        if start == 0:  # the first step has been through all checks; what the later ones need is settled here
            usual = inference and self.memory is None and self.caches is not None and not traced()
            self._short = self.shortcut(self.stack) if usual and self.shortcut else None
        if self._short and self.caches and inference and new == 1 and start:
            config: Any = self.stack.config
            if start < (config.context_length or math.inf):
                check_ids("model", config.vocab_size, ids=so_far[:, -1:])
                hidden = self._short(so_far[:, -1:], start, self.caches)
                if hidden is not None:
                    return hidden
        return self.stack(so_far, memory=self.memory, memory_mask=self.memory_mask, caches=self.caches)

    def select(self, rows: Tensor) -> None:
        """Select, repeat or reorder the rows of the batch: rows (N,) of indices."""
        self.ids = self.ids[rows]
        if self.memory is not None:
            self.memory = self.memory[rows]
        if self.memory_mask is not None:
            self.memory_mask = self.memory_mask[rows]
        for cache in self.caches or ():
            cache.select(rows)

    def rewind(self, length: int) -> None:
        """Forget all ids from position `length` on, with their keys and values."""
        check_numbers("rewind", least=0, most=self.ids.shape[1], whole=True, length=length)
        for cache in self.caches or ():
            cache.check_rewind(length)  # all of them before the first is changed
        self.ids = self.ids[:, :length]
        for cache in self.caches or ():
            cache.rewind(length)


class PlainDecoding:
    """The same for any module: model(ids) -> logits (B, T, V), or model(source, ids) if there is a source (B, S).

    There is no cache: at every step all ids so far go through the model.
    """

    def __init__(self, model: nn.Module, *, batch: int, source: Tensor | None = None):
        self.model, self.source = model, source
        self.ids = torch.empty(batch, 0, dtype=torch.long, device=next(model.parameters()).device)

    def step(self, ids: Tensor) -> Tensor:
        """Feed new ids (B, t). Returns their logits (B, t, V)."""
        check_tensors("step", ids=(ids, f"int {len(self.ids)} t"))
        self.ids = torch.cat([self.ids, ids.to(self.ids.device)], dim=1)
        logits = self.model(self.ids) if self.source is None else self.model(self.source, self.ids)
        check_tensors("generation", **{"the model's result": (logits, "float B T V")})
        return logits[:, -ids.shape[1] :]

    def select(self, rows: Tensor) -> None:
        """Select, repeat or reorder the rows of the batch: rows (N,) of indices."""
        self.ids = self.ids[rows]
        if self.source is not None:
            self.source = self.source[rows]
