"""The exercise in two steps: find the places that ask a model's memory, then measure what it remembers."""

import math

import torch

from tx_helpers.exercises.exercise import Exercise

NAMES = ["Ada", "Ben", "Mia", "Sam"]
SHORT, TALE, ROUND = (
    text.split()
    for text in (
        "Ben ran so Ben sat and Ada saw Ben",
        "Mia met Ben and Mia gave Ben a bell so Sam ran and Ada saw Mia and Sam but not Ben",
        "Sam Ada Sam Sam Mia Ada Ada Ben Sam Mia Ben Ada",
    )
)

# --- step 1 ----------------------------------------------------------------------------------------------------------

asking = Exercise(
    "memory_questions",
    title="Test a memory, step 1 of 2",
    goal="`words` is a text as a list of words, and `names` is a list of the names that matter. A place t asks a "
    "model's memory if words[t] is a name that the text has said before. For each such place, in order, return a pair "
    "(t, visible). visible is True if the name stands among the `context` words just before place t, which are all "
    "that the model sees there.",
    difficulty=2,
    minutes=8,
    cases=lambda: [(SHORT, NAMES, 3), (TALE, NAMES, 5), (TALE, ["Ben", "Sam"], 4), (ROUND, NAMES, 2)],
    run=lambda answer, words, names, context: _as_text(answer(list(words), list(names), context)),
    hints=(
        "Two questions for each place: was this name said anywhere before, and was it said in the window before?",
        "Everything before place t is words[:t]. The window is its end, and it never begins before the text does.",
        "visible = words[t] in words[max(0, t - context) : t]",
    ),
)


def _as_text(pairs):
    """The pairs as one text, so that a missing or additional place is a wrong value."""
    if not isinstance(pairs, list | tuple) or not all(isinstance(pair, list | tuple) for pair in pairs):
        return pairs
    return " ".join(f"{int(t)}:{'visible' if visible else 'hidden'}" for t, visible in pairs)


@asking.solution
def memory_questions(words, names, context):
    """[(t, visible), …] for each place t of `words` with a name that was said before."""
    found = []
    for t, word in enumerate(words):
        if word in names and word in words[:t]:
            found.append((t, word in words[max(0, t - context) : t]))
    return found


asking.slips("""
first_mentions_too    = _asked(lambda words, names, t, word, context: word in names, _seen)
  You ask at a name's first mention, too. Nothing has been said yet that a model could remember there.
all_words    = _asked(lambda words, names, t, word, context: word in words[:t], _seen)
  You ask at every word that returns. Only names count: “and” returns without any memory.
one_too_many    = _asked(_again, lambda words, t, context: words[t] in words[max(0, t - context - 1) : t])
  Your window has a word too many: it begins at t − context, and place t itself does not belong to it.
one_too_few    = _asked(_again, lambda words, t, context: words[t] in words[max(0, t - context + 1) : t])
  Your window is one word too short. The last `context` words before t are t − context up to t − 1.
negative_start    = _asked(_again, lambda words, t, context: words[t] in words[t - context : t])
  Near the beginning t − context is negative, and Python counts that from the end: begin at max(0, …).
answer_in_the_window    = _asked(_again, lambda words, t, context: words[t] in words[max(0, t - context) : t + 1])
  Your window holds place t itself, so each name is found in it. The model sees only what stands before t.
first_mention_decides    = _asked(_again, lambda words, t, context: words.index(words[t]) >= t - context)
  You looked where the name was said first. A later mention may still stand in the window.
visible_only    = _asked(lambda words, names, t, word, context: _again(words, names, t, word, context)
      and _seen(words, t, context), _seen)
  You kept only the places whose name is in the window. Step 2 needs the hidden ones, to compare.
upside_down    = _asked(_again, lambda words, t, context: not _seen(words, t, context))
  Your visible is upside down: it is True where the name stands in the window.
""")


def _asked(asks, visible):
    """A mistake that asks at other places, or sees another window."""

    def pairs(words, names, context):
        return [(t, visible(words, t, context)) for t, word in enumerate(words) if asks(words, names, t, word, context)]

    return pairs


def _again(words, names, t, word, context):
    return word in names and word in words[:t]


def _seen(words, t, context):
    return words[t] in words[max(0, t - context) : t]


# --- step 2 ----------------------------------------------------------------------------------------------------------

