"""How each family is asked: the same questions and the same right answers, in the form that is natural to the family.

    player = contestant("encoder", model, "sentiment")
    loss = player.loss(player.batch(given, targets))     # what is trained: `fit(player, …, loss=family_loss)`
    player.answers(given)                                # [["positive"], …]

    encoder          <cls> question <sep>. A new linear map on top reads the mean of the last hidden states (sentiment,
                     similar), each word's (entities), or points at one word (resolve). It fills a gap in place. It
                     writes word by word: it predicts the <mask> at the end of what it has written.
    decoder          <bos> question <token of the task> answer <eos>: it reads the question as the beginning of a text,
                     and goes on. Only the answer counts in the loss. `go_on` needs no token. It fills a gap by trying
                     words: the likeliest whole text wins. There it is trained on what follows the gap, with the gap.
    encoder_decoder  <token of the task> question goes into the encoder, <bos> answer <eos> is written by the decoder. A
                     gap is <x0>, and the answer to it stands between <x0> and <x1>, as in pretraining.

Sources: Devlin et al. 2019, section 4, and Wang and Cho 2019 for writing with masks; Radford et al. 2019; Raffel et al.
2020, section 2.4.
"""

import random
from collections.abc import Sequence
from itertools import takewhile
from typing import Any

import torch
from torch import Tensor, nn

from tx_helpers.generation.search import generate
from tx_helpers.lessons.families.gap_filler import TRIED, tried
from tx_helpers.lessons.families.tasks import SAME, Task, Words, named, task_named
from tx_helpers.nn.arguments import check_one_of
from tx_helpers.text.data import BOS, EOS, IGNORE, PAD, SequenceBatch, TextBatch, pad_right, sequence_batch, text_batch
from tx_helpers.text.world_tasks import MASK
from tx_helpers.text.world_vocabulary import CLS, KINDS, SENTIMENTS, SENTINELS, SEP, world_id, world_tokenizer
from tx_helpers.training.contexts import in_mode
from tx_helpers.training.losses import language_model_loss, sequence_loss, translation_loss

CLASSES = {"sentiment": SENTIMENTS, "similar": SAME, "entities": KINDS, "resolve": ("here",)}  # of the new map on top


class Contestant(nn.Module):
    """A model and the task that it is asked. `batch` and `answers` are each family's own."""

    family: str

    def __init__(self, model: nn.Module, task: Task):
        super().__init__()
        self.model, self.task = model, task
        self.tokenizer = world_tokenizer()

    def batch(self, given: Sequence, targets: Sequence, *, seed: int = 0) -> TextBatch | SequenceBatch:
        """Examples as ids. `seed` draws what is hidden, where the family needs it."""
        raise NotImplementedError

    def loss(self, batch: Any) -> Tensor:
        """Mean −ln p of what is to be answered. -> scalar"""
        return language_model_loss(self.model, batch)

    def answers(self, given: Sequence) -> list[Words]:
        """The model's answers, as words; always the likeliest."""
        raise NotImplementedError

    def asked(self, given: Any, target: Any) -> tuple[Words, str]:
        """An example in the family's form: what goes in, as words, and what is to come out, said in words."""
        raise NotImplementedError

    def _ids(self, words: Words) -> list[int]:
        return self.tokenizer.encode(" ".join(words))

    def _words(self, ids: Sequence[int]) -> Words:
        """The words up to the end."""
        written = list(takewhile(lambda token: token != EOS, ids))
        return [self.tokenizer.tokens[token] for token in written]


