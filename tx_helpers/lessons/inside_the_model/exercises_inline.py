"""The exercise on patching that stands in the text."""

import torch

from tx_helpers.exercises.exercise import Exercise
from tx_helpers.nn.capture import capture
from tx_helpers.nn.config import AttentionConfig, FeedForwardConfig, TransformerConfig
from tx_helpers.nn.models import EncoderDecoder
from tx_helpers.training.contexts import RandomStream


def _small_model(seed):
    sizes = dict(d_model=8, n_layers=2, attention=AttentionConfig(2), feed_forward=FeedForwardConfig(d_ff=12))
    with RandomStream(seed).on(torch.device("cpu")):
        return EncoderDecoder(TransformerConfig(11, source_vocab_size=9, pad_id=0, **sizes)).eval()


def _patching_cases():
    source, other = torch.tensor([[3, 4, 5, 6]]), torch.tensor([[3, 4, 8, 7]])
    target = torch.tensor([[1, 7, 5, 9, 4]])
    rows = torch.tensor([[3, 4, 5], [7, 7, 8]]), torch.tensor([[5, 4, 3], [8, 3, 4]]), torch.tensor([[1, 2], [1, 6]])
    return [
        (_small_model(0), source, other, target, "encoder.blocks.0.hidden", 2),
        (_small_model(1), source, other, target, "encoder.blocks.1.self_attention.output", 3),
        (_small_model(2), source, other, target, "decoder.blocks.0.hidden", 4),
        (_small_model(3), *rows, "encoder.blocks.0.feed_forward.output", 0),
    ]


patching = Exercise(
    "patched_logits",
    title="Patch one vector",
    inline=True,
    goal="`model(source, target)` gives logits; `source` and `other` are ids (B, S) of the same shape, `target` ids "
    "(B, T). Run the model on `other` and keep the activation `name`, (B, positions, D). Then run it on `source`, with "
    "the vectors at position `at` (from 0) replaced by those that you kept, and every other vector its own. Return the "
    "logits (B, T, V) of this second run. `capture(model, name)` records, `capture(model, edit={name: function})` "
    "goes on with what the function returns.",
    difficulty=2,
    minutes=8,
    source="Vig et al. 2020; Meng et al. 2022",
    cases=_patching_cases,
    hints=(
        "Two runs, two blocks `with capture(…)`. Which run is recorded, and which one is edited?",
        "The function gets the activation of the running pass, x (B, positions, D). Clone it before you write into it: "
        "x = x.clone(); x[:, at] = …",
        "with capture(model, name) as seen: model(other, target); value = seen[name]. Then "
        "with capture(model, edit={name: put}): return model(source, target)",
    ),
)


@patching.solution
def patched_logits(model, source, other, target, name, at):
    """Logits (B, T, V) of `source` with the activation `name` at position `at` taken from the run on `other`."""
    with capture(model, name) as seen:
        model(other, target)
    value = seen[name]

    def put(x):
        there = torch.arange(x.shape[1])[:, None] == at
        return torch.where(there, value, x)

    with capture(model, edit={name: put}):
        return model(source, target)


patching.slips("""
whole_activation    return torch.where(there, value, x) → return value
  You replaced the activation at every position. Replace it at `at` alone, or the whole sentence is the other one's.
own_vector    model(other, target) → model(source, target)
  These are the logits of the clean run. Did you record the run on `source`? Or does your edit return x as it was?
other_way_round    return model(source, target) → return model(other, target)
  You edited the run on `other`. The clean run, on `source`, is the one that gets the foreign vector.
added    torch.where(there, value, x) → torch.where(there, value + x, x)
  You added the other vector to the one that is there. Patching replaces it.
removed    torch.where(there, value, x) → torch.where(there, 0, x)
  You wrote zeros: that is ablation. Patching takes the vector of the other run.
one_position_off    == at → == at - 1
  You patched the position before: positions count from 0, so `at` is the column itself.
everywhere_but_there    == at → != at
  You replaced all positions but `at`. It is the one that changes, and the others stay.
""")
