"""The claims that the notebook tests."""

from claims import Break, claim

CLAIMS = [
    claim(
        "A dictionary would do",
        "word by word one number in eight comes out right, by the Transformer nearly all",
        "the dictionary translates {right:.1%}",
        Break("word_by_word(pair.source) == pair.target", "german(pair.number) == pair.target"),
        Break("share = translator.exact_match(pairs.held_out)", "share = 0.9"),
    ),
    claim(
        "That map was a lucky pick",
        "of the numbers with a swap nearly all show it, of an untrained model's few",
        "in an untrained model {untrained:.0%}",
        Break("trained = swaps(model)", "trained = swaps(EncoderDecoder(config))"),
        Break("untrained = swaps(EncoderDecoder(config))", "untrained = swaps(model)"),
    ),
]