class EncoderContestant(Contestant):
    """See the head of this file."""

    family = "encoder"

    def __init__(self, model: nn.Module, task: Task):
        super().__init__(model, task)
        classes = CLASSES.get(task.name)
        self.head = nn.Linear(model.config.d_model, len(classes)) if classes else None
        self.mask_id = world_id(MASK)

    def batch(self, given: Sequence, targets: Sequence, *, seed: int = 0) -> TextBatch:
        drawn = random.Random(seed)
        rows = [self._row(one, target, drawn) for one, target in zip(given, targets, strict=True)]
        return text_batch(rows)

    def scores(self, ids: Tensor) -> Tensor:
        """ids (B, T) -> logits: (B, T, V), (B, T, classes), or of a whole row (B, classes), (B, T) places."""
        if self.head is None:
            return self.model(ids)
        hidden, real = self.model.encode(ids), ids != PAD
        if self.task.name in ("sentiment", "similar"):
            weights = real / real.sum(-1, keepdim=True)
            return self.head((weights.unsqueeze(1) @ hidden).squeeze(1))  # mean of the hidden states (B, D)
        logits = self.head(hidden)
        return logits.squeeze(-1).masked_fill(~real, float("-inf")) if self.task.name == "resolve" else logits

    def loss(self, batch: TextBatch) -> Tensor:
        logits = self.scores(batch.input)
        target = batch.target if logits.dim() == 3 else batch.target[:, 0]  # one for the whole row
        return sequence_loss(logits, target)

    def answers(self, given: Sequence) -> list[Words]:
        with in_mode(self, training=False), torch.no_grad():
            if self.head is None and self.task.name != "fill_gap":
                return self._written([self.task.question(one) for one in given])
            rows = [self._read(self.task.question(one)) for one in given]
            best = self.scores(pad_right(rows, PAD)).argmax(-1).tolist()
        return [self._said(*three) for three in zip(given, rows, best, strict=True)]

    def asked(self, given: Any, target: Any) -> tuple[Words, str]:
        reads, name = self._words(self._read(self.task.question(given))), self.task.name
        answer = " ".join(self.task.answer(given, target))
        if name == "fill_gap":
            return reads, f"at <mask>: {answer}"
        if name == "entities":
            return reads, f"a map on top says the kind of each word: {answer}"
        if name == "resolve":
            return reads, f"a map on top points at a word: {answer}"
        if self.head is not None:
            return reads, f"a map on top of the mean of all places says: {answer}"
        return [*reads, MASK], f"at <mask>, which then moves on, word by word: {answer}"

    def _read(self, question: Words) -> list[int]:
        """The rest of a text goes on without <sep>: that would be the text's end."""
        return self._ids([CLS, *question, SEP][: -1 if self.task.name == "go_on" else None])

    def _row(self, given: Any, target: Any, drawn: random.Random) -> tuple[list[int], list[int]]:
        """The ids of an example, and what is to be predicted at each of them; a row's one class at its beginning."""
        ids, name = self._read(self.task.question(given)), self.task.name
        goal = [IGNORE] * len(ids)
        if name == "fill_gap":
            goal[ids.index(self.mask_id)] = self._ids([target])[0]
        elif name == "entities":
            goal[1 : 1 + len(target)] = [KINDS.index(kind) for kind in target]
        elif name == "resolve":
            goal[0] = target + 1  # <cls> stands before the words
        elif self.head is not None:
            goal[0] = target if name == "similar" else SENTIMENTS.index(target)
        else:
            answer = [*self._ids(self.task.answer(given, target)), EOS]
            so_far = drawn.randrange(len(answer))
            ids = [*ids, *answer[:so_far], self.mask_id]
            goal = [IGNORE] * (len(ids) - 1) + [answer[so_far]]
        return ids, goal

    def _said(self, given: Any, ids: list[int], best: Any) -> Words:
        """What the likeliest classes mean."""
        name = self.task.name
        if name == "fill_gap":
            return [self.tokenizer.tokens[best[ids.index(self.mask_id)]]]
        if name == "entities":
            words = given.split()
            return named(words, [KINDS[kind] for kind in best[1 : 1 + len(words)]])
        return [self.tokenizer.tokens[ids[best]]] if name == "resolve" else [CLASSES[name][best]]

    def _written(self, questions: list[Words]) -> list[Words]:
        """One word at a time, each of them where <mask> stands at the end."""
        asked = [self._read(question) for question in questions]
        answers: list[list[int]] = [[] for _ in asked]
        for _ in range(self.task.longest):
            open_ones = [place for place, answer in enumerate(answers) if EOS not in answer]
            if not open_ones:
                break
            rows = [[*asked[place], *answers[place], self.mask_id] for place in open_ones]
            ids = pad_right(rows, PAD)
            ends = torch.tensor([len(row) - 1 for row in rows])
            hidden = self.model.encode(ids)[torch.arange(len(rows)), ends]
            for place, word in zip(open_ones, self.model.logits(hidden).argmax(-1).tolist(), strict=True):
                answers[place].append(word)
        return [self._words(answer) for answer in answers]


