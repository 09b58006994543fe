"""One family: encoder-only (BERT), decoder-only (GPT), encoder–decoder (2017, T5), from one `TransformerConfig`.

A `Stack` turns ids into hidden states: embedding, blocks, final norm. The three models are one or two stacks and an
output layer. `start` returns the `DecodingState` of a model, which is all that `generation` works with.
"""

from collections.abc import Callable
from typing import Any

import torch
from torch import Tensor, nn

from tx_helpers.nn.arguments import check_ids
from tx_helpers.nn.attention import MultiHeadAttention
from tx_helpers.nn.blocks import Block, BlockCache, DecoderBlock
from tx_helpers.nn.building import new_block, new_cache, new_input, new_norm, new_position_bias, new_rotary
from tx_helpers.nn.config import TransformerConfig
from tx_helpers.nn.decoding import DecodingState
from tx_helpers.nn.layers import FeedForward, GatedFeedForward
from tx_helpers.nn.masks import combine_masks, padding_mask, sliding_window_mask
from tx_helpers.nn.positions import T5Bias


class Stack(nn.Module):
    """Ids (B, T) -> hidden states (B, T, D); with cross=True every block also looks at a memory.

    Positions count real tokens only, on whichever side the padding stands. A stack with a memory has no
    padding mask for its own ids: targets are padded on the right, where the causal mask hides the padding, and the
    targets of T5 begin with the pad id.
    """

    def __init__(
        self, config: TransformerConfig, tokens: nn.Embedding, *, n_layers: int, causal: bool, cross: bool = False
    ):
        super().__init__()
        self.config, self.causal = config, causal
        self.pad_id = None if cross else config.pad_id
        self.layers = [config.of_layer(i) for i in range(n_layers)]
        recurrent = [layer.mixer is not None and layer.mixer.recurrent for layer in self.layers]
        if not causal and any(recurrent):
            raise ValueError("model: a recurrent mixer sees the past alone, but the stack is an encoder's")
        self.input = new_input(config, tokens)
        self.rotary = new_rotary(config)
        rotaries = enumerate(map(new_rotary, self.layers))
        self.own_rotary = {i: rotary for i, rotary in rotaries if rotary != self.rotary}  # of a block, where it differs
        limits = zip(self.layers, recurrent, strict=True)
        self.windows = [layer.attention.window if causal and not state else None for layer, state in limits]
        self.bias = new_position_bias(config, bidirectional=not causal)
        self.blocks = nn.ModuleList(new_block(layer, cross=cross) for layer in self.layers)
        self.norm = new_norm(config) if config.final_norm else nn.Identity()

    def forward(
        self,
        ids: Tensor,
        *,
        memory: Tensor | None = None,
        memory_mask: Tensor | None = None,
        mask: Tensor | None = None,
        caches: list[BlockCache] | None = None,
        **inputs: Tensor,
    ) -> Tensor:
        """-> (B, T, D). With caches, ids are all ids so far (B, S); only those not yet in the caches are computed.

        inputs  what the input part takes beside the ids
        """
        _check_ids(ids, self.input.tokens.num_embeddings, self.config.context_length)
        start = len(caches[0]) if caches else 0  # of the positions that are not in the caches yet
        positions, padding = self._positions_and_padding(ids)
        x = self.input(ids, positions[..., start:], start, **inputs)
        of_memory = {} if memory is None else dict(memory=memory, memory_mask=memory_mask)
        of_blocks = self._attention_options(ids, start, positions[..., start:], combine_masks(padding, mask), x.dtype)
        for i, block in enumerate(self.blocks):
            x = block(x, **of_blocks[i], **of_memory, cache=caches[i] if caches else None)
        return self.norm(x)

    def _attention_options(
        self, ids: Tensor, start: int, positions: Tensor, mask: Tensor | None, dtype: torch.dtype
    ) -> list[dict[str, Any]]:
        """For each block what its self-attention is given: mask, bias, rotation."""
        T, S, device = ids.shape[1] - start, ids.shape[1], ids.device
        bias = None if self.bias is None else self.bias(T, S, device=device, dtype=dtype)
        near = {window: _limited(mask, window, T, S, device) for window in dict.fromkeys(self.windows)}
        rotate = self.rotary and self.rotary.at(positions, dtype)
        own_rotate = {i: rotary and rotary.at(positions, dtype) for i, rotary in self.own_rotary.items()}
        options = []
        for i, (layer, window) in enumerate(zip(self.layers, self.windows, strict=True)):
            given = dict(mask=near[window], bias=bias, causal=self.causal, rotate=own_rotate.get(i, rotate))
            if layer.mixer is not None and layer.mixer.sees_ids:
                given |= dict(ids=ids[:, start:])
            options.append(given)
        return options

    def new_caches(self) -> list[BlockCache]:
        """Empty caches, one for each block."""
        return [new_cache(layer) for layer in self.layers]

    def _positions_and_padding(self, ids: Tensor) -> tuple[Tensor, Tensor | None]:
        if self.pad_id is None:
            return torch.arange(ids.shape[1], device=ids.device), None
        real = ids != self.pad_id
        return (real.cumsum(-1) - 1).clamp(min=0), padding_mask(ids, self.pad_id)


