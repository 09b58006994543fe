"""Exercises on scaling up: memory, microbatches, the best size for a budget; and the quiz."""

from tx_helpers.exercises.exercise import Exercise
from tx_helpers.exercises.quizzes import questions

# --- a law -----------------------------------------------------------------------------------------------------------

optimum = Exercise(
    "compute_optimal",
    title="How large, and for how many tokens?",
    goal="A scaling law says L(N, D) = E + A/N^α + B/D^β for N parameters and D tokens, and a training run takes about "
    "C = 6 N D operations. For a budget of C operations return the N and the D with the smallest loss. They need "
    "not be whole numbers.",
    difficulty=3,
    minutes=12,
    source="Hoffmann et al. 2022, equations 2 and 4",
    formula=r"L(N, D) = E + \frac{A}{N^{\alpha}} + \frac{B}{D^{\beta}}, \qquad C = 6\,N\,D",
    cases=lambda: [
        (1.5, 2.0, 3.0, 0.5, 0.5, 600.0),
        (1.69, 406.4, 410.7, 0.34, 0.28, 5.76e23),
        (2.0, 30.0, 900.0, 0.3, 0.6, 1e15),
    ],
    tolerance=1e-3,
    hints=(
        "Put D = C/(6 N) into the law: a function of N alone. At its minimum the derivative is 0.",
        "The derivative is 0 where α A/N^α = β B/D^β: a little more of N then saves as much as a little more of D.",
        "N = (α A/(β B))^(1/(α + β)) · (C/6)^(β/(α + β)), and D = C/(6 N).",
    ),
)


@optimum.solution
def compute_optimal(E, A, B, alpha, beta, C):
    """N and D with the smallest E + A/N^alpha + B/D^beta among all with 6 N D = C."""
    ratio = alpha * A / (beta * B)
    N = (ratio * (C / 6) ** beta) ** (1 / (alpha + beta))
    return N, C / (6 * N)


optimum.slips("""
forward_pass_alone    C / 6) → C / 2) ; (6 * N) → (2 * N)
  You counted 2 N D operations. That is the forward pass; the backward pass takes another 4 N D.
one_operation    C / 6) → C) ; (6 * N) → N
  You took C = N D. For each parameter and token there are 6 operations: 2 forward, 4 backward.
six_forgotten_in_the_tokens    (6 * N) → N
  Your N is right, but D = C/N. Divide by the 6 operations, too.
six_forgotten_in_the_size    C / 6) → C)
  Your N belongs to a budget of 6 C, so D is too small. Use C/6 in both.
exponents_swapped    ** beta → ** alpha
  Your N grows as C^(α/(α + β)). It is β above: if more tokens help little (β small), then the tokens must grow faster,
  and N slower.
factor_upside_down    alpha * A / (beta * B) → beta * B / (alpha * A)
  Your factor is upside down. A large A, the price of few parameters, must make N larger.
terms_made_equal    alpha * A / (beta * B) → A / B
  You made A/N^α and B/D^β equal. At the minimum their derivatives are: α A/N^α = β B/D^β.
factors_forgotten    alpha * A / (beta * B) → 1.0
  You let A and B out: the factor G is missing, only the exponents are there.
exponents_alone_in_the_factor    alpha * A / (beta * B) → alpha / beta
  Your factor has α/β without A/B. Both belong to it.
twenty_tokens_per_parameter    return ((C / 120) ** 0.5, 20 * (C / 120) ** 0.5)
  You took 20 tokens for each parameter. That is what came out for one law and one size of budget; other data and other
  models have other constants.
half_and_half    return ((C / 6) ** 0.5, (C / 6) ** 0.5)
  You let N and D be equal, √(C/6) each. The law says how much each of them is worth.
swapped    return compute_optimal(E, A, B, alpha, beta, C)[::-1]
  You returned the tokens first. N, the parameters, is the first number.
floor_added    return compute_optimal(E, A + E, B, alpha, beta, C)
  You added E to A. E is the same for every N and D, so it does not move the minimum.
""")


