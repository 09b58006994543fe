"""Exercises of the full model that stand inside the notebook: its stacks, and the models made of them."""

import torch
from torch import Tensor, nn

from tx_helpers.exercises.exercise import Exercise, random_tensors
from tx_helpers.lessons.full_model.filled import examined, padding_of, some_ids
from tx_helpers.plain import GPT, Block, Decoder, Encoder, Transformer

# --- encoder and decoder ---------------------------------------------------------------------------------------------


def _encoder(
    answer: type, vocab_size: int, d_model: int, n_heads: int, d_ff: int, n_layers: int, ids: Tensor, mask: Tensor
) -> dict[str, object]:
    return examined(answer, Encoder, (vocab_size, d_model, n_heads, d_ff, n_layers), ids, mask)


encoder = Exercise(
    "Encoder",
    title="The encoder",
    goal="Write the class. `__init__` begins with `super().__init__()`, as in the classes above. `input` is an "
    "Embedding, `blocks` an nn.ModuleList of n_layers blocks, and `norm` an nn.LayerNorm. forward sends the ids (B, S) "
    "through all of them; each block gets the mask. The result is the memory (B, S, D).",
    difficulty=2,
    minutes=6,
    cases=lambda: [
        (9, 4, 2, 4, 1, some_ids(1, 3), padding_of(3)),
        (9, 12, 3, 6, 2, some_ids(2, 5, seed=1), padding_of(4, 5)),  # d_ff divides d_model: it can be swapped
    ],
    run=_encoder,
    inline=True,
    hints=(
        "A Python list would hide the blocks from the optimiser; nn.ModuleList does not.",
        "nn.ModuleList(Block(d_model, n_heads, d_ff) for _ in range(n_layers))",
        "x = self.input(ids); for each block: x = block(x, mask); return self.norm(x)",
    ),
)
encoder.solution(Encoder)


encoder.slips("""
NoLastNorm    self.norm(x) → x
  The last norm is missing. Nothing else ever scales the stream of a pre-norm stack down.
NormAfterEach    x = block(x, mask) → x = self.norm(block(x, mask))
  You normalise after every block. The last norm comes once, after the last block.
NormInTheLoop    x = block(x, mask) → x = self.norm(block(x, mask)) ; return self.norm(x) → return x
  Your norm stands in the loop, so it follows every block. It comes once, after the last block.
EncoderNoMask    block(x, mask) → block(x, torch.ones_like(mask))
  Your blocks do not get the mask: the words look at <pad>, too.
TableAlone    self.input(ids) → self.input.tokens(ids)
  You looked the ids up in the table alone: self.input.tokens(ids). The factor √D and the positions are missing.
NoChain    x = block(x, mask) → y = block(x, mask) ; self.norm(x) → self.norm(y)
  Your blocks all read the embedding, and only the last one counts: x = block(x, mask), in a chain.
OneBlock    Block(d_model, n_heads, d_ff) for _ in range(n_layers) → [Block(d_model, n_heads, d_ff)] * n_layers
  Your blocks are one block, many times: [Block(…)] * n_layers repeats the same object, and all layers share their
  weights.
PlainList    nn.ModuleList(Block(d_model, n_heads, d_ff) for _ in range(n_layers)) →
      [Block(d_model, n_heads, d_ff) for _ in range(n_layers)]
  Your blocks are in a Python list: no optimiser finds their parameters. Use nn.ModuleList.
NormFirst    self.input(ids) → self.norm(self.input(ids)) ; return self.norm(x) → return x
  Your norm comes before the blocks. It belongs behind the last one, where the stream has grown.
EncoderWithCross    Block(d_model, n_heads, d_ff) → Block(d_model, n_heads, d_ff, cross=True)
  Your blocks have cross=True, so they have a cross-attention. An encoder has no memory to look at.
SizesSwapped    Block(d_model, n_heads, d_ff) → Block(d_model, d_ff, n_heads)
  In your blocks n_heads and d_ff are swapped. The order is Block(d_model, n_heads, d_ff).
""")


