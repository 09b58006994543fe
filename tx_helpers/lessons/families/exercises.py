"""Exercises on families of Transformers."""

import torch

from tx_helpers.exercises.compare import as_mask
from tx_helpers.exercises.exercise import Exercise
from tx_helpers.exercises.quizzes import questions

# --- a prefix --------------------------------------------------------------------------------------------------------

prefix = Exercise(
    "prefix_masks",
    title="A prompt that is read both ways, step 1 of 2",
    goal="A prefix language model reads its prompt like an encoder and writes like a decoder, in one stack. The first "
    "lengths[b] tokens of text b are its prompt. Write the boolean mask (B, 1, T, T), True where query t (row) may "
    "look at key s (column): every query may look at the whole prompt, at itself, and at all tokens before itself. The "
    "axis of length 1 is for the heads.",
    difficulty=2,
    minutes=8,
    source="Raffel et al. 2020, section 3.2.1",
    cases=lambda: [
        (torch.tensor([2]), 4),
        (torch.tensor([3, 1]), 5),
        (torch.tensor([0, 2, 6]), 6),
    ],
    run=lambda make, lengths, T: as_mask(make(lengths, T)),
    hints=(
        "Two rules joined by “or”: the key lies in the prompt, or the key does not come after the query.",
        "s = torch.arange(T) is the key, s[:, None] the query. Compare the key with lengths[:, None, None, None].",
        "(s <= s[:, None]) | (s < lengths[:, None, None, None])",
    ),
)


@prefix.solution
def prefix_masks(lengths, T):
    """Mask (B, 1, T, T), True where a query may look: its past, and the first lengths[b] keys; lengths (B,)."""
    key = torch.arange(T)
    query = key[:, None]
    in_the_prompt = key < lengths[:, None, None, None]  # (B, 1, 1, T)
    return in_the_prompt | (key <= query)


prefix.slips("""
causal_alone    in_the_prompt | → (in_the_prompt & False) |
  Your mask is causal everywhere: a token of the prompt does not see the prompt's later tokens. This is a plain GPT.
everything_open    in_the_prompt | (key <= query) → in_the_prompt | (key >= 0) | (query >= 0)
  Everybody sees everything: this is BERT's mask. In training the answer could copy its own next token.
inside_out    return in_the_prompt | (key <= query) → return ~(in_the_prompt | (key <= query))
  Your mask is inside out: True means “may look” here, and yours is True where looking is forbidden.
prompt_one_short    key < lengths[:, None, None, None] → key < lengths[:, None, None, None] - 1
  Your prompt is one token too short: keys 0 to n − 1 belong to it, so s < n.
prompt_one_long    key < lengths → key <= lengths
  Your prompt is one token too long: key n is the first token of the answer, and you show it to everybody. Use s < n.
prompt_sees_the_answer    in_the_prompt = key → in_the_prompt = query
  Your prompt looks at the answer: you opened the rows of the prompt. Open its columns: what decides is the key.
prompt_forgotten    in_the_prompt | (key <= query) →
      (in_the_prompt == in_the_prompt.mT) & (in_the_prompt | (key <= query))
  Your answer does not see the prompt, only itself: such a model could not answer anything.
answer_both_ways    (key <= query) → ~in_the_prompt.mT
  Your answer is read both ways, too: its tokens see their own future. After the prompt the mask is causal.
prompt_only    in_the_prompt | (key <= query) → in_the_prompt & (query >= 0)
  Your answer sees the prompt and none of its own tokens: each word would be written without a look at the words before
  it.
not_itself    key <= query → key < query
  A token of the answer does not see itself in your mask. It predicts the next one, so it may: s ≤ t.
transposed    in_the_prompt = key → in_the_prompt = query ; (key <= query) → (key >= query)
  Your mask is transposed: rows are queries, columns are keys. Yours lets the past look at the future.
""")


# --- the loss of a prefix model --------------------------------------------------------------------------------------


def _mask_of(lengths, T):
    """The mask of step 1."""
    s = torch.arange(T)
    return (s <= s[:, None]) | (s < lengths[:, None, None, None])


def _mixing(ids, mask):
    """A model of seven words whose logits (B, T, 7) at each place depend on the ids that the mask shows there."""
    places = torch.arange(1, ids.shape[1] + 1)
    sums = ids * places**2 + places
    for _ in range(2):  # two layers: what the prompt's places have seen reaches the answer
        sums = (mask[:, 0].long() * sums[:, None]).sum(-1) % 101 * places
    return ((sums[..., None] * torch.tensor([3, 5, 7, 11, 13, 17, 19])) % 23).double() / 5


