"""The course's own models, from data to trained: the translator of number words, and the writer of characters.

    translator = number_translator()                        # trained once, then loaded from the user's cache
    translator.translate("four hundred twenty-one")         # "vier hundert ein und zwanzig"

What the notebooks vary (another configuration, other pairs, fewer steps) is an argument. All other settings were found
by trial, to work within seconds on one CPU core; `tools/bench_translator.py` prints the translator's figures.
"""

import hashlib
from collections.abc import Callable, Iterable, Mapping, Sequence
from dataclasses import dataclass, replace
from functools import partial
from typing import Any

import torch
from torch import nn

from tx_helpers import __version__
from tx_helpers.generation.search import generate
from tx_helpers.nn.arguments import Function, check_numbers, check_types, described
from tx_helpers.nn.config import (
    AttentionConfig,
    EmbeddingConfig,
    FeedForwardConfig,
    InitConfig,
    PositionConfig,
    TransformerConfig,
)
from tx_helpers.nn.models import DecoderOnly, EncoderDecoder
from tx_helpers.text.corpora import cache_folder
from tx_helpers.text.data import (
    BOS,
    EOS,
    PAD,
    PairData,
    TextBatches,
    pad_right,
    text_pairs,
    word_pairs,
)
from tx_helpers.text.number_words import number_pairs
from tx_helpers.text.tokenizers import CharTokenizer, Tokenizer
from tx_helpers.training.checkpoints import load_checkpoint
from tx_helpers.training.contexts import RandomStream
from tx_helpers.training.loop import Loss, Run, fit
from tx_helpers.training.losses import language_model_loss, text_loss, translation_loss
from tx_helpers.training.optimizers import Schedule, adamw, fast_bfloat16, linear_warmup_decay, muon
from tx_helpers.zoo.parts.inputs import TokenShift

TRANSLATOR_STEPS, TRANSLATOR_BATCH, TRANSLATOR_LR, TRANSLATOR_WARMUP = 500, 64, 5e-3, 50
WRITER_STEPS, WRITER_BATCH, WRITER_CONTEXT = 116, 16, 64
WRITER_RATES = {"lr": 0.03, "momentum": 0.8, "adamw_lr": 2e-2, "output_lr": 6e-3}


@dataclass(frozen=True)
class Translator:
    """A trained encoder–decoder with its tokenizers and the run that trained it."""

    model: EncoderDecoder | nn.Module  # any model(source, target) -> logits
    data: PairData
    run: Run | None = None

    def __post_init__(self) -> None:
        if not callable(self.model):
            raise ValueError(f"Translator: model is {described(self.model)}, expected model(source, target) -> logits")
        check_types("Translator", PairData, data=self.data)

    def translate(self, text: str, **options: Any) -> str:
        """The translation of one text, greedily unless `generation.generate`'s options say otherwise."""
        check_types("translate", str, text=text)
        return self.translate_all([text], **options)[0]

    def translate_all(self, texts: Sequence[str], *, max_new_tokens: int = 32, **options: Any) -> list[str]:
        """The translations of several texts, in one batch."""
        check_types("translate", Sequence, texts=texts)
        source = pad_right([self.data.source_tokenizer.encode(text) for text in texts], PAD)
        ids = generate(self.model, BOS, source=source, max_new_tokens=max_new_tokens, end_id=EOS, pad_id=PAD, **options)
        return [self.data.target_tokenizer.decode(row) for row in ids]

    def exact_match(self, pairs: Iterable[tuple], **options: Any) -> float:
        """The share of pairs, (…, source, target), whose translation is the target, word for word."""
        sources, targets = zip(*text_pairs("exact_match", pairs), strict=True)
        written = self.translate_all(sources, **options)
        matches = [text == target for text, target in zip(written, targets, strict=True)]
        return sum(matches) / len(matches)


def translator_config(data: PairData, **changes: Any) -> TransformerConfig:
    """The course's translator: width 64, 4 heads, 2 + 2 pre-norm blocks, sinusoidal positions; or with changes."""
    check_types("translator_config", PairData, data=data)
    config = TransformerConfig(
        vocab_size=len(data.target_tokenizer), source_vocab_size=len(data.source_tokenizer), pad_id=PAD
    )
    return replace(config, **changes)


