"""The exercises that stand where the notebook needs them: next words, masked words, hidden spans, leaving out."""

import torch
from torch import Tensor

from tx_helpers.exercises.compare import as_tensor
from tx_helpers.exercises.exercise import Exercise

# --- next words ------------------------------------------------------------------------------------------------------

following = Exercise(
    "next_words",
    inline=True,
    title="Ask for every next word, as GPT does",
    goal="ids (B, T) holds a batch of texts, and short ones end in the id `pad`. Return input and target, both "
    "(B, T − 1). The input is the text without its last column. The target at each place is the word that follows it, "
    "and −100, which the loss leaves out, where that is padding.",
    difficulty=1,
    minutes=4,
    source="Radford et al. 2018, section 3.1",
    cases=lambda: [
        (torch.tensor([[5, 6, 7, 8]]), 0),
        (torch.tensor([[5, 6, 7, 8, 9], [4, 3, 0, 0, 0]]), 0),
        (torch.tensor([[7, 2, 7, 1, 1], [3, 1, 1, 1, 1], [2, 4, 5, 6, 7]]), 1),
    ],
    hints=(
        "Two slices of the same table, one column apart.",
        "ids[:, 1:] holds what follows. torch.where(condition, −100, target) leaves some of it out.",
        "target = ids[:, 1:]; return ids[:, :-1], torch.where(target == pad, -100, target)",
    ),
)


@following.solution
def next_words(ids, pad):
    """Input and target (B, T − 1): each place is asked for the word after it, −100 where that is padding."""
    target = ids[:, 1:]
    return ids[:, :-1], torch.where(target == pad, -100, target)


following.slips("""
padding_scored    torch.where(target == pad, -100, target) → target.clone()
  Padding is scored, too. It is easy to predict, so the loss would look far too good: write −100 there.
not_shifted    ids[:, 1:] → ids[:, :-1]
  Your target is the input itself: each place is asked for the word that it sees. Take ids[:, 1:].
shifted_back    ids[:, 1:] → ids[:, :-1] ; return ids[:, :-1] → return ids[:, 1:]
  You exchanged input and target: each place is asked for the word before it, which it has seen.
returned_in_reverse    return ids[:, :-1], torch.where(target == pad, -100, target) →
      return torch.where(target == pad, -100, target), ids[:, :-1]
  You returned the target first. The input comes first, and only the target has −100.
padding_of_the_input    target == pad → ids[:, :-1] == pad
  You left out the places where the *input* is padding. A short text's last word is then asked for its padding: look at
  the target.
hidden_in_the_input    return ids[:, :-1] → return torch.where(ids[:, :-1] == pad, -100, ids[:, :-1])
  You wrote −100 into the input. It is no id: the embedding has no such row. Only the target has it.
first_word_alone    target == pad → (ids != pad).sum(1, keepdim=True) - 1 != torch.arange(1, ids.shape[1])
  Only the last word of each text is scored. A causal model is asked at every place.
""")


# --- masked words ----------------------------------------------------------------------------------------------------


def _draws(*shape, words, special, seed):
    """ids, special, first, second and words for `mask_tokens`: ids below `special` are special tokens."""
    generator = torch.Generator().manual_seed(seed)
    ids = torch.randint(0, words, shape, generator=generator)
    first, second = torch.rand(2, *shape, generator=generator)
    return ids, ids < special, first * 0.4, second, torch.randint(special, words, shape, generator=generator)


masking = Exercise(
    "mask_tokens",
    inline=True,
    title="Hide words as BERT does",
    goal="ids (…, T) are the tokens of a text, or of a batch of texts; all other tables have the same shape. `special` "
    "is True at tokens such as padding. A token is chosen if it is not special and its random number in "
    "`first`, between 0 and 1, is below 0.15. What happens to a chosen token depends on its number in `second`:\n\n"
    "- below 0.8 it becomes the id `mask`;\n"
    "- from 0.8 to below 0.9 it becomes the id at its place in `words`;\n"
    "- from 0.9 on it stays as it is.\n\n"
    "Return input and target, both (…, T). The target is the true id of every chosen token, and −100 for all others.",
    difficulty=2,
    minutes=10,
    source="Devlin et al. 2019, section 3.1",
    cases=lambda: [
        (
            torch.tensor([5, 6, 7, 8, 1, 1]),
            torch.tensor([False, False, False, False, True, True]),
            torch.tensor([0.02, 0.11, 0.14, 0.60, 0.05, 0.05]),
            torch.tensor([0.30, 0.85, 0.95, 0.10, 0.20, 0.85]),
            torch.tensor([9, 9, 9, 9, 9, 9]),
            4,
        ),
        (*_draws(4, 20, words=30, special=5, seed=1), 4),
        (*_draws(3, 50, words=12, special=3, seed=2), 2),
    ],
    hints=(
        "Three tables of truth values first: which tokens are chosen, which of these are masked, which are replaced.",
        "chosen = (first < 0.15) & ~special. The target needs `chosen` alone, and the ids as they were.",
        "torch.where(chosen & (second < 0.8), mask, ids) masks. A second torch.where puts in `words`; a third makes "
        "the target.",
    ),
)