answers_scored = Exercise(
    "prefix_loss",
    title="A prompt that is read both ways, step 2 of 2",
    goal="Now train with it. `masks` is your function of step 1, and model(inputs, mask) gives logits (B, T, V). Each "
    "text of ids (B, T) begins with lengths[b] tokens of prompt (1 or more), and the rest is its answer. The model "
    "reads all tokens but the last, with the mask for as many tokens, and predicts the next token everywhere. Return "
    "the mean of −ln p over all tokens of all answers. The prompt is read, not scored.",
    difficulty=3,
    minutes=12,
    source="Raffel et al. 2020, section 3.2.1",
    cases=lambda: [
        (_mixing, torch.tensor([[2, 5, 1, 3]]), torch.tensor([2]), _mask_of),
        (_mixing, torch.tensor([[2, 5, 1, 3, 6], [4, 4, 0, 1, 2]]), torch.tensor([3, 1]), _mask_of),
        (
            _mixing,
            torch.tensor([[1, 6, 2, 0, 5, 3], [3, 1, 5, 5, 2, 4], [0, 2, 6, 1, 1, 3]]),
            torch.tensor([1, 4, 5]),
            _mask_of,
        ),
    ],
    hints=(
        "The input has T − 1 tokens, so the mask does, too. The target is ids without its first column.",
        "Column t of the target is token t + 1 of the text. It belongs to the answer where t + 1 >= lengths[b].",
        "losses = −model(ids[:, :-1], masks(lengths, T - 1)).log_softmax(-1).gather(…); then losses[answer].mean()",
    ),
)


@answers_scored.solution
def prefix_loss(model, ids, lengths, masks):
    """Mean −ln p of the answers' tokens; ids (B, T), lengths (B,) of the prompts, masks(lengths, T) of step 1."""
    T = ids.shape[1] - 1
    logits = model(ids[:, :-1], masks(lengths, T))  # (B, T, V)
    target = ids[:, 1:]  # (B, T)
    log_p = logits.log_softmax(dim=-1).gather(-1, target[..., None])[..., 0]
    in_the_answer = torch.arange(1, T + 1) >= lengths[:, None]
    return -log_p[in_the_answer].mean()


answers_scored.slips("""
prompt_scored    -log_p[in_the_answer] → -log_p
  You scored the prompt, too. Its tokens see each other, so the model could copy them: only the answer asks something.
first_word_free    >= lengths → > lengths
  You left out the first token of each answer. The prompt's last place predicts it: place lengths[b] of the text is part
  of the answer.
last_of_the_prompt    lengths[:, None] → lengths[:, None] - 1
  You scored the prompt's last token. Token number lengths[b] − 1 still belongs to the prompt.
only_the_prompt    -log_p[in_the_answer] → -log_p[~in_the_answer | (torch.arange(T) == T - 1)]
  You scored the prompt and left out the answer: the condition is the wrong way round.
causal_mask_used    masks(lengths, T)) → torch.ones(len(ids), 1, T, T, dtype=torch.bool).tril())
  Your model read the prompt from left to right. Give it the mask of step 1, masks(lengths, T − 1).
no_mask_used    masks(lengths, T)) → torch.ones(len(ids), 1, T, T, dtype=torch.bool))
  Everybody saw everything, the answer, too: a model trained so copies the next token and can write nothing.
mean_of_means    -log_p[in_the_answer].mean() → -((log_p * in_the_answer).sum(1) / in_the_answer.sum(1)).mean()
  You took the mean of each text, and then the mean of these. All tokens of all answers count alike, so a long answer
  weighs more.
divided_by_all    -log_p[in_the_answer].mean() → -(log_p * in_the_answer).mean()
  You divided by the number of all tokens. Divide by the number of those that you scored.
added_up    [in_the_answer].mean() → [in_the_answer].sum()
  You added up. The loss is the mean over the answers' tokens.
sign_lost    return -log_p → return log_p
  Your sign is turned: ln p is negative, and a loss is its opposite.
target_not_shifted    target = ids[:, 1:] → target = ids[:, :-1] ; torch.arange(1, T + 1) → torch.arange(T)
  You compared logits and tokens at the same place, so the model is scored on a token that it can see. The target of
  place t is token t + 1.
""")


# --- a decoder fills a gap -------------------------------------------------------------------------------------------


def _counting(ids):
    """A causal model of seven words whose logits (B, T, 7) depend on all ids (B, T) up to each place."""
    places = torch.arange(1, ids.shape[1] + 1)
    sums = (ids * places**2).cumsum(-1) + places
    return ((sums[..., None] * torch.tensor([3, 5, 7, 11, 13, 17, 19])) % 23).double() / 5


