"""Five objectives of pretraining: each one makes an input and a target out of a text, without any label.

    causal           a text                              every next token    GPT (Radford et al. 2018)
    masked           some tokens hidden                  the hidden ones     BERT (Devlin et al. 2019, section 3.1)
    next sentence    <cls> A <sep> B <sep>               does B follow A?    BERT
    span corruption  a sentinel in place of each span    the spans           T5 (Raffel et al. 2020, section 3.1.4)
    prefix           a text; its beginning is no target  every token after   UniLM (Dong et al. 2019), T5's prefix LM

They are pure functions, ids -> (input, target). A target of IGNORE is not scored. What is random is drawn from
`generator`, in the order that the docstring names, so that the same draws can be made by hand.

    batches = ObjectiveBatches("masked", 32)        # of texts of the little world
    fit(model, batches, loss=objective_loss, …)
"""

import random
from collections.abc import Collection, Sequence
from functools import cache
from typing import Any, NamedTuple

import torch
from torch import Tensor, nn

from tx_helpers.nn.arguments import check_numbers, check_one_of, check_tensors, check_types
from tx_helpers.nn.masks import causal_mask
from tx_helpers.text.data import BOS, EOS, IGNORE, PAD, pad_right
from tx_helpers.text.world import little_world
from tx_helpers.text.world_vocabulary import CLS, MASK, SENTINELS, SEP, word_ids, world_id, world_tokenizer
from tx_helpers.training.losses import sequence_loss

OBJECTIVES = ("causal", "masked", "next_sentence", "span_corruption", "prefix")
OPTIONS = {"masked": ("rate", "as_mask", "as_random"), "span_corruption": ("rate", "mean_span")}  # of batches


def causal(ids: Tensor) -> tuple[Tensor, Tensor]:
    """Every token predicts the next one: ids (…, T) -> input (…, T − 1), target (…, T − 1)."""
    check_tensors("causal", ids=(ids, "int … T"))
    if ids.shape[-1] < 2:
        raise ValueError(f"causal: a text of {ids.shape[-1]} ids, expected at least 2: one to read, one to predict")
    return ids[..., :-1], ids[..., 1:]


def masked(
    ids: Tensor,
    *,
    mask_id: int,
    words: range,
    rate: float = 0.15,
    as_mask: float = 0.8,
    as_random: float = 0.1,
    keep: Collection[int] = (),
    generator: torch.Generator | None = None,
) -> tuple[Tensor, Tensor]:
    """Some tokens are hidden and have to be found: ids (…, T) -> input (…, T), target (…, T).

    Each token is chosen with probability `rate`. A chosen one becomes <mask> with probability as_mask, one of `words`
    with probability as_random, and else stays as it is. It is scored in all three cases: so the model cannot know which
    of the words that it sees are right, and learns a vector for each of them. Ids in `keep` are never chosen.
    Drawn, each of the shape of ids: rand < rate, rand for the kind, randint for the word.
    """
    check_tensors("masked", ids=(ids, "int …"))
    check_types("masked", range, words=words)
    check_numbers("masked", least=0, most=1, rate=rate, as_mask=as_mask, as_random=as_random)
    if as_mask + as_random > 1:
        raise ValueError(
            f"masked: as_mask={as_mask} and as_random={as_random} add up to more than 1, expected at most 1"
        )
    chosen = torch.rand(ids.shape, generator=generator) < rate
    kind = torch.rand(ids.shape, generator=generator)
    other = torch.randint(words.start, words.stop, ids.shape, generator=generator)
    chosen &= ~torch.isin(ids, torch.tensor(list(keep), dtype=ids.dtype))
    shown = torch.where(kind < as_mask, mask_id, torch.where(kind < as_mask + as_random, other, ids))
    return torch.where(chosen, shown, ids), torch.where(chosen, ids, IGNORE)


