"""The course with other seeds: a cache of models trained from another seed, and notebooks with raised seeds.

    python tests/support/other_seeds.py /tmp/cache_of_seed_1 1      # then: TX_CACHE=/tmp/cache_of_seed_1 pytest …

The bits of a training differ between processors, and so do the numbers of a trained model. What the tests expect of one
must hold for every model of the same recipe. Other seeds are the cheapest way to test that.
"""

import os
import re
import sys
from pathlib import Path

from claims import laid_out

SEED = re.compile(r"\b(manual_seed\(|RandomStream\(|seed=)(\d+)\b")
# For a lesson: pieces of source that use a default seed, and what replaces them.
UNNAMED_SEEDS = {
    "limits_of_recurrence": {
        "data.batches(64)": "data.batches(64, seed={seed})",
        'learn_language("LSTM", noise=20)': 'learn_language("LSTM", noise=20, seed={seed})',
        'forget bias 3", noise=20)': 'forget bias 3", noise=20, seed={seed})',
        "learn_pronoun(name)": "learn_pronoun(name, seed={seed})",
    },
    "self_attention": {
        "train_translator(steps=150, prepare": "train_translator(steps=150, seed={seed}, prepare",
        "train_trophy()": "train_trophy(seed={seed} + 6)",
        "train_trophy(looks=1)": "train_trophy(looks=1, seed={seed} + 6)",
        "train_trophy(even=True)": "train_trophy(even=True, seed={seed} + 6)",
    },
    "multi_head_attention": {
        "train_translator(small.train, steps=120": "train_translator(small.train, seed={seed}, steps=120",
        "random_sayings(seed=step": "random_sayings(seed=step + {seed} * 10**6",
        "TwoKeysRun(n_heads": "TwoKeysRun(seed={seed} + 2, n_heads",
        "train_pronoun_toy()": "train_pronoun_toy(seed={seed} + 8)",
    },
    "feed_forward": {
        "n_layers=24)": "n_layers=24, seed={seed})",
        "n_layers=50)": "n_layers=50, seed={seed})",
        "n_layers=12)": "n_layers=12, seed={seed})",
        "n_layers=4)": "n_layers=4, seed={seed})",
        "steps=80": "steps=80, seed={seed}",
        "steps=steps": "steps=steps, seed={seed}",
        "for seed in range(5)": "for seed in range({seed} * 5, {seed} * 5 + 5)",
        "steps=70, changes=one_unit": "steps=70, seed={seed}, changes=one_unit",
    },
    "training": {
        "new_model(seed=0)": "new_model(seed={seed})",
        "partial(train_translator, small.train": "partial(train_translator, small.train, seed={seed}",
    },
    "debugging": {
        "partial(train_translator, small.train": "partial(train_translator, small.train, seed={seed}",
    },
    "decoding": {
        "train_translator(steps=80": "train_translator(seed={seed}, steps=80",
        "train_translator(steps=150, new_model": "train_translator(seed={seed}, steps=150, new_model",
    },
    "a_model_that_writes": {
        "train_writer(corpus, new_model": "train_writer(corpus, seed={seed}, new_model",
    },
    "positions_inside_attention": {
        "tune(model)": "tune(model, seed={seed} + 1)",
        "manual_seed(step)": "manual_seed(step + {seed} * 10**6)",
    },
    "families": {
        "summariser()": "summariser(seed={seed})",
        'ObjectiveBatches("causal", 32, texts=2000': 'ObjectiveBatches("causal", 32, texts=2000, seed={seed}',
    },
    "adapting": {
        'learn("lora", 100, rate': 'learn("lora", 100, seed={seed}, rate',
        "chat_model()": "chat_model(seed={seed})",
        "align(tuned, preference_pairs(200)": "align(tuned, preference_pairs(200, seed={seed}), seed={seed}",
        "learn_mappings(Mappings(fresh=1.0)": "learn_mappings(Mappings(fresh=1.0), seed={seed}",
        "learn_mappings(Mappings(fresh=0.0)": "learn_mappings(Mappings(fresh=0.0), seed={seed}",
    },
    "beyond_text": {
        "TinyViT(), steps=300": "TinyViT(seed={seed}), seed={seed}, steps=300",
        "PictureAndCaption(), steps=400": "PictureAndCaption(seed={seed}), seed={seed}, steps=400",
    },
    "learning_from_reward": {
        "measure(base, SIX)": "measure(base, SIX, seed={seed} + 77_777)",
        "measure(model, SIX)": "measure(model, SIX, seed={seed} + 77_777)",
        "hinted(base)": "hinted(base, seed={seed})",
        "learn(FOUR, **GENTLE)": "learn(FOUR, seed={seed}, **GENTLE)",
    },
    "what_changed": {
        'as_of("2017"), steps=300': 'as_of("2017"), seed={seed}, steps=300',
        'as_of("value embeddings"), steps=150': 'as_of("value embeddings"), seed={seed}, steps=150',
        "train(Recipe(config), steps=60)": "train(Recipe(config), steps=60, seed={seed})",
        "best_of_rates(rule, seed=seed)": "best_of_rates(rule, seed=seed + {seed} * 3)",
        "best_of_rates(rule, steps=60)": "best_of_rates(rule, steps=60, seed={seed})",
        "SHAPES[name], seed=seed)": "SHAPES[name], seed=seed + {seed} * 5)",
        "train_specialists(balance)": "train_specialists(balance, seed={seed})",
    },
    "cheaper_and_longer": {
        "train_draft()": "train_draft(seed={seed})",
    },
    "scaling_up": {"train_one(16, 300)": "train_one(16, 300, seed={seed})"},
    "your_own_model": {
        "sets.story_text()": "sets.story_text(seed={seed})",
        "train_writer(train_text, new_model": "train_writer(train_text, seed={seed}, new_model",
        "random.Random(0)": "random.Random({seed})",
    },
}


def reseeded(source: str, lesson: str, seed: int) -> str:
    """A cell's source with every seed raised: in `manual_seed(…)`, `RandomStream(…)`, `seed=…`, and default ones."""
    source = SEED.sub(lambda found: f"{found[1]}{int(found[2]) + seed}", source)
    for old, new in UNNAMED_SEEDS.get(lesson, {}).items():
        source = laid_out(old).sub(lambda found, new=new: new.format(seed=seed), source)
    return source


def fill(folder: Path, seed: int) -> None:
    """Write the models that the package caches, trained from this seed, into the folder."""
    from tx_helpers.zoo import recipes

    cache, default = os.environ.get("TX_CACHE"), recipes.train_translator.__kwdefaults__
    os.environ["TX_CACHE"] = str(folder)
    recipes.train_translator.__kwdefaults__ = default | {"seed": seed}
    try:
        recipes.number_translator(progress=False)
    finally:
        recipes.train_translator.__kwdefaults__ = default
        del os.environ["TX_CACHE"]
        os.environ |= {} if cache is None else {"TX_CACHE": cache}


if __name__ == "__main__":
    fill(Path(sys.argv[1]), int(sys.argv[2]))
