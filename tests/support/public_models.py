"""Models of the library transformers, small and random, saved as checkpoints: what the tests of `pretrained` load.

Each family comes at several odd sizes, with the options that change its shape. `PublicModel` knows how to run it on
padded rows: a family without `position_ids` sees each row without its padding.
"""

from collections.abc import Mapping
from dataclasses import dataclass
from pathlib import Path

import torch
import transformers
from torch import Tensor, nn

from parity import tokens
from tx_helpers.nn.models import DecoderOnly

transformers.utils.logging.disable_progress_bar()
LLAMA3 = {
    **{"rope_type": "llama3", "rope_theta": 50.0, "factor": 8.0},
    **{"low_freq_factor": 1.0, "high_freq_factor": 4.0, "original_max_position_embeddings": 11},
}
DRAWN_BUFFERS = ("final_logits_bias", "e_score_correction_bias")
UNCAPPED = {"attn_logit_softcapping": None, "final_logit_softcapping": None}
YARN = {"rope_type": "yarn", "rope_theta": 50.0, "factor": 3.0, "original_max_position_embeddings": 11}
YARN_TUNED = {**YARN, "beta_fast": 2.5, "beta_slow": 0.4, "attention_factor": 1.7, "truncate": False}


@dataclass(frozen=True)
class PublicModel:
    """One model: its class, its config as keywords, and the class of transformers that reads it again."""

    name: str
    kind: type[nn.Module]
    config: type
    fields: dict
    positions: str = "given"  # or "counted": by the model itself; or "absolute": padding counts
    untied: str = ""  # the module whose matrix is a copy, though the config cannot say so

    def make(self, seed: int = 0) -> nn.Module:
        """With random values everywhere: zero biases and gains of one would hide a swapped part."""
        config = self.config(**self.fields)
        model = _allow_odd_sizes(self.kind(config).eval())
        if self.untied:
            module = model.get_submodule(self.untied)
            module.weight = nn.Parameter(module.weight.detach().clone())
        generator = torch.Generator().manual_seed(seed)
        drawn = [parameter for parameter in model.parameters() if parameter.requires_grad]  # not Marian's sinusoids
        drawn += [buffer for name, buffer in model.named_buffers() if name.endswith(DRAWN_BUFFERS)]
        with torch.no_grad():
            for tensor in drawn:
                tensor.copy_(0.1 + 0.3 * torch.randn(tensor.shape, generator=generator))
        return model

    def save(self, folder: Path, **options) -> nn.Module:
        model = self.make()
        model.save_pretrained(folder, **options)
        return model

    @property
    def body(self) -> bool:
        return self.name.endswith(("body", "minilm"))

    @property
    def pad(self) -> int:
        return self.fields["pad_token_id"]

    def ids(self, side: str, T: int = 9, seed: int = 0) -> tuple[Tensor, Tensor]:
        """Three rows, the last two shortened on one side: ids (3, T), and which of them are real."""
        ids = tokens(3, T, seed=seed, low=3, high=self.fields["vocab_size"] - 1)
        real = torch.ones_like(ids, dtype=torch.bool)
        for row, missing in ((1, 2), (2, 5)) if side != "none" else ():
            real[row, slice(missing) if side == "left" else slice(T - missing, None)] = False
        return ids.masked_fill(~real, self.pad), real

    def run(self, model: nn.Module, ids: Tensor, real: Tensor, target: Tensor | None = None) -> list[Tensor]:
        """All hidden states, encoder first, each (3, T, D), and last the logits (or the last hidden states again)."""
        _allow_odd_sizes(model)
        if self.positions == "absolute" and not real[:, 0].all():
            return self._row_by_row(model, ids, real, target)
        options = {"attention_mask": real.long(), "output_hidden_states": True}
        if target is not None:
            options["decoder_input_ids"] = target
        elif self.positions == "given":
            options["position_ids"] = (real.long().cumsum(-1) - 1).clamp(min=0)
        found = model(ids, **options)
        last = found.last_hidden_state if "last_hidden_state" in found else None
        logits = next((found[name] for name in ("logits", "prediction_logits") if name in found), last)
        if target is not None:
            return [*found.encoder_hidden_states, *found.decoder_hidden_states, logits]
        return [*found.hidden_states, logits]

    def _row_by_row(self, model: nn.Module, ids: Tensor, real: Tensor, target: Tensor | None) -> list[Tensor]:
        whole: list[Tensor] = []
        for row, (line, here) in enumerate(zip(ids, real, strict=True)):
            alone, aim = line[here].unsqueeze(0), None if target is None else target[row : row + 1]
            for i, found in enumerate(self.run(model, alone, torch.ones_like(alone, dtype=torch.bool), aim)):
                padded = here if found.shape[1] == alone.shape[1] else torch.ones(found.shape[1], dtype=torch.bool)
                if row == 0:
                    whole.append(found.new_zeros(len(ids), len(padded), found.shape[-1]))
                whole[i] = whole[i].index_put((torch.tensor(row), padded.nonzero().squeeze(-1)), found[0])
        return whole

    def gradients(self, model: nn.Module) -> dict[str, Tensor]:
        """The gradients of their parameters, by the names that a file has: there each expert stands by itself."""
        found: dict[str, Tensor] = {}
        for name, parameter in model.named_parameters():
            if parameter.grad is None:
                continue
            layer, experts, part = name.partition(".mlp.experts.")
            if not experts:
                found[name] = parameter.grad
            elif part == "gate_up_proj":
                for i, (gate, expand) in enumerate(expert.chunk(2) for expert in parameter.grad):
                    found |= {
                        f"{layer}{experts}{i}.gate_proj.weight": gate,
                        f"{layer}{experts}{i}.up_proj.weight": expand,
                    }
            else:
                found |= {f"{layer}{experts}{i}.{part}.weight": one for i, one in enumerate(parameter.grad)}
        if self.name.startswith("mixtral"):
            names = {".mlp.": ".block_sparse_moe.", "gate_proj": "w1", "down_proj": "w2", "up_proj": "w3"}
            for new, old in names.items():
                found = {name.replace(new, old): gradient for name, gradient in found.items()}
        return found

    def output(self, ours: nn.Module, ids: Tensor, target: Tensor | None) -> Tensor:
        """The logits of our model; its last hidden states where theirs is a body without an output layer."""
        if not self.body:
            return ours(ids) if target is None else ours(ids, target)
        if target is None:
            return (ours.decoder if isinstance(ours, DecoderOnly) else ours.encoder)(ids)
        return ours.decoder(target, memory=ours.encode(ids), memory_mask=ours.source_mask(ids))