# --- memory ----------------------------------------------------------------------------------------------------------

memory = Exercise(
    "training_bytes",
    title="A planner of your own, step 1 of 2: the bytes on each rank",
    goal="A model is trained with AdamW in mixed precision. For each parameter there are a weight and a gradient in 16 "
    "bits, and for AdamW three numbers in 32 bits: a precise copy of the weight and two moments. How many bytes does "
    "each of n ranks hold? Stage 0 is plain data parallelism: each rank holds everything. Stage 1 of ZeRO cuts what "
    "AdamW needs into n parts, one for each rank; stage 2 cuts the gradients, too; stage 3 (FSDP) also "
    "the weights. Activations are not counted.",
    difficulty=1,
    minutes=6,
    source="Rajbhandari et al. 2020, section 3.1",
    formula=r"\Psi \cdot \bigl(2 + 2 + 12\bigr)\ \text{bytes for } \Psi \text{ parameters at stage } 0",
    cases=lambda: [(100, 2, stage) for stage in range(4)] + [(7_500_000_000, 64, stage) for stage in range(4)],
    tolerance=1e-6,
    hints=(
        "Write down the three amounts for one parameter: weight, gradient, and what AdamW keeps.",
        "2 bytes, 2 bytes, and 3 · 4 = 12 bytes. From stage 1 on the 12 are divided by n.",
        "Stage 1: 2 + 2 + 12/n. Stage 2: 2 + 14/n. Stage 3: 16/n. All times the number of parameters.",
    ),
)


@memory.solution
def training_bytes(parameters, ranks, stage):
    """Bytes on each rank for weights, gradients and AdamW's numbers, at ZeRO's stage 0, 1, 2 or 3."""
    optimizer, gradients, weights = 12, 2, 2
    cut = [optimizer, gradients, weights][:stage]
    whole = [optimizer, gradients, weights][stage:]
    return parameters * (sum(whole) + sum(cut) / ranks)


memory.slips("""
no_precise_copy    12, 2, 2 → 8, 2, 2
  You counted 8 bytes for AdamW, two of its three numbers. Both moments and a copy of the weight stay in 32 bits;
  without the copy, small steps would be rounded away.
precise_copy_on_each_rank    12, 2, 2 → 8, 2, 2 ; (sum(whole) → (4 + sum(whole)
  You left the precise weights whole from stage 1 on. They belong to what AdamW needs, so they are cut with the two
  moments: 12 bytes, not 8.
everything_in_32_bits    12, 2, 2 → 12, 4, 4
  You counted weight and gradient with 4 bytes each. They have 16 bits here: 2 bytes.
gradients_in_32_bits    12, 2, 2 → 12, 4, 2
  You counted 4 bytes for a gradient. Some training runs accumulate in 32 bits, but here it has 16.
optimizer_in_16_bits    12, 2, 2 → 6, 2, 2
  You counted 2 bytes for each of AdamW's numbers. They stay in 32 bits: 4 bytes.
weights_alone    12, 2, 2 → 0, 0, 2
  You counted the weights alone. That is what a model needs to answer; a training run also holds gradients and AdamW's
  numbers, seven times as much.
without_gradients    12, 2, 2 → 12, 0, 2
  The gradients are missing: 2 bytes for each parameter.
weights_cut_first    12, 2, 2 → 2, 2, 12
  You cut the weights first. AdamW's numbers come first: they are the largest part, and nobody needs them whole at any
  time.
gradients_cut_first    12, 2, 2 → 2, 12, 2
  You cut the gradients at stage 1 and AdamW's numbers at stage 2. It is the other way round.
all_cut_at_once    cut = → stage = 3 if stage else 0 ⏎ cut =
  You divided everything by n from stage 1 on. Each stage cuts one thing more.
each_stage_alone    weights][:stage] → weights][stage - 1 : stage] ; whole = [optimizer, gradients, weights][stage:] →
      whole = [16 - sum(cut)]
  You cut only one of the three in each stage. The stages build on each other: stage 3 cuts all.
one_stage_too_many    cut = → stage += 1 ⏎ cut =
  You are one stage ahead: stage 0 cuts nothing.
never_cut    cut = → stage = 0 ⏎ cut =
  You let each rank hold everything at every stage. That is stage 0: n ranks then train faster, but no larger model.
all_ranks_together    return ranks * training_bytes(parameters, ranks, stage)
  You counted the bytes of all ranks together. The question is what each rank must hold.
""")


