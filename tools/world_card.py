"""The card of the models of the little world, made from what their files carry: weights/MODEL_CARD.md"""

import hashlib
from pathlib import Path
from typing import Any

from tx_helpers.zoo.world_models import CLASSES, world_model_facts

NAMES = {"encoder": "encoder", "decoder": "decoder", "encoder_decoder": "encoder–decoder"}
TEXT = """\
# Model card: three models of the little world

An encoder, a decoder and an encoder–decoder, pretrained on texts of the little world (`tx_helpers/text/world.py`):
generated English, texts of some 35 words and at most 56, made of 468 words and signs. They are for the course's
notebooks: small enough to be trained in minutes, and good enough to be studied. They know nothing of the real
world.

    from tx_helpers.zoo.world_models import world_model
    encoder = world_model("encoder")

`make pretrained` trains them again by the same recipe; the last digits depend on the processor. Every figure below is
also in the files themselves (`world_model_facts`).

## What is held equal, and what is not

Equal: the texts and their order, the number of steps, the seed, the learning rates, width 96, 4 heads, the
vocabulary, and the number of parameters ({least:,} to {most:,}). Not equal, since it is what an objective is: how
many tokens of a text are scored. Causal prediction scores every token, masking and span corruption 15 in 100. Blocks:
four in the encoder and in the decoder, two and two in the encoder–decoder, whose feed-forward layers are narrower
(288 instead of 384).

## Training

The same for all three:

{shared}

Rows of one, two and three texts take turns, so that the models know how a text begins and what to do with a longer row.
No model ever saw a text of the split "test".

{recipe}

## How well they do

Losses are in nats a token. New texts are of the split "train", drawn with another seed; unseen combinations are texts
of the split "test". A floor is the loss of a model that knows the world exactly, on all the texts from which those of
the losses are drawn: no model does better on average. The losses of masking and of span corruption have no simple
floor; one hidden word in a text (gap) has. In a gap the encoder sees `<mask>`, the encoder–decoder `<x0>`, in whose
place it could also write several words. On unseen combinations the decoder is further from its floor: it has learned
which combinations do not occur.

{losses}

## What their hidden states say

Share of right answers of a linear map on the hidden states, learned from 600 examples of the split "train", measured
on 600 unseen combinations. The model itself is not changed. Sense: is this *apple* or *orange* a fruit or a firm?
What *it* stands for: animal or road, where only meaning decides. Both are read at the word itself, which the decoder
meets before the words that decide: it cannot know better than what came before says. The encoder–decoder's figures
are its encoder's.

{probes}

## Limits

They write and understand sentences of the little world and nothing else. Names are as frequent as the generator draws
them; that *she* and *he* go with certain names is a rule of that world. Weights are stored in float16; all figures
were measured with these rounded weights. Licence: MIT, as the code. Files:

{files}
"""


def table(rows: dict[str, dict[str, Any]]) -> str:
    """Rows by name, with a column for each model; what a model does not have is a dash."""
    lines = [f"| | {' | '.join(NAMES.values())} |", "|---" * (len(NAMES) + 1) + "|"]
    for name, figures in rows.items():
        cells = [_written(figures[kind]) if kind in figures else "–" for kind in NAMES]
        lines.append(f"| {name} | {' | '.join(cells)} |")
    return "\n".join(lines)


def card(folder: Path) -> str:
    """The text of the card."""
    facts = {kind: world_model_facts(kind, folder) for kind in CLASSES}
    rows: dict[str, dict[str, Any]] = {}
    for kind, found in facts.items():
        for name, figure in found.items():
            rows.setdefault(name, {})[kind] = figure
    losses = {
        name: row for name, row in rows.items() if name.startswith(("loss on", "floor on", "gap", "share of written"))
    }
    probes = {name.removeprefix("probe: "): row for name, row in rows.items() if name.startswith("probe")}
    recipe = {name: row for name, row in rows.items() if name not in losses and not name.startswith("probe")}
    alike = {name: row for name, row in recipe.items() if len(set(map(_written, row.values()))) == 1}
    sizes = [found["parameters"] for found in facts.values()]
    files = [folder / f"{kind}.safetensors" for kind in CLASSES]
    hashes = [f"- `{file.name}` {file.stat().st_size:,} bytes, sha256 `{sha256(file)}`" for file in files]
    return TEXT.format(
        least=min(sizes),
        most=max(sizes),
        shared="\n".join(f"- {name}: {_written(row['encoder'])}" for name, row in alike.items()),
        recipe=table({name: row for name, row in recipe.items() if name not in alike}),
        losses=table(losses),
        probes=table(probes),
        files="\n".join(hashes),
    )


def write_card(folder: Path) -> None:
    """Write MODEL_CARD.md beside the files."""
    (folder / "MODEL_CARD.md").write_text(card(folder), encoding="utf-8")


def sha256(file: Path) -> str:
    """The hash of a file, as sha256sum prints it."""
    return hashlib.sha256(file.read_bytes()).hexdigest()


def _written(figure: Any) -> str:
    if isinstance(figure, list):
        return ", ".join(map(str, figure))
    if isinstance(figure, int):
        return f"{figure:,}"
    return f"{figure:.3f}" if isinstance(figure, float) else str(figure)
