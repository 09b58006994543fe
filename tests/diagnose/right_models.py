"""Right models of different build, made by different hands: `diagnose` must find nothing wrong with any of them."""

from collections.abc import Callable

import torch
import torch.nn.functional as F
from torch import Tensor, nn

from mistakes import Pair, cross_entropy, shifting, smoothed, text_batch
from toy import Toy, decoding, window_mask, windowed
from tx_helpers.nn.config import (
    AttentionConfig,
    EmbeddingConfig,
    FeedForwardConfig,
    InitConfig,
    NormConfig,
    PositionConfig,
    TransformerConfig,
)
from tx_helpers.nn.models import DecoderOnly, EncoderDecoder, EncoderOnly
from tx_helpers.zoo.presets import bert, gpt2, llama, t5, transformer_2017

V, D, H, CONTEXT, PAD = 29, 24, 4, 32, 0
LIBRARY = dict(bos_token_id=1, eos_token_id=2)


def ours(kind: type = DecoderOnly, **changes) -> nn.Module:
    return kind(TransformerConfig(V, D, **(dict(attention=AttentionConfig(H)) | changes)))


class TorchEncoder(nn.Module):
    """`nn.TransformerEncoder`: with a causal mask a language model, without one an encoder that masks its padding."""

    def __init__(self, causal: bool, **options):
        super().__init__()
        self.causal = causal
        self.tokens, self.positions = nn.Embedding(V, D), nn.Parameter(torch.randn(CONTEXT, D))
        layer = nn.TransformerEncoderLayer(D, H, 2 * D, dropout=0.1, batch_first=True, **options)
        self.encoder = nn.TransformerEncoder(layer, 2, enable_nested_tensor=False)
        self.output = nn.Linear(D, V)

    def forward(self, ids: Tensor) -> Tensor:
        T = ids.shape[1]
        mask = torch.ones(T, T, dtype=torch.bool, device=ids.device).triu(1) if self.causal else None
        padding = None if self.causal else ids == PAD
        x = self.tokens(ids) + self.positions[:T]
        return self.output(self.encoder(x, mask=mask, src_key_padding_mask=padding))


class TorchTransformer(nn.Module):
    """`nn.Transformer` with embeddings and an output of its own."""

    def __init__(self, **options):
        super().__init__()
        self.sources, self.targets = nn.Embedding(19, D), nn.Embedding(V, D)
        self.positions = nn.Parameter(torch.randn(CONTEXT, D))
        self.body = nn.Transformer(D, H, 2, 2, 2 * D, batch_first=True, **options)
        self.output = nn.Linear(D, V)

    def forward(self, source: Tensor, target: Tensor) -> Tensor:
        x, y = (
            table(ids) + self.positions[: ids.shape[1]]
            for table, ids in ((self.sources, source), (self.targets, target))
        )
        future = torch.ones(y.shape[1], y.shape[1], dtype=torch.bool).triu(1)
        pads = source == PAD
        hidden = self.body(x, y, tgt_mask=future, src_key_padding_mask=pads, memory_key_padding_mask=pads)
        return self.output(hidden)


class TorchLSTM(nn.Module):
    """No Transformer at all, and right."""

    def __init__(self):
        super().__init__()
        self.tokens, self.body, self.output = nn.Embedding(V, D), nn.LSTM(D, D, batch_first=True), nn.Linear(D, V)

    def forward(self, ids: Tensor) -> Tensor:
        return self.output(self.body(self.tokens(ids))[0])


class Experts(nn.Module):
    """Each token goes to the expert that scores highest, however many go there."""

    def __init__(self, width: int, n: int = 3):
        super().__init__()
        self.score, self.experts = nn.Linear(width, n), nn.ModuleList(nn.Linear(width, width) for _ in range(n))

    def forward(self, x: Tensor) -> Tensor:
        share, chosen = self.score(x).softmax(dim=-1).max(dim=-1, keepdim=True)
        return sum((chosen == n) * share * expert(x) for n, expert in enumerate(self.experts))


class Convolutions(nn.Module):
    """As WaveNet: causal convolutions, each twice as far apart."""

    def __init__(self, V: int = V):
        super().__init__()
        self.tokens, self.output = nn.Embedding(V, D), nn.Linear(D, V)
        self.layers = nn.ModuleList(nn.Conv1d(D, 2 * D, 2, dilation=2**i) for i in range(4))

    def forward(self, ids: Tensor) -> Tensor:
        x = self.tokens(ids).transpose(1, 2)  # (B, D, T)
        for layer in self.layers:
            x = x + F.glu(layer(F.pad(x, (layer.dilation[0], 0))), dim=1)
        return self.output(x.transpose(1, 2))


