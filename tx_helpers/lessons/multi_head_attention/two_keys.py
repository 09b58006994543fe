"""A task that needs two heads: fetch the values of two keys with one attention layer, trained while you watch.

    two_keys_explorer()

A memory holds N = 8 pairs of a key and a value. The query names two keys; the answer is the first one's value *and* the
second one's. All of them are one-hot: memory (B, S, D), query (B, 1, D), with S = N and D = 2N. The model is one
attention layer, whose D outputs are read as two times N logits:

    logits = MultiHead(query, memory),  with H heads of width K = D/H: as many parameters for one head as for two
"""

from collections.abc import Callable
from dataclasses import dataclass, field
from functools import partial
from typing import NamedTuple

import torch
from torch import Tensor, nn
from torch.nn.functional import cross_entropy, one_hot

from tx_helpers.nn.attention import MultiHeadAttention
from tx_helpers.nn.capture import capture
from tx_helpers.show.charts import Panel, heading, line_chart, side_by_side
from tx_helpers.show.explore import Explore
from tx_helpers.show.plots import Svg
from tx_helpers.show.shapes import INK, KEY, MUTED, QUERY, VALUE, WEIGHT, curve, shape, words
from tx_helpers.training.contexts import cpu_threads
from tx_helpers.widgets.live import Live

N, WIDTH = 8, 16  # pairs in the memory, and D
STEPS, EVERY, REST = 200, 4, 0.01  # REST: seconds between two steps, so that one can watch
SIZE = (372, 300)


# --- compute ----------------------------------------------------------------------------------------------------------
class Questions(NamedTuple):
    """query (B, 1, D), memory (B, S, D); asked and answers (B, 2): the keys that are named, and their values."""

    query: Tensor
    memory: Tensor
    asked: Tensor
    answers: Tensor


def two_keys(seed: int, rows: int = 256) -> Questions:
    """Random memories, and for each of them two different keys."""
    generator = torch.Generator().manual_seed(seed)
    values = torch.randint(N, (rows, N), generator=generator)
    asked = torch.rand(rows, N, generator=generator).argsort(-1)[:, :2]
    keys = torch.arange(N).expand(rows, N)
    memory = torch.cat([one_hot(keys, N), one_hot(values, N)], dim=-1).float()
    query = one_hot(asked, N).flatten(1).float()[:, None]
    return Questions(query, memory, asked, values.gather(1, asked))


class Seen(NamedTuple):
    """What a layer does now: its marks on 500 new questions, and one question in full.

    both, either   the share of questions with both values right, and with the better of the two right, at each look
    looked         (H, 2): each head's mean weight on the first and on the second key that is asked for
    weights        (H, N): where each head looks in the one question
    """

    steps: list[int]
    both: list[float]
    better: float
    looked: list[list[float]]
    weights: list[list[float]]
    asked: list[int]
    values: list[int]
    said: list[int]


@dataclass
class TwoKeysRun:
    """One attention layer of H heads that learns to answer, step by step."""

    n_heads: int
    steps: int = STEPS
    hidden: int = 0  # width of a hidden layer behind the attention; 0: there is none
    seed: int = 2
    step: int = 0
    marks: list[tuple[int, float]] = field(default_factory=list)

    def __post_init__(self) -> None:
        with torch.random.fork_rng():
            torch.manual_seed(self.seed)
            self.layer, self.behind = MultiHeadAttention(WIDTH, self.n_heads), nn.Identity()
            if self.hidden:
                self.behind = nn.Sequential(
                    nn.Linear(WIDTH, self.hidden), nn.ReLU(), nn.Linear(self.hidden, WIDTH)
                )  # fmt: skip
        self.optimizer = torch.optim.Adam([*self.layer.parameters(), *self.behind.parameters()], lr=0.03)
        self.exam = two_keys(seed=10**6, rows=500)

    @property
    def done(self) -> bool:
        """Whether all steps are taken."""
        return self.step >= self.steps

    def logits(self, questions: Questions) -> Tensor:
        """(B, 2, N): for each of the two keys, a logit for each possible value."""
        return self.behind(self.layer(questions.query, questions.memory)).view(-1, 2, N)

    def advance(self) -> None:
        """One step of Adam on 256 new questions."""
        with cpu_threads(1):
            questions = two_keys(1000 * self.seed + self.step)
            loss = cross_entropy(self.logits(questions).flatten(0, 1), questions.answers.flatten())
            self.optimizer.zero_grad()
            loss.backward()
            self.optimizer.step()
        self.step += 1

    def train(self) -> "TwoKeysRun":
        """All steps at once."""
        while not self.done:
            self.advance()
        return self

    def look(self) -> Seen:
        """Examine the layer as it is now."""
        with cpu_threads(1), capture(self.layer, "weights") as captured, torch.no_grad():
            said = self.logits(self.exam).argmax(-1)  # (B, 2)
        right = said == self.exam.answers
        weights = captured["weights"][:, :, 0]  # (B, H, S)
        looked = weights.gather(-1, self.exam.asked[:, None].expand(-1, self.n_heads, -1)).mean(0)
        self.marks.append((self.step, right.all(-1).double().mean().item()))
        steps, both = zip(*self.marks, strict=True)
        values = self.exam.memory[0, :, N:].argmax(-1)
        return Seen(
            steps=list(steps),
            both=list(both),
            better=right.double().mean(0).max().item(),
            looked=looked.tolist(),
            weights=weights[0].tolist(),
            asked=self.exam.asked[0].tolist(),
            values=values.tolist(),
            said=said[0].tolist(),
        )


