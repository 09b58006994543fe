"""Exercises of the full model that stand inside the notebook: its stacks, and the models made of them."""

import torch
from torch import Tensor, nn

from tx_helpers.exercises.exercise import Exercise, random_tensors
from tx_helpers.lessons.full_model.filled import examined, padding_of, some_ids
from tx_helpers.nn.masks import causal_mask
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
""")


@encoder.mistake("You normalise after every block. The last norm comes once, after the last block.")
class NormAfterEach(Encoder):
    def forward(self, ids, mask):
        x = self.input(ids)
        for one in self.blocks:
            x = self.norm(one(x, mask))
        return self.norm(x)


@encoder.mistake("Your norm stands in the loop, so it follows every block. It comes once, after the last block.")
class NormInTheLoop(Encoder):
    def forward(self, ids, mask):
        x = self.input(ids)
        for one in self.blocks:
            x = self.norm(one(x, mask))
        return x


@encoder.mistake("Your blocks do not get the mask: the words look at <pad>, too.")
class EncoderNoMask(Encoder):
    def forward(self, ids, mask):
        return super().forward(ids, torch.ones_like(mask))


@encoder.mistake(
    "You looked the ids up in the table alone: self.input.tokens(ids). The factor √D and the positions are missing."
)
class TableAlone(Encoder):
    def forward(self, ids, mask):
        x = self.input.tokens(ids)
        for one in self.blocks:
            x = one(x, mask)
        return self.norm(x)


@encoder.mistake("Your blocks all read the embedding, and only the last one counts: x = block(x, mask), in a chain.")
class NoChain(Encoder):
    def forward(self, ids, mask):
        return self.norm(self.blocks[-1](self.input(ids), mask))


@encoder.mistake(
    "Your blocks are one block, many times: [Block(…)] * n_layers repeats the same object, and all layers share their "
    "weights."
)
class OneBlock(Encoder):
    def __init__(self, vocab_size, d_model, n_heads, d_ff, n_layers):
        super().__init__(vocab_size, d_model, n_heads, d_ff, n_layers)
        self.blocks = nn.ModuleList([self.blocks[0]] * n_layers)


@encoder.mistake("Your blocks are in a Python list: no optimiser finds their parameters. Use nn.ModuleList.")
class PlainList(Encoder):
    def __init__(self, vocab_size, d_model, n_heads, d_ff, n_layers):
        super().__init__(vocab_size, d_model, n_heads, d_ff, n_layers)
        blocks = list(self.blocks)
        del self.blocks
        self.__dict__["blocks"] = blocks


@encoder.mistake("Your norm comes before the blocks. It belongs behind the last one, where the stream has grown.")
class NormFirst(Encoder):
    def forward(self, ids, mask):
        x = self.norm(self.input(ids))
        for one in self.blocks:
            x = one(x, mask)
        return x


@encoder.mistake("Your blocks have cross=True, so they have a cross-attention. An encoder has no memory to look at.")
class EncoderWithCross(Encoder):
    def __init__(self, vocab_size, d_model, n_heads, d_ff, n_layers):
        super().__init__(vocab_size, d_model, n_heads, d_ff, n_layers)
        self.blocks = nn.ModuleList(Block(d_model, n_heads, d_ff, cross=True) for _ in range(n_layers))


@encoder.mistake("In your blocks n_heads and d_ff are swapped. The order is Block(d_model, n_heads, d_ff).")
class SizesSwapped(Encoder):
    def __init__(self, vocab_size, d_model, n_heads, d_ff, n_layers):
        super().__init__(vocab_size, d_model, d_ff, n_heads, n_layers)


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


class _Looks(Decoder):
    """The solution with a causal mask and a memory that a mistake can replace."""

    def causal(self, T):
        return causal_mask(T)

    def looked_at(self, memory, memory_mask):
        return memory, memory_mask

    def forward(self, ids, memory, memory_mask):
        x = self.input(ids)
        for one in self.blocks:
            x = one(x, self.causal(ids.shape[1]), *self.looked_at(memory, memory_mask))
        return self.norm(x)


@decoder.mistake(
    "The causal mask is missing: every position sees the words that it should predict. The loss would look wonderful, "
    "and the model could write nothing."
)
class NotCausal(_Looks):
    def causal(self, T):
        return torch.ones(T, T, dtype=torch.bool)


@decoder.mistake("Your causal mask is upside down: each position sees itself and the future. True belongs in tril().")
class CausalInverted(_Looks):
    def causal(self, T):
        return torch.ones(T, T, dtype=torch.bool).triu()


@decoder.mistake("Your causal mask lets each position see one word too many, the very one that it should predict.")
class OneAhead(_Looks):
    def causal(self, T):
        return torch.ones(T, T, dtype=torch.bool).tril(1)


@decoder.mistake("Your causal mask has no diagonal: the first position may see nothing, and its row becomes NaN.")
class NoDiagonal(_Looks):
    def causal(self, T):
        return torch.ones(T, T, dtype=torch.bool).tril(-1)


@decoder.mistake("The memory's mask is not used: the target's words look at the source's <pad>.")
class DecoderNoMemoryMask(_Looks):
    def looked_at(self, memory, memory_mask):
        return memory, torch.ones_like(memory_mask)


@decoder.mistake("Your blocks do not get the memory: the decoder writes without having read the source.")
class DecoderWithoutMemory(_Looks):
    def looked_at(self, memory, memory_mask):
        return None, None


@decoder.mistake("The memory is normalised once more here. It has left the encoder's last norm already.")
class DecoderNormsMemory(_Looks):
    def looked_at(self, memory, memory_mask):
        return self.norm(memory), memory_mask


@decoder.mistake("The decoder's last norm is missing. A pre-norm stack needs one at its end.")
class DecoderNoLastNorm(Decoder):
    def forward(self, ids, memory, memory_mask):
        x = self.input(ids)
        for one in self.blocks:
            x = one(x, causal_mask(ids.shape[1]), memory, memory_mask)
        return x


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
    """Source and target (B, T), with so many words in each row; T = S, so that the wrong padding fits, too."""
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


class _Masked(Transformer):
    """The solution with masks and an end that a mistake can replace."""

    def masks(self, real):
        return real, real  # of the encoder, of the memory

    def end(self, logits):
        return logits

    def forward(self, source, target):
        mask, memory_mask = self.masks((source != 0)[:, None, None])
        return self.end(self.output(self.decoder(target, self.encoder(source, mask), memory_mask)))


@transformer.mistake("The padding is hidden in the encoder, but not in cross-attention: the decoder looks at <pad>.")
class NoMaskForMemory(_Masked):
    def masks(self, real):
        return real, torch.ones_like(real)


@transformer.mistake("The padding is hidden in cross-attention, but not in the encoder: its words look at <pad>.")
class NoMaskInEncoder(_Masked):
    def masks(self, real):
        return torch.ones_like(real), real


@transformer.mistake("The padding is hidden nowhere: words next to <pad> get another translation than words alone.")
class NoPaddingMask(_Masked):
    def masks(self, real):
        return torch.ones_like(real), torch.ones_like(real)


@transformer.mistake("Your padding mask is upside down: it hides the words. True means may be seen: source != 0.")
class PaddingInverted(_Masked):
    def masks(self, real):
        return ~real, ~real


@transformer.mistake("Your output has a table of its own. Tie it: self.output.weight = the decoder's embedding table.")
class Untied(Transformer):
    def __init__(self, *sizes):
        super().__init__(*sizes)
        self.output.weight = nn.Parameter(torch.zeros_like(self.output.weight))


@transformer.mistake("You return probabilities. Return the logits: the loss applies the softmax itself.")
class Probabilities(_Masked):
    def end(self, logits):
        return logits.softmax(-1)


@transformer.mistake("You return log-probabilities. Return the logits: the loss applies the log-softmax itself.")
class LogProbabilities(_Masked):
    def end(self, logits):
        return logits.log_softmax(-1)


@transformer.mistake("Your mask for the memory comes from the target's padding. It hides that of the source.")
class PaddingOfTarget(Transformer):
    def forward(self, source, target):
        real, written = ((ids != 0)[:, None, None] for ids in (source, target))
        return self.output(self.decoder(target, self.encoder(source, real), written))


@transformer.mistake("Your output has a bias. Only the table is used, the same as at the input: bias=False.")
class OutputWithBias(Transformer):
    def __init__(self, *sizes):
        super().__init__(*sizes)
        table = self.output.weight
        self.output = nn.Linear(table.shape[1], table.shape[0])
        self.output.weight = table


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


class _Written(GPT):
    """The solution with a mask and an end that a mistake can replace."""

    def causal(self, T):
        return causal_mask(T)

    def end(self, logits):
        return logits

    def forward(self, ids):
        return self.end(self.output(self.decoder(ids, self.causal(ids.shape[1]))))


@gpt.mistake("The causal mask is missing: each position sees the words that it should predict. This is still BERT.")
class GptNotCausal(_Written):
    def causal(self, T):
        return torch.ones(T, T, dtype=torch.bool)


@gpt.mistake("Your mask shows each position the future and hides the past: tril(), not triu().")
class GptCausalInverted(_Written):
    def causal(self, T):
        return torch.ones(T, T, dtype=torch.bool).triu()


@gpt.mistake("Your mask reaches one position too far, to the word that is to be predicted: tril(), not tril(1).")
class GptOneAhead(_Written):
    def causal(self, T):
        return torch.ones(T, T, dtype=torch.bool).tril(1)


@gpt.mistake("Your mask leaves out the diagonal: a position must see itself, or the first row has nothing and is NaN.")
class GptNoDiagonal(_Written):
    def causal(self, T):
        return torch.ones(T, T, dtype=torch.bool).tril(-1)


@gpt.mistake("Your forward ends with a softmax. Return the logits, from which loss and sampler compute what they need.")
class GptProbabilities(_Written):
    def end(self, logits):
        return logits.softmax(-1)
