"""config.json of well-known checkpoints, as they are published: every field is understood, and means our presets."""

import math
from dataclasses import replace

import pytest
import torch

from tx_helpers.nn.config import TransformerConfig
from tx_helpers.nn.models import count_parameters
from tx_helpers.zoo.parts.experts import ExpertGroups
from tx_helpers.zoo.parts.latent import LatentConfig
from tx_helpers.zoo.presets import gpt2, llama, t5
from tx_helpers.zoo.public.config_paths import differences, resolved
from tx_helpers.zoo.public.families import FAMILIES

HEADS = {"cls.predictions.transform.dense.weight", "vocab_transform.weight", "lm_head.dense.weight"}
NAMES = {*map(str, range(20_000)), "final_logits_bias", *HEADS}  # enough tensors, and those that tell of a part


def read(model_type: str, **fields) -> TransformerConfig:
    return FAMILIES[model_type].read_config({"model_type": model_type, **fields}, NAMES, "config.json")


def assert_means(config: TransformerConfig, preset: TransformerConfig) -> None:
    assert differences(resolved(config), resolved(preset)) == {}


def parameters(model_type: str, config: TransformerConfig, count=count_parameters) -> int:
    """Counted in models of two and of three layers: the others are as the third, and would take half a minute."""

    def of(n_layers: int) -> int:
        encoder = config.n_encoder_layers and n_layers
        with torch.device("meta"):
            return count(FAMILIES[model_type].model(replace(config, n_layers=n_layers, n_encoder_layers=encoder)))

    assert config.n_encoder_layers in (None, config.n_layers)
    return of(2) + (config.n_layers - 2) * (of(3) - of(2))


def test_gpt2():
    config = read(
        "gpt2",
        **dict(activation_function="gelu_new", architectures=["GPT2LMHeadModel"], attn_pdrop=0.1, bos_token_id=50256),
        **dict(embd_pdrop=0.1, eos_token_id=50256, initializer_range=0.02, layer_norm_epsilon=1e-05, n_ctx=1024),
        **dict(n_embd=768, n_head=12, n_layer=12, n_positions=1024, resid_pdrop=0.1, summary_activation=None),
        **dict(summary_first_dropout=0.1, summary_proj_to_labels=True, summary_type="cls_index"),
        **dict(summary_use_proj=True, vocab_size=50257),
        task_specific_params={"text-generation": {"do_sample": True, "max_length": 50}},
    )
    assert_means(config, gpt2())


def test_llama_2_and_3():
    shared = dict(
        **dict(architectures=["LlamaForCausalLM"], hidden_act="silu", hidden_size=4096, initializer_range=0.02),
        **dict(num_attention_heads=32, num_hidden_layers=32, pretraining_tp=1, rms_norm_eps=1e-05),
        **dict(rope_scaling=None, tie_word_embeddings=False, torch_dtype="float16", use_cache=True),
        transformers_version="4.31.0",
    )
    second = read(
        "llama",
        **shared | dict(rms_norm_eps=1e-6),
        **dict(bos_token_id=1, eos_token_id=2, vocab_size=32000, intermediate_size=11008, num_key_value_heads=32),
        max_position_embeddings=2048,
    )
    assert_means(second, llama())
    third = read(
        "llama",
        **shared,
        **dict(attention_bias=False, attention_dropout=0.0, bos_token_id=128000, eos_token_id=128001),
        **dict(intermediate_size=14336, max_position_embeddings=8192, num_key_value_heads=8, rope_theta=500000.0),
        vocab_size=128256,
    )
    assert_means(third, llama("8b"))