@masking.solution
def mask_tokens(ids, special, first, second, words, mask):
    """Input and target (…, T) of masked words, made of ids (…, T); first, second: random numbers from 0 to 1."""
    chosen = (first < 0.15) & ~special
    masked = chosen & (second < 0.8)
    replaced = chosen & (second >= 0.8) & (second < 0.9)
    inputs = torch.where(masked, mask, torch.where(replaced, words, ids))
    return inputs, torch.where(chosen, ids, -100)


masking.slips("""
mask_overwritten    & (second >= 0.8) → ; torch.where(masked, mask, torch.where(replaced, words, ids)) →
      torch.where(replaced, words, ids)
  The words overwrote your masks: second < 0.9 holds wherever second < 0.8 does. Ask for both ends, from 0.8 to below
  0.9, or put the masks in last.
every_chosen_one_masked    & (second < 0.8) →
  You masked every chosen token. Then no visible word is ever a question, and the model need not know anything about
  words that it sees: that is why 10 % are replaced and 10 % stay.
never_replaced    torch.where(replaced, words, ids) → ids
  You masked 80 % and left the other 20 % as they are. Half of these become the word at their place in `words`, so that
  the model cannot trust what it sees.
all_others_replaced    & (second < 0.9) →
  You masked 80 % and replaced all the other 20 %. Those from 0.9 on stay as they are.
only_masks_scored    torch.where(chosen, → torch.where(masked,
  Your target holds only the words behind a mask. Chosen words that were replaced or that stayed are scored, too: that
  is what they were chosen for.
only_changes_scored    torch.where(chosen, → torch.where(masked | replaced,
  Your target holds only the words that look different now. A chosen word that stayed is scored, too, or the model would
  learn that visible words are always wrong.
differences_scored    torch.where(chosen, → torch.where(inputs != ids,
  You scored the places where input and text differ. A chosen word that stayed, or was replaced by itself, is scored,
  too: ask which words were chosen.
everything_scored    torch.where(chosen, ids, -100) → ids.clone()
  Your target is the whole text. Nearly all of it can be copied from the input, so the loss would measure copying: put
  −100 where nothing was chosen.
target_masked_already    chosen, ids, → chosen, inputs,
  Your target was taken from the input after masking, so the model has to predict `mask`. The target holds the ids as
  they were.
target_inside_out    ids, -100 → -100, ids
  Your target is inside out: −100 stands at the chosen tokens, and the visible ones are scored.
zero_for_ignored    ids, -100 → ids, 0
  You wrote 0 where nothing is scored. 0 is an id, too: the model would learn to predict it almost everywhere.
  cross_entropy leaves out −100.
special_chosen    & ~special →
  You also chose special tokens. Padding is easy to predict, and nothing is learned from it: leave out `special`.
special_masked    chosen = (first < 0.15) & ~special → chosen = first < 0.15 ; torch.where(chosen, →
      torch.where(chosen & ~special,
  You hid special tokens, too, though you do not score them: leave them out of what is chosen, once.
first_number_scaled    masked = → second = first / 0.15 ⏎ masked =
  You divided `first` by 0.15 in place of taking `second`. That has the same chances in training; with the given numbers
  the results differ.
returned_in_reverse    return inputs, torch.where(chosen, ids, -100) → return torch.where(chosen, ids, -100), inputs
  You returned the labels before the masked text. The text comes first, and only the labels have −100.
wrong_side    first < 0.15 → first > 0.15
  You chose the tokens whose number is not below 0.15. That is 85 % of them, and too little is left to guess from.
tenths_exchanged    second < 0.9 → second > 0.9
  You exchanged the last two shares. A word from `words` comes at 0.8 to 0.9, and from 0.9 on a token stays. In training
  both are the same, 10 % each; with the given numbers the results differ.
shares_of_all    masked = chosen & (second < 0.8) → masked = second < 0.8 ; replaced = chosen & → replaced =
  You masked 80 % of all tokens, and replaced 10 % of them. These shares are of the chosen ones: the conditions need
  `chosen &` in front.
""")


# --- hidden spans ----------------------------------------------------------------------------------------------------