def blank(run: TwoKeysRun) -> Seen:
    """The one question before the training: nobody looks anywhere, and nothing is said."""
    values = run.exam.memory[0, :, N:].argmax(-1).tolist()
    nowhere = [[0.0] * N] * run.n_heads
    return Seen([], [], 0.0, [[0.0, 0.0]] * run.n_heads, nowhere, run.exam.asked[0].tolist(), values, [])


RUNS: dict[str, Callable[[], TwoKeysRun]] = {
    "one head": partial(TwoKeysRun, 1),
    "two heads": partial(TwoKeysRun, 2),
    "one head, then a hidden layer": partial(TwoKeysRun, 1, hidden=64),
}


# --- draw -------------------------------------------------------------------------------------------------------------
def draw(name: str, seen: Seen | None, alt: str, others: dict[str, Seen]) -> Svg:
    """The share of right answers so far, beside it where each head looks in one question."""
    lines = {name: ([], []) if seen is None else (seen.steps, seen.both)}
    lines |= {other: (moment.steps, moment.both) for other, moment in others.items()}
    chart = line_chart(
        lines,
        size=SIZE,
        title="Both values right, of 500 questions",
        xlabel="step",
        ylabel="share",
        xlim=(0, STEPS),
        ylim=(0, 1.35),  # room for the legend
        faint=tuple(others),
    )
    return side_by_side([chart, one_question(seen or blank(RUNS[name]()))], alt=alt)


def draw_question(questions: Questions) -> Svg:
    """The first of the questions: the two keys that it names, and the values that it asks for."""
    asked, right = questions.asked[0].tolist(), questions.answers[0].tolist()
    values = questions.memory[0, :, N:].argmax(-1).tolist()
    named = [[1.0 if key in asked else 0.0 for key in range(N)]]
    seen = Seen([], [], 0.0, [], named, asked, values, [])
    panel = one_question(seen, "question", f"The right answer is {pair(right)}.")
    alt = f"Eight keys, 0 to 7, with the values {values}. The question names keys {pair(asked)}: values {pair(right)}."
    return side_by_side([panel], alt=alt)


def one_question(seen: Seen, looks: str = "head {}", said: str = "Press Start.") -> Panel:
    """One question: who looks, above, and lines to the keys it looks at; `said` stands below where no answer is."""
    width, height = SIZE
    first, second = seen.asked
    parts = [heading(width / 2, f"One question: the values of keys {first} and {second}?")]
    across = [28 + place * (width - 56) / (N - 1) for place in range(N)]
    heads = [width * (h + 1) / (len(seen.weights) + 1) for h in range(len(seen.weights))]
    for h, (x, row) in enumerate(zip(heads, seen.weights, strict=True)):
        parts += [
            curve(x, 70, at, 166, stroke=WEIGHT.shade, weight=weight) for at, weight in zip(across, row, strict=True)
        ]
        parts.append(shape("circle", cx=x, cy=54, r=17, fill=QUERY.tint, stroke=QUERY.full))
        parts.append(words(x, 58, "q", fill=QUERY.shade, anchor="middle", font_style="italic"))
        parts.append(words(x + 23, 58, looks.format(h + 1), size=12))
    for key, (x, value) in enumerate(zip(across, seen.values, strict=True)):
        edge = 3 if key in seen.asked else 1
        parts.append(
            shape("rect", x=x - 14, y=168, width=28, height=26, rx=2, fill=KEY.tint, stroke=KEY.full, stroke_width=edge)
        )
        parts.append(words(x, 186, str(key), fill=KEY.shade, anchor="middle"))
        corners = f"{x},{204} {x + 17},{221} {x},{238} {x - 17},{221}"
        parts.append(shape("polygon", points=corners, fill=VALUE.tint, stroke=VALUE.full, stroke_width=edge))
        parts.append(words(x, 226, str(value), fill=VALUE.shade, anchor="middle"))
    mark = ""
    if seen.said:
        said = f"says {pair(seen.said)}, right is {pair(truth(seen))}"
        mark = "✓ both right" if seen.said == truth(seen) else "✗ not both right"
    parts.append(words(width / 2, 262, said, anchor="middle", fill=INK))
    parts.append(words(width / 2, 284, mark, anchor="middle", fill=MUTED, font_weight="bold"))
    return Panel((width, height), "".join(parts))


# --- describe ---------------------------------------------------------------------------------------------------------
def truth(seen: Seen) -> list[int]:
    """The two values of the one question."""
    return [seen.values[key] for key in seen.asked]


def pair(numbers: list[int]) -> str:
    """[2, 4] -> "2 and 4"."""
    return f"{numbers[0]} and {numbers[1]}"


def describe(seen: Seen) -> str:
    """How many questions are answered, and where each head looks."""
    looks = "; ".join(
        f"head {h + 1} looks {first:.0%} at the first key, {second:.0%} at the second"
        for h, (first, second) in enumerate(seen.looked)
    )
    return f"{seen.both[-1]:.0%} of 500 questions have both values right; {looks}."


# --- bind -------------------------------------------------------------------------------------------------------------
def two_keys_explorer() -> Explore:
    """A choice of layers, and a button that starts and stops their training."""
    return Live("two-keys", RUNS, draw, describe, steps=STEPS, every=EVERY, label="Layer", rest=REST).explore
