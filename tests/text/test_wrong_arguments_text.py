"""Wrong arguments of tokenizers, data, number words, stories and grammars are named at the door."""

import pytest
import torch

from tx_helpers.text.data import (
    PairBatches,
    TextBatches,
    evaluation_windows,
    pad_right,
    sequence_batch,
    train_validation_split,
    word_pairs,
)
from tx_helpers.text.grammar import Grammar
from tx_helpers.text.number_words import english, german, german_whole, number_pairs, split_german
from tx_helpers.text.stories import stories, story_log_probability
from tx_helpers.text.subwords import BytePairTokenizer, WordPieceTokenizer, apply_merges, learn_merges
from tx_helpers.text.tokenizers import CharTokenizer, WordTokenizer
from wrong_arguments import faults

IDS, ID_PAIRS = torch.arange(30), [([3, 4], [5]), ([6], [7, 8])]
PAIRS = [("one two", "eins zwei"), ("two", "zwei")]
CALLS = {
    "learn_merges": (
        learn_merges,
        {"words": {("a", "b"): 2}, "alphabet": ["a", "b"], "size": 3, "glue": str.__add__, "min_count": 1},
    ),
    "apply_merges": (apply_merges, {"symbols": ["a", "b"], "ranks": {("a", "b"): 0}}),
    "pad_right": (pad_right, {"rows": [[3, 4], [5]], "pad_id": 0}),
    "sequence_batch": (sequence_batch, {"pairs": ID_PAIRS, "pad_id": 0, "bos_id": 1, "eos_id": 2}),
    "PairBatches": (
        lambda step, **options: PairBatches(**options)(step),
        {"pairs": ID_PAIRS, "batch_size": 2, "step": 3, "pad_id": 0, "bos_id": 1, "eos_id": 2},
    ),
    "TextBatches": (
        lambda step, **options: TextBatches(**options)(step),
        {"ids": IDS, "length": 5, "batch_size": 2, "step": 3},
    ),
    "evaluation_windows": (evaluation_windows, {"ids": IDS, "length": 5, "batch_size": 2}),
    "word_pairs": (word_pairs, {"pairs": PAIRS, "tokenizer": WordTokenizer}),
    "PairData.encode": (word_pairs(PAIRS).encode, {"pairs": PAIRS}),
    "train_validation_split": (train_validation_split, {"text": "a text", "share": 0.5}),
    "train_validation_split of ids": (train_validation_split, {"text": IDS, "share": 0.5}),
    "english": (english, {"number": 21}),
    "german": (german, {"number": 21}),
    "german_whole": (german_whole, {"number": 21}),
    "split_german": (split_german, {"word": "achtzehn"}),
    "number_pairs": (number_pairs, {"train": 110, "held_out": 5, "seed": 0, "below": 1000}),
    "stories": (stories, {"count": 2, "seed": 0}),
    "story_log_probability": (story_log_probability, {"story": "Once"}),
    "Grammar": (Grammar, {"rules": {"story": ["a {n.one}"]}, "cast": {"n": [{"one": "1"}]}, "start": "story"}),
}
TRAINED = [
    CharTokenizer.train("one two"),
    WordTokenizer.train("one two"),
    BytePairTokenizer.train("one two", vocab_size=261),
    WordPieceTokenizer.train("one two", vocab_size=20),
]


@pytest.mark.parametrize("name", CALLS)
def test_wrong_arguments(name):
    call, arguments = CALLS[name]
    assert faults(call, arguments) == []


@pytest.mark.parametrize("tokenizer", TRAINED, ids=lambda tokenizer: tokenizer.kind)
def test_a_tokenizer(tokenizer):
    kind = type(tokenizer)
    sizes = {} if kind in (CharTokenizer, WordTokenizer) else {"vocab_size": 300, "min_count": 1}
    sizes |= {} if kind is BytePairTokenizer else {"unknown": True}
    for texts in ("one two", ["one two"]):
        assert faults(kind.train, {"texts": texts} | sizes) == []
    if "unknown" in sizes:
        with pytest.raises(ValueError, match=f"{kind.__name__}.*: unknown is None, expected a bool"):
            kind.train("one two", unknown=None)
    assert faults(tokenizer.split, {"text": "one two"}) == [] == tokenizer.split("")
    assert faults(tokenizer.encode, {"text": "one two", "bos": True, "eos": True}) == []
    assert faults(tokenizer.decode, {"ids": [3, 4], "skip_special": True}) == []
    assert faults(tokenizer.decode, {"ids": torch.tensor([3, 4])}) == []
    assert faults(kind, {"merges" if kind is BytePairTokenizer else "pieces": []}) == []
