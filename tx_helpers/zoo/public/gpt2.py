"""GPT-2 (Radford et al. 2019): the names of its parts in the library transformers, and in ours."""

from tx_helpers.nn.models import DecoderOnly
from tx_helpers.zoo.public.family import TASK, TRAINING, Family, Field, Row, activation

ROWS = (
    Row("decoder.input.tokens", "wte"),
    Row("decoder.input.positions.table", "wpe"),
    *(
        Row(f"decoder.blocks.{{}}.self_attention.{name}", "h.{}.attn.c_attn", part=(k, 3), transposed=True)
        for k, name in enumerate(("query", "key", "value"))
    ),
    Row("decoder.blocks.{}.self_attention.output", "h.{}.attn.c_proj", transposed=True),
    Row("decoder.blocks.{}.self_attention_norm", "h.{}.ln_1"),
    Row("decoder.blocks.{}.feed_forward.expand", "h.{}.mlp.c_fc", transposed=True),
    Row("decoder.blocks.{}.feed_forward.contract", "h.{}.mlp.c_proj", transposed=True),
    Row("decoder.blocks.{}.feed_forward_norm", "h.{}.ln_2"),
    Row("decoder.norm", "ln_f"),
    Row("output", "lm_head"),
)

GPT2 = Family(
    name="gpt2",
    model=DecoderOnly,
    architectures=("GPT2Model", "GPT2LMHeadModel"),
    prefix="transformer.",
    head=("lm_head",),
    output="lm_head.weight",
    fields={
        "vocab_size": Field("vocab_size"),
        "n_embd": Field("d_model"),
        "n_layer": Field("n_layers"),
        "n_head": Field("attention.n_heads"),
        "n_positions": Field("context_length"),
        "n_inner": Field("feed_forward.d_ff", None),
        "activation_function": activation("feed_forward.activation", "gelu_tanh"),
        "layer_norm_epsilon": Field("norm.eps", 1e-5),
        "resid_pdrop": Field("dropout", 0.1),
        "tie_word_embeddings": Field("embedding.tied", True),
    },
    constants={"positions.kind": "learned", "embedding.scale": False},
    rows=lambda config: ROWS,
    expected={
        "scale_attn_weights": (True,),
        "scale_attn_by_inverse_layer_idx": (False,),
    },
    ignored={
        "n_ctx": "repeats n_positions",
        "embd_pdrop": TRAINING,
        "attn_pdrop": TRAINING,
        "reorder_and_upcast_attn": "changes rounding alone",
        **dict.fromkeys(("summary_type", "summary_use_proj", "summary_activation", "summary_proj_to_labels"), TASK),
        **dict.fromkeys(("summary_first_dropout", "n_special", "predict_special_tokens"), TASK),
    },
    left_out={
        "h.*.attn.bias": "the causal mask",
        "h.*.attn.masked_bias": "what the causal mask fills in",
    },
)
