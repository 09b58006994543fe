"""Exercises on scales: weights in a few bits, and the frequencies of YaRN."""

import math

import torch

from tx_helpers.exercises.compare import as_tensor
from tx_helpers.exercises.exercise import Exercise, random_tensors

WHOLE = (torch.int8, torch.uint8, torch.int16, torch.int32, torch.int64)

# --- weights in a few bits -------------------------------------------------------------------------------------------


def _in_real_numbers(result):
    """Whole numbers as real ones: whoever returns the codes shall be told so, and not that the dtype is another."""
    result = as_tensor(result)
    return result.float() if isinstance(result, torch.Tensor) and result.dtype in WHOLE else result


rounding = Exercise(
    "rounded_rows",
    title="A matrix in 8 or in 4 bits",
    goal="W (F, D) is a layer's weight; each row makes one output. Round it to whole numbers with one scale for each "
    "row: the row's largest absolute value becomes the code 2^(bits−1) − 1 (127 for 8 bits, 7 for 4), 0 becomes 0, and "
    "each entry becomes the nearest code. Return the matrix (F, D) that the codes stand for: code times scale. No row "
    "is all zeros.",
    difficulty=1,
    minutes=6,
    source="Nagel et al. 2021, section 2",
    formula=r"s_f = \frac{\max_d |W_{fd}|}{2^{b-1} - 1}, \qquad W'_{fd} = s_f \cdot \mathrm{round}\Bigl("
    r"\frac{W_{fd}}{s_f}\Bigr)",
    cases=lambda: [
        (torch.tensor([[0.55, -1.0, 0.3], [7.0, 2.6, 0.4]]), 4),
        (torch.tensor([[-4.0], [0.5], [2.0]]) * random_tensors((3, 8), seed=71)[0], 4),
        (random_tensors((4, 6), seed=72)[0].exp() - 2, 3),
        (random_tensors((5, 12), seed=73)[0], 8),
    ],
    run=lambda round_it, W, bits: _in_real_numbers(round_it(W, bits)),
    hints=(
        "First the scale of each row, (F, 1): the largest |W| of the row divided by the largest code.",
        "W.abs().amax(dim=1, keepdim=True) / (2 ** (bits - 1) - 1)",
        "(W / scale).round() are the codes. Multiply them by the scale.",
    ),
)


@rounding.solution
def rounded_rows(W, bits):
    """The matrix (F, D) that W (F, D) becomes in whole numbers of so many bits, with one scale for each row."""
    largest_code = 2 ** (bits - 1) - 1
    scale = W.abs().max(dim=-1, keepdim=True).values / largest_code  # (F, 1)
    return scale * torch.round(W / scale)


rounding.slips("""
one_scale_for_all    = _rounded(lambda W, bits: W.abs().max() / (2 ** (bits - 1) - 1))
  You took one scale for the whole matrix. A row of small weights then has only a few codes, or becomes 0: each row has
  its own largest value.
scale_for_each_column    dim=-1 → dim=0
  You took a scale for each column, that is, for each input. A row makes an output, so its scale can be multiplied after
  the product; a column's cannot. Take the maximum over dim 1.
cut_off    = _rounded(_scale, torch.trunc)
  You cut off the decimals, as int() and .to(torch.int8) do. That moves all entries towards 0: round to the nearest.
rounded_down    = _rounded(_scale, torch.floor)
  You rounded down, which moves all entries in the same direction. Round to the nearest code.
rounded_up    = _rounded(_scale, torch.ceil)
  You rounded up, which moves all entries in the same direction. Round to the nearest code.
span_without_a_zero_point    = _rounded(lambda W, bits: (W.amax(1, keepdim=True) - W.amin(1, keepdim=True))
      / (2**bits - 1))
  Your scale comes from largest minus smallest entry. Without a zero point the codes reach equally far on both sides of
  0, so the entry farthest from 0 decides.
codes_without_a_sign    bits - 1 → bits
  Your largest code is 2^bits − 1. One bit is needed for the sign: codes up to 2^(bits−1) − 1 fit.
twice_as_many_codes    = _rounded(lambda W, bits: _largest(W) / 2**bits)
  You divided by 2^bits. That is the number of codes, and half of them are negative: the largest is 2^(bits−1) − 1.
always_8_bits    = _rounded(lambda W, bits: _largest(W) / 127)
  You divided by 127, which is right for 8 bits alone. The largest code is 2^(bits−1) − 1.
one_code_too_many    = _rounded(lambda W, bits: _largest(W) / 2 ** (bits - 1))
  Your largest code is 2^(bits−1), for example 128, which does not fit into 8 bits with a sign: subtract 1.
one_code_too_many_clamped    return _rounded(lambda W, bits: _largest(W) / 2 ** (bits - 1),
      lambda codes: codes.round().clamp(-(2 ** (bits - 1)) + 1, 2 ** (bits - 1) - 1))(W, bits)
  You divided by 2^(bits−1) and clamped then, so the largest entry of each row becomes smaller than it was. Divide by
  2^(bits−1) − 1.
largest_without_abs    abs().max → max
  Your scale comes from the largest entry, with its sign. Where the entry farthest from 0 is negative, its code becomes
  too large: take the absolute value first.
with_a_zero_point    = _with_a_zero_point
  Your codes run from the smallest to the largest entry. That is the asymmetric form, which also keeps a zero point;
  here 0 becomes the code 0.
codes_returned    scale * →
  You returned the codes. Multiply them by the scale, so that the matrix can be used in place of W.
never_rounded    return W.clone()
  You did not round: dividing by the scale and multiplying by it gives W back.
rounded_without_a_scale    return W.round()
  You rounded W itself. Weights are mostly smaller than 0.5 and become 0: first divide by the scale.
mean_for_the_largest    = _rounded(lambda W, bits: W.abs().mean(1, keepdim=True) / (2 ** (bits - 1) - 1))
  Your scale comes from the mean absolute value of a row. Then the large entries get codes that do not fit; take the
  largest one.
""")


