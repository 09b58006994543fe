"""The rungs of the ladder from the decoder of 2017 to today's, as data: what each changes, why, and the formula.

A change is a dictionary of fields of the `Recipe` of `ladder`: {"config.norm.kind": "rms"}. So it can be read, shown,
applied, left out, and tested: nothing else differs between a rung and the one below it.
"""

from collections.abc import Mapping
from dataclasses import dataclass
from types import MappingProxyType
from typing import Any

from tx_helpers.lessons.what_changed.token_values import TokenValues
from tx_helpers.zoo.parts.inputs import TokenShift
from tx_helpers.zoo.parts.outputs import CappedOutput


@dataclass(frozen=True)
class Rung:
    """One change.

    why      what it is for, in a sentence; formula: in TeX; source: where it was published
    change   the fields of the recipe that it sets, each with its value
    code     where its lines are, as a dotted name in `tx_helpers`
    parity   file::test, which compares these lines with another implementation or with the formula
    """

    name: str
    why: str
    formula: str
    change: Mapping[str, Any]
    code: str
    parity: str
    source: str

    def __post_init__(self) -> None:
        object.__setattr__(self, "change", MappingProxyType(dict(self.change)))

    @property
    def lines(self) -> str:
        """The change as it would be written in Python, a line for each field."""
        return "\n".join(f"{field} = {value!r}" for field, value in self.change.items())


