"""He or she? An explorer: small models read your sentence word by word, and say whom it is about.

    models = {name: learn_pronoun(name).model for name in PRONOUN_RUNS}
    he_or_she_explorer(models)

The task: a woman's or a man's name, many words that do not matter, and then the gap: he or she? The models are
`Recaller`s with one state, trained on long sentences alone or on short ones, too, and one whose last state looks back
at all states (Bahdanau et al. 2015). A word that is no name gets one of `BUCKETS` ids by its letters, so any sentence
can be read.
"""

from collections.abc import Mapping, Sequence
from functools import lru_cache
from typing import NamedTuple
from zlib import crc32

import torch
from torch import Tensor

from tx_helpers.lessons.limits_of_recurrence.distance_runs import WIDTH, Learned, train_recaller
from tx_helpers.lessons.limits_of_recurrence.recurrent import Recaller
from tx_helpers.lessons.limits_of_recurrence.sentences import explore_sentence, places, short, words_of
from tx_helpers.nn.arguments import check_numbers, check_one_of, check_types
from tx_helpers.nn.capture import capture
from tx_helpers.show.charts import ink_on, line_chart
from tx_helpers.show.explore import Explore
from tx_helpers.show.plots import Svg
from tx_helpers.show.shapes import GREY, INK, MUTED, WEIGHT, card, setting, shape, words

WOMEN, MEN = ("Anna", "Maria", "Lena", "Ruth"), ("Paul", "Tom", "Jan", "Ben")
NAMES, BUCKETS, BEFORE, NOISE = (*WOMEN, *MEN), 40, 3, 30
# name -> whether the last state looks back, and whether sentences of all lengths are trained on
PRONOUN_RUNS = {
    "GRU, long sentences": (False, False),
    "GRU, all lengths": (False, True),
    "GRU that looks back": (True, False),
}
SENTENCE = "Anna put the keys and the letter from the bank on the desk in the hall and went to bed because"
EXAMPLES = (SENTENCE, SENTENCE.replace("Anna", "Paul"), "the neighbours say that Ruth found the cat and kept it when")
SIZE, LINE = 720, 50


# --- the task ---------------------------------------------------------------------------------------------------------
def pronoun_batch(noise: int, batch: int, *, generator: torch.Generator | None = None) -> tuple[Tensor, Tensor]:
    """Ids (B, b + 1 + noise): up to `BEFORE` other words, a name, `noise` other words; answers (B,): 0 she, 1 he."""
    name = torch.randint(0, len(NAMES), (batch, 1), generator=generator)
    before = int(torch.randint(0, BEFORE + 1, (), generator=generator))
    other = torch.randint(len(NAMES), len(NAMES) + BUCKETS, (batch, before + noise), generator=generator)
    return torch.cat([other[:, :before], name, other[:, before:]], dim=1), (name[:, 0] >= len(WOMEN)).long()


def learn_pronoun(name: str, *, noise: int = NOISE, seed: int = 0) -> Learned:
    """Train one of `PRONOUN_RUNS` on the task."""
    check_one_of("learn_pronoun", PRONOUN_RUNS, name=name)
    look_back, all_lengths = PRONOUN_RUNS[name]
    with torch.random.fork_rng(devices=[]):
        torch.manual_seed(seed)
        model = Recaller("gru", WIDTH, keys=2, symbols=len(NAMES) + BUCKETS - 2, look_back=look_back)
    return train_recaller(model, pronoun_batch, noise, seed=seed, all_lengths=all_lengths)


def ids_of(sentence: Sequence[str]) -> list[int]:
    """The id of each word: a name's own, another word's by its letters."""
    bare = [word.strip(".,;:!?'\"()") for word in sentence]
    return [
        NAMES.index(word) if word in NAMES else len(NAMES) + crc32(word.lower().encode()) % BUCKETS for word in bare
    ]


# --- compute ----------------------------------------------------------------------------------------------------------
class Read(NamedTuple):
    """After each of T words: p(she) by model, each (T,); and the weights (T, T) of the one that looks back."""

    she: dict[str, list[float]]
    weights: Tensor


def read_on(models: Mapping[str, Recaller], sentence: Sequence[str]) -> Read:
    """Each model's answer after every word, as if the sentence ended there."""
    ids = ids_of(sentence)
    she: dict[str, list[float]] = {name: [] for name in models}
    weights = torch.zeros(len(ids), len(ids))
    for t in range(len(ids)):
        part = torch.tensor([ids[: t + 1]])
        for name, model in models.items():
            with torch.no_grad(), capture(model, "alignment.weights") as seen:
                she[name].append(model(part).softmax(dim=-1)[0, 0].item())
            if model.alignment is not None:
                weights[t, : t + 1] = seen["alignment.weights"][0, 0]
    return Read(she, weights)


