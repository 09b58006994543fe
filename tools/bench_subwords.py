"""Training byte pairs: ours, a recount of all pairs at every merge, and the library `tokenizers`, side by side.

    python tools/bench_subwords.py [--text FILE] [--vocab-size 512] [--characters 300000] [--rounds 3]

The text is tinyshakespeare (see tx_helpers.text.corpora), or stories where there is none. All three must learn the same
merges; the recount runs once. Then encoding, ours and the library's.
"""

import argparse
import json
import time
from collections import Counter
from itertools import pairwise
from pathlib import Path

from tokenizers import Regex, Tokenizer, models, pre_tokenizers, trainers

from timing import medians
from tx_helpers.text.corpora import tinyshakespeare
from tx_helpers.text.stories import stories
from tx_helpers.text.subwords import BYTE_PAIR_WORD, LETTER_OF, BytePairTokenizer
from tx_helpers.text.tokenizers import BOS, EOS, PAD


def join_pair(symbols: list, pair: tuple, new: object) -> list:
    """The symbols with every occurrence of the pair, from left to right, replaced by the new one."""
    joined, i = [], 0
    while i < len(symbols):
        hit = i + 1 < len(symbols) and (symbols[i], symbols[i + 1]) == pair
        joined.append(new if hit else symbols[i])
        i += 2 if hit else 1
    return joined


def recount(text: str, vocab_size: int) -> list[tuple[str, str]]:
    """The definition: all pairs of the whole text counted at every merge, then the text rewritten."""
    between = None  # stands between two words, so that no pair reaches across
    symbols = [s for word in BYTE_PAIR_WORD.findall(text) for s in (*map(LETTER_OF.get, word.encode()), between)]
    ids, merges = {letter: i for i, letter in enumerate(LETTER_OF.values())}, []
    while len(ids) + 3 < vocab_size:
        counts = Counter(pairwise(symbols))
        inside = [pair for pair in counts if between not in pair]
        best = max(inside, key=lambda pair: (counts[pair], -ids[pair[0]], -ids[pair[1]]))
        merges.append(best)
        ids.setdefault("".join(best), len(ids))
        symbols = join_pair(symbols, best, "".join(best))
    return merges


def library(text: str, vocab_size: int) -> Tokenizer:
    tokenizer = Tokenizer(models.BPE())
    pattern = Regex(BYTE_PAIR_WORD.pattern.replace(r"\x80-\U0010ffff", r"\x{80}-\x{10ffff}"))
    to_bytes = pre_tokenizers.ByteLevel(add_prefix_space=False, use_regex=False)
    tokenizer.pre_tokenizer = pre_tokenizers.Sequence([pre_tokenizers.Split(pattern, "isolated"), to_bytes])
    trainer = trainers.BpeTrainer(
        vocab_size=vocab_size,
        special_tokens=[PAD, BOS, EOS],
        initial_alphabet=list(LETTER_OF.values()),
        show_progress=False,
    )
    tokenizer.train_from_iterator([text], trainer)
    return tokenizer


def read(path: Path | None) -> tuple[str, str]:
    if path:
        return path.name, path.read_text(encoding="utf-8")
    try:
        return "tinyshakespeare", tinyshakespeare()
    except FileNotFoundError:
        return "stories", stories(3500)


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__.split("\n")[0])
    parser.add_argument("--text", type=Path)
    parser.add_argument("--vocab-size", type=int, default=512)
    parser.add_argument("--characters", type=int, default=300_000, help="of the text, at most; 1115394 takes minutes")
    parser.add_argument("--rounds", type=int, default=3)
    arguments = parser.parse_args()
    name, text = read(arguments.text)
    text = text[: arguments.characters]
    size = arguments.vocab_size
    found = {}
    rivals = {
        "ours": lambda: found.update(ours=BytePairTokenizer.train(text, vocab_size=size)),
        "tokenizers": lambda: found.update(library=library(text, size)),
    }
    seconds = medians(rivals, rounds=arguments.rounds)
    start = time.perf_counter()
    merges = recount(text, size)
    seconds["recount"] = time.perf_counter() - start
    theirs = [tuple(pair) for pair in json.loads(found["library"].to_str())["model"]["merges"]]
    print(f"{name}, {len(text):,} characters, {size} tokens, {len(merges)} merges")
    print("training:", ", ".join(f"{rival} {s:.2f} s" for rival, s in seconds.items()))
    print(
        f"ours is {seconds['recount'] / seconds['ours']:.0f} times as fast as the recount, "
        f"{seconds['tokenizers'] / seconds['ours']:.2f} times as fast as tokenizers; "
        f"same merges: {merges == found['ours'].merges == theirs}"
    )
    ids = {}
    encoders = {
        "ours": lambda: ids.update(ours=found["ours"].encode(text)),
        "tokenizers": lambda: ids.update(tokenizers=found["library"].encode(text).ids),
    }
    times = medians(encoders, rounds=arguments.rounds)
    print("encoding:", ", ".join(f"{rival} {s:.2f} s" for rival, s in times.items()), end="; ")
    print(f"{len(ids['ours']):,} ids, the same: {ids['ours'] == ids['tokenizers']}")


if __name__ == "__main__":
    main()
