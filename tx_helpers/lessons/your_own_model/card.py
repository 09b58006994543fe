"""A model card, made from the numbers of a run: what the model is, how well it does beside its rivals, and its limits.

    card = model_card(title="Tales", model=model, data_note="My grandmother's tales, 1931, with leave", …)
    print(as_text(card))

The parts are those of Mitchell et al. 2019 ("Model Cards for Model Reporting") that a small model has. Plain text, name
by name, as `publish` shows it and `save_model` keeps it.
"""

import math
import platform
from collections.abc import Mapping, Sequence
from numbers import Real
from textwrap import fill

from torch import nn

from tx_helpers.nn.arguments import check_types, described
from tx_helpers.nn.models import count_parameters

FOR = "Made to learn how such a model works, and to be played with."
NOT_FOR = (
    "Not for advice, facts or decisions: it writes what is likely after its training text, true or not, and may repeat "
    "that text word for word, with its faults."
)


def model_card(
    *,
    title: str,
    model: nn.Module,
    data_note: str,
    train_characters: int,
    held_out_loss: float,
    rivals: Mapping[str, float],
    minutes: float,
    seed: int,
    limits: str | Sequence[str],
    examples: Sequence[str] | Mapping[str, str],
    unit: str = "nats a character",
    better: str = "lower",
) -> dict[str, str]:
    """The card, name -> text. Raises ValueError, naming it, for a number or a text that is missing.

    data_note      whose text it is, from where, and by whose leave
    held_out_loss  on text that training never saw, as those of `rivals`, name -> number; all in `unit`
    limits         what it cannot do, in your own words
    examples       what it wrote, or prompt -> what it wrote
    better         "lower" for a loss, "higher" for a share of right answers
    """
    check_types("model_card", nn.Module, model=model)
    check_types("model_card", Mapping, rivals=rivals)
    texts = {"title": title, "data_note": data_note, "limits": limits, "examples": examples, "rivals": rivals}
    for name, text in texts.items():
        if not text or (isinstance(text, str) and not text.strip()):
            raise ValueError(f"model_card: {name} is missing: a card without it says nothing of that")
    numbers = {"train_characters": train_characters, "held_out_loss": held_out_loss, "minutes": minutes, "seed": seed}
    for name, number in [*numbers.items(), *((f"rival {name!r}", loss) for name, loss in rivals.items())]:
        if isinstance(number, bool) or not isinstance(number, Real) or not math.isfinite(number):
            raise ValueError(f"model_card: {name} is {described(number)}, expected the number that was measured")
    if better not in ("lower", "higher"):
        raise ValueError(f"model_card: better={better!r}, expected 'lower' or 'higher'")
    return {
        "Title": title,
        "Model": _about(model),
        "Data": f"{data_note.rstrip('.')}. {train_characters:,} characters to train on.",
        "Training": f"{minutes:.3g} minutes, seed {seed}, on {_machine()}.",
        "Result": _result(held_out_loss, rivals, unit, better),
        "For": FOR,
        "Not for": NOT_FOR,
        "Limits": _listed(limits),
        "Examples": _listed([f"{prompt} → {text}" for prompt, text in examples.items()])
        if isinstance(examples, Mapping)
        else _listed(examples),
    }


def as_text(card: Mapping[str, str], width: int = 80) -> str:
    """The card for a terminal, or a file beside the model."""
    return "\n\n".join(
        f"{name}\n"
        + "\n".join(fill(line, width, initial_indent="  ", subsequent_indent="  ") for line in text.split("\n"))
        for name, text in card.items()
    )


def _about(model: nn.Module) -> str:
    config = getattr(model, "config", None)
    shape = f", width {config.d_model}, {config.n_layers} blocks" if hasattr(config, "d_model") else ""
    return f"{type(model).__name__} with {count_parameters(model):,} parameters{shape}."


def _machine() -> str:
    return f"{platform.system()} {platform.machine()}"


def _result(loss: float, rivals: Mapping[str, float], unit: str, better: str) -> str:
    """The model's number and the rivals', best first, and which of them it does not beat."""
    order = sorted(rivals, key=rivals.__getitem__, reverse=better == "higher")
    listed = ", ".join(f"{name} {rivals[name]:.3f}" for name in order)
    unbeaten = [name for name in order if (rivals[name] >= loss if better == "higher" else rivals[name] <= loss)]
    verdict = f"It does not beat: {', '.join(unbeaten)}." if unbeaten else "It beats them all."
    return f"{loss:.3f} {unit} on what it never saw ({better} is better). Rivals: {listed}. {verdict}"


def _listed(texts: str | Sequence[str]) -> str:
    return texts if isinstance(texts, str) else "\n".join(texts)