def hidden_states(ours: nn.Module, captured: Mapping[str, Tensor]) -> list[Tensor]:
    """The hidden states that `PublicModel.run` gives, of ours, from what `capture` observed."""
    found = []
    for name in ("encoder", "decoder"):
        stack = getattr(ours, name, None)
        if stack is not None:
            found += [captured[f"{name}.input.hidden"]]
            found += [captured[f"{name}.blocks.{i}.hidden"] for i in range(len(stack.blocks))]
            found[-1] = stack.norm(found[-1])
    return found


def _allow_odd_sizes(model: nn.Module) -> nn.Module:
    """The library's fast way to compute experts wants widths that are multiples of 4."""
    if any(name.endswith("experts") for name, _ in model.named_modules()):
        model.set_experts_implementation("eager")
    return model


def _llama(V: int, D: int, L: int, H: int, G: int, F: int, **more) -> dict:
    sizes = dict(vocab_size=V, hidden_size=D, num_hidden_layers=L, num_attention_heads=H, num_key_value_heads=G)
    ids = dict(pad_token_id=0, bos_token_id=1, eos_token_id=2)
    return {**sizes, "intermediate_size": F, "max_position_embeddings": 31, **ids, **more}


def _bert(V: int, D: int, L: int, H: int, F: int, **more) -> dict:
    sizes = dict(vocab_size=V, hidden_size=D, num_hidden_layers=L, num_attention_heads=H, intermediate_size=F)
    return {**sizes, "max_position_embeddings": 31, "pad_token_id": 0, **more}


