"""Batches to train on.

Batches are a function of the step: `batches(step)` is always the same batch, on every machine. A run that resumes at
step 1,000 calls batches(1000); the data have no state to save.

Two kinds of data: pairs of id lists (a translator's) and one long text (a language model's). The targets are the inputs
shifted by one position, so that every position predicts the token that follows it.
"""

import operator
import random
from collections.abc import Callable, Iterable, Sequence
from functools import lru_cache
from typing import NamedTuple, TypeVar

import torch
from torch import Tensor

from tx_helpers.nn.arguments import check_numbers, described
from tx_helpers.text.tokenizers import Tokenizer, WordTokenizer

IdPair = tuple[list[int], list[int]]
Text = TypeVar("Text", str, Tensor)
PAD, BOS, EOS = Tokenizer.pad_id, Tokenizer.bos_id, Tokenizer.eos_id
IGNORE = -100  # the target of a position that is not scored: what torch's cross_entropy leaves out


class SequenceBatch(NamedTuple):
    """Sources (B, S), and targets (B, T) with the decoder's inputs (B, T), which lag one token behind; int64."""

    source: Tensor
    decoder_input: Tensor
    target: Tensor

    def to(self, device: torch.device | str) -> "SequenceBatch":
        return SequenceBatch(*(ids.to(device) for ids in self))

    def part(self, number: int, parts: int) -> "SequenceBatch":
        """Some of the rows: part `number` of `parts`, which differ by at most one row."""
        return SequenceBatch(*_rows_of_part(self, number, parts))

    def scored(self) -> int:
        """How many targets the loss is a mean over: those that are not PAD."""
        return int((self.target != PAD).sum())


class TextBatch(NamedTuple):
    """Pieces of a text (B, T) and, as targets (B, T), the tokens that follow; int64."""

    input: Tensor
    target: Tensor

    def to(self, device: torch.device | str) -> "TextBatch":
        return TextBatch(*(ids.to(device) for ids in self))

    def part(self, number: int, parts: int) -> "TextBatch":
        """Some of the rows: part `number` of `parts`, which differ by at most one row."""
        return TextBatch(*_rows_of_part(self, number, parts))

    def scored(self) -> int:
        """How many targets the loss is a mean over: those that are not IGNORE."""
        return int((self.target != IGNORE).sum())


def pad_right(rows: Sequence[Sequence[int]], pad_id: int) -> Tensor:
    """Lists of ids of any length as one int64 tensor (B, longest), filled with `pad_id` on the right."""
    check_numbers("pad_right", whole=True, pad_id=pad_id)
    try:
        plain = [[operator.index(i) for i in row] for row in rows]
    except TypeError as error:
        raise ValueError(f"pad_right: rows is {described(rows)}, expected lists of ids ({error})") from error
    if not plain:
        raise ValueError("pad_right: no rows to make a batch of, expected at least one")
    longest = max(map(len, plain))
    return torch.tensor([row + [pad_id] * (longest - len(row)) for row in plain], dtype=torch.long)


def sequence_batch(
    pairs: Sequence[IdPair], *, pad_id: int = PAD, bos_id: int = BOS, eos_id: int = EOS
) -> SequenceBatch:
    """Pairs of id lists as one batch, padded at the right.

    For a target w₁ … wₙ the decoder reads <bos> w₁ … wₙ and predicts w₁ … wₙ <eos>.
    """
    pairs = _id_pairs("sequence_batch", pairs)
    return SequenceBatch(
        source=pad_right([source for source, _ in pairs], pad_id),
        decoder_input=pad_right([[bos_id, *target] for _, target in pairs], pad_id),
        target=pad_right([[*target, eos_id] for _, target in pairs], pad_id),
    )