def next_sentence(
    first: Tensor, second: Tensor, follows: bool, *, cls_id: int, sep_id: int, yes_id: int, no_id: int
) -> tuple[Tensor, Tensor]:
    """Does the second part follow the first? first (S,), second (T,) -> input (S + T + 3,), target (S + T + 3,).

    The input is <cls> first <sep> second <sep>; only <cls> is scored, and says yes or no. (BERT has an output layer of
    two classes of its own for this, and half of its second parts follow.)
    """
    check_tensors("next_sentence", first=(first, "int S"), second=(second, "int T"))
    cls, sep = first.new_tensor([cls_id]), first.new_tensor([sep_id])
    shown = torch.cat([cls, first, sep, second, sep])
    target = torch.full_like(shown, IGNORE)
    target[0] = yes_id if follows else no_id
    return shown, target


def span_corruption(
    ids: Tensor,
    *,
    sentinels: Sequence[int],
    rate: float = 0.15,
    mean_span: float = 3.0,
    generator: torch.Generator | None = None,
) -> tuple[Tensor, Tensor]:
    """Spans are cut out; a sentinel stands for each. ids (T,) -> input (S,), target (U,).

    N = round(rate · T) tokens are cut out in M = round(N / mean_span) spans, at least one of each; M is at most the
    number of sentinels less one. The text begins with what stays, so that stretches that stay and spans take turns:

        x₁ x₂ [x₃ x₄] x₅ x₆ [x₇] x₈   ->   x₁ x₂ <x0> x₅ x₆ <x1> x₈,    <x0> x₃ x₄ <x1> x₇ <x2>

    The last sentinel ends the target. All ways to divide are equally likely; drawn: one permutation for the lengths
    of the spans, one for those of the stretches between them.
    """
    check_tensors("span_corruption", ids=(ids, "int T"))
    check_numbers("span_corruption", above=0, less_than=1, rate=rate)
    check_numbers("span_corruption", least=1, mean_span=mean_span)
    T = len(ids)
    if T < 2 or len(sentinels) < 2:
        raise ValueError(
            f"span_corruption: {T} ids and {len(sentinels)} sentinels, expected at least 2 of each: "
            "something stays, and a sentinel ends the target"
        )
    cut = min(max(round(T * rate), 1), T - 1)
    spans = min(max(round(cut / mean_span), 1), cut, T - cut, len(sentinels) - 1)
    lengths = _parts(cut, spans, generator)
    stretches = _parts(T - cut, spans, generator)
    shown, target, place = [], [], 0
    for sentinel, stretch, length in zip(sentinels, stretches, lengths, strict=False):
        mark = ids.new_tensor([sentinel])
        shown += [ids[place : place + stretch], mark]
        place += stretch
        target += [mark, ids[place : place + length]]
        place += length
    return torch.cat(shown), torch.cat([*target, ids.new_tensor([sentinels[spans]])])


def prefix(ids: Tensor, length: int) -> tuple[Tensor, Tensor]:
    """As `causal`, but what lies within the first `length` tokens is not scored: ids (T,) -> (T − 1,), (T − 1,).

    The model reads it with `prefix_mask(T − 1, length)`.
    """
    shown, target = causal(ids)
    check_numbers("prefix", least=1, less_than=ids.shape[-1], whole=True, length=length)
    target = target.clone()
    target[..., : length - 1] = IGNORE
    return shown, target


def prefix_mask(T: int, length: int) -> Tensor:
    """Causal, but the first `length` tokens see each other: (T, T)."""
    check_numbers("prefix_mask", least=0, most=T, whole=True, length=length)
    return causal_mask(T) | (torch.arange(T) < length)


class ObjectiveBatch(NamedTuple):
    """What a model is called with, model(*inputs, mask=mask), and the targets (B, T), IGNORE where nothing is scored.

    inputs: (ids,), or (source, target so far) for an encoder–decoder; mask (B, 1, T, T) for the prefix objective alone.
    """

    inputs: tuple[Tensor, ...]
    target: Tensor
    mask: Tensor | None = None

    def to(self, device: torch.device | str) -> "ObjectiveBatch":
        mask = None if self.mask is None else self.mask.to(device)
        return ObjectiveBatch(tuple(ids.to(device) for ids in self.inputs), self.target.to(device), mask)