gaps = Exercise(
    "gap_scores",
    inline=True,
    title="Let a decoder fill the gap",
    goal="A decoder cannot look to the right of a gap, but it can read whole sentences. `ids` (T,) is a sentence whose "
    "first token marks its beginning. Put each of `candidates` (C,) in the place `gap` (0 < gap < T). Return (C,): for "
    "each of these sentences the logarithm of its probability under `model`, that is, ln p of every token after the "
    "first, added up. `model` maps ids (C, T) to logits (C, T, V), and the logits at place t belong to token t + 1.",
    difficulty=3,
    minutes=12,
    cases=lambda: [
        (_counting, torch.tensor([0, 3, 1]), 1, torch.tensor([2, 5])),
        (_counting, torch.tensor([0, 3, 1, 4, 2]), 2, torch.tensor([0, 1, 2, 3, 4, 5, 6])),
        (_counting, torch.tensor([1, 2, 6, 5]), 3, torch.tensor([6, 0, 4])),
    ],
    hints=(
        "Build all C sentences first, in one tensor (C, T). `ids` itself must not change.",
        "model(texts).log_softmax(-1) has a row for every place. Row t tells about token t + 1: leave out the last "
        "row, and the first token.",
        "log_p[:, :-1].gather(-1, texts[:, 1:, None]) has the shape (C, T − 1, 1). Add up over the places.",
    ),
)


@gaps.solution
def gap_scores(model, ids, gap, candidates):
    """ln p (C,) of the sentence ids (T,) with each of the candidates (C,) in the place `gap`."""
    texts = ids.repeat(len(candidates), 1)  # (C, T)
    texts[:, gap] = candidates
    log_p = model(texts[:, :-1]).log_softmax(dim=-1)  # (C, T−1, V)
    came = log_p.gather(-1, texts[:, 1:, None])  # (C, T−1, 1)
    return came.sum(dim=(1, 2))


gaps.slips("""
right_side_alone    came.sum(dim=(1, 2)) → came[:, gap:].sum(dim=(1, 2))
  You added up what comes after the gap only. How likely the candidate itself is after the words to its left belongs to
  the sentence, too, and so do these words.
left_side_alone    came.sum(dim=(1, 2)) → came[:, gap - 1, 0]
  You scored the candidate alone, after the words to its left. The words to the right tell which candidate fits, and the
  decoder meets them only as it reads on: add up the full sentence.
up_to_the_gap    came.sum(dim=(1, 2)) → came[:, :gap].sum(dim=(1, 2))
  You stopped at the gap. The part before it is the same for all candidates; the part after it decides.
from_the_gap_on    came.sum(dim=(1, 2)) → came[:, gap - 1 :].sum(dim=(1, 2))
  You began at the gap. That ranks the candidates in the same way, since the part before is the same for all; but it is
  not the probability of the sentence.
candidate_left_out    came.sum(dim=(1, 2)) → came.sum(dim=(1, 2)) - came[:, gap - 1, 0]
  You left out the candidate's own probability. A word that the model hardly expects must pay for it.
mean_for_sum    came.sum( → came.mean(
  You took the mean over the tokens. The logarithm of a product is the sum of the logarithms.
probability_returned    came.sum(dim=(1, 2)) → came.sum(dim=(1, 2)).exp()
  You returned the probability. Of a long sentence it is too small for a float; return its logarithm.
probabilities_added    came.sum( → came.exp().sum(
  You added up probabilities. Those of the tokens are multiplied, so their logarithms are added.
sign_turned    return came → return -came
  You turned the sign: this is the loss of each sentence, whose smallest wins. ln p is negative.
shared_among_candidates    came.sum(dim=(1, 2)) → came.sum(dim=(1, 2)).log_softmax(0)
  You divided by the sum over the candidates. That gives each one's share, a fine answer to another question: here ln p
  of each sentence is wanted.
not_shifted    texts[:, :-1] → texts ; texts[:, 1:, None] → texts[..., None] ; came.sum → came[:, 1:].sum
  You compared logits and tokens at the same place. The logits at place t belong to token t + 1, which they were made to
  predict.
logits_added    .log_softmax(dim=-1) →
  You added up the logits. They become logarithms of probabilities by log_softmax(-1) alone; without it a sentence with
  large logits wins.
candidates_not_read    model(texts[:, :-1]).log_softmax(dim=-1) →
      model(ids[None, :-1]).log_softmax(dim=-1).expand(len(texts), -1, -1)
  Your model read the sentence as it was, without the candidates. What comes after the gap must be read with each
  candidate in its place.
scored_on_the_old_word    texts[:, 1:, None] → ids[1:].expand(len(texts), -1)[..., None]
  You asked for the tokens of `ids`, also in the gap: the model reads the candidates and is scored on the old word. Each
  sentence is scored on its own tokens.
""")


# --- several gaps ----------------------------------------------------------------------------------------------------


def _scores(model, ids, gap, candidates):
    """Step 1."""
    texts = ids.repeat(len(candidates), 1)
    texts[:, gap] = candidates
    return model(texts[:, :-1]).log_softmax(-1).gather(-1, texts[:, 1:, None]).sum(dim=(1, 2))


