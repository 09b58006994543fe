"""Wrong arguments of explorers, charts and plots: each is refused by name, none fails somewhere inside."""

from functools import partial

import ipywidgets as widgets
import pytest
import torch

from toy_models import model as toy
from tx_helpers.lessons.a_model_that_writes import writing
from tx_helpers.lessons.adapting import few_labels_explorer as few_labels
from tx_helpers.lessons.beyond_text import digit_attention
from tx_helpers.lessons.beyond_text.vit import TinyViT
from tx_helpers.lessons.cheaper_and_longer import cache_size, context, effective_context, online_softmax
from tx_helpers.lessons.debugging import live_training, probes, runs, symptoms
from tx_helpers.lessons.decoding import cache_costs
from tx_helpers.lessons.families import gap_filler, objectives
from tx_helpers.lessons.feed_forward import hinges, norms, one_unit, stream
from tx_helpers.lessons.full_model import model_parts
from tx_helpers.lessons.inside_the_model.induction import Copying, new_copier
from tx_helpers.lessons.inside_the_model.induction_views import induction_explorer
from tx_helpers.lessons.learning_from_reward import baseline, cheating, pushes, run_curves
from tx_helpers.lessons.learning_from_reward.base import config as reward_config
from tx_helpers.lessons.limits_of_recurrence import he_or_she, recurrence, signal_race
from tx_helpers.lessons.limits_of_recurrence.recurrent import Recaller
from tx_helpers.lessons.masking import leaks, masks
from tx_helpers.lessons.multi_head_attention import head_removal
from tx_helpers.lessons.positions_inside_attention import hands
from tx_helpers.lessons.scaling_up.laws import law_runs, scaling_law
from tx_helpers.lessons.scaling_up.planning import planner_explorer as planner
from tx_helpers.lessons.scaling_up.simulated import pipeline_schedule, sharded_count, sharded_ways
from tx_helpers.lessons.self_attention import attention_stepper, query_plane, self_attention
from tx_helpers.lessons.start_here import translation
from tx_helpers.lessons.tokens_and_embeddings import directions, embeddings, fusing, tokens
from tx_helpers.lessons.training import learning_rate, schedules
from tx_helpers.lessons.training.experiments import recorded
from tx_helpers.lessons.what_changed import ladder_explorer as ladder
from tx_helpers.lessons.what_changed import router
from tx_helpers.lessons.what_changed.ladder import recorded_ladder
from tx_helpers.lessons.what_changed.specialists import specialist_config
from tx_helpers.nn.models import DecoderOnly, EncoderDecoder
from tx_helpers.show.charts import bar_chart, line_chart, weight_map
from tx_helpers.show.play import play_button
from tx_helpers.show.plots import attention_map, attention_maps, bars, curves, heatmap, new_figure, show, smooth
from tx_helpers.text.data import word_pairs
from tx_helpers.text.grammar import Grammar
from tx_helpers.text.subwords import BytePairTokenizer
from tx_helpers.text.tokenizers import CharTokenizer
from tx_helpers.text.world_vocabulary import EXAMPLES
from tx_helpers.widgets import sampling
from tx_helpers.zoo.presets import gpt2
from tx_helpers.zoo.recipes import Translator, Writer, translator_config
from tx_helpers.zoo.world_models import CLASSES, world_model
from wrong_arguments import faults

PAIRS = [("one", "eins"), ("twenty-one", "ein und zwanzig")]
ALT = "Words enough to say what is to be seen."
WORDS = dict(title="t", xlabel="x", ylabel="y")
SMALL = dict(size=(200, 200), title="t")
QK = torch.randn(3, 4, generator=torch.Generator().manual_seed(0))
MAPS = torch.full((2, 3, 2), 0.5)
PLANE = {"pear": (2.5, 0.5), "phone": (0.5, 2.5)}
EMBEDDED = torch.eye(5)[:, :4] + torch.arange(20.0).view(5, 4) / 20  # a row for each of five tokens
TABLES = {step: torch.randn(5, 3, generator=torch.Generator().manual_seed(step)) for step in (0, 2, 4)}
LETTERS = CharTokenizer.train("abcdefgh")


@pytest.fixture(scope="module")
def translator():
    data = word_pairs([*PAIRS, ("four hundred twenty-one", "vier hundert ein und zwanzig")])
    return Translator(EncoderDecoder(translator_config(data, d_model=16, n_layers=2)).eval(), data)


