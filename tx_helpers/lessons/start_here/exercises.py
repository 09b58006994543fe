"""The first exercises: a test of a translator in two steps, first each sentence, then the share for each kind."""

from dataclasses import dataclass

from tx_helpers.exercises.exercise import Exercise
from tx_helpers.exercises.quizzes import questions
from tx_helpers.text.number_words import Pair

# --- step 1: sentence by sentence ------------------------------------------------------------------------------------


@dataclass(frozen=True)
class Phrases:
    """A translator that has learned some sentences, and writes nothing for any other."""

    known: tuple[tuple[str, str], ...]

    def __call__(self, text: str) -> str:
        return dict(self.known).get(text, "")


PAIRS = [
    Pair(13, "thirteen", "dreizehn"),
    Pair(21, "twenty-one", "ein und zwanzig"),
    Pair(34, "thirty-four", "vier und dreißig"),
    Pair(45, "forty-five", "fünf und vierzig"),
    Pair(70, "seventy", "siebzig"),
    Pair(300, "three hundred", "drei hundert"),
    Pair(405, "four hundred five", "vier hundert fünf"),
    Pair(421, "four hundred twenty-one", "vier hundert ein und zwanzig"),
    Pair(6000, "six thousand", "sechs tausend"),
]
SAID = Phrases(
    (
        ("thirteen", "dreizehn"),
        ("twenty-one", "zwanzig und ein"),  # the right words in another order
        ("thirty-four", "vier und dreizehn"),  # as many words, and the first is right
        ("forty-five", "fünf und vierzig"),
        ("seventy", "sechzig"),
        ("three hundred", "drei hundert eins"),  # a word too many
        ("four hundred five", "vier hundert"),  # a word too few
        ("four hundred twenty-one", "vier hundert ein und zwanzig"),
        ("six thousand", "acht tausend"),
    )
)

each = Exercise(
    "scored",
    title="A test of your own, step 1 of 2",
    goal="How good is a translator, and at which numbers does it fail? Step 1 looks at every sentence. Each of the "
    "`pairs` has a `number`, an English `source` and a German `target`; `translate` is a function from English to "
    "German, such as `translator.translate` or `word_by_word`. Return a dict from each number to True if its "
    "translation is right word for word, and to False if it is not.",
    difficulty=1,
    minutes=6,
    cases=lambda: [
        (PAIRS[:2], SAID),
        (PAIRS, SAID),
        (PAIRS[2:5], Phrases(tuple((pair.source, pair.target) for pair in PAIRS))),
    ],
    hints=(
        "For one pair: translate which of its two texts, and compare the result with which?",
        "Two texts are right word for word if they are equal: ==. Collect this for each pair under pair.number.",
        "{pair.number: translate(pair.source) == pair.target for pair in pairs}",
    ),
)


@each.solution
def scored(pairs, translate):
    """number -> is its translation right word for word?"""
    found = {}
    for number, english, german in pairs:
        written = translate(english)
        found[number] = written == german
    return found


each.slips("""
order_ignored    = _scored_by(lambda written, target: sorted(written.split()) == sorted(target.split()))
  You count 'zwanzig und ein' as right: the words agree, but not their order, and the order is the task.
some_word_is_enough    = _scored_by(lambda written, target: bool(set(written.split()) & set(target.split())))
  You count a translation as right if any of its words is right. All of them must be, in their order.
first_word_is_enough    = _scored_by(lambda written, target: written.split()[:1] == target.split()[:1])
  You compare the first words alone, so 'vier und dreizehn' counts as a translation of 34.
length_is_enough    = _scored_by(lambda written, target: len(written.split()) == len(target.split()))
  You compare the numbers of words. 'acht tausend' has as many words as 'sechs tausend'.
target_may_begin_it    = _scored_by(lambda written, target: target in written)
  You count 'drei hundert eins' as right for 300, because it contains the target. It has a word too many.
it_may_begin_the_target    = _scored_by(lambda written, target: written in target)
  You count 'vier hundert' as right for 405, because the target contains it. It has a word too few.
share_of_the_words    = _scored_by(lambda written, target: sum(a == b for a, b in zip(written.split(), target.split(),
      strict=False)) / len(target.split()))
  You return the share of words that are right. Exact match knows only right and wrong: True or False.
wrong_ones_marked    = _scored_by(lambda written, target: written != target)
  Your True and False are swapped: True stands at the wrong translations.
target_translated    return {pair.number: translate(pair.target) == pair.target for pair in pairs}
  Nothing is right for you. Give the English text, pair.source, to the translator, and compare what it writes with
  pair.target.
one_share_for_all    return sum(translate(pair.source) == pair.target for pair in pairs) / len(pairs)
  You return one share for all. Step 1 keeps each number's own True or False; step 2 makes shares.
keys_are_texts    return {pair.source: translate(pair.source) == pair.target for pair in pairs}
  Your keys are English texts. The key is pair.number.
anything_written    = _scored_by(lambda written, target: bool(written))
  You count every sentence as right for which the translator writes anything at all.
""")


def _scored_by(judge):
    """A mistake: judge(written, target) in place of the comparison of two texts."""
    return lambda pairs, translate: {pair.number: judge(translate(pair.source), pair.target) for pair in pairs}


# --- step 2: the share for each kind ----------------------------------------------------------------------------------