spans_hidden = Exercise(
    "hide_spans",
    inline=True,
    title="What stood in the gaps?",
    goal="`ids` is a list of tokens, and `spans` a list of (start, end) from left to right: ids[start:end] is hidden, "
    "and at least one token stays between two spans. `sentinels` is a list of ids that mark gaps, longer than `spans`. "
    "Return two lists. The input is the text in which sentinel i stands for span i. The target is sentinel 0, the "
    "tokens of span 0, sentinel 1, the tokens of span 1, and so on; after the last span it closes with the next "
    "sentinel. For example, the text 10 11 12 13 14 with the span (1, 3) and the sentinels 90, 91, 92 gives the input "
    "10 90 13 14 and the target 90 11 12 91.",
    difficulty=2,
    minutes=10,
    source="Raffel et al. 2020, section 3.1.4 and figure 2",
    cases=lambda: [
        ([10, 11, 12, 13, 14], [(1, 3)], [90, 91, 92]),
        ([10, 11, 12, 13, 14, 15, 16, 17, 18], [(0, 1), (4, 7)], [90, 91, 92, 93]),
        ([20, 21, 22, 23, 24, 25, 26, 27, 28, 29], [(1, 3), (4, 6), (8, 10)], [95, 94, 93, 92, 91]),
    ],
    run=lambda hide, ids, spans, sentinels: _as_texts(hide(ids, spans, sentinels)),
    hints=(
        "Walk through the spans from left to right, and remember where the last one ended.",
        "For each span: the input gets what lies between the last end and this start, then the sentinel. The target "
        "gets the sentinel, then the hidden tokens.",
        "inputs += [*ids[place:start], sentinel]; targets += [sentinel, *ids[start:end]]; place = end. After the loop "
        "add ids[place:] to the input, and sentinels[len(spans)] to the target.",
    ),
)


def _as_texts(pair):
    """Input and target, each as one text, so that too many or too few tokens are a wrong value."""
    inputs, targets = (as_tensor(part) for part in pair)
    if not (isinstance(inputs, Tensor) and isinstance(targets, Tensor)):
        kinds = " and ".join(type(part).__name__ for part in pair)
        raise TypeError(f"input and target are {kinds}, expected two lists of ids")
    texts = {"input": inputs, "target": targets}
    return {name: " ".join(f"{i:g}" for i in ids.tolist()) for name, ids in texts.items()}


@spans_hidden.solution
def hide_spans(ids, spans, sentinels):
    """Input and target, two lists: the text with a sentinel for each span, and what the sentinels stand for."""
    inputs, targets, place = [], [], 0
    for (start, end), sentinel in zip(spans, sentinels, strict=False):
        inputs += [*ids[place:start], sentinel]
        targets += [sentinel, *ids[start:end]]
        place = end
    return inputs + ids[place:], [*targets, sentinels[len(spans)]]


spans_hidden.slips("""
end_hidden_too    return hide_spans(ids, [(start, min(end + 1, len(ids))) for start, end in spans], sentinels)
  You took the end of a span as part of it: ids[start:end] ends before `end`, and so does the hidden part.
not_closed    [*targets, sentinels[len(spans)]] → targets
  The closing sentinel is missing: nothing tells the model, or you, where the last span ends.
closed_in_the_input    inputs + ids[place:] → [*inputs, *ids[place:], sentinels[len(spans)]]
  Your input ends in a sentinel, too. The closing one belongs to the target alone: there is no gap behind the text.
last_sentinel_closes    sentinels[len(spans)] → sentinels[-1]
  You closed the target with the last sentinel of the list. It is the next one, sentinels[len(spans)].
returned_in_reverse    return inputs + ids[place:], [*targets, sentinels[len(spans)]] →
      return [*targets, sentinels[len(spans)]], inputs + ids[place:]
  You returned the target first. First comes the input, the text with its gaps.
same_sentinel    return hide_spans(ids, spans, [sentinels[0]] * len(sentinels))
  All your gaps have the same sentinel, as with BERT's mask. Each needs its own, or the target could not say which gap
  it fills.
sentinel_behind    [sentinel, *ids[start:end]] → [*ids[start:end], sentinel]
  Your target has each sentinel behind its tokens. It stands in front: it says which gap is filled next.
gaps_unmarked    [*ids[place:start], sentinel] → ids[place:start]
  You cut the spans out and put nothing in their place. Without sentinels the input does not show that anything is
  missing.
target_unmarked    [sentinel, *ids[start:end]] → ids[start:end] ; [*targets, sentinels[len(spans)]] → targets
  Your target has no sentinels between the spans: nobody can tell which token fills which gap.
whole_text_in_the_target    [*targets, sentinels[len(spans)]] → list(ids)
  Your target is the whole text. T5 writes the hidden spans only, which makes its target, and its training, far shorter.
rest_lost    inputs + ids[place:] → inputs
  What follows the last span is missing in your input: after the loop add ids[place:].
sentinel_for_each_token    *ids[place:start], sentinel] → *ids[place:start], *[sentinel] * (end - start)]
  You put one sentinel for every hidden token. One stands for the whole span: the model must also find out how long the
  gap is, and the input becomes shorter.
places_shifted    return inputs + ids[place:] → inputs = list(ids) ⏎
      for (start, end), sentinel in zip(spans, sentinels, strict=False): ⏎     inputs[start:end] = [sentinel] ⏎
      return inputs
  Your places shift: after the first span was cut out, the list is shorter, and the later spans no longer stand where
  they did. Work from right to left, or build a new list.
visible_in_the_target    [sentinel, *ids[start:end]] → [*ids[place:start], sentinel] ;
      [*targets, sentinels[len(spans)]] → targets + ids[place:]
  Your target holds the tokens that stayed. Those are in the input already; the target holds the hidden ones.
""")