def test_smollm_2():
    config = read(
        "llama",
        **dict(architectures=["LlamaForCausalLM"], attention_bias=False, attention_dropout=0.0, bos_token_id=0),
        **dict(eos_token_id=0, hidden_act="silu", hidden_size=576, initializer_range=0.0417, intermediate_size=1536),
        **dict(is_llama_config=True, max_position_embeddings=8192, num_attention_heads=9, num_hidden_layers=30),
        **dict(num_key_value_heads=3, pretraining_tp=1, rms_norm_eps=1e-05, rope_interleaved=False, rope_scaling=None),
        **dict(rope_theta=100000, tie_word_embeddings=True, torch_dtype="bfloat16", use_cache=True, vocab_size=49152),
        transformers_version="4.40.1",
    )
    assert parameters("llama", config) == 134_515_008  # "135M"


def test_qwen_2():
    config = read(
        "qwen2",
        **dict(architectures=["Qwen2ForCausalLM"], attention_dropout=0.0, bos_token_id=151643, eos_token_id=151645),
        **dict(hidden_act="silu", hidden_size=3584, initializer_range=0.02, intermediate_size=18944),
        **dict(max_position_embeddings=32768, max_window_layers=28, num_attention_heads=28, num_hidden_layers=28),
        **dict(num_key_value_heads=4, rms_norm_eps=1e-06, rope_theta=1000000.0, sliding_window=131072),
        **dict(tie_word_embeddings=False, torch_dtype="bfloat16", transformers_version="4.41.2", use_cache=True),
        **dict(use_sliding_window=False, vocab_size=152064),
    )
    assert config.attention.window is None
    assert parameters("qwen2", config) == 7_615_616_512  # "7.61B"


def test_gemma_2_2b():
    config = read(
        "gemma2",
        **dict(architectures=["Gemma2ForCausalLM"], attention_bias=False, attention_dropout=0.0, bos_token_id=2),
        **dict(
            attn_logit_softcapping=50.0, cache_implementation="hybrid", eos_token_id=1, final_logit_softcapping=30.0
        ),
        **dict(head_dim=256, hidden_act="gelu_pytorch_tanh", hidden_activation="gelu_pytorch_tanh", hidden_size=2304),
        **dict(initializer_range=0.02, intermediate_size=9216, max_position_embeddings=8192, num_attention_heads=8),
        **dict(num_hidden_layers=26, num_key_value_heads=4, pad_token_id=0, query_pre_attn_scalar=256),
        **dict(rms_norm_eps=1e-06, rope_theta=10000.0, sliding_window=4096, torch_dtype="float32"),
        **dict(transformers_version="4.42.4", use_cache=True, vocab_size=256000),
    )
    windows = [config.of_layer(i).attention.window for i in range(26)]
    assert windows == [4096, None] * 13
    assert parameters("gemma2", config) == 2_614_341_888  # "2.61B"


def test_gemma_3_1b():
    config = read(
        "gemma3_text",
        **dict(architectures=["Gemma3ForCausalLM"], attention_bias=False, attention_dropout=0.0, bos_token_id=2),
        **dict(attn_logit_softcapping=None, cache_implementation="hybrid", eos_token_id=[1, 106]),
        **dict(final_logit_softcapping=None, head_dim=256, hidden_activation="gelu_pytorch_tanh", hidden_size=1152),
        **dict(initializer_range=0.02, intermediate_size=6912, max_position_embeddings=32768, num_attention_heads=4),
        **dict(num_hidden_layers=26, num_key_value_heads=1, pad_token_id=0, query_pre_attn_scalar=256),
        **dict(rms_norm_eps=1e-06, rope_local_base_freq=10000, rope_scaling=None, rope_theta=1000000),
        **dict(sliding_window=512, sliding_window_pattern=6, torch_dtype="bfloat16", use_cache=True, vocab_size=262144),
        transformers_version="4.50.0.dev0",
    )
    layers = [config.of_layer(i) for i in range(26)]
    assert [layer.attention.window for layer in layers] == [*([512] * 5 + [None]) * 4, 512, 512]
    assert [layer.positions.base for layer in layers[4:6]] == [10000, 1000000]
    assert parameters("gemma3_text", config) == 999_885_952  # "1B"