def _decoder(
    answer: type,
    vocab_size: int,
    d_model: int,
    n_heads: int,
    d_ff: int,
    n_layers: int,
    ids: Tensor,
    memory: Tensor,
    memory_mask: Tensor,
) -> dict[str, object]:
    return examined(answer, Decoder, (vocab_size, d_model, n_heads, d_ff, n_layers), ids, memory, memory_mask)


decoder = Exercise(
    "Decoder",
    title="The decoder",
    goal="Write forward. The parts are those of your encoder, but its blocks have cross=True. Make the causal mask (T, "
    "T), True on and below the diagonal, and give every block the mask, the memory and the memory's mask.",
    difficulty=2,
    minutes=4,
    cases=lambda: [
        (9, 4, 2, 8, 1, some_ids(1, 2), *random_tensors((1, 3, 4), seed=7), padding_of(3)),
        (9, 12, 3, 24, 2, some_ids(2, 6, seed=1), *random_tensors((2, 5, 12), seed=8), padding_of(4, 5)),
    ],
    run=_decoder,
    inline=True,
    given=("__init__",),
    hints=(
        "Copy the forward of your encoder. Two things change: the mask is made here, and each block is given more.",
        "The causal mask: torch.ones(T, T, dtype=torch.bool).tril(), with T = ids.shape[1].",
        "for block in self.blocks: x = block(x, causal, memory, memory_mask)",
    ),
)
decoder.solution(Decoder)


decoder.slips("""
NotCausal    .tril() →
  The causal mask is missing: every position sees the words that it should predict. The loss would look wonderful, and
  the model could write nothing.
CausalInverted    .tril() → .triu()
  Your causal mask is upside down: each position sees itself and the future. True belongs in tril().
OneAhead    .tril() → .tril(1)
  Your causal mask lets each position see one word too many, the very one that it should predict.
NoDiagonal    .tril() → .tril(-1)
  Your causal mask has no diagonal: the first position may see nothing, and its row becomes NaN.
DecoderNoMemoryMask    causal, memory, memory_mask → causal, memory, torch.ones_like(memory_mask)
  The memory's mask is not used: the target's words look at the source's <pad>.
DecoderWithoutMemory    causal, memory, memory_mask → causal
  Your blocks do not get the memory: the decoder writes without having read the source.
DecoderNormsMemory    causal, memory, memory_mask → causal, self.norm(memory), memory_mask
  The memory is normalised once more here. It has left the encoder's last norm already.
DecoderNoLastNorm    self.norm(x) → x
  The decoder's last norm is missing. A pre-norm stack needs one at its end.
""")


# --- the models ------------------------------------------------------------------------------------------------------


def _transformer(
    answer: type,
    source_size: int,
    target_size: int,
    d_model: int,
    n_heads: int,
    d_ff: int,
    n_layers: int,
    source: Tensor,
    target: Tensor,
) -> dict[str, object]:
    return examined(answer, Transformer, (source_size, target_size, d_model, n_heads, d_ff, n_layers), source, target)


def _padded(size: tuple, in_source: tuple, in_target: tuple) -> list[Tensor]:
    """Source and target (B, T), with these numbers of words in the rows; T = S, so that the wrong padding fits, too."""
    ids = some_ids(*size, seed=1), some_ids(*size, words=7, seed=2)
    return [one * padding_of(*real)[:, 0, 0] for one, real in zip(ids, (in_source, in_target), strict=True)]