# --- leaving out -----------------------------------------------------------------------------------------------------


def _strange(ids):
    """A score of a text that depends on every word and its place."""
    return sum((place + 1) * (7 * word % 11) for place, word in enumerate(ids)) / 10 - len(ids) ** 2 / 7


def _total(ids):
    """A score that counts each word once."""
    return float(sum(ids))


left_out = Exercise(
    "leave_one_out",
    inline=True,
    title="What is missed when it is gone?",
    goal="score(ids) says how well a model does with the source `ids`, a list: larger is better. `parts` is a list of "
    "(start, end). For each part, take ids[start:end] away, and nothing else, and score what is left. Return how much "
    "worse each gets, score of all minus score of the rest, as a list or a tensor of numbers.",
    difficulty=2,
    minutes=6,
    source="Jain and Wallace 2019, section 4.1, for single words",
    cases=lambda: [
        (_strange, [3, 1, 4, 1, 5], [(0, 2), (2, 5)]),
        (_strange, [9, 2, 6, 5, 3, 5, 8], [(0, 1), (1, 4), (4, 6), (6, 7)]),
        (_total, [1, 2, 4, 8, 16], [(1, 3), (3, 5)]),
    ],
    run=lambda leave, score, ids, parts: torch.as_tensor(leave(score, list(ids), parts), dtype=torch.float64),
    hints=(
        "Score the whole once. Then one loop over the parts.",
        "ids[:start] + ids[end:] is the source without a part.",
        "[score(ids) - score(ids[:start] + ids[end:]) for start, end in parts]",
    ),
)


@left_out.solution
def leave_one_out(score, ids, parts):
    """For each (start, end): how much the score falls without ids[start:end]."""
    whole = score(ids)
    return [whole - score(ids[:start] + ids[end:]) for start, end in parts]


left_out.slips("""
part_kept_alone    return [score(ids) - score(ids[a:b]) for a, b in parts]
  You kept the part alone and took all else away. That asks what a part can do alone, not what is missed without it.
difference_turned    return [score(ids[:a] + ids[b:]) - score(ids) for a, b in parts]
  Your difference is turned. What is needed makes the score *fall*: all minus the rest, so that its number is large.
scores_of_the_rest    return [score(ids[:a] + ids[b:]) for a, b in parts]
  You returned the scores of what is left. Subtract each of them from the score of all.
end_left_out_too    return [score(ids) - score(ids[:a] + ids[b + 1 :]) for a, b in parts]
  You took away one word too many: ids[start:end] ends before `end`.
start_kept    return [score(ids) - score(ids[: a + 1] + ids[b:]) for a, b in parts]
  You took away one word too few: the part begins at `start` itself.
relative    return [(score(ids) - score(ids[:a] + ids[b:])) / score(ids) for a, b in parts]
  You divided by the score of all. The difference itself is asked for; of logarithms it is a ratio.
zeros_in_its_place    return [score(ids) - score(ids[:a] + [0] * (b - a) + ids[b:]) for a, b in parts]
  You wrote 0 where the part stood. 0 is a token, too, and all later words keep their places: take the part away.
equal_words_gone_too    return [score(ids) - score([i for i in ids if i not in ids[a:b]]) for a, b in parts]
  You took away equal words elsewhere, too: you looked for the part's ids. Take out its places.
rest_behind_lost    return [score(ids) - score(ids[:a]) for a, b in parts]
  You dropped all that follows the part. Only ids[start:end] goes: add ids[end:] again.
""")


@left_out.mistake(
    "You took away one part after the other, and never put one back. Each part is left out alone: begin with all of "
    "`ids` every time."
)
def parts_stay_away(score, ids, parts):
    found, rest, gone = [], list(ids), 0
    for start, end in parts:
        rest = rest[: start - gone] + rest[end - gone :]
        gone += end - start
        found.append(score(ids) - score(rest))
    return found