def _largest(W):
    return W.abs().amax(1, keepdim=True)


def _rounded(scale, whole=torch.round):
    """A mistake with another scale(W, bits), or another way to whole numbers."""
    return lambda W, bits: whole(W / scale(W, bits)) * scale(W, bits)


def _scale(W, bits):
    return _largest(W) / (2 ** (bits - 1) - 1)


def _with_a_zero_point(W, bits):
    """Codes from the smallest to the largest entry of each row."""
    low, high = W.amin(1, keepdim=True), W.amax(1, keepdim=True)
    scale = (high - low) / (2**bits - 1)
    return ((W - low) / scale).round() * scale + low


# --- YaRN ------------------------------------------------------------------------------------------------------------


def _frequencies(N, base):
    return base ** (-torch.arange(N) / N)


yarn = Exercise(
    "yarn_frequencies",
    title="Stretch only the slow pairs",
    goal="`frequencies` ω (N,) are the angles by which the N pairs of a rotary encoding turn at each position. The "
    "model was trained on texts of T tokens, so pair i made r_i = T·ω_i / 2π turns in them. For texts `factor` times "
    "as long, YaRN leaves pairs with r ≥ `fast` turns as they are and divides the frequencies of pairs with r ≤ `slow` "
    "turns by `factor`. It mixes the two frequencies in between: the share γ of the old one grows linearly with the "
    "logarithm of r, from 0 at `slow` to 1 at `fast`, as in the code published with the paper. (The paper's text has r "
    "itself.) Return the new frequencies (N,).",
    difficulty=2,
    minutes=10,
    source="Peng et al. 2024, section 3.2, and its published code",
    formula=r"\gamma_i = \mathrm{clamp}\Bigl(\frac{\ln r_i - \ln \mathrm{slow}}"
    r"{\ln \mathrm{fast} - \ln \mathrm{slow}}, 0, 1\Bigr), "
    r"\qquad \omega'_i = \gamma_i\, \omega_i + (1 - \gamma_i)\, \frac{\omega_i}{\mathrm{factor}}",
    cases=lambda: [
        (torch.tensor([1.0, 0.5, 0.1, 0.01]), 4.0, 100, 1.0, 10.0),
        (_frequencies(16, 10000.0), 8.0, 2048, 1.0, 32.0),
        (_frequencies(12, 500.0), 2.5, 300, 2.0, 20.0),
    ],
    tolerance=1e-6,
    hints=(
        "First the number of turns of each pair: T * frequencies / (2 * math.pi).",
        "gamma = (torch.log(turns / slow) / math.log(fast / slow)).clamp(0, 1): 1 for fast pairs, 0 for slow ones.",
        "frequencies * gamma + frequencies / factor * (1 - gamma)",
    ),
)