transformer = Exercise(
    "Transformer",
    title="The Transformer",
    goal="Write the class. `encoder` and `decoder` are yours; `output` is an nn.Linear from D to the target's words, "
    "without bias, whose weight is the table of the decoder's input. In forward, id 0 of the source is padding: make "
    "the mask (B, 1, 1, S), and give it to the encoder and, for the memory, to the decoder. Return the logits.",
    difficulty=2,
    minutes=7,
    cases=lambda: [
        (9, 7, 4, 2, 8, 1, some_ids(1, 3), some_ids(1, 3, words=7)),
        (9, 7, 12, 3, 24, 2, *_padded((2, 5), (3, 5), (5, 4))),
    ],
    run=_transformer,
    inline=True,
    hints=(
        "Three attributes. Tying is an assignment: self.output.weight = … , the weight of the decoder's nn.Embedding.",
        "The mask: (source != 0)[:, None, None, :]. Both stacks get the same one.",
        "memory = self.encoder(source, real); return self.output(self.decoder(target, memory, real))",
    ),
)
transformer.solution(Transformer)


transformer.slips("""
NoMaskForMemory    memory, real)) → memory, torch.ones_like(real)))
  The padding is hidden in the encoder, but not in cross-attention: the decoder looks at <pad>.
NoMaskInEncoder    self.encoder(source, real) → self.encoder(source, torch.ones_like(real))
  The padding is hidden in cross-attention, but not in the encoder: its words look at <pad>.
NoPaddingMask    (source != 0) → torch.ones_like(source, dtype=torch.bool)
  The padding is hidden nowhere: words next to <pad> get another translation than words alone.
PaddingInverted    source != 0 → source == 0
  Your padding mask is upside down: it hides the words. True means may be seen: source != 0.
Untied    self.output.weight = self.decoder.input.tokens.weight →
      self.output.weight = nn.Parameter(torch.zeros(target_size, d_model))
  Your output has a table of its own. Tie it: self.output.weight = the decoder's embedding table.
Probabilities    memory, real)) → memory, real)).softmax(-1)
  You return probabilities. Return the logits: the loss applies the softmax itself.
LogProbabilities    memory, real)) → memory, real)).log_softmax(-1)
  You return log-probabilities. Return the logits: the loss applies the log-softmax itself.
PaddingOfTarget    memory, real)) → memory, (target != 0)[:, None, None]))
  Your mask for the memory comes from the target's padding. It hides that of the source.
OutputWithBias    , bias=False →
  Your output has a bias. Only the table is used, the same as at the input: bias=False.
""")


def _gpt(
    answer: type, vocab_size: int, d_model: int, n_heads: int, d_ff: int, n_layers: int, ids: Tensor
) -> dict[str, object]:
    return examined(answer, GPT, (vocab_size, d_model, n_heads, d_ff, n_layers), ids)


gpt = Exercise(
    "GPT",
    title="A model that only writes",
    goal="Write forward. The one stack, `decoder`, is an Encoder: give it a causal mask (T, T) in place of the padding "
    "mask. `output` is tied to its table, as in your Transformer. Return the logits.",
    difficulty=1,
    minutes=3,
    cases=lambda: [
        (9, 4, 2, 8, 1, some_ids(1, 3)),
        (11, 12, 3, 24, 2, some_ids(2, 6, words=11, seed=1)),
    ],
    run=_gpt,
    inline=True,
    given=("__init__",),
    hints=(
        "The encoder's class does all the work. Only the mask makes it a writer.",
        "The causal mask: torch.ones(T, T, dtype=torch.bool).tril(), as in your Decoder.",
        "return self.output(self.decoder(ids, causal))",
    ),
)
gpt.solution(GPT)


gpt.slips("""
GptNotCausal    .tril() →
  The causal mask is missing: each position sees the words that it should predict. This is still BERT.
GptCausalInverted    .tril() → .triu()
  Your mask shows each position the future and hides the past: tril(), not triu().
GptOneAhead    .tril() → .tril(1)
  Your mask reaches one position too far, to the word that is to be predicted: tril(), not tril(1).
GptNoDiagonal    .tril() → .tril(-1)
  Your mask leaves out the diagonal: a position must see itself, or the first row has nothing and is NaN.
GptProbabilities    (ids, causal)) → (ids, causal)).softmax(-1)
  Your forward ends with a softmax. Return the logits, from which loss and sampler compute what they need.
""")
