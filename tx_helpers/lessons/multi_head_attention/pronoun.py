"""What does "it" mean? A toy whose last head has one clear job in language, and lines that show where "it" looks.

    pronoun_explorer()

"The cat sat on the mat because it was tired": the cat. "… because it was soft": the mat. The toy is trained to say
which noun is meant. Its first block is an attention layer of two heads. In its second block one head asks from "it"
and can only copy a word, so its weights (S,) are the answer: the chance of each word to be what is meant.

    x = words + positions,   h = x + MultiHead(x),   weights = softmax((h W_Q)_it (x W_K)ᵀ / √D)

An answer that is a weight on the input's words is a pointer (Vinyals, Fortunato and Jaitly 2015, *Pointer networks*).
"""

import random
from itertools import product
from typing import NamedTuple

import ipywidgets as widgets
import torch
from torch import Tensor, nn

from tx_helpers.lessons.multi_head_attention.head_removal import Head, heads_removed
from tx_helpers.nn.attention import MultiHeadAttention
from tx_helpers.nn.capture import capture
from tx_helpers.show.controls import choice
from tx_helpers.show.explore import Explore
from tx_helpers.show.plots import Svg
from tx_helpers.show.shapes import EDGE, INK, MUTED, ORANGE, QUERY, WEIGHT, box, card, curve, line, words
from tx_helpers.training.contexts import cpu_threads

ANIMALS, THINGS = ("cat", "dog", "bird", "horse", "mouse", "fox"), ("mat", "sofa", "rug", "chair", "bed", "box")
LIVING, LIFELESS = ("tired", "hungry", "sleepy", "angry"), ("soft", "dirty", "new", "broken")
LEXICON = ("the", "sat", "on", "lay", "under", "because", "it", "was", *ANIMALS, *THINGS, *LIVING, *LIFELESS)
IT, LENGTH = 7, 10  # the place of "it" in every sentence, and the number of words
CUTS = {"nothing": (), "head 1 of block 1": (0,), "head 2 of block 1": (1,), "both heads of block 1": (0, 1)}
NAMES = ("block 1, head 1", "block 1, head 2", "block 2, pointing")
STRIP, LEFT, STEP = 118, 150, 66  # pixels: the height of a head's strip, where its words begin, and from word to word


# --- compute ----------------------------------------------------------------------------------------------------------
def say(animal: str, thing: str, adjective: str, animal_first: bool = True) -> list[str]:
    """The words of a sentence in which either noun may come first."""
    if animal_first:
        return f"the {animal} sat on the {thing} because it was {adjective}".split()
    return f"the {thing} lay under the {animal} because it was {adjective}".split()


def word_ids(sentences: list[list[str]]) -> Tensor:
    """(B, S)"""
    return torch.tensor([[LEXICON.index(word) for word in sentence] for sentence in sentences])


def random_sayings(seed: int, rows: int) -> tuple[list[list[str]], list[list[str]]]:
    """Random sentences, and the noun that is meant in each, as a list of one word."""
    pick = random.Random(seed)
    drawn = [(pick.choice(ANIMALS), pick.choice(THINGS), pick.choice(LIVING + LIFELESS)) for _ in range(rows)]
    sentences = [say(*words, animal_first=pick.random() < 0.5) for words in drawn]
    return sentences, [[animal if adjective in LIVING else thing] for animal, thing, adjective in drawn]


class Twins(NamedTuple):
    """Pairs of sentences that differ in the adjective alone: the ids of both, (B, S), and where the nouns are, (B,)."""

    alive: Tensor
    lifeless: Tensor
    animal_at: Tensor
    thing_at: Tensor


def twins(held_out: bool) -> Twins:
    """All pairs of sentences; a third of the pairs of nouns is held out, and never met in training."""
    nouns = [
        (animal, thing)
        for (i, animal), (j, thing) in product(enumerate(ANIMALS), enumerate(THINGS))
        if ((i + j) % 3 == 0) == held_out
    ]
    cast = [(*pair, n, first) for pair, n, first in product(nouns, range(len(LIVING)), (True, False))]
    alive = word_ids([say(animal, thing, LIVING[n], first) for animal, thing, n, first in cast])
    lifeless = word_ids([say(animal, thing, LIFELESS[n], first) for animal, thing, n, first in cast])
    animal_at = torch.tensor([1 if first else 5 for *_, first in cast])
    return Twins(alive, lifeless, animal_at, 6 - animal_at)


class PronounToy(nn.Module):
    """ids (B, S) -> (B, S): how likely each word is what "it" means."""

    def __init__(self, d_model: int = 32):
        super().__init__()
        self.words, self.positions = nn.Embedding(len(LEXICON), d_model), nn.Embedding(LENGTH, d_model)
        for table in (self.words, self.positions):
            nn.init.normal_(table.weight, std=0.5)
        self.first = MultiHeadAttention(d_model, 2)
        self.query, self.key = nn.Linear(d_model, d_model), nn.Linear(d_model, d_model)

    def forward(self, ids: Tensor) -> Tensor:
        x = self.words(ids) + self.positions.weight  # (B, S, D)
        h = x + self.first(x)
        q, k = self.query(h[:, IT]), self.key(x)
        return ((k @ q[..., None])[..., 0] / q.shape[-1] ** 0.5).softmax(-1)  # (B, S)