PLAIN = {
    "line_chart": (partial(line_chart, **WORDS, size=(200, 200)), dict(lines={"a": ([0, 1], [1.0, 2.0])}, faint=["a"])),
    "bar_chart": (partial(bar_chart, **SMALL), dict(values={"a": 0.5})),
    "weight_map": (partial(weight_map, **SMALL), dict(weights=MAPS[0], keys=["a", "b"], queries=["c", "d", "e"])),
    "curves": (partial(curves, **WORDS, alt=ALT), dict(lines={"a": ([0, 1], [1.0, 2.0])}, levels={"chance": 0.5})),
    "bars": (partial(bars, title="t", xlabel="x", alt=ALT), dict(values={"a": 0.5, "b": 1.0})),
    "heatmap": (partial(heatmap, **WORDS, alt=ALT), dict(values=[[1.0, 2.0]], diverging=True)),
    "attention_map": (attention_map, dict(weights=MAPS[0], keys=["a", "b"], queries=["c", "d", "e"])),
    "attention_maps": (
        partial(attention_maps, alt=ALT),
        dict(weights=MAPS, keys=["a", "b"], queries=["c", "d", "e"], titles=["1", "2"]),
    ),
    "symptoms": (symptoms.symptom_explorer, dict(runs=runs.recorded_runs())),
    "smooth": (smooth, dict(values=[1.0, 2.0], window=2)),
    "show": (show, dict(figure=new_figure()[0], alt=ALT)),
    "cache": (cache_costs.cache_explorer, dict(configs={"GPT-2": gpt2()})),
    "cache size": (cache_size.cache_size_explorer, dict(model="GPT-2")),
    "cache need": (partial(cache_size.need, cache_size.sizes_of("GPT-2")), dict(texts=2, tokens=5, cache_number=2.0)),
    "costs": (partial(cache_costs.costs, gpt2()), dict(tokens=3, rows=2)),
    "digit attention": (digit_attention.digit_attention_explorer, dict(model=TinyViT())),
    "analogies": (
        directions.directions_explorer,
        dict(table=EMBEDDED, tokens=list("aAbBx"), relations={"r": [("a", "A"), ("b", "B")]}),
    ),
    "effective context": (effective_context.effective_context_explorer, dict(table=context.recorded())),
    "embeddings": (
        embeddings.embedding_explorer,
        dict(history=TABLES, groups={"g": ["a", "b"], "h": ["c", "d"]}, ids={"a": 1, "b": 2, "c": 3, "d": 4}),
    ),
    "fusing": (fusing.fusing_explorer, dict(times={"ten": 6, "hen": 4}, merges=2)),
    "gap filler": (
        gap_filler.gap_filler_explorer,
        dict(models={kind: world_model(kind) for kind in CLASSES}, text=gap_filler.TEXT, place=2),
    ),
    "few labels": (few_labels.few_labels_explorer, dict(table=few_labels.recorded())),
    "ladder": (ladder.ladder_explorer, dict(table=recorded_ladder())),
    "influence": (leaks.influence, dict(run=lambda x: 2 * x, x=QK)),
    "reach": (leaks.reach, dict(mask=torch.eye(3, dtype=torch.bool), depth=2)),
    "learning rate": (partial(learning_rate.learning_rate_explorer, lambda rate: None), dict(nothing=3.5, steps=3)),
    "live training": (live_training.live_training_explorer, dict(retrain=None, choices={"a": {}}, steps=3, every=1)),
    "mask": (masks.mask_explorer, dict(q=QK, k=QK, tokens=["a", "b", "c"])),
    "parts": (
        model_parts.parts_explorer,
        dict(model=toy(EncoderDecoder), source=torch.ones(2, 5, dtype=torch.long), target=torch.ones(2, 6).long()),
    ),
    "hinges": (
        partial(hinges.add_up, places=(0.0, 1.0), slopes=(1.0, -1.0)),
        dict(function="ReLU", target="a tent"),
    ),
    "one unit": (partial(one_unit.fire, (1.0, 1.0)), dict(bias=-1.5, value=4.0)),
    "norms": (partial(norms.normalise, vector=[1.0, 2.0]), dict(kind="LayerNorm")),
    "objectives": (objectives.objectives_explorer, dict(text=EXAMPLES[0])),
    "blocks": (online_softmax.read_blocks, dict(scores=[1.0, 2.0], values=[3.0, 4.0], size=1)),
    "pipeline": (pipeline_schedule.run, dict(name="1F1B", ranks=2, microbatches=3, backward=2.0)),
    "planner": (planner.planner_explorer, dict(model="GPT-2 XL", chip="V100")),
    "pushes": (pushes.pushes_explorer, dict(model=DecoderOnly(reward_config()).eval())),
    "reward baseline": (baseline.describe_baseline, dict(baseline=0.3, samples=4)),
    "reward checkers": (cheating.describe_cheating, dict(answer="A17.")),
    "right at k": (run_curves.describe_right_at_k, dict(run="six", k=2)),
    "probe": (
        partial(probes.probe_explorer, data=word_pairs(PAIRS)),
        dict(models={"right": toy(EncoderDecoder)}, number=21, first="right"),
    ),
    "clock hands": (hands.hands_explorer, dict(ahead=3)),
    "query plane": (query_plane.query_explorer, dict(words=PLANE)),
    "backward norms": (recurrence.backward_norms, dict(radius=0.9, steps=3, width=4)),
    "arrivals": (signal_race.arrivals, dict(distance=8, kernel=3)),
    "scaling law": (scaling_law.scaling_law_explorer, dict(table=law_runs.recorded())),
    "play": (play_button, dict(slider=widgets.IntSlider(), pause=0.1)),
    "he or she": (
        he_or_she.he_or_she_explorer,
        dict(models={"GRU": Recaller("gru", 4, keys=2, symbols=46, look_back=True)}),
    ),
    "path lengths": (recurrence.path_lengths, dict(distance=8, kernel=3)),
    "router": (
        router.router_explorer,
        dict(models={"one": DecoderOnly(specialist_config(3, width=16)).eval()}, text=EXAMPLES[0]),
    ),
    "sampling": (
        partial(sampling.sampling_explorer, sampling.NextToken(lambda so_far: torch.zeros(3), "abc")),
        dict(so_far="text"),
    ),
    "schedule": (schedules.schedule_explorer, dict(runs=recorded("schedules"))),
    "induction": (
        induction_explorer,
        dict(run=Copying(new_copier(), {0: new_copier()}, {"recall": [0.1], "previous 1.1": [0.2]})),
    ),
    "sharded": (sharded_ways.steps_of, dict(way="tensor", ranks=2, tokens=16)),
    "sharded count": (sharded_count.sent_counted, dict(way="data", ranks=2, tokens=16)),
    "context": (
        partial(self_attention.words_explorer, axes=("fruit", "technology"), followed="pear"),
        dict(table=PLANE, sentence="pear"),
    ),
    "stepper": (
        partial(attention_stepper.AttentionStepper, name="stepper"),
        dict(table=PLANE, sentence="pear phone", W_Q=QK.T[:2], W_K=QK.T[:2], W_V=QK.T[:2], query=1),
    ),
    "tokens": (tokens.tokens_explorer, dict(tokenizers={"c": CharTokenizer.train("text")}, text="text")),
    "merges": (tokens.merges_explorer, dict(tokenizer=BytePairTokenizer([("e", "n")]), text="ten")),
    "writing": (
        writing.writing_explorer,
        dict(
            writers={"w": Writer(toy(DecoderOnly), LETTERS)},
            beginning="ab",
            grammar=Grammar({"story": ["ab"]}),
            longest=3,
            rest=0.0,
        ),
    ),
}


@pytest.mark.parametrize("name", PLAIN)
def test_a_wrong_argument_is_named(name):
    call, arguments = PLAIN[name]
    assert faults(call, arguments) == []


@pytest.mark.parametrize(
    ("call", "others"),
    [
        (stream.stream_explorer, dict(pair=PAIRS[0])),
        (head_removal.head_removal_explorer, dict(pairs=PAIRS, number=21)),
        (self_attention.sentence_explorer, dict(text="one")),
        (sampling.next_word, dict(text="one")),
        (translation.translation_explorer, dict(number=421)),
    ],
)
def test_a_wrong_argument_beside_a_translator_is_named(translator, call, others):
    assert faults(call, dict(translator=translator, **others)) == []