measured = Exercise(
    "memory_score",
    title="Test a memory, step 2 of 2",
    goal="`questions` are the pairs (t, visible) of step 1. `model` maps the words that it sees, at most `context`, to "
    "a dictionary: name → probability. At each question, let the lead be ln p of the right name, minus the mean of "
    "ln p over all other names. Return two numbers: the mean lead at the visible questions, and the mean lead at the "
    "hidden ones (0 where there is no such question). A model without a memory has a lead near 0.",
    difficulty=3,
    minutes=12,
    cases=lambda: [
        (_listener, SHORT, memory_questions(SHORT, NAMES, 3), 3),
        (_listener, TALE, memory_questions(TALE, NAMES, 5), 5),
        (_listener, ROUND, memory_questions(ROUND, NAMES, 2), 2),
        (_listener, TALE, memory_questions(TALE, ["Ben"], 3), 3),
    ],
    run=lambda answer, model, words, questions, context: torch.as_tensor(
        [float(lead) for lead in answer(model, list(words), list(questions), context)], dtype=torch.float64
    ),
    hints=(
        "At place t the model may see words[max(0, t - context) : t]. Which entry of its dictionary is the right one?",
        "Collect the leads in two lists, one for visible questions and one for hidden ones. Take each list's mean.",
        "lead = log(p[right]) - sum(log(q) for name, q in p.items() if name != right) / (len(p) - 1)",
    ),
)


def _listener(seen):
    """A model that likes names it has just seen, and some names better than others."""
    likes = {name: 1.0 + 0.5 * n for n, name in enumerate(NAMES)}
    for place, word in enumerate(seen):
        if word in likes:
            likes[word] += 2.0 + 1.5 * place
    total = sum(likes.values()) + 0.25 * len(seen)
    return {name: like / total for name, like in likes.items()}


def _window(words, t, context):
    return words[max(0, t - context) : t]


def _mean(leads):
    return sum(leads) / len(leads) if leads else 0.0


def _lead(p, right):
    others = [math.log(q) for name, q in p.items() if name != right]
    return math.log(p[right]) - _mean(others)


@measured.solution
def memory_score(model, words, questions, context):
    """The mean lead of the right name in nats: (at visible questions, at hidden ones)."""
    leads = {True: [], False: []}
    for t, visible in questions:
        p = model(words[max(0, t - context) : t])
        others = [math.log(q) for name, q in p.items() if name != words[t]]
        leads[bool(visible)].append(math.log(p[words[t]]) - sum(others) / len(others))
    return [sum(group) / max(1, len(group)) for group in leads.values()]


measured.slips("""
everything_shown    = _scored(window=lambda words, t, context: words[:t])
  You showed the model all that stands before t. It may see `context` words: hidden names must stay hidden.
answer_shown    = _scored(window=lambda words, t, context: words[max(0, t - context + 1) : t + 1])
  Your window ends with place t, so the model is shown the name that it should remember.
without_a_rival    = _scored(lead=lambda p, right: math.log(p[right]))
  You took ln p of the right name alone. A name may be likely everywhere: subtract what the others get.
right_among_the_others    = _scored(lead=lambda p, right: math.log(p[right]) - _mean([math.log(q) for q in p.values()]))
  The right name is among your others, so it is compared with itself. Leave it out of the mean.
probabilities_subtracted    = _scored(lead=lambda p, right: p[right]
      - _mean([q for name, q in p.items() if name != right]))
  You subtracted probabilities. The lead is a difference of logarithms, in nats.
log_of_the_mean    = _scored(lead=lambda p, r: math.log(p[r])
      - math.log(_mean([q for name, q in p.items() if name != r])))
  You took the logarithm of the others' mean p. Take each one's ln p first, and then the mean.
best_rival    = _scored(lead=lambda p, r: math.log(p[r]) - max(math.log(q) for name, q in p.items() if name != r))
  You subtracted the best of the others. The goal asks for the mean over all of them.
sums    = _scored(mean=sum)
  You added the leads of each group. Return their means, or a longer text gets a larger score.
groups_exchanged    = _scored(group=lambda visible: not visible)
  Your two numbers are exchanged: the visible questions come first.
one_group    return (_mean([_lead(model(_window(words, t, context)), words[t]) for t, _ in questions]),) * 2
  You took the mean over all questions. Visible and hidden ones are two groups, with a mean each.
""")


def _scored(lead=_lead, window=_window, mean=_mean, group=lambda visible: visible):
    """A mistake in one of the parts."""

    def score(model, words, questions, context):
        leads = {True: [], False: []}
        for t, visible in questions:
            leads[bool(group(visible))].append(lead(model(window(words, t, context)), words[t]))
        return mean(leads[True]), mean(leads[False])

    return score
