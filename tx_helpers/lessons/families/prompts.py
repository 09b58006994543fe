"""A prompt without an encoder: its tokens are ordinary positions of the decoder, and are read before the answer.

    tuned = tune(base, data)                                            # each position of the prompt sees those before
    opened = tune(open_prompt(base), data, loss=open_prompt_loss)       # positions of the prompt also see those behind
    all_right(tuned, held_out), all_right(opened, held_out, opened=True)

So a decoder needs no encoder to read a prompt. In a causal prompt, what a position computes does not depend on what
follows: it can be kept when the chat goes on. In an open prompt (a prefix language model; Raffel et al. 2020, section
3.2.1) a text can already be read with a view to the question behind it, but every new turn changes what was computed.
"""

from collections.abc import Sequence
from copy import deepcopy

import torch
from torch import Tensor, nn

from tx_helpers.lessons.families.chat import Chat, chat_ids
from tx_helpers.nn.arguments import check_tensors, check_types
from tx_helpers.nn.models import DecoderOnly
from tx_helpers.text.data import IGNORE, TextBatch, text_batch
from tx_helpers.training.contexts import in_mode
from tx_helpers.training.losses import sequence_loss
from tx_helpers.training.objectives import prefix_mask


def open_prompt(model: DecoderOnly) -> DecoderOnly:
    """A copy of a decoder with the same weights, without a causal mask of its own: pass one at each call."""
    check_types("open_prompt", DecoderOnly, model=model)
    opened = deepcopy(model)
    opened.decoder.causal = False
    return opened


def open_prompt_mask(targets: Tensor) -> Tensor:
    """Causal, but the positions up to the first scored target see each other: targets (B, T) -> (B, 1, T, T)."""
    check_tensors("open_prompt_mask", targets=(targets, "int B T"))
    T = targets.shape[1]
    lengths = [(row != IGNORE).int().argmax().item() + 1 for row in targets]
    return torch.stack([prefix_mask(T, length) for length in lengths])[:, None].to(targets.device)


def open_prompt_loss(model: nn.Module, batch: TextBatch) -> Tensor:
    """The loss of `language_model_loss`, with an open prompt; of a chat of several turns, only the first is open."""
    return sequence_loss(model(batch.input, mask=open_prompt_mask(batch.target)), batch.target)


def all_right(model: nn.Module, chats: Sequence[Chat], *, opened: bool = False) -> float:
    """The share of chats in which each scored token is the likeliest after the true ones before it.

    For chats of one turn it is the share of answers that greedy decoding writes word for word, found in one pass.
    """
    check_types("all_right", Sequence, chats=chats)
    ids, target = text_batch(chat_ids(chat) for chat in chats)
    with in_mode(model, training=False), torch.no_grad():
        logits = model(ids, mask=open_prompt_mask(target) if opened else None)
    right = (logits.argmax(-1) == target) | (target == IGNORE)  # (B, T)
    return right.all(-1).float().mean().item()