def objective_loss(model: nn.Module, batch: ObjectiveBatch) -> Tensor:
    """The mean of −ln p(target) over all that is scored."""
    options = {} if batch.mask is None else {"mask": batch.mask}
    return sequence_loss(model(*batch.inputs, **options), batch.target)


def guess_loss(target: Tensor) -> float:
    """The loss, in nats, of a model that only knows how often each target occurs: −Σ p ln p over what is scored."""
    counts = torch.unique(target[target != IGNORE], return_counts=True)[1].double()
    p = counts / counts.sum()
    return -(p * p.log()).sum().item()


class ObjectiveBatches:
    """Batches of an objective over texts of the little world: `batches(step) -> ObjectiveBatch`.

    A batch has `count` texts, drawn from `texts` of the world; another seed has other texts. With
    texts_in_a_row=(1, 2, 3) a row has one text in the first batch, two in the second, three in the third, and one again
    in the fourth: so that a model meets long rows, too. All objectives draw the same texts for the same seed and step.

    causal, prefix     <bos> text <eos> text <eos>
    masked             <cls> text <sep> text <sep>; options: rate, as_mask, as_random
    next_sentence      <cls> first half <sep> second half <sep>; in about half of the rows that of another text
    span_corruption    text <sep> text, read by an encoder; its decoder reads <bos> and the target;
                       options: rate, mean_span
    """

    def __init__(
        self,
        objective: str,
        count: int = 32,
        *,
        texts: int = 20_000,
        texts_in_a_row: Sequence[int] = (1,),
        split: str = "train",
        seed: int = 0,
        **options: Any,
    ):
        check_one_of("ObjectiveBatches", OBJECTIVES, objective=objective)
        check_numbers("ObjectiveBatches", least=1, whole=True, count=count, texts=texts)
        check_numbers("ObjectiveBatches", whole=True, seed=seed)
        for number in texts_in_a_row:
            check_numbers("ObjectiveBatches", least=1, most=count, whole=True, texts_in_a_row=number)
        if objective == "next_sentence" and (texts < 2 or tuple(texts_in_a_row) != (1,)):
            raise ValueError(
                f"ObjectiveBatches: next_sentence with texts={texts} and texts_in_a_row={tuple(texts_in_a_row)}, "
                "expected at least 2 texts, one in a row: the second half may be another text's"
            )
        known = OPTIONS.get(objective, ())
        if unknown := sorted(options.keys() - {*known}):
            raise ValueError(
                f"ObjectiveBatches: {unknown[0]} is no option of {objective}, which has {', '.join(known) or 'none'}"
            )
        self.objective, self.count, self.in_a_row = objective, count, tuple(texts_in_a_row)
        self.texts, self.seed, self.options = encoded_texts(texts, split, seed), seed, options

    def __call__(self, step: int) -> ObjectiveBatch:
        check_numbers("ObjectiveBatches", least=0, whole=True, step=step)
        draw = random.Random(f"{self.seed} {step}").randrange
        texts = [self.texts[draw(len(self.texts))] for _ in range(self.count)]
        together = self.in_a_row[step % len(self.in_a_row)]
        rows = [texts[first : first + together] for first in range(0, self.count, together)]
        generator = torch.Generator().manual_seed(self.seed * 1_000_003 + step)
        return getattr(self, f"_{self.objective}")(rows, generator)

    def _causal(self, rows: list[list[list[int]]], _: torch.Generator) -> ObjectiveBatch:
        examples = [causal(torch.tensor(_joined([BOS], row, [EOS]))) for row in rows]
        return _batch(examples)

    def _masked(self, rows: list[list[list[int]]], generator: torch.Generator) -> ObjectiveBatch:
        cls, sep = world_id(CLS), world_id(SEP)
        ids = pad_right([_joined([cls], row, [sep]) for row in rows], PAD)
        known = {"mask_id": world_id(MASK), "words": word_ids(), "keep": (PAD, cls, sep)}
        shown, target = masked(ids, generator=generator, **(self.options | known))
        return ObjectiveBatch((shown,), target)

    def _next_sentence(self, rows: list[list[list[int]]], generator: torch.Generator) -> ObjectiveBatch:
        signs = {
            f"{name}_id": world_id(sign) for name, sign in (("cls", CLS), ("sep", SEP), ("yes", "yes"), ("no", "no"))
        }
        texts = [torch.tensor(text) for row in rows for text in row]
        examples = []
        for text in texts:
            follows = bool(torch.rand((), generator=generator) < 0.5)
            second = text if follows else torch.tensor(self._another(text.tolist(), generator))
            examples.append(next_sentence(halves(text)[0], halves(second)[1], follows, **signs))
        return _batch(examples)

    def _another(self, text: list[int], generator: torch.Generator) -> list[int]:
        """A text that is not this one."""
        start = int(torch.randint(len(self.texts), (), generator=generator))
        return next(other for other in (*self.texts[start:], *self.texts[:start]) if other != text)

    def _span_corruption(self, rows: list[list[list[int]]], generator: torch.Generator) -> ObjectiveBatch:
        sentinels = [world_id(sign) for sign in SENTINELS]
        options = dict(sentinels=sentinels) | self.options
        ids = [torch.tensor(_joined([], row, [world_id(SEP)])[:-1]) for row in rows]
        source, spans = zip(*(span_corruption(row, generator=generator, **options) for row in ids), strict=True)
        begun = pad_right([[BOS, *row] for row in spans], PAD)
        return ObjectiveBatch((pad_right(source, PAD), begun), pad_right([[*row, EOS] for row in spans], IGNORE))

    def _prefix(self, rows: list[list[list[int]]], generator: torch.Generator) -> ObjectiveBatch:
        texts = [torch.tensor(_joined([BOS], row, [EOS])) for row in rows]
        lengths = [int(torch.randint(1, len(text), (), generator=generator)) for text in texts]
        batch = _batch([prefix(text, length) for text, length in zip(texts, lengths, strict=True)])
        masks = [prefix_mask(batch.target.shape[1], length) for length in lengths]
        return batch._replace(mask=torch.stack(masks)[:, None])


