"""The exercise that stands where the notebook takes features out of superposition: a sparse autoencoder's loss."""

import torch
import torch.nn.functional as F

from tx_helpers.exercises.exercise import Exercise


def _case(B, D, M, l1, seed):
    """x (B, D), W_enc (D, M), b_enc (M,), W_dec (M, D) with rows of several lengths, b_dec (D,), l1."""
    draw = torch.Generator().manual_seed(seed)
    sizes = ((B, D), (D, M), (M,), (M, D), (D,))
    return *(torch.randn(size, generator=draw) for size in sizes), l1


sparse = Exercise(
    "sae_loss",
    inline=True,
    title="The loss of a sparse autoencoder",
    goal="For vectors `x` (B, D) compute the codes f = ReLU((x − b_dec) W_enc + b_enc), (B, M), and the "
    "reconstructions f W_dec + b_dec, (B, D). The loss of a vector is its squared error, added up over the D numbers, "
    "plus `l1` times Σ_j f_j |w_j|, where |w_j| is the length of row j of `W_dec` (M, D). Return the mean of the loss "
    "over the B vectors.",
    formula=r"\frac{1}{B} \sum_x \Big( \| \hat{x} - x \|^2 + \lambda \sum_j f_j \, \| w_j \| \Big)",
    source="Templeton et al. 2024, *Scaling monosemanticity*",
    difficulty=2,
    minutes=7,
    cases=lambda: [
        (
            torch.tensor([[2.0, 1.0], [0.0, 0.0]]),
            torch.eye(2),
            torch.tensor([0.0, -2.0]),
            torch.tensor([[0.0, 3.0], [1.0, 0.0]]),
            torch.tensor([1.0, 0.0]),
            0.5,
        ),
        _case(4, 3, 5, 0.2, 1),
        _case(6, 4, 3, 0.7, 2),
        _case(5, 2, 6, 0.0, 3),
    ],
    hints=(
        "Three steps: codes, reconstruction, loss. Each code can only be positive or 0.",
        "W_dec.norm(dim=-1) has the lengths (M,). Multiply the codes (B, M) by them, and add up over the codes.",
        "error = (f @ W_dec + b_dec - x).square().sum(-1) and sparse = (f * W_dec.norm(dim=-1)).sum(-1), both (B,).",
    ),
)


@sparse.solution
def sae_loss(x, W_enc, b_enc, W_dec, b_dec, l1):
    """Mean over x (B, D) of the squared error plus l1 · Σ_j f_j |w_j|; W_enc (D, M), W_dec (M, D)."""
    f = F.relu((x - b_dec) @ W_enc + b_enc)
    error = (f @ W_dec + b_dec - x).square().sum(-1)
    sparse = (f * W_dec.norm(dim=-1)).sum(-1)
    return (error + l1 * sparse).mean()


sparse.slips("""
no_relu    F.relu((x - b_dec) @ W_enc + b_enc) → (x - b_dec) @ W_enc + b_enc
  Your codes can be negative: the ReLU is missing. Then no code is exactly 0, and the penalty rewards negative ones.
relu_before_the_bias    F.relu((x - b_dec) @ W_enc + b_enc) → F.relu((x - b_dec) @ W_enc) + b_enc
  You added b_enc after the ReLU. It belongs inside: a negative b_enc is the threshold that keeps a code off.
decoder_bias_not_subtracted    (x - b_dec) @ → x @
  You encode x itself. First subtract b_dec, which is where all codes are off: f = ReLU((x − b_dec) W_enc + b_enc).
decoder_bias_not_added    f @ W_dec + b_dec - x → f @ W_dec - x
  Your reconstruction lacks b_dec. It was subtracted before the encoder, so the decoder has to add it again.
penalty_on_the_reconstruction    (f * W_dec.norm(dim=-1)).sum(-1) → (f @ W_dec + b_dec).abs().sum(-1)
  You penalised the reconstruction. Sparse means that few codes are on: the penalty is on f.
lengths_left_out    f * W_dec.norm(dim=-1) → f
  You left out the lengths |w_j|. Then the model can cheat: small codes and long rows reconstruct the same for less.
lengths_of_the_encoder    W_dec.norm(dim=-1) → W_enc.norm(dim=0)
  You took the lengths of the encoder's columns. The decoder's rows decide how much of x a code of 1 writes.
squared_penalty    (f * W_dec.norm(dim=-1)).sum(-1) → (f * W_dec.norm(dim=-1)).square().sum(-1)
  You squared the penalty. L2 prefers many small codes to one large code; L1, without the square, makes codes 0.
summed_over_the_batch    (error + l1 * sparse).mean() → (error + l1 * sparse).sum()
  You added up over the batch. Take the mean, or the loss grows with the number of vectors.
mean_over_dimensions    .square().sum(-1) → .square().mean(-1)
  You took the mean over the D numbers, so the error weighs D times less beside the penalty. Add them up.
penalty_averaged    (f * W_dec.norm(dim=-1)).sum(-1) → (f * W_dec.norm(dim=-1)).mean(-1)
  You took the mean over the codes, so a wider dictionary pays less for the same codes. Add them up.
error_without_square    .square().sum(-1) → .norm(dim=-1)
  You took the length of the error, not its square.
penalty_subtracted    error + l1 * sparse → error - l1 * sparse
  You subtracted the penalty: large codes lower your loss. It has to cost something.
""")