def test_phi_3_mini_4k():
    config = read(
        "phi3",
        **dict(architectures=["Phi3ForCausalLM"], attention_bias=False, attention_dropout=0.0, bos_token_id=1),
        **dict(embd_pdrop=0.0, eos_token_id=32000, hidden_act="silu", hidden_size=3072, initializer_range=0.02),
        **dict(intermediate_size=8192, max_position_embeddings=4096, num_attention_heads=32, num_hidden_layers=32),
        **dict(num_key_value_heads=32, original_max_position_embeddings=4096, pad_token_id=32000, resid_pdrop=0.0),
        **dict(rms_norm_eps=1e-05, rope_scaling=None, rope_theta=10000.0, sliding_window=2047, torch_dtype="bfloat16"),
        **dict(tie_word_embeddings=False, transformers_version="4.40.2", use_cache=True, vocab_size=32064),
        auto_map={"AutoConfig": "configuration_phi3.Phi3Config"},
    )
    assert config.attention.window == 2047
    assert parameters("phi3", config) == 3_821_079_552  # "3.8B"


def test_phi_3_s_long_rope_is_refused_by_name():
    fields = dict(hidden_size=18, num_attention_heads=3, num_hidden_layers=2, intermediate_size=23, vocab_size=37)
    scaling = dict(type="longrope", short_factor=[1.0] * 3, long_factor=[2.0] * 3)
    with pytest.raises(ValueError, match="rope_type is 'longrope', expected one of"):
        read("phi3", **fields, max_position_embeddings=31, rope_scaling=scaling)


DEEPSEEK = {
    **dict(
        attention_bias=False, attention_dropout=0.0, aux_loss_alpha=0.001, hidden_act="silu", initializer_range=0.02
    ),
    **dict(kv_lora_rank=512, max_position_embeddings=163840, moe_layer_freq=1, pretraining_tp=1, qk_nope_head_dim=128),
    **dict(qk_rope_head_dim=64, rms_norm_eps=1e-06, rope_theta=10000, seq_aux=True, tie_word_embeddings=False),
    **dict(torch_dtype="bfloat16", transformers_version="4.33.1", use_cache=True, v_head_dim=128),
}
STRETCHED = dict(beta_fast=32, beta_slow=1, factor=40, original_max_position_embeddings=4096, type="yarn")


def test_deepseek_v2_lite():
    config = read(
        "deepseek_v2",
        **DEEPSEEK,
        **dict(architectures=["DeepseekV2ForCausalLM"], bos_token_id=100000, eos_token_id=100001, vocab_size=102400),
        **dict(first_k_dense_replace=1, hidden_size=2048, intermediate_size=10944, moe_intermediate_size=1408),
        **dict(n_group=1, n_routed_experts=64, n_shared_experts=2, norm_topk_prob=False, num_attention_heads=16),
        **dict(num_experts_per_tok=6, num_hidden_layers=27, num_key_value_heads=16, q_lora_rank=None),
        **dict(routed_scaling_factor=1.0, scoring_func="softmax", topk_group=1, topk_method="greedy"),
        rope_scaling={**STRETCHED, "mscale": 0.707, "mscale_all_dim": 0.707},
    )
    assert config.attention.scale == pytest.approx(192**-0.5 * (0.0707 * math.log(40) + 1) ** 2)
    assert config.positions.stretch.gain == 1.0
    assert [config.of_layer(i).feed_forward.experts is None for i in range(27)] == [True] + [False] * 26
    assert parameters("deepseek_v2", config) == 15_706_484_224  # "15.7B"