RUNGS = (
    Rung(
        "pre-norm",
        "The norm moves into the branch, so the residual stream reaches every block unchanged.",
        r"x \leftarrow x + f(\mathrm{norm}(x)) \quad\text{instead of}\quad x \leftarrow \mathrm{norm}(x + f(x))",
        {"config.wiring": "pre_norm"},
        "nn.blocks.pre_norm",
        "tests/parity/test_parity_torch.py::test_an_encoder_block_is_nn_transformer_encoder_layer",
        "Xiong et al. 2020",
    ),
    Rung(
        "RMSNorm",
        "It leaves out LayerNorm's mean and bias, which trained models hardly need.",
        r"\mathrm{RMSNorm}(x) = g \odot \frac{x}{\sqrt{\frac1D \sum_i x_i^2 + \varepsilon}}",
        {"config.norm.kind": "rms"},
        "nn.layers.RMSNorm",
        "tests/parity/test_parity_torch.py::test_rms_norm_is_nn_rms_norm",
        "Zhang and Sennrich 2019",
    ),
    Rung(
        "rotary",
        "Queries and keys turn with their position, so a score depends on the distance of the two words.",
        r"q_m^\top k_n \rightarrow (R_m q_m)^\top (R_n k_n) = q_m^\top R_{n-m}\, k_n",
        {"config.positions.kind": "rotary", "config.positions.base": 1000.0},
        "nn.positions.Rotary",
        "tests/parity/test_parity_transformers.py::test_interleaved_rotary_attention_is_gpt_j_s",
        "Su et al. 2021",
    ),
    Rung(
        "no biases",
        "Large models train as well without them, and each needs fewer operations.",
        r"x W \quad\text{instead of}\quad x W + b",
        {"config.attention.bias": False, "config.feed_forward.bias": False},
        "nn.attention.MultiHeadAttention",
        "tests/parity/test_parity_torch.py::test_cross_attention_is_nn_multihead_attention",
        "Chowdhery et al. 2022",
    ),
    Rung(
        "SwiGLU",
        "One branch decides how much of the other passes; the network is narrower, so the parameters stay equal.",
        r"\bigl(\mathrm{SiLU}(x W_g) \odot x W_1\bigr) W_2, \quad F = \tfrac83 D \text{ instead of } 4 D",
        {
            "config.feed_forward.activation": "silu",
            "config.feed_forward.gated": True,
            "config.feed_forward.d_ff": 171,  # 8/3 of 64
        },
        "nn.layers.GatedFeedForward",
        "tests/parity/test_parity_pretrained.py::test_gradients_are_the_library_s",
        "Shazeer 2020",
    ),
    Rung(
        "QK-norm",
        "Every query and key has the same length, so the scores cannot grow until the softmax is all or nothing.",
        r"\mathrm{scores} = \mathrm{RMSNorm}(q)^\top\, \mathrm{RMSNorm}(k) / \sqrt{K}",
        {"config.attention.qk_norm": True},
        "nn.attention.MultiHeadAttention",
        "tests/parity/test_parity_pretrained.py::test_hidden_states_and_logits_are_the_library_s",
        "Henry et al. 2020; Dehghani et al. 2023",
    ),
    Rung(
        "grouped queries",
        "Two query heads share their keys and values, which halves the cache.",
        r"\mathrm{head}_h = \mathrm{Attention}(q_h, k_g, v_g), \quad g = \lfloor h G / H \rfloor",
        {"config.attention.n_kv_heads": 2},
        "nn.attention.MultiHeadAttention",
        "tests/parity/test_parity_pretrained.py::test_gradients_are_the_library_s",
        "Ainslie et al. 2023",
    ),
    Rung(
        "own output",
        "Reading a word and predicting it are two jobs, so the output has a matrix of its own.",
        r"\mathrm{logits} = h\, W_{\mathrm{out}} \quad\text{instead of}\quad h\, E^\top",
        {"config.embedding.tied": False},
        "nn.models.TransformerModel",
        "tests/nn/test_models.py::test_the_output_is_tied_as_asked",
        "Chung et al. 2021; Touvron et al. 2023",
    ),
    Rung(
        "small start",
        "All matrices begin small, so the untrained model finds all characters about equally likely.",
        r"W_{ij} \sim \mathcal N(0,\, 0.02^2)",
        {"config.init.kind": "normal", "config.embedding.scale": False},
        "nn.models.initialise",
        "tests/parity/test_parity_pretrained.py::test_first_values_spread_as_the_library_s_do",
        "Radford et al. 2018",
    ),
    Rung(
        "zero outputs",
        "What writes into the residual stream begins at zero, so every block starts as the identity.",
        r"W_O = 0, \quad W_2 = 0 \quad\text{at step } 0",
        {"config.init.residual": "zero"},
        "nn.models.initialise",
        "tests/nn/test_models.py::test_residual_matrices_may_start_at_zero_so_that_a_block_is_the_identity",
        "Zhang et al. 2019; Bachlechner et al. 2020",
    ),
    Rung(
        "ReLU²",
        "It replaces SwiGLU: no gate and one matrix less, yet products of features, as in a gate.",
        r"\max(0,\, x W_1)^2\, W_2, \quad F = 4 D",
        {
            "config.feed_forward.activation": "relu2",
            "config.feed_forward.gated": False,
            "config.feed_forward.d_ff": None,
        },
        "nn.layers.squared_relu",
        "tests/nn/test_layers.py::test_activations_are_their_formulas",
        "So et al. 2021",
    ),
    Rung(
        "decay to zero",
        "Small last steps settle the weights; the rate of 2017 stays larger to the end.",
        r"\eta_n = \eta \left(1 - \tfrac{n}{N}\right) \quad\text{instead of}\quad \eta_n \propto n^{-1/2}",
        {"schedule": "linear"},
        "training.optimizers.linear_warmup_decay",
        "tests/training/test_optimizers.py::test_linear_schedule",
        "Devlin et al. 2019; Defazio et al. 2023",
    ),
    Rung(
        "Muon",
        "It moves the weak directions of a matrix as far as the strong ones.",
        r"W \leftarrow W - \eta\, \sqrt{\max(1, \mathrm{rows}/\mathrm{columns})}\; U V^\top, \quad M = U \Sigma V^\top",
        {"optimizer": "muon"},
        "training.optimizers.Muon",
        "tests/training/test_optimizers.py::test_muon_is_pytorchs",
        "Jordan et al. 2024",
    ),
    Rung(
        "weight decay",
        "Each step shrinks the matrices a little, so old gradients are forgotten.",
        r"W \leftarrow (1 - \eta \lambda)\, W - \dots, \quad \lambda = 0.1",
        {"weight_decay": 0.1},
        "training.optimizers.adamw",
        "tests/training/test_optimizers.py::test_adamw_is_its_formula_with_decay_on_matrices_only",
        "Loshchilov and Hutter 2019",
    ),
    Rung(
        "token shift",
        "Each token's vector also gets those of the two tokens before, which costs almost nothing.",
        r"x_t = E_t + a \odot E_{t-1} + b \odot E_{t-2}",
        {"config.embedding.input": TokenShift(2)},
        "zoo.parts.inputs.ShiftedEmbedding",
        "tests/zoo/parts/test_inputs.py::test_with_token_shift_the_previous_tokens_are_added",
        "Peng et al. 2023",
    ),
    Rung(
        "soft cap",
        "Logits stay between two bounds, so no single guess becomes too certain.",
        r"\mathrm{logits} = c \tanh(\mathrm{logits} / c), \quad c = 30",
        {"config.embedding.output": CappedOutput(30.0)},
        "zoo.parts.softmaxes.soft_cap",
        "tests/parity/test_parity_pretrained.py::test_hidden_states_and_logits_are_the_library_s",
        "Gemma Team 2024",
    ),
    Rung(
        "value embeddings",
        "Every layer adds a learned vector of each token to its values, because deep layers lose sight of the token.",
        r"v_t = x_t W_V + E_{\mathrm{id}_t} \quad\text{with a table } E \text{ in each layer}",
        {"config.mixer": TokenValues()},
        "lessons.what_changed.token_values.TokenValueAttention",
        "tests/lessons/what_changed/test_token_values.py::test_attention_mixes_the_sum_of_both_values",
        "Zhou et al. 2024; Jordan et al. 2024",
    ),
    Rung(
        "bfloat16",
        "Products of matrices with half the bits: nearly the same losses, in less time where the processor has them.",
        r"1 \text{ sign} + 8 \text{ exponent} + 7 \text{ fraction bits instead of } 23",
        {"autocast": True},
        "training.loop.Run",
        "tests/training/test_loop.py::test_autocast_lowers_the_precision_of_products_only",
        "Micikevicius et al. 2018; Kalamkar et al. 2019",
    ),
)

BESIDE = (  # changes to the decoder of 2017 that are no rung, but that a claim needs
    Rung(
        "learned positions",
        "A table of vectors, one for each position, is trained like the embedding.",
        r"x_t = E_t + P_t",
        {"config.positions.kind": "learned"},
        "nn.positions.LearnedPositions",
        "tests/parity/test_parity_pretrained.py::test_gradients_are_the_library_s",
        "Gehring et al. 2017; Vaswani et al. 2017, table 3 (E)",
    ),
    Rung(
        "no positions",
        "The causal mask alone tells how many words came before.",
        r"x_t = E_t",
        {"config.positions.kind": "none"},
        "nn.masks.causal_mask",
        "tests/nn/test_models.py::test_without_positions_a_model_is_blind_to_order_and_with_any_scheme_it_is_not",
        "Haviv et al. 2022",
    ),
)
