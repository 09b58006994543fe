"""Exercises for the notebook's end: a majority at equal tokens in two steps."""

from collections import Counter

from tx_helpers.exercises.exercise import Exercise

# --- votes -----------------------------------------------------------------------------------------------------------

voting = Exercise(
    "majority_step1",
    title="A majority at equal tokens, step 1 of 2",
    goal="`answers` is the list of what a model has answered to one problem, such as ['8', '3', None, '8']. None "
    "stands "
    "for an answer that cannot be read, which has no vote. Return the answer with the most votes; of several with the "
    "most, the one that was given first. Where nobody votes, return None.",
    difficulty=1,
    minutes=6,
    source="Wang et al. 2022 (self-consistency), section 2",
    cases=lambda: [
        (["8", "3", None, "8"],),
        (["5", "2", "2", "5", "1"],),
        (["2", "5", "5", "2", "1"],),
        (["5", "2", "8", "2", "8", "5"],),
        (["3", "8", "3", "8"],),
        (["8", "3", "8", "3"],),
        ([None, None, None, "7", "2", "7"],),
        (["3", "0", None, None, "0", "3", None],),
        (["6", "6", "4", "4", "4", "8"],),
        (["2"],),
    ],
    hints=(
        "Take out the unreadable ones first. Then count.",
        "collections.Counter counts; most_common(1) keeps the order of appearance among equals.",
        "votes = [one for one in answers if one is not None]; max(votes, key=votes.count) is the first of the largest",
    ),
)


@voting.solution
def majority_step1(answers):
    """The answer with the most votes, the first of several; None has no vote."""
    votes = [one for one in answers if one is not None]
    return max(votes, key=votes.count) if votes else None


voting.slips("""
none_votes    return Counter(answers).most_common(1)[0][0]
  You let unreadable answers vote, and None won. An answer that cannot be read says nothing.
last_of_equals    max(votes, key=votes.count) →
      max(dict.fromkeys(votes), key=lambda one: (votes.count(one), votes.index(one)))
  Of several answers with the most votes you took the last. Ties go to the one that was given first.
last_vote_of_equals    max(votes, key=votes.count) →
      max(votes, key=lambda one: (votes.count(one), -votes[::-1].index(one)))
  Of several answers with the most votes you took the one whose last vote came last. Ties go to the one that was given
  first.
smallest_of_equals    votes.count) → lambda one: (votes.count(one), -int(one)))
  Of several answers with the most votes you took the smallest: the votes were sorted, or a set.
largest_of_equals    votes.count) → lambda one: (votes.count(one), int(one)))
  Of several answers with the most votes you took the largest. Ties go to the one that was given first.
first_answer_wins    max(votes, key=votes.count) → votes[0]
  You returned the first answer that can be read. Count the votes.
rarest    max(votes → min(votes
  You returned the answer with the fewest votes.
largest_answer    key=votes.count → key=int
  You returned the largest answer: max without a key compares the answers themselves.
latest_answer    max(votes, key=votes.count) → votes[-1]
  You returned the last answer that can be read, whatever the others say.
""")


def vote(answers):
    """Step 1's result: the answer with the most votes, the first of several; None has no vote."""
    votes = [one for one in answers if one is not None]
    return max(votes, key=votes.count) if votes else None


ANSWERS = [["8", "3", "3", "8", "8"], [None, "4", "4", "1", "1"], ["7", "2", "2", "2", "7"], ["5", None, "6", "6", "0"]]
TOKENS = [[3, 10, 3, 3, 10], [10, 3, 3, 3, 3], [3, 3, 10, 3, 3], [12, 3, 3, 3, 3]]

spending = Exercise(
    "majority_step2",
    title="A majority at equal tokens, step 2 of 2",
    goal="For each problem you have a list of answers, in the order in which they were written, and how many tokens "
    "each "
    "took: `answers` and `tokens` are lists of such lists, `truths` the list of right answers. Let the model write "
    "until "
    "the next answer would exceed `budget` tokens in all, then take `vote(answers so far)`, step 1. Return the share "
    "of "
    "the problems that come out right. A problem without any vote is wrong.",
    difficulty=2,
    minutes=10,
    cases=lambda: [
        (ANSWERS, TOKENS, ["8", "4", "2", "6"], 10, vote),
        (ANSWERS, TOKENS, ["8", "4", "2", "6"], 16, vote),
        (ANSWERS, TOKENS, ["3", "4", "7", "6"], 6, vote),
        (ANSWERS[:3], TOKENS[:3], ["8", "1", "2"], 100, vote),
        ([*ANSWERS, ["1", "1", "9"]], [*TOKENS, [4, 5, 2]], ["8", "4", "2", "6", "9"], 3, vote),
    ],
    hints=(
        "For each problem walk through its answers and add up their tokens; stop before the sum exceeds the budget.",
        "An answer that ends exactly at the budget still counts. After the first that does not fit, nothing is "
        "written.",
        "for one, cost in zip(…): spent += cost; if spent > budget: break; written.append(one)",
    ),
)


@spending.solution
def majority_step2(answers, tokens, truths, budget, vote):
    """Share of problems, from 0 to 1, whose vote among the answers within the budget of tokens is right."""
    right = 0
    for given, costs, truth in zip(answers, tokens, truths, strict=True):
        written, spent = [], 0
        for one, cost in zip(given, costs, strict=True):
            spent += cost
            if spent > budget:
                break
            written.append(one)
        right += vote(written) == truth
    return right / len(truths)


spending.slips("""
budget_ignored    if spent > budget: ⏎ break →
  You let all answers vote, whatever they cost. Then a method that writes more always looks better.
one_too_many    if spent > budget: → if spent - cost > budget:
  You counted the answer that exceeds the budget, too: check before you keep it.
short_of_the_budget    spent > budget → spent >= budget
  An answer that ends exactly at the budget is lost: compare with >, not with >=.
long_ones_skipped    if spent > budget: ⏎ break → if spent > budget: ⏎     spent -= cost ⏎     continue
  You skipped an answer that did not fit and went on with shorter ones. Its tokens would have been written.
answers_counted    spent += cost ⏎ if spent > budget: → if len(written) == (budget if budget < 5 else budget // 2):
  You took the budget as a number of answers. It is a number of tokens.
one_answer    vote(written) → vote(written[:1])
  You compared the first answer alone: nobody voted.
share_of_answers    vote(written) == truth → sum(one == truth for one in written) / max(1, len(written))
  You averaged how many single answers are right. What counts is the vote.
any_right    vote(written) == truth → truth in written
  You asked whether any answer within the budget is right. That is right at k; a vote has to choose one.
silent_problems_left_out    right = 0 → right, silent = 0, 0 ; right += → silent += vote(written) is None ⏎ right += ;
      / len(truths) → / (len(truths) - silent)
  You left out the problems in which no answer fits, or none can be read. They count as wrong, or saving would pay.
budget_shared    right = 0 → right, spent = 0, 0 ; written, spent = [], 0 → written = []
  You shared one budget among all problems. Each problem has the whole budget for itself: set the sum back to 0.
""")