def test_deepseek_v3_and_its_weights_in_fp8_are_refused_by_name():
    fields = dict(
        **dict(architectures=["DeepseekV3ForCausalLM"], bos_token_id=0, eos_token_id=1, ep_size=1, vocab_size=129280),
        **dict(first_k_dense_replace=3, hidden_size=7168, intermediate_size=18432, moe_intermediate_size=2048),
        **dict(n_group=8, n_routed_experts=256, n_shared_experts=1, norm_topk_prob=True, num_attention_heads=128),
        **dict(num_experts_per_tok=8, num_hidden_layers=61, num_key_value_heads=128, q_lora_rank=1536),
        **dict(num_nextn_predict_layers=1, routed_scaling_factor=2.5, scoring_func="sigmoid", topk_group=4),
        **dict(topk_method="noaux_tc", rope_scaling={**STRETCHED, "mscale": 1.0, "mscale_all_dim": 1.0}),
    )
    config = read("deepseek_v3", **DEEPSEEK, **fields)
    assert config.mixer == LatentConfig(512, 64, 128, 128, 1536)
    assert config.feed_forward.experts.groups == ExpertGroups(8, 4, best=2)
    assert [config.of_layer(i).d_ff for i in (2, 3)] == [18432, 2048]
    with pytest.raises(
        ValueError, match=r"field 'quantization_config' is .*fp8.*, which deepseek_v3 here does not know"
    ):
        read("deepseek_v3", **DEEPSEEK, **fields, quantization_config={"quant_method": "fp8"})
    with pytest.raises(ValueError, match="num_key_value_heads is 8, but num_attention_heads is 128"):
        read("deepseek_v3", **DEEPSEEK, **fields | {"num_key_value_heads": 8})


def test_mixtral_8x7b():
    config = read(
        "mixtral",
        **dict(architectures=["MixtralForCausalLM"], attention_dropout=0.0, bos_token_id=1, eos_token_id=2),
        **dict(hidden_act="silu", hidden_size=4096, initializer_range=0.02, intermediate_size=14336),
        **dict(max_position_embeddings=32768, num_attention_heads=32, num_experts_per_tok=2, num_hidden_layers=32),
        **dict(num_key_value_heads=8, num_local_experts=8, output_router_logits=False, rms_norm_eps=1e-05),
        **dict(rope_theta=1000000.0, router_aux_loss_coef=0.02, sliding_window=None, tie_word_embeddings=False),
        **dict(torch_dtype="bfloat16", transformers_version="4.36.0.dev0", use_cache=True, vocab_size=32000),
    )
    assert parameters("mixtral", config) == 46_702_792_704  # "47B parameters, but only uses 13B active"


def test_qwen_3_30b_a3b():
    config = read(
        "qwen3_moe",
        **dict(architectures=["Qwen3MoeForCausalLM"], attention_bias=False, attention_dropout=0.0, bos_token_id=151643),
        **dict(decoder_sparse_step=1, eos_token_id=151645, head_dim=128, hidden_act="silu", hidden_size=2048),
        **dict(initializer_range=0.02, intermediate_size=6144, max_position_embeddings=40960, max_window_layers=48),
        **dict(mlp_only_layers=[], moe_intermediate_size=768, norm_topk_prob=True, num_attention_heads=32),
        **dict(num_experts=128, num_experts_per_tok=8, num_hidden_layers=48, num_key_value_heads=4),
        **dict(output_router_logits=False, rms_norm_eps=1e-06, rope_scaling=None, rope_theta=1000000.0),
        **dict(router_aux_loss_coef=0.001, sliding_window=None, tie_word_embeddings=False, torch_dtype="bfloat16"),
        **dict(transformers_version="4.51.0", use_cache=True, use_sliding_window=False, vocab_size=151936),
    )
    assert parameters("qwen3_moe", config) == 30_532_122_624  # "30.5B in total and 3.3B activated"


def test_gemma_2b():
    config = read(
        "gemma",
        **dict(architectures=["GemmaForCausalLM"], attention_bias=False, attention_dropout=0.0, bos_token_id=2),
        **dict(eos_token_id=1, head_dim=256, hidden_act="gelu", hidden_size=2048, initializer_range=0.02),
        **dict(intermediate_size=16384, max_position_embeddings=8192, num_attention_heads=8, num_hidden_layers=18),
        **dict(num_key_value_heads=1, pad_token_id=0, rms_norm_eps=1e-06, rope_scaling=None, rope_theta=10000.0),
        **dict(torch_dtype="bfloat16", transformers_version="4.38.0.dev0", use_cache=True, vocab_size=256000),
    )
    assert config.feed_forward.activation == "gelu_tanh"
    assert parameters("gemma", config) == 2_506_172_416  # 2B, and half a billion in the embedding


