"""The exercises that stand where the notebook needs them: perplexity, and the loop that writes."""

import torch

from tx_helpers.exercises.compare import as_tensor
from tx_helpers.exercises.exercise import Exercise, random_tensors

# --- perplexity ------------------------------------------------------------------------------------------------------

wavering = Exercise(
    "perplexity",
    title="Perplexity",
    goal="A model gives the logits (T, V) for T places of a text; `targets` (T,) are the ids that really came there. "
    "Return the perplexity: e to the power of the mean surprise, where the surprise of a place is −ln p of the id that "
    "came.",
    difficulty=1,
    minutes=6,
    source="Jelinek et al. 1977",
    formula=r"\mathrm{perplexity} = \exp\Bigl(-\frac{1}{T} \sum_t \ln p_t\Bigr)",
    cases=lambda: [
        (torch.zeros(2, 4), torch.tensor([0, 3])),
        (torch.tensor([[2.0, 0.0, 1.0], [0.0, 3.0, -1.0]]), torch.tensor([0, 2])),
        (random_tensors((6, 5), seed=3)[0], torch.tensor([4, 0, 1, 1, 3, 2])),
        (torch.tensor([[120.0, 0.0], [0.0, 1.0]]), torch.tensor([1, 0])),
    ],
    hints=(
        "The softmax of each row gives p. Which of its V numbers do you need at place t?",
        "log_softmax gives all ln p at once. Pick the ids that came, take the mean, turn its sign, then exp.",
        "log_p = logits.log_softmax(-1)[torch.arange(len(targets)), targets]; return (-log_p.mean()).exp()",
    ),
    inline=True,
)


@wavering.solution
def perplexity(logits, targets):
    """e to the mean surprise, for logits (T, V) and the ids that came, targets (T,): a number."""
    log_p = logits.log_softmax(-1)  # (T, V)
    came = log_p.gather(-1, targets[:, None])  # (T, 1)
    surprise = -came.mean()
    return surprise.exp()


wavering.slips("""
softmax_twice    logits.log_softmax(-1) → logits.softmax(-1).log_softmax(-1)
  You took the softmax twice: cross_entropy takes the logits themselves, and has its own softmax in it.
loss_itself    surprise.exp() → surprise
  You returned the mean surprise, which is the loss, in nats. The perplexity is e to that power.
sign_lost    = -came → = came
  You lost the sign: e to the mean of ln p is below 1, the reciprocal of the perplexity.
power_of_two    surprise.exp() → 2**surprise
  You raised 2 to a surprise in nats. Take e with ln, or 2 with log₂: the two belong together.
sum_for_mean    .mean() → .sum()
  You added the surprises in place of their mean: the result grows with the length of the text.
mean_of_one_over_p    -came.mean() → (-came).exp().mean() ; surprise.exp() → surprise
  You took the mean of 1/p. The mean comes first, over −ln p; a single rare id would ruin your number.
one_over_mean_p    -came.mean() → 1 / came.exp().mean() ; surprise.exp() → surprise
  You took the mean of p, and one over it. The mean is that of the surprises, −ln p.
no_softmax    return (-logits.gather(-1, targets[:, None]).mean()).exp()
  You took the logits for ln p. They become log-probabilities by log_softmax(-1) alone.
softmax_down_the_places    return (-logits.log_softmax(0).gather(-1, targets[:, None]).mean()).exp()
  Your softmax runs over the places, dimension 0. Each place has its own distribution: log_softmax(-1).
entropy_of_the_model    return torch.special.entr(logits.softmax(-1)).sum(-1).mean().exp()
  You measured the model's own entropy: how unsure it is. The perplexity asks for the ids that really came.
likeliest_taken    return (-logits.log_softmax(-1).amax(-1).mean()).exp()
  You took the likeliest id of each place in place of the one that came, so no wrong guess costs anything.
log_of_softmax    return (-logits.softmax(-1).log().gather(-1, targets[:, None]).mean()).exp()
  You took the logarithm of a softmax, which is −∞ where p is too small for a float. Use log_softmax.
all_of_the_vocabulary    return (-logits.log_softmax(-1).mean()).exp()
  You took the mean over all V ids of each place. Only the id that came counts: pick it with gather.
""")


# --- the loop --------------------------------------------------------------------------------------------------------

