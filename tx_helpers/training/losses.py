"""What training minimises: the cross-entropy of the true tokens, of a translator or of a language model."""

from typing import Any

import torch
import torch.nn.functional as F
from torch import Tensor, nn

from tx_helpers.nn.arguments import check_numbers, check_tensors
from tx_helpers.text.data import IGNORE, evaluation_windows
from tx_helpers.text.tokenizers import Tokenizer
from tx_helpers.training.contexts import in_mode


def sequence_loss(
    logits: Tensor, targets: Tensor, *, pad_id: int | None = None, label_smoothing: float = 0.0
) -> Tensor:
    """Mean cross-entropy −log p(target), in nats, over the targets that are not padding; 0 if all are. -> scalar

    logits (B, T, V), targets (B, T). Label smoothing ε asks for probability 1 − ε + ε/V of the target and ε/V of every
    other token (Szegedy et al. 2016; Vaswani et al. 2017, section 5.4, with ε = 0.1). The untrained model's loss is
    about ln V. Half-precision logits are summed in float32.
    """
    check_tensors("sequence_loss", logits=(logits, "float … V"), targets=(targets, "int …"))
    check_numbers("sequence_loss", whole=True, optional=True, pad_id=pad_id)
    check_numbers("sequence_loss", least=0, most=1, label_smoothing=label_smoothing)
    if logits.shape[:-1] != targets.shape:
        raise ValueError(
            f"sequence_loss: logits {tuple(logits.shape)} do not fit targets {tuple(targets.shape)}: "
            "expected (B, T, V) and (B, T)"
        )
    logits = logits.to(torch.promote_types(logits.dtype, torch.float32)).reshape(targets.numel(), logits.shape[-1])
    targets, ignored = targets.flatten().long(), IGNORE if pad_id is None else pad_id
    try:
        total = F.cross_entropy(logits, targets, ignore_index=ignored, label_smoothing=label_smoothing, reduction="sum")
        return total / (targets != ignored).sum().clamp(min=1)
    except IndexError:
        raise ValueError(
            f"sequence_loss: targets {int(targets.min())} … {int(targets.max())}, "
            f"expected 0 … {logits.shape[-1] - 1}, since the logits are over {logits.shape[-1]} tokens"
        ) from None


def translation_loss(
    model: nn.Module, batch: Any, *, pad_id: int | None = Tokenizer.pad_id, label_smoothing: float = 0.0
) -> Tensor:
    """Teacher forcing: the decoder reads the true tokens before each position and predicts the token there."""
    logits = model(batch.source, batch.decoder_input)
    return sequence_loss(logits, batch.target, pad_id=pad_id, label_smoothing=label_smoothing)


def language_model_loss(model: nn.Module, batch: Any) -> Tensor:
    """Every position predicts the token that follows it."""
    return sequence_loss(model(batch.input), batch.target)


@torch.no_grad()
def text_loss(model: nn.Module, ids: Tensor, length: int) -> float:
    """Mean cross-entropy of all ids (T,) but the first, in nats, in windows of `length` that do not overlap."""
    total = 0.0
    with in_mode(model, training=False):
        for batch in evaluation_windows(ids, length):
            total += language_model_loss(model, batch).item() * batch.target.numel()
    return total / (len(ids) - 1)