class DecoderContestant(Contestant):
    """See the head of this file."""

    family = "decoder"

    def batch(self, given: Sequence, targets: Sequence, *, seed: int = 0) -> TextBatch:
        rows = []
        for one, target in zip(given, targets, strict=True):
            prompt, answer = self._prompt(one), self._answer(one, target)
            rows.append(([*prompt, *answer[:-1]], [IGNORE] * (len(prompt) - 1) + answer))
        return text_batch(rows)

    def answers(self, given: Sequence) -> list[Words]:
        prompts = [self._prompt(one) for one in given]
        if self.task.name == "fill_gap":
            with in_mode(self, training=False), torch.no_grad():
                return [self._tried(*pair) for pair in zip(prompts, given, strict=True)]
        ids = generate(self.model, prompts, max_new_tokens=self.task.longest + 1, end_id=EOS, pad_id=PAD)
        return [self._words(row) for row in ids.tolist()]

    def asked(self, given: Any, target: Any) -> tuple[Words, str]:
        answer = " ".join(self.task.answer(given, target))
        if self.task.name == "fill_gap":
            return [world_tokenizer().tokens[BOS], *given.split()], f"at <mask>, of {TRIED} words tried: {answer}"
        return self._words(self._prompt(given)), f"goes on: {answer}"

    def _prompt(self, given: Any) -> list[int]:
        words, name = self.task.question(given), self.task.name
        if name == "fill_gap":
            return [BOS, *self._ids(words[: words.index(MASK)])]
        return [BOS, *self._ids([*words, *[self.task.token] * (name != "go_on")])]

    def _answer(self, given: Any, target: Any) -> list[int]:
        """What is scored: the answer; of a gap the word, and all that follows it."""
        rest = _after(given) if self.task.name == "fill_gap" else []
        return [*self._ids([*self.task.answer(given, target), *rest]), EOS]

    def _tried(self, prompt: list[int], given: str) -> Words:
        left = self.model(torch.tensor([prompt]))[0, -1].softmax(-1)
        best = tried(self.model, prompt[1:], self._ids(_after(given)), left).argmax().item()
        return [self.tokenizer.tokens[best]]


def _after(given: str) -> Words:
    """The words behind the gap."""
    words = given.split()
    return words[words.index(MASK) + 1 :]


class EncoderDecoderContestant(Contestant):
    """See the head of this file."""

    family = "encoder_decoder"

    def batch(self, given: Sequence, targets: Sequence, *, seed: int = 0) -> SequenceBatch:
        pairs = zip(given, targets, strict=True)
        return sequence_batch([(self._source(one), self._answer(self.task.answer(one, goal))) for one, goal in pairs])

    def loss(self, batch: SequenceBatch) -> Tensor:
        return translation_loss(self.model, batch)

    def answers(self, given: Sequence) -> list[Words]:
        source = pad_right([self._source(one) for one in given], PAD)
        ids = generate(self.model, BOS, source=source, max_new_tokens=self.task.longest + 3, end_id=EOS, pad_id=PAD)
        written = [self._words(row) for row in ids.tolist()]
        return [[word for word in row if word not in SENTINELS] for row in written]

    def asked(self, given: Any, target: Any) -> tuple[Words, str]:
        written = self._words(self._answer(self.task.answer(given, target)))
        return self._words(self._source(given)), f"the decoder writes: {' '.join(written)}"

    def _source(self, given: Any) -> list[int]:
        words = [SENTINELS[0] if word == MASK else word for word in self.task.question(given)]
        return self._ids([self.task.token, *words])

    def _answer(self, words: Words) -> list[int]:
        return self._ids([SENTINELS[0], *words, SENTINELS[1]] if self.task.name == "fill_gap" else words)


CONTESTANTS = {kind.family: kind for kind in (EncoderContestant, DecoderContestant, EncoderDecoderContestant)}


def contestant(family: str, model: nn.Module, task: str) -> Contestant:
    """The model as one that is asked this task in its family's way. The model itself is used, not a copy."""
    check_one_of("contestant", CONTESTANTS, family=family)
    return CONTESTANTS[family](model, task_named(task))


def family_loss(player: Contestant, batch: TextBatch | SequenceBatch) -> Tensor:
    """The loss of a contestant, as `training.loop.fit` calls it."""
    return player.loss(batch)
