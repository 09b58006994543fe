"""Wrong answers to the lesson's exercises, unlike any in the bank: none may pass."""


def next_of_the_row_before(logits):
    return logits[0, max(logits.shape[1] - 2, 0)].argmax().item()


def next_of_the_first_half(logits):
    return logits[0, -1, : max(3, logits.shape[-1] // 2)].argmax().item()


def scored_up_to_the_shorter(pairs, translate):
    return {p.number: all(a == b for a, b in zip(translate(p.source), p.target, strict=False)) for p in pairs}


def scored_by_the_last_word(pairs, translate):
    return {p.number: translate(p.source).split(" ")[-1] == p.target.split(" ")[-1] for p in pairs}


def share_of_neighbours(right, kind):
    share = {}
    for number, ok in right.items():
        name = kind(number)
        share[name] = (share[name] + ok) / 2 if name in share else float(ok)
    return share


UNLIKE = {
    "next_id": {one.__name__: one for one in (next_of_the_row_before, next_of_the_first_half)},
    "scored": {one.__name__: one for one in (scored_up_to_the_shorter, scored_by_the_last_word)},
    "share_by_kind": {"share_of_neighbours": share_of_neighbours},
}