def train_pronoun_toy(seed: int = 8, steps: int = 150) -> PronounToy:
    """Adam on 64 sentences a step; the loss is −log of the weight on the noun that is meant."""
    known = twins(held_out=False)
    ids = torch.cat([known.alive, known.lifeless])
    meant = torch.cat([known.animal_at, known.thing_at])
    with torch.random.fork_rng(), cpu_threads(1):
        torch.manual_seed(seed)
        toy = PronounToy()
        optimizer = torch.optim.Adam(toy.parameters(), lr=0.01)
        for _ in range(steps):
            rows = torch.randint(len(ids), (64,))
            loss = -toy(ids[rows]).gather(1, meant[rows, None]).log().mean()
            optimizer.zero_grad()
            loss.backward()
            optimizer.step()
    return toy.eval()


def where_it_looks(toy: PronounToy, ids: Tensor, cut: tuple[int, ...] = ()) -> Tensor:
    """(B, 3, S): the weights of "it" in the two heads of block 1, and in the pointing head; heads in `cut` removed."""
    heads = [Head("first", number) for number in cut]
    with heads_removed(toy, heads), capture(toy, "first.weights") as seen, torch.no_grad():
        pointing = toy(ids)
    return torch.cat([seen["first.weights"][:, :, IT], pointing[:, None]], dim=1)


def right(toy: PronounToy, pairs: Twins, cut: tuple[int, ...] = ()) -> float:
    """The share of sentences whose meant noun gets the largest weight of the pointing head."""
    marks = [
        where_it_looks(toy, ids, cut)[:, 2].argmax(-1) == at
        for ids, at in ((pairs.alive, pairs.animal_at), (pairs.lifeless, pairs.thing_at))
    ]
    return torch.cat(marks).double().mean().item()


# --- draw -------------------------------------------------------------------------------------------------------------
def draw(sentence: list[str], looks: list[list[float]], cut: tuple[int, ...] = ()) -> Svg:
    """A strip for each head: the sentence, and lines from "it" to the words, the thicker the more weight.

    sentence: its 10 words; looks (3, 10), as `where_it_looks` gives it for one sentence; heads in cut have no lines.
    """
    parts = []
    for number, (name, row) in enumerate(zip(NAMES, looks, strict=True)):
        top = 10 + number * STRIP
        parts.append(words(18, top + 22, name, font_weight="bold"))
        if number in cut:
            parts.append(words(18, top + 42, "✗ removed", fill=ORANGE.shade))
        spots = [LEFT + STEP * (place + 0.5) for place in range(LENGTH)]
        for x, weight in zip(spots, row, strict=True):
            if weight >= 0.02 and number not in cut:
                parts.append(curve(spots[IT], top + 29, x, top + 74, stroke=WEIGHT.shade, weight=weight))
        parts.append(box(spots[IT] - 20, top + 4, 40, 25, "it", QUERY))
        for place, (word, weight) in enumerate(zip(sentence, row, strict=True)):
            x = spots[place]
            colour = INK if word in ANIMALS + THINGS or place == LENGTH - 1 else MUTED
            bold = {"font_weight": "bold"} if weight >= 0.5 else {}
            parts.append(words(x, top + 88, word, anchor="middle", fill=colour, **bold))
            parts.append(words(x, top + 104, f"{weight:.2f}", size=12, anchor="middle", fill=MUTED, **bold))
        if number:
            parts.append(line(18, top - 2, LEFT + LENGTH * STEP, top - 2, EDGE))
    return card(LEFT + LENGTH * STEP + 12, 3 * STRIP + 8, parts, describe(sentence, looks, cut))


# --- describe ---------------------------------------------------------------------------------------------------------
def describe(sentence: list[str], looks: list[list[float]], cut: tuple[int, ...] = ()) -> str:
    """Which word "it" points at, and where it looks most in each head of block 1."""
    most = [max(zip(row, sentence, strict=True)) for row in looks]
    meant = next(word for word in sentence if word in (ANIMALS if sentence[-1] in LIVING else THINGS))
    weight, said = most[2]
    result = "right" if said == meant else f"wrong: '{meant}' is meant"
    gone = f", without {' and '.join(f'head {number + 1}' for number in cut)} of block 1" if cut else ""
    first = "; ".join(f"head {number + 1} at '{word}' ({share:.2f})" for number, (share, word) in enumerate(most[:2]))
    return (
        f"'{' '.join(sentence)}'{gone}: it points at '{said}' ({weight:.2f}), {result}. "
        f"In block 1 it looks most: {first}."
    )


# --- bind -------------------------------------------------------------------------------------------------------------
def pronoun_explorer(toy: PronounToy | None = None) -> Explore:
    """The nouns, the adjective, and heads to remove; a toy is trained if none is given."""
    toy = toy or train_pronoun_toy()

    def picture(nouns: tuple, adjective: str, cut: tuple[int, ...]) -> Svg:
        sentence = say(*nouns[:2], adjective, nouns[2])
        return draw(sentence, where_it_looks(toy, word_ids([sentence]), cut)[0].tolist(), cut)

    scenes = [("cat", "mat", True), ("dog", "rug", False), ("horse", "box", True), ("bird", "chair", False)]
    sentences = [(" ".join(say(*scene[:2], "…", scene[2])[:6]), scene) for scene in scenes]
    return Explore(
        picture,
        name="pronoun",
        nouns=choice("Sentence", sentences, width=360),
        adjective=widgets.ToggleButtons(options=["tired", "soft", "hungry", "broken"], description="because it was"),
        cut=choice("Remove", CUTS, width=300),
    )