def train_translator(
    pairs: Iterable[tuple] | None = None,
    *,
    steps: int = TRANSLATOR_STEPS,
    seed: int = 0,
    changes: dict | None = None,
    new_model: Callable[[PairData], nn.Module] | None = None,
    prepare: Callable[[nn.Module], object] | None = None,
    loss: Loss = translation_loss,
    schedule: Schedule | None = None,
    evaluate: Callable[[Translator], dict[str, float]] | None = None,
    **options: Any,
) -> Translator:
    """Train on pairs (…, source, target) of texts, by default the course's number words.

    changes    to the configuration: dict(wiring="post_norm", dropout=0.1)
    new_model  makes another model in place of the course's: lambda data: Transformer(len(data.source_tokenizer), …),
               with model(source, target) -> logits (B, T, V)
    prepare    is called with the untrained model: the place to break or replace a part of it
    evaluate   is called with the translator every `every` steps and at the end; its results go to `run.evaluations`
    options    of `training.fit`: checkpoint, resume, every …
    First values, batches and dropout depend on `seed` alone; the global random state is as before.
    """
    check_numbers("train_translator", least=1, whole=True, steps=steps)
    check_numbers("train_translator", whole=True, seed=seed)
    functions = dict(new_model=new_model, prepare=prepare, evaluate=evaluate, schedule=schedule)
    check_types("train_translator", (Function, type(None)), **functions)
    if changes:
        check_types("train_translator", Mapping, changes=changes)
        if new_model is not None:
            raise ValueError(
                "train_translator: changes are to the course's model, but new_model makes another one: "
                "give only one of the two"
            )
    data = word_pairs(number_pairs().train if pairs is None else pairs)
    with RandomStream(seed).on(torch.device("cpu")):
        model = new_model(data) if new_model else EncoderDecoder(translator_config(data, **(changes or {})))
    if prepare is not None:
        prepare(model)
    run = fit(
        model,
        data.batches(TRANSLATOR_BATCH, seed=seed),
        steps=steps,
        loss=loss,
        optimizer=adamw(model, TRANSLATOR_LR, betas=(0.9, 0.98), weight_decay=0.01),
        schedule=schedule or linear_warmup_decay(steps, warmup=min(TRANSLATOR_WARMUP, steps // 2)),
        seed=seed,
        evaluate=None if evaluate is None else lambda model: evaluate(Translator(model, data)),
        **options,
    )
    return Translator(model.eval(), data, run)


def number_translator(*, progress: bool = True) -> Translator:
    """The course's translator: from the user's cache, or trained now (about ten seconds) and saved there.

    The file's name is made of recipe, data and package version. An interrupted training is resumed, and a file that
    cannot be read is replaced. Where the cache cannot be written, one line says why.
    """
    pairs = number_pairs().train
    recipe = (translator_config(word_pairs(pairs)), TRANSLATOR_STEPS, TRANSLATOR_BATCH, TRANSLATOR_LR, pairs)
    train = partial(train_translator, pairs, steps=TRANSLATOR_STEPS, progress=progress)
    return _cached("translator", recipe, train)


def _cached(name: str, recipe: object, train: Callable[..., Translator]) -> Translator:
    """What `train` returns, resumed from the cache and saved there. No error of the cache may stop a notebook."""
    fingerprint = hashlib.sha256(repr(recipe).encode()).hexdigest()[:16]
    file = cache_folder() / f"{name}-{__version__}-{fingerprint}.pt"
    try:
        saved = load_checkpoint(file, "run")
        trained = train(resume=saved)
    except Exception:  # no file, or one that is damaged or unreadable: an error of the training itself is raised below
        saved, trained = {"step": 0}, train()
    if trained.run.step > saved["step"]:
        try:
            trained.run.save(file)
        except Exception as error:
            reason = f"{type(error).__name__}: {error}"
            print(f"The {name} could not be saved in the cache and is trained again next time ({reason})")
    return trained


@dataclass(frozen=True)
class Writer:
    """A trained decoder-only model over characters, with its tokenizer and the run that trained it."""

    model: DecoderOnly | nn.Module  # any model(ids) -> logits
    tokenizer: CharTokenizer
    run: Run | None = None

    @property
    def context(self) -> int:
        """How many characters the model sees at once: as many as its config says, else as it was trained on."""
        config = getattr(self.model, "config", None)
        return getattr(config, "context_length", None) or WRITER_CONTEXT

    def write(self, prompt: str = "\n", characters: int = 200, **options: Any) -> str:
        """The text after the prompt: drawn at temperature 1 unless `generation.stream`'s options say otherwise.

        Once the context is full, the model continues from its second half alone. The text is shorter than `characters`
        where the model writes special tokens, as an untrained one may: they are left out.
        """
        check_types("write", str, prompt=prompt)
        check_numbers("write", least=0, whole=True, characters=characters)
        context, text, missing = self.context, prompt, characters
        options = {"temperature": 1.0} | options
        while missing > 0:
            remembered = self.tokenizer.encode(text)[-context // 2 :]
            ids = generate(self.model, remembered, max_new_tokens=min(missing, context - len(remembered)), **options)
            text += self.tokenizer.decode(ids[0])
            missing -= ids.shape[1]
        return text[len(prompt) :]

    def loss(self, text: str) -> float:
        """Mean cross-entropy over the full text, in nats a character, in windows of the context's length."""
        check_types("loss", str, text=text)
        ids = torch.tensor(self.tokenizer.encode(text))
        return text_loss(self.model, ids, self.context)


def writer_config(vocab_size: int, **changes: Any) -> TransformerConfig:
    """0.8 million parameters, with several improvements found since 2017 (see `config` for the sources)."""
    config = TransformerConfig(
        vocab_size,
        d_model=128,
        n_layers=4,
        context_length=WRITER_CONTEXT,
        attention=AttentionConfig(4, bias=False, qk_norm=True),
        feed_forward=FeedForwardConfig(activation="relu2", bias=False),
        positions=PositionConfig("rotary", base=1000.0),
        embedding=EmbeddingConfig(scale=False, tied=False, input=TokenShift(2)),
        init=InitConfig("normal", std=0.01, residual="zero"),
    )
    return replace(config, **changes)


def train_writer(
    text: str,
    *,
    tokenizer: CharTokenizer | None = None,
    steps: int = WRITER_STEPS,
    seed: int = 0,
    new_model: Callable[[CharTokenizer], nn.Module] | None = None,
    evaluate: Callable[[Writer], dict[str, float]] | None = None,
    **options: Any,
) -> Writer:
    """Train a writer on a text, with Muon, in bfloat16 where the machine is fast at it; options of `training.fit`.

    new_model makes another model in place of the course's: lambda tokenizer: GPT(len(tokenizer)), with
    model(ids) -> logits (B, T, V) and its blocks in an `nn.ModuleList`.
    """
    check_types("train_writer", str, text=text)
    check_types("train_writer", (Function, type(None)), new_model=new_model, evaluate=evaluate)
    check_types("train_writer", (Tokenizer, type(None)), tokenizer=tokenizer)
    check_numbers("train_writer", least=1, whole=True, steps=steps)
    check_numbers("train_writer", whole=True, seed=seed)
    tokenizer = tokenizer or CharTokenizer.train(text)
    with RandomStream(seed).on(torch.device("cpu")):
        model = new_model(tokenizer) if new_model else DecoderOnly(writer_config(len(tokenizer)))
    run = fit(
        model,
        TextBatches(torch.tensor(tokenizer.encode(text)), WRITER_CONTEXT, WRITER_BATCH, seed=seed),
        steps=steps,
        loss=language_model_loss,
        optimizer=muon(model, **WRITER_RATES),
        schedule=linear_warmup_decay(steps, warmup=min(max(1, steps // 20), steps - 1)),
        autocast=torch.bfloat16 if fast_bfloat16(torch.device("cpu")) else None,
        seed=seed,
        evaluate=None if evaluate is None else lambda model: evaluate(Writer(model, tokenizer)),
        **options,
    )
    return Writer(model.eval(), tokenizer, run)