class Linear(nn.Module):
    """Attention without a softmax: sums over the past."""

    def __init__(self):
        super().__init__()
        self.tokens, self.positions = nn.Embedding(V, D), nn.Parameter(torch.randn(CONTEXT, D))
        self.query, self.key, self.value, self.output = (nn.Linear(D, n) for n in (D, D, D, V))

    def forward(self, ids: Tensor) -> tuple[None, Tensor]:
        x = self.tokens(ids) + self.positions[: ids.shape[1]]
        q, k, v = F.elu(self.query(x)) + 1, F.elu(self.key(x)) + 1, self.value(x)
        sums = (k[..., None] * v[..., None, :]).cumsum(dim=1)  # (B, T, D, D)
        mixed = (q[..., None] * sums).sum(dim=-2) / (q * k.cumsum(dim=1)).sum(dim=-1, keepdim=True)
        return None, self.output(x + mixed)  # (loss, logits)


def with_experts(model: Toy) -> Toy:
    for block in model.blocks:
        block.activation = Experts(block.contract.in_features)
    return model


def frozen_but_for_the_output(model: Toy) -> Toy:
    model.requires_grad_(False).output.requires_grad_(True)
    return model


def library(name: str, **options) -> nn.Module:
    import transformers

    config = getattr(transformers, f"{name}Config")
    pairs = "ForConditionalGeneration"
    heads = {"GPT2": "GPT2LMHeadModel", "T5": f"T5{pairs}", "Bart": f"Bart{pairs}", "Bert": "BertForMaskedLM"}
    return getattr(transformers, heads.get(name, f"{name}ForCausalLM"))(config(vocab_size=V, **LIBRARY, **options))


LLAMA = dict(
    hidden_size=D,
    intermediate_size=40,
    num_hidden_layers=2,
    num_attention_heads=H,
    num_key_value_heads=2,
    max_position_embeddings=CONTEXT,
)
BERT = dict(
    hidden_size=D,
    num_hidden_layers=2,
    num_attention_heads=H,
    intermediate_size=40,
    max_position_embeddings=CONTEXT,
)
BART = dict(
    d_model=D,
    encoder_layers=2,
    decoder_layers=2,
    encoder_attention_heads=H,
    decoder_attention_heads=H,
    encoder_ffn_dim=40,
    decoder_ffn_dim=40,
    max_position_embeddings=CONTEXT,
)
T5 = dict(
    d_model=D,
    d_kv=6,
    d_ff=40,
    num_layers=2,
    num_heads=H,
    relative_attention_num_buckets=8,
    relative_attention_max_distance=12,
    decoder_start_token_id=PAD,
)

SIZES = dict(vocab_size=V, d_model=D, n_layers=2, attention=AttentionConfig(H))
GATED = FeedForwardConfig(40, "silu", gated=True, bias=False)

