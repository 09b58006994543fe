"""Many answers to one question, and three ways to choose one: by votes, by the model's own probability, by a checker.

found = samples(translator, texts, 16, seed=0)             # 16 drawn texts of each, with their ln P
counts = right_picks(found, targets, (1, 4, 16))           # number of samples -> way -> how many are right
"""

from collections import Counter
from collections.abc import Mapping, Sequence

import torch

from tx_helpers.generation.search import generate
from tx_helpers.lessons.decoding.named_ends import named_chart
from tx_helpers.nn.arguments import check_numbers
from tx_helpers.show.charts import side_by_side
from tx_helpers.show.plots import Svg
from tx_helpers.text.data import BOS, EOS, PAD, pad_right
from tx_helpers.zoo.recipes import Translator

LONGEST = 16
Drawn = list[list[tuple[str, float]]]  # for each source: texts and their ln P


def samples(translator: Translator, texts: Sequence[str], n: int, *, seed: int) -> Drawn:
    """For each text, n translations drawn at temperature 1, each with its ln P in the model."""
    check_numbers("samples", least=1, whole=True, n=n, seed=seed + 1)
    tokenizer = translator.data.target_tokenizer
    source = _sources(translator, texts).repeat_interleave(n, dim=0)  # (B·n, S)
    draw = torch.Generator().manual_seed(seed)
    options = {"max_new_tokens": LONGEST, "end_id": EOS, "pad_id": PAD}
    ids = generate(translator.model, BOS, source=source, temperature=1.0, generator=draw, **options)  # (B·n, T)
    fed = torch.cat([torch.full_like(ids[:, :1], BOS), ids[:, :-1]], dim=1)
    with torch.no_grad():
        log_p = translator.model(source, fed).log_softmax(-1).gather(-1, ids[..., None]).squeeze(-1)
    totals = log_p.masked_fill(ids == PAD, 0.0).sum(-1).tolist()
    rows = [(tokenizer.decode(row), total) for row, total in zip(ids.tolist(), totals, strict=True)]
    return [rows[start : start + n] for start in range(0, len(rows), n)]


def majority(row: Sequence[tuple[str, float]]) -> str:
    """The text that was drawn most often; of several, the one that came first."""
    return Counter(text for text, _ in row).most_common(1)[0][0]


def likeliest(row: Sequence[tuple[str, float]]) -> str:
    """The text with the highest ln P."""
    return max(row, key=lambda one: one[1])[0]


def right_picks(found: Drawn, targets: Sequence[str], sizes: Sequence[int]) -> dict[int, dict[str, int]]:
    """Number of samples -> way to choose among them -> how many sources get the right text."""
    pairs = list(zip(found, targets, strict=True))
    return {
        n: {
            "majority vote": sum(majority(row[:n]) == target for row, target in pairs),
            "likeliest of n": sum(likeliest(row[:n]) == target for row, target in pairs),
            "any of n": sum(target in [text for text, _ in row[:n]] for row, target in pairs),
        }
        for n in sizes
    }


def picks_chart(counts: Mapping[int, Mapping[str, int]], of: int) -> Svg:
    """Number of texts written -> way -> how many of `of` are right, as lines."""
    sizes = list(counts)
    lines = {way: (sizes, [counts[n][way] for n in sizes]) for way in counts[sizes[0]]}
    said = "; ".join(f"{way} {', '.join(map(str, values))}" for way, (_, values) in lines.items())
    panel = named_chart(
        lines,
        size=(720, 300),
        title=f"Right translations of {of}",
        xlabel="texts written for each number, n",
        ylabel="right",
        ylim=(0.8 * min(min(row.values()) for row in counts.values()), of),
        logx=True,
        dots=True,
    )
    return side_by_side([panel], alt=f"Right of {of} with {', '.join(map(str, sizes))} texts for each number: {said}.")


def _sources(translator: Translator, texts: Sequence[str]) -> torch.Tensor:
    return pad_right([translator.data.source_tokenizer.encode(text) for text in texts], PAD)