def test_stablelm_2_1_6b():
    config = read(
        "stablelm",
        **dict(architectures=["StableLmForCausalLM"], bos_token_id=100257, eos_token_id=100257, hidden_act="silu"),
        **dict(hidden_size=2048, initializer_range=0.02, intermediate_size=5632, layer_norm_eps=1e-05),
        **dict(max_position_embeddings=4096, num_attention_heads=32, num_hidden_layers=24, num_key_value_heads=32),
        **dict(partial_rotary_factor=0.25, rope_theta=10000, tie_word_embeddings=False, torch_dtype="float16"),
        **dict(transformers_version="4.38.0", use_cache=True, use_qkv_bias=True, vocab_size=100352),
    )
    assert (config.d_head, config.positions.d_rotary) == (64, 16)
    assert parameters("stablelm", config) == 1_644_515_328  # "1.6B"


def test_t5_small():
    config = read(
        "t5",
        **dict(
            architectures=["T5ForConditionalGeneration"], d_ff=2048, d_kv=64, d_model=512, num_heads=8, num_layers=6
        ),
        **dict(decoder_start_token_id=0, dropout_rate=0.1, eos_token_id=1, initializer_factor=1.0, n_positions=512),
        **dict(is_encoder_decoder=True, layer_norm_epsilon=1e-06, output_past=True, pad_token_id=0, vocab_size=32128),
        **dict(relative_attention_num_buckets=32, task_specific_params={}),
    )
    assert_means(config, t5())


def test_distilbert():
    config = read(
        "distilbert",
        **dict(activation="gelu", architectures=["DistilBertForMaskedLM"], attention_dropout=0.1, dim=768, dropout=0.1),
        **dict(hidden_dim=3072, initializer_range=0.02, max_position_embeddings=512, n_heads=12, n_layers=6),
        **dict(pad_token_id=0, qa_dropout=0.1, seq_classif_dropout=0.2, sinusoidal_pos_embds=False, tie_weights_=True),
        **dict(transformers_version="4.10.0.dev0", vocab_size=30522),
    )
    assert parameters("distilbert", config) == 66_985_530  # "67M", with its output layer


def test_a_marian_translator_from_english_to_german():
    labels = {"id2label": {"0": "LABEL_0"}, "label2id": {"LABEL_0": 0}, "bad_words_ids": [[58100]]}
    config = read(
        "marian",
        **dict(_num_labels=3, activation_dropout=0.0, activation_function="swish", add_bias_logits=False),
        **dict(add_final_layer_norm=False, architectures=["MarianMTModel"], attention_dropout=0.0, bos_token_id=0),
        **dict(classif_dropout=0.0, classifier_dropout=0.0, d_model=512, decoder_attention_heads=8),
        **dict(decoder_ffn_dim=2048, decoder_layerdrop=0.0, decoder_layers=6, decoder_start_token_id=58100),
        **dict(decoder_vocab_size=58101, dropout=0.1, encoder_attention_heads=8, encoder_ffn_dim=2048),
        **dict(encoder_layerdrop=0.0, encoder_layers=6, eos_token_id=0, forced_eos_token_id=0, init_std=0.02),
        **dict(is_encoder_decoder=True, max_length=512, max_position_embeddings=512, normalize_before=False),
        **dict(normalize_embedding=False, num_beams=6, num_hidden_layers=6, pad_token_id=58100, scale_embedding=True),
        **dict(share_encoder_decoder_embeddings=True, static_position_embeddings=True, use_cache=True),
        **dict(vocab_size=58101, transformers_version="4.22.0.dev0", gradient_checkpointing=False),
        **labels,
    )
    assert (config.pad_id, config.embedding.scale, config.feed_forward.activation) == (58100, True, "silu")
    assert parameters("marian", config) == 73_944_309
