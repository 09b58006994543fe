"""Exercises on making a model of one's own: the rival that it has to beat, and the quiz."""

import torch

from tx_helpers.exercises.exercise import Exercise
from tx_helpers.exercises.quizzes import questions

mixing = Exercise(
    "interpolated",
    title="A rival of two lines",
    goal="`counts` (V, V) says how often character b came right behind character a in the training text: row a, column "
    "b. Predict the next character by a mixture: `weight` times its share behind the character before, and "
    "1 − `weight` times its share among all characters that came next, whatever stood before. A character behind which "
    "nothing was ever seen has no shares of its own: take those among all in their place. Return p (V, V), whose rows "
    "sum to 1.",
    difficulty=2,
    minutes=8,
    source="Jelinek & Mercer 1980",
    formula=r"p(b \mid a) = w \, \frac{C_{ab}}{\sum_v C_{av}} + (1 - w) \frac{\sum_u C_{ub}}{\sum_{uv} C_{uv}}",
    cases=lambda: [
        (torch.tensor([[1.0, 3.0], [2.0, 0.0]]), 0.75),
        (torch.tensor([[0.0, 5.0, 1.0], [0.0, 0.0, 0.0], [4.0, 2.0, 0.0]]), 0.6),
        (torch.tensor([[2.0, 0.0, 7.0, 1.0], [0.0, 1.0, 0.0, 0.0], [9.0, 3.0, 3.0, 0.0], [0.0] * 4]), 0.9),
        (torch.tensor([[3.0, 1.0], [1.0, 6.0]]), 0.0),
    ],
    hints=(
        "The share behind a: its row, divided by the sum of the row. The share among all: the sum of which axis?",
        "counts.sum(0) / counts.sum() is (V,). Rows whose sum is 0 must not be divided: torch.where.",
        "rows = counts.sum(1, keepdim=True); behind = torch.where(rows > 0, counts / rows.clamp(min=1), overall)",
    ),
)


@mixing.solution
def interpolated(counts, weight):
    """p (V, V) of the next character behind each one, from counts (V, V) of pairs."""
    overall = counts.sum(0) / counts.sum()  # (V,)
    rows = counts.sum(1, keepdim=True)  # (V, 1)
    behind = torch.where(rows > 0, counts / rows.clamp(min=1), overall)
    return weight * behind + (1 - weight) * overall


mixing.slips("""
weights_exchanged    return interpolated(counts, 1 - weight)
  You exchanged the weights: `weight` belongs to the share behind the character before.
nothing_behind_unseen_ones    rows.clamp(min=1), overall) → rows.clamp(min=1), 0)
  Behind a character that was never seen before another, your row sums to 1 − weight. Take the shares among all there.
even_behind_unseen_ones    rows.clamp(min=1), overall) → rows.clamp(min=1), 1 / len(counts))
  Behind a character that was never seen before another you take even shares. The shares among all know more.
divided_by_nothing    torch.where(rows > 0, counts / rows.clamp(min=1), overall) → counts / rows
  A row without counts is 0/0 for you, which is NaN: one such character makes the loss of a whole text NaN.
down_the_columns    counts.sum(1, keepdim=True) → counts.sum(0, keepdim=True)
  You divided by the sums of the columns. Row a belongs to the character before, so each row is made to sum to 1.
shares_of_those_before    overall = counts.sum(0) → overall = counts.sum(1)
  You summed the rows: how often a character stands before another. Asked for is how often it comes next: the columns.
mean_of_the_rows    (1 - weight) * overall → (1 - weight) * behind.mean(0)
  You took the mean of the rows' shares, so a rare character before counts as much as a frequent one. Add counts first.
pairs_alone    return interpolated(counts, 1.0)
  You left out the second part: a pair that was never seen has probability 0, and an infinite surprise.
added_one    return (counts + 1) / (counts + 1).sum(1, keepdim=True)
  You added one to every count, as Laplace did. That takes far too much from what was seen; here you mix instead.
""")


QUIZ = questions("""
A held-out loss is far below that of every rival, and near zero. What do you look at first?
  - At the learning rate, which may be too low | A low rate gives a loss that is too high.
  * At the split: what is held out may stand in training | A loss that is too good is a leak until shown otherwise.
  - At the model's size, which may be far too small for such a long text | A small model cannot do so well.
Your text has 200,000 characters, and an hour is left. Which model?
  - The largest that fits into memory | It would learn the text by heart long before the hour is over.
  - One that reads the text as often as an hour allows, at least a hundred times | After some eight readings the same
    text teaches little.
  * A small one that reads it some eight times | The text is the limit here; more time does not help, more text does.
Model A has 1.2 nats a character, model B 2.9 nats a token. Which is better?
  - A, because 1.2 is less than 2.9 | A token may be five characters; then B has 0.6 nats a character.
  * Nobody can say yet | It depends on how many characters a token of B has.
  - B: tokens are always better than characters | It depends on text, size and time.
After tuning on answers a chatbot continues stories badly. Why?
  - Its tokenizer was trained anew | The vocabulary stayed as it was.
  - It has too few parameters for two tasks at once, and must choose one of them | It had enough for stories before, and
    few examples of both keep both.
  * It was shown answers alone | What a stage does not show, it does not keep.
What does a reward add after tuning?
  * Little where many answers were written, more where few were | It pays where to check is cheaper than to write.
  - New facts that were in none of the texts | It pays only for what the model itself writes now and then.
  - The form of a conversation, turn by turn, up to <end> | That is learned in tuning, from a few hundred examples.
""")