class TransformerModel(nn.Module):
    """What the three models have in common: the output layer, tied weights and the initial values."""

    def __init__(self, config: TransformerConfig):
        super().__init__()
        self.config = config

    def _add_output(self, tokens: nn.Embedding) -> None:
        """Complete a model whose stacks are made; `tokens` is the embedding that the output may share."""
        config = self.config
        part = config.embedding.output
        self.transform = None if part is None else part.new(config)
        self.output = nn.Linear(config.d_model, config.vocab_size, bias=part is not None and part.bias)
        initialise(self)
        self.tie_weights()

    def tie_weights(self) -> None:
        """Let the parts that share a matrix share it (again): output and embedding, encoder and decoder."""
        embeddings = [stack.input.tokens for stack in self.children() if isinstance(stack, Stack)]
        if self.config.source_vocab_size is None:
            for embedding in embeddings:
                embedding.weight = embeddings[-1].weight
        if self.config.embedding.tied:
            self.output.weight = embeddings[-1].weight

    def _apply(self, fn: Callable[[Tensor], Tensor], recurse: bool = True) -> "TransformerModel":
        super()._apply(fn, recurse)
        self.tie_weights()  # `to_empty` makes new tensors for each part
        return self

    def logits(self, hidden: Tensor) -> Tensor:
        """Last hidden states (B, T, D) -> one number for each token of the vocabulary (B, T, V)."""
        return self.output(hidden) if self.transform is None else self.transform(hidden, self.output)


class EncoderOnly(TransformerModel):
    """Every position sees every other: ids (B, T) -> logits (B, T, V). The shape of BERT (Devlin et al. 2019)."""

    def __init__(self, config: TransformerConfig):
        super().__init__(config)
        tokens = nn.Embedding(config.vocab_size, config.d_model)
        self.encoder = Stack(config, tokens, n_layers=config.n_layers, causal=False)
        self._add_output(tokens)

    def encode(self, ids: Tensor, *, mask: Tensor | None = None, **inputs: Tensor) -> Tensor:
        """ids (B, T) -> hidden states (B, T, D); inputs as `Stack` takes them."""
        return self.encoder(ids, mask=mask, **inputs)

    def forward(self, ids: Tensor, *, mask: Tensor | None = None, **inputs: Tensor) -> Tensor:
        return self.logits(self.encode(ids, mask=mask, **inputs))


class DecoderOnly(TransformerModel):
    """Every position sees itself and what came before: ids (B, T) -> logits (B, T, V). GPT (Radford et al. 2018)."""

    def __init__(self, config: TransformerConfig):
        super().__init__(config)
        tokens = nn.Embedding(config.vocab_size, config.d_model)
        self.decoder = Stack(config, tokens, n_layers=config.n_layers, causal=True)
        self._add_output(tokens)

    def forward(self, ids: Tensor, *, mask: Tensor | None = None) -> Tensor:
        return self.logits(self.decoder(ids, mask=mask))

    def start(self, batch: int = 1, *, cached: bool = True) -> DecodingState:
        """Start decoding `batch` rows."""
        caches = self.decoder.new_caches() if cached else None
        return DecodingState(self.decoder, self.logits, batch=batch, caches=caches)