class PairBatches:
    """Batches of pairs of id lists: `batches(step) -> SequenceBatch`.

    An epoch is one permutation of the pairs, drawn from seed and epoch, and holds every pair exactly once. Every batch
    is full: one batch may hold the end of an epoch and the start of the next.
    """

    def __init__(
        self,
        pairs: Iterable[IdPair],
        batch_size: int,
        *,
        pad_id: int = PAD,
        bos_id: int = BOS,
        eos_id: int = EOS,
        seed: int = 0,
    ):
        check_numbers("PairBatches", least=1, whole=True, batch_size=batch_size)
        self.pairs = _id_pairs("PairBatches", pairs)
        for number, (source, target) in enumerate(self.pairs):
            if not source or not target:
                raise ValueError(
                    f"PairBatches: pair {number} has {len(source)} source and {len(target)} target tokens, "
                    "expected at least one of each"
                )
        self.batch_size, self.seed = batch_size, seed
        self.special_ids = {"pad_id": pad_id, "bos_id": bos_id, "eos_id": eos_id}

    def __call__(self, step: int) -> SequenceBatch:
        check_numbers("PairBatches", least=0, whole=True, step=step)
        first, chosen = step * self.batch_size, []
        for place in range(first, first + self.batch_size):
            epoch, index = divmod(place, len(self.pairs))
            chosen.append(self.pairs[_permutation(len(self.pairs), self.seed, epoch)[index]])
        return sequence_batch(chosen, **self.special_ids)


def text_batch(rows: Iterable[tuple[Sequence[int], Sequence[int]]]) -> TextBatch:
    """Rows (input, target) of any length as one batch: input padded with PAD, target with IGNORE, on the right."""
    inputs, targets = zip(*rows, strict=True)
    return TextBatch(pad_right(inputs, PAD), pad_right(targets, IGNORE))


class TextBatches:
    """Random windows of one long text: `batches(step) -> TextBatch`, B = batch_size and T = length.

    ids (N,): the text's ids. A window may start wherever length + 1 ids are left; all starts are equally likely.
    """

    def __init__(self, ids: Tensor | Sequence[int], length: int, batch_size: int, *, seed: int = 0):
        check_numbers("TextBatches", least=1, whole=True, length=length, batch_size=batch_size)
        self.ids = _text("TextBatches", ids, shortest=length + 1)
        self.length, self.batch_size, self.seed = length, batch_size, seed

    def __call__(self, step: int) -> TextBatch:
        check_numbers("TextBatches", least=0, whole=True, step=step)
        uniform = _uniform(f"windows {self.seed} {step}")
        places = len(self.ids) - self.length
        starts = torch.tensor([int(uniform() * places) for _ in range(self.batch_size)])
        windows = starts[:, None] + torch.arange(self.length)  # (B, T)
        return TextBatch(self.ids[windows], self.ids[windows + 1])


def evaluation_windows(ids: Tensor | Sequence[int], length: int, *, batch_size: int = 64) -> list[TextBatch]:
    """Cut a text into consecutive windows, in batches: every id but the first is a target exactly once.

    The rest at the end is a shorter window in a separate batch, so a mean over the text must weight each batch by its
    number of targets. Positions early in a window see little context, as in training.
    """
    check_numbers("evaluation_windows", least=1, whole=True, length=length, batch_size=batch_size)
    ids = _text("evaluation_windows", ids, shortest=2)
    inputs, targets = ids[:-1], ids[1:]
    cut = len(inputs) // length * length
    full_inputs = inputs[:cut].view(-1, length)  # (cut / length, length)
    full_targets = targets[:cut].view(-1, length)
    batches = [*zip(full_inputs.split(batch_size), full_targets.split(batch_size), strict=True)]
    batches.append((inputs[None, cut:], targets[None, cut:]))
    return [TextBatch(*batch) for batch in batches if batch[0].numel()]


class PairData(NamedTuple):
    """Pairs of texts, ready for training: a tokenizer for each side, and the pairs as ids."""

    source_tokenizer: Tokenizer
    target_tokenizer: Tokenizer
    pairs: list[IdPair]

    def encode(self, pairs: Iterable[tuple[object, ...]]) -> list[IdPair]:
        """Further pairs, such as held-out ones, as ids of the same tokenizers."""
        encode_source, encode_target = self.source_tokenizer.encode, self.target_tokenizer.encode
        return [(encode_source(source), encode_target(target)) for source, target in text_pairs("encode", pairs)]

    def batches(self, batch_size: int, *, seed: int = 0) -> PairBatches:
        return PairBatches(self.pairs, batch_size, seed=seed)