loop = Exercise(
    "write_on",
    title="The loop that writes",
    goal="`model` maps ids (1, T) to logits (1, T, V), and may see at most `context` ids. `choose` maps the logits "
    "(V,) of one place to an id. Go on with the list `ids`, n times: show the model the newest ids, at most `context` "
    "of them, let `choose` choose from the logits of the last place, and append the id. Return the list with all ids, "
    "old and new.",
    difficulty=2,
    minutes=8,
    cases=lambda: [
        (_counting, [1], 3, 8, _likeliest),
        (_counting, [3, 1, 4, 1, 5], 4, 3, _likeliest),
        (_counting, [2, 0, 6], 6, 5, _unlikeliest),
        (_counting, [5, 2], 1, 1, _likeliest),
        (_counting, [4, 0, 2], 5, 4, _number_near_the_top),
    ],
    run=lambda answer, model, ids, n, context, choose: _in_a_row(answer(model, ids, n, context, choose)),
    hints=(
        "What the model may see is the end of the list. How do you take the last `context` entries of a list?",
        "ids[-context:] in a tensor (1, T). Its logits have T rows: which of them belongs to the next id?",
        "for _ in range(n): logits = model(torch.tensor([ids[-context:]]))[0, -1]; ids = [*ids, choose(logits)]",
    ),
    inline=True,
)


def _counting(ids):
    """A model whose logits depend on every id that it sees, and on how many there are."""
    places = torch.arange(1, ids.shape[1] + 1)
    sums = (ids * places**2).cumsum(-1) + places  # (1, T)
    return ((sums[..., None] * torch.tensor([3, 5, 7, 11, 13, 17, 19])) % 23).double()


def _in_a_row(written):
    """The ids as one text, so that too many or too few of them are a wrong value."""
    ids = as_tensor(written)
    return " ".join(map(str, ids.tolist())) if isinstance(ids, torch.Tensor) and ids.dim() == 1 else written


def _likeliest(logits):
    return int(_of_one_place(logits).argmax())


def _unlikeliest(logits):
    return int(_of_one_place(logits).argmin())


def _number_near_the_top(logits):
    """Like a temperature, it depends on how far apart the logits are: probabilities are all near the top."""
    return int((_of_one_place(logits) > logits.max() - 6.5).sum()) - 1


def _of_one_place(logits):
    """The logits, if they have no more axes than `choose` is promised."""
    if logits.dim() != 1:
        raise ValueError(f"choose: the logits have the shape {tuple(logits.shape)}, expected (V,)")
    return logits


@loop.solution
def write_on(model, ids, n, context, choose):
    """The ids and n more, each chosen from the model's logits after the newest `context` ids."""
    ids = list(ids)
    for _ in range(n):
        seen = torch.tensor([ids[-context:]])  # (1, T)
        logits = model(seen)  # (1, T, V)
        ids.append(choose(logits[0, -1]))
    return ids


loop.slips("""
one_from_each_place    return [*ids,
      *(choose(row) for row in model(torch.tensor([ids[-context:]]))[0].repeat(n, 1)[:n])]
  You asked once and took an id from each place. The places of the text so far tell what has come already.
everything_shown    ids[-context:] → ids
  You showed the model the full text. Beyond `context` ids it was never trained, and ours raises an error.
beginning_shown    ids[-context:] → ids[:context]
  You showed the first `context` ids. Once the text is longer, the model sees the same beginning each time.
newest_alone    ids[-context:] → ids[-1:]
  You showed the newest id alone, as with a cache. This model has none: show it all that it may see.
one_too_few_shown    ids[-context:] → ids[-max(1, context - 1) :]
  Your window is one id too short: the model may see `context` ids, and you show it one less.
first_place_read    logits[0, -1] → logits[0, 0]
  You read the logits of the first place: it has seen the first id only. The last place has seen them all.
probabilities_chosen_from    return write_on(model, ids, n, context, lambda logits: choose(logits.softmax(-1)))
  You gave `choose` probabilities. It expects logits: a temperature would act on them twice.
one_too_many    range(n) → range(n + 1)
  You wrote one id too many: the loop runs n times.
one_too_few    range(n) → range(n - 1)
  You wrote one id too few: the loop runs n times, and each time one id is appended.
likeliest_always    return write_on(model, ids, n, context, _likeliest)
  You took the likeliest id yourself. Call `choose`: it may draw, or prefer another one.
new_ids_alone    return write_on(model, ids, n, context, choose)[len(ids) :]
  You returned the new ids alone: the list begins with the ids that were there before.
window_alone    return write_on(model, ids, n, context, choose)[-context - 1 :]
  You returned only the ids that the model saw last, and the new one: the older ones are lost.
asked_once    for _ in → first = list(ids) ⏎ for _ in ; ids[-context:] → first[-context:]
  You asked the model once and used its logits n times. Each new id changes the text: ask again for each.
put_in_front    ids.append( → ids.insert(0,
  Each id came in front of the list. The model reads from left to right: append it at the end.
""")