# name: (how it is made, the options of diagnose)
RIGHT: dict[str, tuple[Callable[[], nn.Module], dict]] = {
    "toy": (Toy, {}),
    "toy, −1e9 fill": (lambda: Toy(fill=-1e9), {}),
    "toy, −1e4 fill": (lambda: Toy(fill=-1e4), {}),
    "toy, dropout": (lambda: Toy(dropout=0.2), {}),
    "toy, left padding": (lambda: Toy(pad_id=PAD, fill=-1e9), dict(pad_id=PAD, pad_side="left")),
    "toy, one layer": (lambda: Toy(n_layers=1), {}),
    "toy encoder": (lambda: Toy(causal=False, pad_id=PAD, fill=-1e9), dict(kind="encoder", pad_id=PAD)),
    "ours": (ours, {}),
    "ours, post-norm": (lambda: ours(wiring="post_norm"), {}),
    "ours, ALiBi": (lambda: ours(positions=PositionConfig("alibi")), {}),
    "ours, rotary, RMSNorm, gated, grouped": (
        lambda: ours(
            positions=PositionConfig("rotary"),
            norm=NormConfig("rms"),
            feed_forward=GATED,
            attention=AttentionConfig(H, n_kv_heads=2, bias=False, qk_norm=True),
            embedding=EmbeddingConfig(tied=False),
        ),
        {},
    ),
    "ours, T5 bias": (lambda: ours(positions=PositionConfig("t5")), {}),
    "ours, zero-initialised projections": (lambda: ours(init=InitConfig("normal", residual="zero")), {}),
    "ours, padding": (lambda: ours(pad_id=PAD), {}),
    "ours, left padding": (lambda: ours(pad_id=PAD), dict(pad_side="left")),
    "ours, GPT-2": (lambda: DecoderOnly(gpt2(context_length=CONTEXT, **SIZES)), {}),
    "ours, Llama": (lambda: DecoderOnly(llama(**SIZES, feed_forward=GATED)), {}),
    "ours, BERT": (
        lambda: EncoderOnly(bert(vocab_size=V, d_model=D, n_layers=2, attention=AttentionConfig(H))),
        dict(kind="encoder"),
    ),
    "ours, 2017": (
        lambda: EncoderDecoder(
            transformer_2017(
                V,
                d_model=D,
                n_layers=2,
                source_vocab_size=19,
                pad_id=PAD,
                attention=AttentionConfig(H, bias=False),
            )
        ),
        {},
    ),
    "ours, T5": (
        lambda: EncoderDecoder(
            t5(vocab_size=V, d_model=D, n_layers=2, attention=AttentionConfig(H, d_head=6, bias=False, scale=1.0))
        ),
        {},
    ),
    "nn.TransformerEncoder, causal": (lambda: TorchEncoder(True), {}),
    "nn.TransformerEncoder, causal, pre-norm": (lambda: TorchEncoder(True, norm_first=True), {}),
    "nn.TransformerEncoder, padding masked": (lambda: TorchEncoder(False), dict(kind="encoder", pad_id=PAD)),
    "nn.Transformer": (TorchTransformer, dict(pad_id=PAD)),
    "nn.Transformer, pre-norm": (lambda: TorchTransformer(norm_first=True, activation=F.gelu), dict(pad_id=PAD)),
    "transformers, GPT-2": (lambda: library("GPT2", n_positions=CONTEXT, n_embd=D, n_layer=2, n_head=H), {}),
    "transformers, GPT-2, eager": (
        lambda: library("GPT2", n_positions=CONTEXT, n_embd=D, n_layer=2, n_head=H, attn_implementation="eager"),
        {},
    ),
    "transformers, Llama": (lambda: library("Llama", **LLAMA), {}),
    "transformers, Llama, eager, left padding": (
        lambda: library("Llama", attn_implementation="eager", pad_token_id=PAD, **LLAMA),
        dict(pad_side="left"),
    ),
    "transformers, BLOOM, left padding": (
        lambda: library("Bloom", hidden_size=D, n_layer=2, n_head=H, pad_token_id=PAD, attn_implementation="eager"),
        dict(pad_side="left"),
    ),
    "transformers, Gemma 2, eager, left padding": (
        lambda: library("Gemma2", head_dim=8, pad_token_id=PAD, attn_implementation="eager", **LLAMA),
        dict(pad_side="left"),
    ),
    "transformers, Qwen 3": (lambda: library("Qwen3", head_dim=10, **LLAMA), {}),
    "transformers, BLOOM": (lambda: library("Bloom", hidden_size=D, n_layer=2, n_head=H, pad_token_id=3), {}),
    "transformers, BERT": (lambda: library("Bert", **BERT), dict(kind="encoder")),
    "transformers, Mistral, window": (lambda: library("Mistral", sliding_window=5, **LLAMA), {}),
    "transformers, BART": (
        lambda: library("Bart", **BART, pad_token_id=PAD, decoder_start_token_id=2, forced_eos_token_id=2),
        {},
    ),
    "transformers, BERT, hidden states": (lambda: library("Bert", **BERT).bert, dict(kind="encoder", vocab_size=V)),
    "nn.LSTM": (TorchLSTM, {}),
    "nn.Transformer's parts": (Pair, {}),
    "toy, experts": (lambda: with_experts(Toy()), {}),
    "toy, all frozen but the output": (lambda: frozen_but_for_the_output(Toy()), {}),
    "toy, a window": (lambda: Toy(mask=lambda T, S: torch.ones(T, S).tril(S - T).triu(S - T - 3).bool()), {}),
    "toy, a window, its cache": (lambda: Toy(mask=window_mask), dict(decoding=windowed)),
    "toy, left padding, its cache": (
        lambda: Toy(pad_id=PAD, fill=-1e9),
        dict(pad_id=PAD, pad_side="left", decoding=decoding),
    ),
    "toy, its loss and batches": (Toy, dict(loss=cross_entropy, data=text_batch(1), pad_id=PAD)),
    "toy, smoothed loss": (Toy, dict(loss=smoothed, pad_id=PAD)),
    "toy, the loss shifts": (Toy, dict(loss=shifting, data=text_batch(0))),
    "convolutions": (Convolutions, {}),
    "linear attention, (loss, logits)": (Linear, {}),
    "two letters": (lambda: Convolutions(2), {}),
    "traced": (lambda: torch.jit.trace(Convolutions().eval(), torch.ones(2, 16, dtype=torch.long)), {}),
    "transformers, Gemma 2": (lambda: library("Gemma2", head_dim=8, sliding_window=6, pad_token_id=PAD, **LLAMA), {}),
    "transformers, Mamba": (lambda: library("Mamba", hidden_size=D, num_hidden_layers=2, state_size=4), {}),
    "transformers, T5": (lambda: library("T5", **T5), {}),
    "transformers, T5, gated": (lambda: library("T5", **T5, feed_forward_proj="gated-gelu"), {}),
}