def word_pairs(pairs: Iterable[tuple[object, ...]], *, tokenizer: type[Tokenizer] = WordTokenizer) -> PairData:
    """Your own pairs of texts, ready for training: each side's tokenizer is trained on that side.

    pairs: (source, target), or longer tuples ending in them, as those of `number_pairs`. With
    `tokenizer=CharTokenizer` the tokens are characters.
    """
    texts = text_pairs("word_pairs", pairs)
    if not (isinstance(tokenizer, type) and issubclass(tokenizer, Tokenizer)):
        raise ValueError(f"word_pairs: tokenizer is {described(tokenizer)}, expected a class such as WordTokenizer")
    sources, targets = zip(*texts, strict=True)
    untrained = PairData(tokenizer.train(sources), tokenizer.train(targets), [])
    return untrained._replace(pairs=untrained.encode(texts))


def train_validation_split(text: Text, share: float = 0.9) -> tuple[Text, Text]:
    """The first 90 % of a text (or of its ids) to train on, the rest to validate on, as nanoGPT splits it."""
    check_numbers("train_validation_split", share=share)
    if not isinstance(text, Sequence) and not (isinstance(text, Tensor) and text.dim()):
        raise ValueError(f"train_validation_split: text is {described(text)}, expected a text or its ids")
    cut = int(len(text) * share) if 0 < share < 1 else 0
    if not 0 < cut < len(text):
        raise ValueError(
            f"train_validation_split: share={share} of {len(text)} leaves one side empty, expected some on both"
        )
    return text[:cut], text[cut:]


def text_pairs(operation: str, pairs: Iterable[tuple[object, ...]]) -> list[tuple[str, str]]:
    """The last two fields of each pair."""
    texts = []
    for pair in pairs if isinstance(pairs, Iterable) else [pairs]:
        match pair:
            case [*_, str(source), str(target)]:
                texts.append((source, target))
            case _:
                raise ValueError(f"{operation}: {pair!r} does not end in two texts, expected (source, target)")
    if not texts:
        raise ValueError(f"{operation}: no pairs, expected at least one (source, target)")
    return texts


def _id_pairs(operation: str, pairs: Iterable[IdPair]) -> list[IdPair]:
    try:
        plain = [([*source], [*target]) for source, target in pairs]
    except (TypeError, ValueError) as error:
        expected = "expected (source ids, target ids) for each"
        raise ValueError(f"{operation}: pairs is {described(pairs)}, {expected} ({error})") from error
    if not plain:
        raise ValueError(f"{operation}: no pairs to make batches of, expected at least one")
    return plain


def _text(operation: str, ids: Tensor | Sequence[int], shortest: int) -> Tensor:
    """The ids as a 1-D int64 tensor, long enough for one window and its shifted target."""
    try:
        ids = torch.as_tensor(ids)
    except (TypeError, ValueError, RuntimeError) as error:
        raise ValueError(f"{operation}: ids is {described(ids)}, expected whole numbers (N,)") from error
    if ids.dim() != 1 or ids.dtype not in (torch.int64, torch.int32):
        raise ValueError(f"{operation}: ids of shape {tuple(ids.shape)} and {ids.dtype}, expected whole numbers (N,)")
    if len(ids) < shortest:
        raise ValueError(
            f"{operation}: a text of {len(ids)} ids, expected at least {shortest}: a window and its target"
        )
    return ids.long()


def _rows_of_part(batch: tuple[Tensor, ...], number: int, parts: int) -> list[Tensor]:
    rows = len(batch[0])
    if rows < parts:
        raise ValueError(f"batch: {rows} rows cannot be divided into {parts} parts, expected at least a row for each")
    return [ids.tensor_split(parts)[number] for ids in batch]


@lru_cache(maxsize=8)
def _permutation(count: int, seed: int, epoch: int) -> list[int]:
    uniform = _uniform(f"permutation {seed} {epoch}")
    return sorted(range(count), key=lambda _: uniform())


def _uniform(seed: str) -> Callable[[], float]:
    """A separate source of random numbers in [0, 1); only random() is the same in every version of Python."""
    return random.Random(seed).random
