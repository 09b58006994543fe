"""The claims that notebook 09 tests."""

from claims import Break, Claim

HERE = "09_training"

CLAIMS = [
    Claim(
        "The model with the lowest loss is the best translator",
        "a model that never sees the number, with a leak, has the lower loss",
        HERE,
        "share < 0.02 and exact",
        (Break("    with_attention(own, one_too_far)(model)", "    pass"),),
        slow=True,
    ),
    Claim(
        "Padding in the loss does no harm",
        "it flatters the report, and mostly the model is worse",
        HERE,
        "reports[0][0] < reports[1][0]",
        (Break("early(), early(loss=partial(translation_loss, pad_id=None))", "early(), early()"),),
        slow=True,
    ),
    Claim(
        "The padding mask is a detail: without it the model translates as well",
        "not with other padding than it was trained with",
        HERE,
        'lost["no padding mask"] > 0.05',
        (
            Break("source = F.pad(held.source, (0, extra), value=PAD)", "source = held.source"),
            Break("name: with_more_padding(name)", 'name: with_more_padding("the right model")'),
        ),
        slow=True,
    ),
    Claim(
        "Without √K training fails",
        "not at K = 16: it is slower, but it trains",
        HERE,
        "share > 0.55 and loss < 0.4",
        (
            Break('exact["no division by √K"], smooth(', 'exact["no positions"], smooth('),
            Break('smooth(trained["no division by √K"]', 'smooth(trained["no cross-attention"]'),
        ),
        slow=True,
    ),
    Claim(
        "A BLEU of 60 is a fair translation",
        "wrong every time by one: BLEU above 60, no number right",
        HERE,
        "bleu(off_by_one, truths) > 0.6",
        (
            Break("german(pair.number - 1)", "german(999_999 - pair.number)"),
            Break("german(pair.number - 1)", "german(pair.number)"),
        ),
    ),
]
