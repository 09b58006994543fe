"""What a wider search finds: how likely its texts are, how long, and how many are right.

rows = search(translator, texts, 4)                     # for each text, 4 hypotheses, the likeliest first
ln_p, tokens, right = measured(translator, rows, targets)
recorded()["apprentice"][0]["right"]                    # with 1 and with 8 beams, seed 0, from beams.json
"""

from collections.abc import Mapping, Sequence
from copy import deepcopy
from dataclasses import replace
from pathlib import Path

from tx_helpers.generation.search import Hypothesis, beam_search
from tx_helpers.lessons.decoding.named_ends import named_chart
from tx_helpers.show.charts import side_by_side
from tx_helpers.show.plots import Svg
from tx_helpers.text.data import BOS, EOS, PAD, pad_right
from tx_helpers.text.number_words import number_pairs
from tx_helpers.training.experiment import Experiment
from tx_helpers.zoo.recipes import Translator, train_translator

LONGEST = 16  # tokens
STAGES = {"apprentice": 40, "journeyman": 80}  # the step after which each was copied


def search(translator: Translator, texts: Sequence[str], beams: int) -> list[list[Hypothesis]]:
    """A beam search without a length penalty, for all texts at once."""
    source = pad_right([translator.data.source_tokenizer.encode(text) for text in texts], PAD)
    options = {"max_new_tokens": LONGEST, "end_id": EOS, "pad_id": PAD, "length_penalty": 0.0}
    return beam_search(translator.model, BOS, source=source, beams=beams, **options)


def score(one: Hypothesis, alpha: float) -> float:
    """ln P / ((5 + length) / 6)^α (Wu et al. 2016, eq. 14)."""
    return one.log_probability / ((5 + len(one.ids)) / 6) ** alpha


def measured(
    translator: Translator, rows: Sequence[Sequence[Hypothesis]], targets: Sequence[str], alpha: float = 0.0
) -> tuple[float, float, int]:
    """Of the texts with the best score: the mean ln P, the mean number of tokens, and how many are right."""
    best = [max(row, key=lambda one: score(one, alpha)) for row in rows]
    decode = translator.data.target_tokenizer.decode
    right = sum(decode(one.ids) == target for one, target in zip(best, targets, strict=True))
    return (
        sum(one.log_probability for one in best) / len(best),
        sum(len(one.ids) for one in best) / len(best),
        right,
    )


def gained_and_lost(
    translator: Translator,
    before: Sequence[Sequence[Hypothesis]],
    after: Sequence[Sequence[Hypothesis]],
    targets: Sequence[str],
) -> tuple[int, int]:
    """How many numbers the second search alone gets right, and how many the first alone."""
    decode = translator.data.target_tokenizer.decode
    right = [[decode(row[0].ids) == text for row, text in zip(rows, targets, strict=True)] for rows in (before, after)]
    return sum(b > a for a, b in zip(*right, strict=True)), sum(a > b for a, b in zip(*right, strict=True))


def widths_chart(found: Mapping[str, Mapping[int, tuple[float, float, int]]], of: int) -> Svg:
    """Model -> beams -> what `measured` gives, as two charts over the beams: ln P, and how many more are right."""
    widths = list(next(iter(found.values())))
    style = {"size": (404, 280), "xlabel": "beams", "ylabel": "", "logx": True, "dots": True, "room": 110}
    likely = {name: (widths, [one[0] for one in row.values()]) for name, row in found.items()}
    more = {name: (widths, [one[2] - row[widths[0]][2] for one in row.values()]) for name, row in found.items()}
    lowest = min(min(values) for _, values in likely.values())
    gains = [gain for _, values in more.values() for gain in values]
    charts = [
        named_chart(likely, title="mean ln P of the texts found", ylim=(lowest - 0.2, 0.0), **style),
        named_chart(
            more,
            title=f"right of {of}: more than with {widths[0]} beam",
            ylim=(min(gains) - 1, max(gains) + 1),
            **style,
        ),
    ]
    said = []
    for name, row in found.items():
        (first, one), (last, other) = min(row.items()), max(row.items())
        said.append(
            f"{name}: ln P {one[0]:.2f} with {first} and {other[0]:.2f} with {last}, right {one[2]} and {other[2]}"
        )
    return side_by_side(charts, alt=f"Two charts over the number of beams. {'; '.join(said)}.")


# --- recorded ---------------------------------------------------------------------------------------------------------
def search_at_all_seeds() -> dict[str, list[dict]]:
    """Model -> for each of four seeds what 1 and 8 beams find for 300 unseen numbers."""
    found: dict[str, list[dict]] = {name: [] for name in STAGES}
    pairs = number_pairs().held_out[:300]
    texts, targets = [pair.source for pair in pairs], [pair.target for pair in pairs]
    for seed in range(4):
        kept: list[Translator] = []

        def keep(translator: Translator, kept: list[Translator] = kept) -> dict:
            kept.append(replace(translator, model=deepcopy(translator.model).eval()))
            return {}

        train_translator(
            steps=80, evaluate=keep, every=40, seed=seed, prepare=lambda model: model.double(), progress=False
        )
        for name, one in zip(STAGES, kept, strict=True):
            rows = [search(one, texts, beams) for beams in (1, 8)]
            ln_p, tokens, right = zip(*(measured(one, row, targets) for row in rows), strict=True)
            gained, lost = gained_and_lost(one, *rows, targets)
            row = {"ln_p": [round(x, 3) for x in ln_p], "tokens": [round(x, 3) for x in tokens], "right": right}
            found[name].append({"seed": seed, **row, "gained": gained, "lost": lost})
    return found


RECORDED = Experiment(Path(__file__).with_name("beams.json"), search_at_all_seeds, "2 minutes")
recorded = RECORDED.read