@yarn.solution
def yarn_frequencies(frequencies, factor, T, slow, fast):
    """New frequencies (N,) for texts `factor` times as long as T: pairs of more than `fast` turns stay as they are."""
    turns = T * frequencies / (2 * math.pi)
    kept = torch.clamp(torch.log(turns / slow) / math.log(fast / slow), min=0, max=1)
    return torch.lerp(frequencies / factor, frequencies, kept)


yarn.slips("""
all_slowed    = _yarn(lambda r, slow, fast: torch.zeros_like(r))
  You divided all frequencies by the factor. That is interpolation: fast pairs then no longer tell neighbours apart as
  they did.
nothing_slowed    = _yarn(lambda r, slow, fast: torch.ones_like(r))
  You returned the frequencies as they were. Slow pairs would meet angles that they never had in training.
fast_slowed    , kept → , 1 - kept
  Your share is turned round: you slowed down the fast pairs and left the slow ones as they are.
linear_in_the_turns    = _yarn(lambda r, slow, fast: ((r - slow) / (fast - slow)).clamp(0, 1))
  Your share grows linearly with the turns, as the paper writes it. Its published code, which models use, takes the
  logarithm of the turns, so that the share falls evenly from pair to pair.
no_ramp_at_fast    = _yarn(lambda r, slow, fast: (r >= fast).float())
  You slowed down every pair with less than `fast` turns entirely. Between `slow` and `fast` both frequencies are mixed.
no_ramp_at_slow    = _yarn(lambda r, slow, fast: (r > slow).float())
  You left every pair with more than `slow` turns as it is. Between `slow` and `fast` both frequencies are mixed.
not_clamped    = _yarn(_logarithms)
  You did not limit the share to 0 … 1, so the fastest and the slowest pairs are changed too much.
radians_for_turns    / (2 * math.pi) →
  You counted radians. A turn has 2π of them: divide T·ω by 2π.
pi_in_the_numerator    2 * math.pi → 2 / math.pi
  You wrote T·ω / 2 * π, which multiplies by π. Put brackets round it: T·ω / (2 * math.pi).
brackets_forgotten    = _yarn(lambda r, slow, fast: (r.log() - math.log(slow) / math.log(fast)
      - math.log(slow)).clamp(0, 1))
  You wrote log r − log slow / log fast − log slow: the division comes first. Put brackets round both differences.
wavelengths_for_turns    = _yarn(turns=lambda w, T, factor: 2 * math.pi / w)
  You compared the wavelength 2π/ω with `slow` and `fast`. They count turns in the trained length: T divided by the
  wavelength.
turns_of_the_long_text    = _yarn(turns=lambda w, T, factor: factor * T * w / (2 * math.pi))
  You counted the turns in the long text. What matters is what the model saw in training: T tokens.
multiplied    / factor → * factor
  You multiplied slow frequencies by the factor. They have to turn more slowly in a longer text: divide.
by_the_number_of_the_pair    = _yarn(lambda r, slow, fast: 1 - torch.arange(len(r)) / (len(r) - 1))
  Your share falls evenly from the first pair to the last, as in NTK-aware stretching. It falls between the pairs that
  make `fast` and `slow` turns.
from_zero_turns    = _yarn(lambda r, slow, fast: (r.log() / math.log(fast)).clamp(0, 1))
  Your share begins at one turn, log r / log fast, whatever `slow` is. It is 0 at `slow`.
""")


def _logarithms(r, slow, fast):
    """The share of the old frequencies, not limited yet: linear in the logarithm of the turns."""
    return (r / slow).log() / math.log(fast / slow)


def _yarn(share=None, slowed=lambda w, factor: w / factor, turns=lambda w, T, factor: T * w / (2 * math.pi)):
    """A mistake with another share(r, slow, fast) of the old frequencies, other slowed ones, or other turns."""

    def answer(frequencies, factor, T, slow, fast):
        r = turns(frequencies, T, factor)
        kept = _logarithms(r, slow, fast).clamp(0, 1) if share is None else share(r, slow, fast)
        return kept * frequencies + (1 - kept) * slowed(frequencies, factor)

    return answer


@yarn.mistake(
    "You mixed the wavelengths, 2π/ω. In the formula the frequencies are mixed, and the mean of 1/ω is another number."
)
def wavelengths_mixed(frequencies, factor, T, slow, fast):
    kept = _logarithms(T * frequencies / (2 * math.pi), slow, fast).clamp(0, 1)
    return 1 / (kept / frequencies + (1 - kept) * factor / frequencies)