def has_swap(number: int) -> str:
    """A kind of number: does German swap its last two digits, as in "ein und zwanzig"?"""
    return "swap" if number % 100 > 20 and number % 10 else "no swap"


def size(number: int) -> int:
    """Another kind: how many digits it has."""
    return len(str(number))


shares = Exercise(
    "share_by_kind",
    title="A test of your own, step 2 of 2",
    goal="Step 2 sums up. `right` is the result of step 1, a dict from numbers to True or False, and `kind` is a "
    "function that gives the kind of a number, such as 'swap' or 'no swap'. Return a dict from each kind that occurs "
    "to the share of its numbers that are right, from 0 to 1. Then try both steps: "
    "`share_by_kind(scored(pairs.held_out, word_by_word), kind)` says at which numbers the dictionary fails, if "
    "`kind(421)` returns 'swap' and `kind(300)` returns 'no swap'.",
    difficulty=2,
    minutes=10,
    cases=lambda: [
        ({45: True, 21: False, 300: True}, has_swap),
        ({13: True, 21: False, 34: False, 45: True, 300: True, 405: False, 421: True, 622: True, 6000: True}, has_swap),
        ({7: True, 12: False, 13: True, 99: False, 40: True, 421: True, 500: False, 6000: False}, size),
    ],
    hints=(
        "You need two counts for each kind: how many numbers it has, and how many of them are right.",
        "Go through right.items() and collect a list for each kind: groups.setdefault(kind(number), []).append(one).",
        "The share of a list of True and False is sum(values) / len(values).",
    ),
)


def _groups(right, kind):
    groups: dict = {}
    for number, is_right in right.items():
        groups.setdefault(kind(number), []).append(is_right)
    return groups


@shares.solution
def share_by_kind(right, kind):
    """kind -> the share of its numbers that are right."""
    groups: dict = {}
    for number, is_right in right.items():
        groups.setdefault(kind(number), []).append(is_right)
    return {name: sum(values) / len(values) for name, values in groups.items()}


shares.slips("""
divided_by_all    = _by_group(lambda values, all_of_them: sum(values) / len(all_of_them))
  You divide by the count of all numbers. Divide by the count of the numbers of this kind.
share_of_the_right_ones    = _by_group(lambda values, all_of_them: sum(values) / sum(all_of_them))
  You divide by the count of all right ones, so your shares add up to 1. Divide by the size of the kind.
counts    = _by_group(lambda values, _: sum(values))
  You return how many are right. A share is this count divided by the size of the kind.
share_of_wrong_ones    = _by_group(lambda values, _: 1 - sum(values) / len(values))
  You return the share of wrong translations; the share of right ones is 1 minus yours.
the_last_one_only    = _by_group(lambda values, _: float(values[-1]))
  Each number overwrites the one before, so a kind has the value of its last number. Collect them all.
percent    = _by_group(lambda values, _: 100 * sum(values) / len(values))
  Your shares are per cent, from 0 to 100. Expected is a share from 0 to 1.
whole_division    = _by_group(lambda values, _: sum(values) // len(values))
  You divide with //, which rounds down: every share is 0 or 1. Divide with /.
kinds_without_a_right_one    return {name: share for name, share in share_by_kind(right, kind).items() if share}
  A kind of which none is right is missing. It occurs, so its share is 0.
right_for_one_wrong    = _by_group(lambda values, _: sum(values) / max(1, len(values) - sum(values)))
  You divide the right ones by the wrong ones. A share divides by both together.
""")


def _by_group(share):
    """A mistake: share(values of a kind, values of all numbers) in place of the mean."""
    return lambda right, kind: {
        name: share(values, list(right.values())) for name, values in _groups(right, kind).items()
    }


QUIZ = questions("""
A chatbot has written five words. How does it find the sixth?
  * It reads all five and rates each word it knows | Then it reads all six, and so on: one word at a time.
  - It planned the sentence in advance | Nothing is planned: each word is chosen when its turn comes.
  - It looks for a stored sentence that begins with the same five words | It stores no sentences, only trained
    numbers.
Why are 1,000 numbers set aside before training?
  - Training would take much too long with a thousand numbers more | A thousand more would cost little.
  * Only new numbers show whether the rule was learned | A model that knows 5,000 translations by heart would fail
    at them.
  - They are too hard to learn from | They are drawn like all the others.
Without positions, the machine gives 421 and 124 the same translation. Why?
  - Their German words are the same | “vier” and “ein” stand in other places.
  - It has never seen 124 during its training, but 421 several times | It translates new numbers well, as long as it
    knows the places.
  * Both are the same heap of words to it | Attention alone treats a sentence as a heap of words.
Which part of the work is done once for each sentence, and not once for each German word?
  * The encoder's: reading the English words | The memory stays as it is while the German words are written.
  - The decoder's: looking back at the memory of the source | It looks again for every word that it writes.
  - The softmax over the German words | Every word to be written gets probabilities of its own.
In an attention map, the row of “ein” has a bright cell below “one”. What does it say?
  - That “ein” is always the right translation of “one” | A map shows one sentence, and no rule.
  * Most of the weight of “ein” lay on “one” | The weights of a row add up to 1.
  - That “one” comes next in the English sentence | The order of the columns says where it stands.
""")