# --- the quiz --------------------------------------------------------------------------------------------------------

QUIZ = questions("""
A pipeline changes from GPipe to 1F1B, with the same microbatches. What becomes smaller?
  - The time in which ranks wait | The bubble is the same: (p − 1)/(m + p − 1).
  * The activations that ranks keep | At most p microbatches wait, not m.
  - The bytes sent between neighbours | Each activation and its gradient still travel once.
An all-reduce on a ring takes 8 ranks in place of 4, with the same tensor. What does each rank send now?
  * About as much: 1.75 in place of 1.5 tensors | 2 (n − 1)/n never reaches 2.
  - Twice as much, because there are twice as many ranks | The parts are half as large.
  - Half as much, since its parts are half as large | It also makes more than twice as many steps.
FSDP cuts weights, gradients and optimizer over the ranks. What does it send, compared with data parallelism?
  - Nothing, the bytes are the same | That is true as long as the weights are whole on each rank.
  - n times the bytes, as weights travel to all ranks | In each collective a rank sends less than one model.
  * 1.5 times the bytes | Two all-gathers and a reduce-scatter, each half an all-reduce.
Every block recomputes its activations in the backward pass (activation checkpointing). What does this cost?
  * One forward pass more: about a third more operations | 1 + 1 + 2 in place of 1 + 2. PyTorch leaves out each
    block's last matrix: 22 % here.
  - Twice the time, because everything is computed twice | Only the forward pass is repeated.
  - A little accuracy, as numbers are recomputed | The same operations give the same numbers.
You train on 64 GPUs in place of 8, each with its old batch. The learning rate stays. What happens?
  - The same training, 8 times as fast | The batch is 8 times as large: fewer steps on the same data.
  * Fewer steps with less noise; the old rate is probably too low | A larger batch takes a larger rate, up to a
    limit.
  - The gradients are 8 times as large | They are averaged over the ranks, not summed.
A run reports an MFU of 40 %. What does that say?
  - The GPUs stood idle for 60 % of the time | They may be busy with memory, or compute twice.
  * 40 % of the peak FLOP/s were the model's own | Recomputing does not count.
  - The GPUs drew 40 % of their power | Power and useful operations are two things.
A scaling law is fitted to losses from the middle of long runs, at a high learning rate. What follows?
  - Nothing: a loss after D tokens is a loss after D tokens | With a rate that falls in time it is lower.
  * Short runs look worse than they could be | Each needs a schedule that ends with it (Hoffmann et al. 2022). How
    much this moves the best size is disputed: hardly, say Porian et al. 2024.
  - All losses are too high by the same amount, so the best size is right | Short runs suffer most.
How many tokens should an 8-billion-parameter model see that millions of people will use?
  - 160 billion: 20 for each parameter | That is the least computing for training alone.
  - As many as parameters | Such a model would be far too large for its data.
  * Far more than 20 per parameter | Use costs, too: a smaller model, trained longer.
Tensor parallelism cuts each layer over ranks. Why does it usually stay within one machine of 8 GPUs?
  - Matrices have 8 heads or fewer | Large models have many more, 64 or 128.
  * It sums activations in every layer | Only the fast links within a machine keep up.
  - Other machines cannot read the weights | They could, and do so with FSDP and pipelines.
""")