class EncoderDecoder(TransformerModel):
    """An encoder reads the source, a decoder writes the target: (B, S), (B, T) -> (B, T, V). Vaswani et al. 2017."""

    def __init__(self, config: TransformerConfig):
        super().__init__(config)
        target_tokens = nn.Embedding(config.vocab_size, config.d_model)
        if config.source_vocab_size is None:
            # A module of its own with the same matrix: `functional_call` loses a module that is registered twice.
            source_tokens = nn.Embedding.from_pretrained(target_tokens.weight, freeze=False)
            source_tokens.weight = target_tokens.weight
        else:
            source_tokens = nn.Embedding(config.source_vocab_size, config.d_model)
        n_encoder_layers = config.n_encoder_layers or config.n_layers
        self.encoder = Stack(config, source_tokens, n_layers=n_encoder_layers, causal=False)
        self.decoder = Stack(config, target_tokens, n_layers=config.n_layers, causal=True, cross=True)
        self._add_output(target_tokens)

    def encode(self, source: Tensor) -> Tensor:
        """source (B, S) -> memory (B, S, D)."""
        return self.encoder(source)

    def decode(self, target: Tensor, memory: Tensor, *, memory_mask: Tensor | None = None) -> Tensor:
        """target (B, T), memory (B, S, D) -> logits (B, T, V); memory_mask as `source_mask` gives it."""
        return self.logits(self.decoder(target, memory=memory, memory_mask=memory_mask))

    def source_mask(self, source: Tensor) -> Tensor | None:
        """Which source positions are real: (B, 1, 1, S), or None without padding."""
        return None if self.config.pad_id is None else padding_mask(source, self.config.pad_id)

    def forward(self, source: Tensor, target: Tensor) -> Tensor:
        return self.decode(target, self.encode(source), memory_mask=self.source_mask(source))

    def start(self, source: Tensor, *, cached: bool = True) -> DecodingState:
        """Encode the source (B, S) once and start decoding."""
        return DecodingState(
            self.decoder,
            self.logits,
            batch=source.shape[0],
            memory=self.encode(source),
            memory_mask=self.source_mask(source),
            caches=self.decoder.new_caches() if cached else None,
        )


@torch.no_grad()
def initialise(model: TransformerModel) -> None:
    """Draw new values for all parameters from torch's generator, as `model.config.init` says."""
    init, d_model = model.config.init, model.config.d_model
    n_layers = sum(isinstance(module, Block) for module in model.modules())
    drawn: list[Tensor] = []
    for module in model.modules():
        if isinstance(module, nn.Embedding):
            if any(module.weight is weight for weight in drawn):  # shared by encoder and decoder
                continue
            drawn.append(module.weight)
            nn.init.normal_(module.weight, std=d_model**-0.5 if init.kind == "xavier" else init.std)
        elif isinstance(module, nn.Linear):
            if init.kind == "xavier":
                nn.init.xavier_uniform_(module.weight)
            else:
                nn.init.normal_(module.weight, std=init.std if init.kind == "normal" else module.in_features**-0.5)
            if module.bias is not None:
                nn.init.zeros_(module.bias)
    for module in model.modules() if init.kind == "fan_in" else ():
        if isinstance(module, T5Bias):
            nn.init.normal_(module.table.weight, std=d_model**-0.5)
        elif isinstance(module, MultiHeadAttention) and module.scale is not None:
            module.query.weight.mul_(module.d_head**-0.5 / module.scale)
    for module in model.modules():
        first_values = getattr(module, "first_values", None)  # of a mixer that has more than linear maps
        if first_values is not None:
            first_values()
    if init.residual == "plain":
        return
    factor = 0.0 if init.residual == "zero" else (2 * n_layers) ** -0.5
    for module in model.modules():
        if isinstance(module, Block):
            module.get_parameter("self_attention.output.weight").mul_(factor)
            if isinstance(module, DecoderBlock):
                module.cross_attention.output.weight.mul_(factor)
        elif isinstance(module, FeedForward | GatedFeedForward):
            module.contract.weight.mul_(factor)


def count_parameters(model: nn.Module) -> int:
    """Parameters of a model, shared ones once."""
    return sum(parameter.numel() for parameter in model.parameters())


def _limited(mask: Tensor | None, window: int | None, T: int, S: int, device: torch.device) -> Tensor | None:
    """The mask, limited to the window where there is one that is shorter than the text."""
    if window is None or window >= S:
        return mask
    return combine_masks(mask, sliding_window_mask(T, S, window=window, device=device))


def _check_ids(ids: Tensor, vocab_size: int, context_length: int | None) -> None:
    check_ids("model", vocab_size, ids=ids)
    if context_length is not None and ids.shape[1] > context_length:
        raise ValueError(f"model: a sequence of {ids.shape[1]} ids, but context_length is {context_length}")
