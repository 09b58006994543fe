"""The notebook's claims: what it says about heads."""

from claims import Break, claim

CLAIMS = [
    claim(
        "Multi-head costs H times as much",
        "the same FLOPs; only the weights take H·T² numbers",
        "assert wide == 8",
        Break("d_head=d_head)", "d_head=width)"),
        Break('watched["weights"].numel()', 'watched["weights"].mean(1).numel()'),
    ),
    claim(
        "W_O brings the dimension back",
        "it is D already after the join; W_O mixes the heads",
        "joined_width == D",
        Break("torch.eye(D, dtype=X.dtype)", "torch.ones(D, D, dtype=X.dtype)"),
        Break("join_heads(z * (torch.arange(H) != h).view(H, 1, 1, 1))", "join_heads(z)"),
    ),
    claim(
        "Every token attends most to itself",
        "not in trained heads: less than half of the words do",
        "mostly_self <= 6",
        Break(
            'with capture(model, "*.weights") as maps',
            'with capture(model, "*.weights", edit={"*self_attention.weights": '
            "lambda w: torch.eye(w.shape[-1]).expand_as(w)}) as maps",
        ),
    ),
    claim(
        "Heads divide into syntactic, semantic and positional ones",
        "not here: heads that matter break several kinds of word, most break none",
        "max(counts) >= 3",
        Break("with heads_removed(model, removed), torch", "with heads_removed(model, []), torch"),
        Break("wrong_by_kind([head])", "wrong_by_kind(alone)"),
    ),
    claim(
        "Attention weights explain the output",
        "half right: shuffled in one block they hardly matter, in both they do",
        "min(kept) > 0.6",
        Break("return given.gather(-1, lots.argsort(-1))", "return given"),
        Break("edit={pattern: shuffled}", 'edit={"*.cross_attention.weights": shuffled}'),
    ),
    claim(
        "A word with a large weight is one whose absence changes the output",
        "related, but some words with most of the weight can be hidden without an effect",
        "0.6 < related < 0.97",
        Break("mask[..., s] = False", "mask[..., s - 1] = False"),
        Break("fall[:, :, s] = full - chances(mask)", "fall[:, :, s] = weight[:, :, s]"),
    ),
    claim(
        '"it" attends to "cat", so attention resolves pronouns',
        "in the first block a head does so whatever the adjective says, right in exactly half of the cases",
        "min(second_block) < 0.9",
        Break("= read_off(0), read_off(1)", "= read_off(1), read_off(1)"),
        Break('.weights"][:, :, IT]', '.weights"][:, :, 9]'),
    ),
]