def _bart(V: int, D: int, N: int, L: int, H: int, F: int, **more) -> dict:
    layers = dict(encoder_layers=N, decoder_layers=L, encoder_attention_heads=H, decoder_attention_heads=H)
    sizes = dict(vocab_size=V, d_model=D, encoder_ffn_dim=F, decoder_ffn_dim=F, max_position_embeddings=31)
    return {**layers, **sizes, "pad_token_id": 1, "decoder_start_token_id": 2, "eos_token_id": 2, **more}


def _gpt2(V: int, D: int, L: int, H: int, **more) -> dict:
    sizes = dict(vocab_size=V, n_embd=D, n_layer=L, n_head=H, n_positions=31)
    return {**sizes, "pad_token_id": 0, "bos_token_id": 1, "eos_token_id": 2, **more}


def _t5(V: int, D: int, N: int, L: int, H: int, K: int, F: int, **more) -> dict:
    sizes = dict(vocab_size=V, d_model=D, num_layers=N, num_decoder_layers=L, num_heads=H, d_kv=K, d_ff=F)
    return {**sizes, "pad_token_id": 0, "decoder_start_token_id": 0, **more}


def _cases() -> list[PublicModel]:
    t = transformers
    gpt2 = (t.GPT2LMHeadModel, t.GPT2Config)
    llama, mistral = (t.LlamaForCausalLM, t.LlamaConfig), (t.MistralForCausalLM, t.MistralConfig)
    qwen2, qwen3 = (t.Qwen2ForCausalLM, t.Qwen2Config), (t.Qwen3ForCausalLM, t.Qwen3Config)
    mixtral, qwen3_moe = (t.MixtralForCausalLM, t.MixtralConfig), (t.Qwen3MoeForCausalLM, t.Qwen3MoeConfig)
    gemma, stablelm = (t.GemmaForCausalLM, t.GemmaConfig), (t.StableLmForCausalLM, t.StableLmConfig)
    gemma2, gemma3 = (t.Gemma2ForCausalLM, t.Gemma2Config), (t.Gemma3ForCausalLM, t.Gemma3TextConfig)
    deepseek2, deepseek3 = (t.DeepseekV2ForCausalLM, t.DeepseekV2Config), (t.DeepseekV3ForCausalLM, t.DeepseekV3Config)
    phi3 = (t.Phi3ForCausalLM, t.Phi3Config)
    bert, roberta = (t.BertForMaskedLM, t.BertConfig), (t.RobertaForMaskedLM, t.RobertaConfig)
    distilbert = (t.DistilBertForMaskedLM, t.DistilBertConfig)
    t5 = (t.T5ForConditionalGeneration, t.T5Config)
    marian, bart = (t.MarianMTModel, t.MarianConfig), (t.BartForConditionalGeneration, t.BartConfig)
    tied, untied = dict(tie_word_embeddings=True), dict(tie_word_embeddings=False)
    window = dict(use_sliding_window=True, sliding_window=5, max_window_layers=0)
    in_turn = dict(use_sliding_window=True, sliding_window=4, max_window_layers=2)
    near_far = dict(sliding_window=4, query_pre_attn_scalar=11, head_dim=10)
    third = dict(layer_types=["sliding_attention", "full_attention", "sliding_attention"])
    two_ropes = dict(
        rope_parameters={
            "full_attention": {"rope_type": "linear", "rope_theta": 300.0, "factor": 3.0},
            "sliding_attention": {"rope_type": "default", "rope_theta": 50.0},
        }
    )
    latent = dict(kv_lora_rank=9, qk_rope_head_dim=4, qk_nope_head_dim=5, v_head_dim=6, moe_intermediate_size=7)
    mla = dict(**latent, n_routed_experts=6, num_experts_per_tok=2, n_group=3, topk_group=2)
    even = dict(qk_nope_head_dim=6, kv_lora_rank=10)  # for the complex numbers of their DeepSeek-V2
    limited = dict(first_k_dense_replace=1, topk_method="group_limited_greedy", routed_scaling_factor=1.7)
    grown = dict(rope_parameters={**YARN, "mscale": 0.7, "mscale_all_dim": 0.9}, q_lora_rank=None)
    halves = dict(rope_interleave=False, norm_topk_prob=False, first_k_dense_replace=0)
    ends = dict(bos_token_id=1, eos_token_id=2)
    linear = dict(rope_parameters={"rope_type": "linear", "rope_theta": 300.0, "factor": 3.0})
    two = dict(share_encoder_decoder_embeddings=False, decoder_vocab_size=41)
    ids = dict(bos_token_id=0, pad_token_id=1, eos_token_id=2)
    distil = dict(dim=30, n_layers=3, n_heads=5, hidden_dim=23, max_position_embeddings=31, pad_token_id=0)
    small = dict(dim=21, n_layers=1, n_heads=3, hidden_dim=17, max_position_embeddings=29, pad_token_id=0)
    gated = dict(feed_forward_proj="gated-gelu", tie_word_embeddings=False)
    five, four = dict(num_local_experts=5, num_experts_per_tok=3), dict(num_experts=4, num_experts_per_tok=2)
    mixture = dict(moe_intermediate_size=19, head_dim=10, **four)
    whole = dict(rope_parameters={"rope_type": "default", "rope_theta": 300.0, "partial_rotary_factor": 1.0})
    half = dict(rope_parameters={"rope_type": "default", "rope_theta": 300.0, "partial_rotary_factor": 0.7})
    near = dict(relative_attention_num_buckets=8, relative_attention_max_distance=12)
    pad = dict(pad_token_id=36, decoder_start_token_id=36, eos_token_id=0)
    return [
        PublicModel("gpt2", *gpt2, _gpt2(37, 21, 2, 3)),
        PublicModel("gpt2-untied", *gpt2, _gpt2(53, 30, 1, 5, n_inner=23, layer_norm_epsilon=1e-2, **untied)),
        PublicModel("gpt2-relu", *gpt2, _gpt2(29, 28, 3, 7, activation_function="relu")),
        PublicModel("gpt2-body", t.GPT2Model, t.GPT2Config, _gpt2(31, 15, 1, 3)),
        PublicModel("llama2", *llama, _llama(37, 18, 2, 3, 3, 23)),
        PublicModel("llama3", *llama, _llama(53, 30, 1, 3, 1, 17, rope_parameters=LLAMA3, **tied)),
        PublicModel("llama-linear", *llama, _llama(29, 36, 3, 6, 2, 29, attention_bias=True, mlp_bias=True, **linear)),
        PublicModel("llama-yarn", *llama, _llama(29, 36, 2, 3, 1, 29, rope_parameters=YARN)),
        PublicModel("llama-yarn-tuned", *llama, _llama(53, 40, 1, 2, 2, 17, rope_parameters=YARN_TUNED)),
        PublicModel("mistral", *mistral, _llama(37, 18, 2, 3, 1, 23, sliding_window=4)),
        PublicModel("mistral-no-window", *mistral, _llama(53, 20, 1, 6, 3, 17, head_dim=14, sliding_window=None)),
        PublicModel("qwen2", *qwen2, _llama(37, 18, 2, 3, 1, 23, **tied)),
        PublicModel("qwen2-window", *qwen2, _llama(53, 30, 3, 3, 3, 17, rms_norm_eps=1e-2, **window)),
        PublicModel("qwen2-in-turn", *qwen2, _llama(29, 18, 3, 3, 1, 19, **in_turn)),
        PublicModel("qwen3", *qwen3, _llama(37, 18, 2, 3, 1, 23, head_dim=10)),
        PublicModel("qwen3-tied", *qwen3, _llama(53, 20, 1, 6, 2, 17, head_dim=6, attention_bias=True, **tied)),
        PublicModel("mixtral", *mixtral, _llama(37, 18, 2, 3, 1, 23, **five)),
        PublicModel("mixtral-window", *mixtral, _llama(53, 20, 1, 6, 2, 17, head_dim=6, sliding_window=4, **tied)),
        PublicModel("qwen3-moe", *qwen3_moe, _llama(37, 18, 2, 3, 1, 23, **mixture)),
        PublicModel("qwen3-moe-normalised", *qwen3_moe, _llama(29, 30, 1, 3, 3, 23, norm_topk_prob=True, **mixture)),
        PublicModel("qwen3-moe-window", *qwen3_moe, _llama(53, 20, 2, 5, 1, 19, **mixture, **in_turn)),
        PublicModel("gemma", *gemma, _llama(37, 18, 2, 3, 1, 23, head_dim=10)),
        PublicModel("gemma-untied", *gemma, _llama(29, 30, 1, 5, 5, 19, head_dim=6, attention_bias=True, **untied)),
        PublicModel("gemma2", *gemma2, _llama(37, 18, 3, 3, 1, 23, **near_far)),
        PublicModel("gemma2-uncapped", *gemma2, _llama(29, 30, 2, 5, 5, 19, **near_far, **UNCAPPED, **untied)),
        PublicModel("gemma3", *gemma3, _llama(37, 18, 7, 3, 1, 23, **near_far)),
        PublicModel("gemma3-two-ropes", *gemma3, _llama(29, 30, 3, 5, 5, 19, **near_far, **two_ropes, **third)),
        PublicModel("deepseek-v2", *deepseek2, _llama(37, 18, 3, 3, 3, 23, q_lora_rank=8, **mla | even, **limited)),
        PublicModel("deepseek-v2-yarn", *deepseek2, _llama(29, 20, 1, 5, 5, 19, **mla | even, **grown, **tied)),
        PublicModel(
            "deepseek-v3", *deepseek3, _llama(37, 18, 3, 3, 3, 23, q_lora_rank=8, first_k_dense_replace=1, **mla)
        ),
        PublicModel("deepseek-v3-yarn", *deepseek3, _llama(29, 20, 2, 5, 5, 19, **mla, **halves, **grown)),
        PublicModel("deepseek-v3-dense", *deepseek3, _llama(29, 20, 2, 5, 5, 19, **mla, first_k_dense_replace=2)),
        PublicModel("phi3", *phi3, _llama(37, 18, 2, 3, 1, 23, **ends)),
        PublicModel("phi3-window", *phi3, _llama(29, 24, 2, 4, 2, 19, sliding_window=4, **half, **ends, **tied)),
        PublicModel("stablelm", *stablelm, _llama(37, 24, 2, 3, 1, 23, use_qkv_bias=True)),
        PublicModel("stablelm-whole", *stablelm, _llama(29, 30, 1, 5, 5, 19, layer_norm_eps=1e-2, **whole, **tied)),
        PublicModel("bert", *bert, _bert(37, 21, 2, 3, 23)),
        PublicModel("bert-untied", *bert, _bert(53, 30, 1, 5, 17, hidden_act="relu", type_vocab_size=3, **untied)),
        PublicModel("bert-pretraining", t.BertForPreTraining, t.BertConfig, _bert(29, 28, 3, 7, 31)),
        PublicModel("minilm", t.BertModel, t.BertConfig, _bert(41, 24, 3, 6, 19)),
        PublicModel("roberta", *roberta, _bert(37, 21, 2, 3, 23, **ids), "counted"),
        PublicModel("roberta-untied", *roberta, _bert(53, 30, 1, 5, 17, type_vocab_size=1, **ids, **untied), "counted"),
        PublicModel("distilbert", *distilbert, {"vocab_size": 37, **distil}, "absolute"),
        PublicModel("distilbert-untied", *distilbert, {"vocab_size": 53, **small, **untied}, "absolute"),
        PublicModel("t5", *t5, _t5(37, 21, 2, 1, 3, 4, 23), "counted"),
        PublicModel("t5-relative", *t5, _t5(29, 14, 1, 3, 5, 6, 19, **near), "counted"),
        PublicModel("t5-1.1", *t5, _t5(53, 30, 1, 2, 5, 7, 17, **near, **gated), "counted", "lm_head"),
        PublicModel("marian", *marian, _bart(37, 18, 2, 1, 3, 23, **{"scale_embedding": True, **pad}), "absolute"),
        PublicModel("marian-two-vocabularies", *marian, _bart(37, 30, 1, 3, 5, 17, **two, **pad), "absolute"),
        PublicModel("bart", *bart, _bart(37, 21, 2, 1, 3, 23), "absolute"),
        PublicModel("bart-scaled", *bart, _bart(53, 30, 1, 3, 5, 17, scale_embedding=True), "absolute"),
        PublicModel("bart-body", t.BartModel, t.BartConfig, _bart(29, 15, 1, 1, 3, 19), "absolute"),
    ]


CASES: dict[str, PublicModel] = {case.name: case for case in _cases()}
