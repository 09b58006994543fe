"""The claims that the notebook tests."""

from claims import Break, claim

CLAIMS = [
    claim(
        "Padding in the loss does no harm",
        "it flatters the report, and mostly the model is worse",
        "reports[0][0] < reports[1][0]",
        Break("early(), early(loss=partial(translation_loss, pad_id=None))", "early(), early()"),
    ),
    claim(
        "The Transformer of 2017 was better by more than two BLEU",
        "German: two BLEU more than the best ensemble; French: half a point",
        "ahead[0] > 2 and 0 < ahead[1] < 1",
        Break("max(scores)", "min(scores)"),
    ),
]