# --- draw -------------------------------------------------------------------------------------------------------------
def draw_read(found: Read, sentence: Sequence[str], word: int) -> Svg:
    """The sentence, in gold where the model that looks back looks; below it p(she) after each word read so far."""
    check_numbers("draw_read", least=1, most=len(sentence), whole=True, word=word)
    where, lines = places(sentence, width=SIZE)
    parts = [words(20, 26, "Where the GRU looks back, in per cent", font_weight="bold")]
    for number, (token, (x, row, wide)) in enumerate(zip(sentence, where, strict=True)):
        share = found.weights[word - 1, number].item() if number < word else None
        drawn = _word(x, 38 + LINE * row, wide, short(token), share, chosen=number == word - 1)
        parts.append(setting("word", number + 1, drawn))
    top = 38 + LINE * lines + 6
    so_far = range(1, word + 1)
    chart = line_chart(
        {f"{name}: {_said(values[word - 1])}": (so_far, values[:word]) for name, values in found.she.items()},
        size=(SIZE - 24, 216),
        title="Probability of “she” after each word",
        xlabel="words read",
        ylabel="p(she)",
        xlim=(1, 1.52 * len(sentence)),
        ylim=(0, 1),
        xticks=list(range(1, len(sentence) + 1, 1 + len(sentence) // 12)),
        dots=word == 1,  # a line of one point would not be seen
    )
    parts.append(f'<g transform="translate(12 {top})">{chart.body}</g>')
    return card(SIZE, top + 222, parts, describe_read(found, sentence, word))


def _word(x: float, y: float, wide: float, token: str, share: float | None, chosen: bool) -> list[str]:
    """A word on its weight in gold, the weight in per cent below; a word that is still to come is pale."""
    frame = dict(x=x, y=y, width=wide, height=26, rx=5)
    if share is None:
        later = shape("rect", fill="none", stroke=GREY.tint, **frame)
        return [later, words(x + wide / 2, y + 18, token, fill=MUTED, anchor="middle")]
    edge = dict(stroke=INK, stroke_width=2.5) if chosen else dict(stroke=GREY.full)
    said = "<1" if share < 0.005 else f"{100 * share:.0f}"
    return [
        shape("rect", fill=WEIGHT.full, fill_opacity=round(share, 3), **edge, **frame),
        words(x + wide / 2, y + 18, token, fill=ink_on(share), anchor="middle"),
        words(x + wide / 2, y + 40, said, size=12.5, fill=MUTED, anchor="middle"),
    ]


def _said(share: float) -> str:
    return f"she {100 * share:.0f} %"


# --- describe ---------------------------------------------------------------------------------------------------------
def describe_read(found: Read, sentence: Sequence[str], word: int) -> str:
    """Each model's answer after the chosen word, and the word at which the one that looks back looks most."""
    answers = "; ".join(f"{name}: {_said(values[word - 1])}" for name, values in found.she.items())
    most = int(found.weights[word - 1].argmax())
    looks = f"Looking back, most weight is on '{sentence[most]}', {100 * found.weights[word - 1, most].item():.0f} %."
    return f"After word {word} of {len(sentence)}, '{sentence[word - 1]}'. {answers}. {looks}"


# --- bind -------------------------------------------------------------------------------------------------------------
def he_or_she_explorer(models: Mapping[str, Recaller]) -> Explore:
    """Trained models of `learn_pronoun`, by name, one of which looks back; a sentence to type, the word read last."""
    check_types("he_or_she_explorer", Mapping, models=models)
    check_types("he_or_she_explorer", Recaller, **{f"models[{name!r}]": models[name] for name in models})
    if sum(model.alignment is not None for model in models.values()) != 1:
        raise ValueError("he_or_she_explorer: expected one model that looks back among the models")
    known = len(NAMES) + BUCKETS
    for name, model in models.items():
        if model.tokens.num_embeddings != known:
            raise ValueError(
                f"he_or_she_explorer: models[{name!r}] knows {model.tokens.num_embeddings} ids, not {known}"
            )

    @lru_cache(maxsize=32)
    def measured(sentence: tuple[str, ...]) -> Read:
        return read_on(models, sentence)

    def draw(text: str, word: int) -> Svg:
        sentence = words_of("he_or_she_explorer", text)
        return draw_read(measured(tuple(sentence)), sentence, min(word, len(sentence)))

    return explore_sentence(draw, "he-or-she", EXAMPLES)