several = Exercise(
    "fill_gaps",
    title="A decoder fills several gaps",
    goal="A sentence has several gaps, and each depends on the others. `scores` is your `gap_scores` from above. Go "
    "over the places in `gaps` in their order, and put into each the candidate with the best score, given what the "
    "sentence holds by then. Do this `rounds` times, so that the first gaps can change again once the later ones are "
    "filled. Return the filled sentence (T,); `ids` itself must not change.",
    difficulty=3,
    minutes=10,
    source="Ghazvininejad et al. 2019, mask-predict, for the idea of filling again",
    cases=lambda: [
        (_scores, _counting, torch.tensor([0, 3, 1, 4]), [2], torch.tensor([2, 5, 6]), 1),
        (_scores, _counting, torch.tensor([6, 3, 3, 4, 6, 5, 0]), [3, 5, 1], torch.arange(7).flip(0), 2),
        (_scores, _counting, torch.tensor([1, 1, 6, 0, 6, 4, 0]), [3, 5, 1], torch.arange(7).flip(0), 3),
    ],
    hints=(
        "Two loops: rounds outside, gaps inside. Work on a copy of ids.",
        "best = scores(model, text, gap, candidates).argmax() is a place among the candidates, not an id.",
        "text = ids.clone(); in the inner loop: text[gap] = candidates[scores(model, text, gap, candidates).argmax()]",
    ),
)


@several.solution
def fill_gaps(scores, model, ids, gaps, candidates, rounds):
    """The sentence (T,) with each gap filled by its best candidate, `rounds` times over; scores: gap_scores."""
    text = ids.clone()
    for _ in range(rounds):
        for gap in gaps:
            best = scores(model, text, gap, candidates).argmax()
            text[gap] = candidates[best]
    return text


several.slips("""
one_round_alone    range(rounds) → range(1)
  You went over the gaps once. The first was filled before the others were known: repeat, `rounds` times.
worst_taken    argmax → argmin
  You took the candidate with the lowest score. ln p is the larger, the likelier the sentence.
place_for_a_word    candidates[best] → best
  You wrote the place of the best candidate into the gap. candidates[best] is its id.
backwards    gap in gaps → gap in gaps[::-1]
  You went over the gaps in the opposite order. The order of `gaps` decides which one is filled first.
sorted_gaps    gap in gaps → gap in sorted(gaps)
  You sorted the gaps, or went from left to right. Take them in the order in which they are given.
one_gap_alone    gap in gaps → gap in gaps[:1]
  You filled one gap only. All places in `gaps` are to be filled.
one_round_too_many    return fill_gaps(scores, model, ids, gaps, candidates, rounds + 1)
  You went over the gaps once more than asked: rounds = 1 means a single time.
gaps_filled_apart    scores(model, text, → scores(model, ids,
  Each gap was filled as if the others still held what they held at the beginning. Score the sentence as it is by then:
  pass the filled copy, not ids.
gaps_filled_together    for gap in gaps: → seen = text.clone() ⏎ for gap in gaps: ; scores(model, text, →
      scores(model, seen,
  The gaps were filled together at the end of each round. Fill one, and let the next one see it already.
""")


# --- the quiz --------------------------------------------------------------------------------------------------------

QUIZ = questions("""
A block of an encoder and one of a decoder-only model: what differs?
  - The order of attention and feed-forward | Both have attention first, then the feed-forward part.
  * The mask | The weights even have the same shapes; the causal mask hides the future.
  - The decoder-only one has cross-attention | There is no encoder that it could look at.
A family scores 0.35 in a task, and a guess without any model 0.90. What does this say about its shape?
  - That this shape is wrong for the task | Four times as many steps brought it to 1.00 here.
  * Nothing yet | Below the guess, the model has not learned the task.
  - That it has too few parameters | With the same parameters, longer training helped.
A masked model has a loss of 1.2 nats, a causal one of 1.8. Which one knows the language better?
  - The masked one, since its loss is lower | It sees both sides, so its task is another.
  - The causal one, since it predicts every word | How many words are scored says nothing of this.
  * The losses do not tell | Each objective has its own floor.
Which text does T5 get for “the cat sat on the mat”, if “cat sat” is hidden?
  * the <x0> on the mat | One sentinel for a span, whatever its length.
  - the <mask> <mask> on the mat | That is BERT: as many masks as words.
  - the on the mat | Nothing would show where something is missing.
How do you find out which sentence of a text a summary needed?
  - Look where the cross-attention has most weight | In our run that was right in 57 %; “the longest” in 46 %.
  * Leave each out, and score the summary again | What is missed most was needed.
  - Take the sentence that shares most words with it | It may share words that stand elsewhere, too.
""")
