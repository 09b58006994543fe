"""One way to make an explorer: each module computes, draws, describes and binds, in this order, under these names."""

import ast
import re

import pytest

from notebook_frame import ROOT
from tx_helpers.lessons.families.few_labels_explorer import few_labels_explorer
from tx_helpers.lessons.families.gap_filler import gap_filler_explorer
from tx_helpers.lessons.families.objectives import objectives_explorer
from tx_helpers.lessons.feed_forward.activations import activation_explorer
from tx_helpers.lessons.feed_forward.block_depth import depth_explorer
from tx_helpers.lessons.feed_forward.hinges import hinge_explorer
from tx_helpers.lessons.feed_forward.norms import norm_explorer
from tx_helpers.lessons.feed_forward.one_unit import unit_explorer
from tx_helpers.lessons.feed_forward.superposition import superposition_explorer
from tx_helpers.lessons.full_model.parameter_count import parameter_explorer
from tx_helpers.lessons.limits_of_recurrence.recurrence import gradient_explorer
from tx_helpers.lessons.limits_of_recurrence.signal_race import signal_race_explorer
from tx_helpers.lessons.masking.leaks import leak_explorer
from tx_helpers.lessons.modern_transformers.cache_size import cache_size_explorer
from tx_helpers.lessons.modern_transformers.effective_context import effective_context_explorer
from tx_helpers.lessons.modern_transformers.ladder_explorer import ladder_explorer
from tx_helpers.lessons.modern_transformers.online_softmax import online_softmax_explorer
from tx_helpers.lessons.multi_head_attention.head_split import split_explorer
from tx_helpers.lessons.multi_head_attention.pronoun import pronoun_explorer
from tx_helpers.lessons.positional_encodings.clocks import clocks_explorer
from tx_helpers.lessons.positional_encodings.positions import heatmap_explorer, two_positions_explorer
from tx_helpers.lessons.positions_inside_attention.position_bias import bias_explorer
from tx_helpers.lessons.positions_inside_attention.rotary import rotary_explorer, stretched_explorer
from tx_helpers.lessons.scaling_up.pipeline_schedule import pipeline_explorer
from tx_helpers.lessons.scaling_up.planner_explorer import planner_explorer
from tx_helpers.lessons.scaling_up.scaling_law import scaling_law_explorer
from tx_helpers.lessons.scaling_up.sharded_layer import sharding_explorer
from tx_helpers.lessons.start_here.softmax import softmax_explorer

SECTIONS = ["compute", "draw", "describe", "bind"]
PATHS = [path for folder in ("widgets", "lessons") for path in (ROOT / "tx_helpers" / folder).rglob("*.py")]
TEXT = {path.stem: path.read_text("utf-8") for path in PATHS}
MODULES = {name: text for name, text in TEXT.items() if re.search(r"^def \w+_explorer\(", text, flags=re.MULTILINE)}


def faults(text: str) -> list[str]:
    """What a module lacks."""
    sections = [name for name in re.findall(r"^# --- (\w+) -+$", text, flags=re.MULTILINE) if name in SECTIONS]
    found = [] if sections == SECTIONS else [f"sections {', '.join(sections)}"]
    functions = {node.name: node for node in ast.parse(text).body if isinstance(node, ast.FunctionDef)}
    for prefix, returned in (("draw", "Svg"), ("describe", "str"), ("", "Explore")):
        named = [name for name in functions if (name.split("_")[0] == prefix if prefix else name.endswith("_explorer"))]
        found += [
            f"{name} is no {returned}"
            for name in named
            if ast.unparse(functions[name].returns or ast.Pass()) != returned
        ]
        found += [] if named else [f"nothing is called {prefix or '…_explorer'}"]
    return found + ["ipywidgets in another way"] * ("from ipywidgets" in text or "import ipywidgets\n" in text)


@pytest.mark.parametrize("name", sorted(MODULES))
def test_every_explorer_is_made_in_one_way(name):
    assert faults(MODULES[name]) == []


def test_what_is_made_otherwise_is_found():
    text = MODULES["softmax"]
    assert len(MODULES) > 20
    assert faults(text.replace("# --- describe", "# --- say")) == ["sections compute, draw, bind"]
    assert faults(text.replace("describe(", "in_words(")) == ["nothing is called describe"]
    assert faults(text.replace("-> Svg", "-> str")) == ["draw is no Svg"]
    assert faults(text.replace("import ipywidgets as widgets", "from ipywidgets import *")) == [
        "ipywidgets in another way"
    ]


BARE = [
    *(
        activation_explorer,
        depth_explorer,
        gradient_explorer,
        heatmap_explorer,
        ladder_explorer,
        leak_explorer,
        norm_explorer,
    ),
    *(
        parameter_explorer,
        signal_race_explorer,
        rotary_explorer,
        softmax_explorer,
        split_explorer,
        two_positions_explorer,
    ),
    *(bias_explorer, cache_size_explorer, clocks_explorer, pronoun_explorer, stretched_explorer),
    *(
        effective_context_explorer,
        few_labels_explorer,
        gap_filler_explorer,
        hinge_explorer,
        objectives_explorer,
        online_softmax_explorer,
        planner_explorer,
        pipeline_explorer,
        sharding_explorer,
        scaling_law_explorer,
        superposition_explorer,
        unit_explorer,
    ),
]


@pytest.mark.parametrize("explorer", BARE)
def test_every_end_of_every_control_is_drawn(explorer):
    explored = explorer()
    for name in explored.values:
        control = explored.controls[name]
        start = control.value
        if isinstance(start, str) and not hasattr(control, "options"):
            ends = explored.recorded[name]
        elif hasattr(control, "options"):
            ends = [option[1] if isinstance(option, tuple) else option for option in control.options]
        else:
            ends = [control.min, control.max] if hasattr(control, "min") else [False, True]
        for end in ends:
            explored.set(**{name: end})
            assert explored.error == ""
            assert "nan" not in explored.summary
        explored.set(**{name: start})