@cache
def encoded_texts(count: int, split: str = "train", seed: int = 0) -> list[list[int]]:
    """Texts of the little world as ids, without signs around them."""
    encode = world_tokenizer().encode
    return [encode(text) for text in little_world(split).texts(count, seed=seed)]


def _joined(start: list[int], texts: list[list[int]], end: list[int]) -> list[int]:
    return start + [token for text in texts for token in (*text, *end)]


def _batch(examples: list[tuple[Tensor, Tensor]]) -> ObjectiveBatch:
    shown, target = zip(*examples, strict=True)
    return ObjectiveBatch((pad_right(shown, PAD),), pad_right(target, IGNORE))


def halves(text: Tensor) -> tuple[Tensor, Tensor]:
    """A text, cut behind the sentence that ends nearest to its middle; one of a single sentence in its middle."""
    full_stop = world_id(".")
    ends = [place + 1 for place, token in enumerate(text[:-1].tolist()) if token == full_stop] or [len(text) // 2]
    place = min(ends, key=lambda place: abs(2 * place - len(text)))
    return text[:place], text[place:]


def _parts(total: int, count: int, generator: torch.Generator | None) -> list[int]:
    """A number as a sum of `count` numbers of at least 1; all such sums are equally likely."""
    ends = sorted(torch.randperm(total - 1, generator=generator)[: count - 1].tolist())
    return [end - start for start, end in zip([-1, *ends], [*ends, total - 1], strict=True)]
