"""The exercise that builds the gated feed-forward network."""

import torch
import torch.nn.functional as F

from tx_helpers.exercises.exercise import Exercise, random_tensors

gate = Exercise(
    "gated_layer",
    title="A gated feed-forward network",
    goal="x (…, D) goes two ways. One way is x times `W_gate` (D, F) and then SiLU, the other is x times `W_up` "
    "(D, F), with no activation. Multiply the two, entry by entry, and take the product through `W_down` (F, D) back "
    "to the width D. There are no biases. Return (…, D).",
    difficulty=1,
    minutes=5,
    source="Shazeer 2020, equation 6 (SwiGLU)",
    inline=True,
    cases=lambda: [
        random_tensors((1, 2), (2, 3), (2, 3), (3, 2), seed=71),
        random_tensors((4, 3), (3, 5), (3, 5), (5, 3), seed=72),
        random_tensors((2, 3, 4), (4, 6), (4, 6), (6, 4), seed=73),
    ],
    hints=(
        "Two hidden vectors of width F come first, and they have the same shape.",
        "`torch.nn.functional.silu` stands on one of them alone. Then `*`, and only then the way back.",
        "(torch.nn.functional.silu(x @ W_gate) * (x @ W_up)) @ W_down",
    ),
)


@gate.solution
def gated_layer(x, W_gate, W_up, W_down):
    """(SiLU(x W_gate) ⊙ x W_up) W_down: x (…, D), W_gate and W_up (D, F), W_down (F, D) -> (…, D)"""
    return (F.silu(x @ W_gate) * (x @ W_up)) @ W_down


gate.slips("""
no_activation    F.silu →
  SiLU is missing. The product of two linear maps is no gate: both sides can be of either sign.
activation_on_both    (x @ W_up) → F.silu(x @ W_up)
  You put SiLU on both sides. The side through W_up keeps its sign, so that the gate only scales it.
activation_on_the_other    F.silu → ; (x @ W_up) → F.silu(x @ W_up)
  SiLU stands on the side of W_up. It belongs to the gate, the side of W_gate.
added    * (x @ W_up) → + x @ W_up
  You added the two sides. A sum cannot let one side decide how much of the other passes: multiply.
sigmoid    F.silu → torch.sigmoid
  Your gate is a sigmoid, as in the GLU of 2016. SwiGLU's gate is SiLU: x times its sigmoid.
relu    silu → relu
  Your gate is a ReLU, which is ReGLU. SiLU is smooth, and lets a little through below 0.
gelu    silu → gelu
  Your gate is a GELU, which is GEGLU. Here it is SiLU.
no_gate    return F.silu(x @ W_gate) @ W_down
  Your gate is missing: this is an ordinary network with SiLU. Multiply by x W_up.
one_matrix_for_both    x @ W_up → x @ W_gate
  You used W_gate on both sides. The gate and what passes it have a matrix each.
activation_after    return F.silu((x @ W_gate) * (x @ W_up)) @ W_down
  You put SiLU on the product. It belongs to the gate alone, before you multiply.
residual_added    return x + (F.silu(x @ W_gate) * (x @ W_up)) @ W_down
  You added x. The residual sum happens outside of the network, in the block.
""")
