"""Exercises on a model that writes; those inline are in `exercises_inline`."""

import math

import torch

from tx_helpers.exercises.exercise import Exercise
from tx_helpers.exercises.quizzes import questions

# --- the floor -------------------------------------------------------------------------------------------------------

lowest = Exercise(
    "entropy_floor",
    title="The floor of a small corpus",
    goal="A source draws texts independently: text i with probability p[i] (n,), and it has lengths[i] (n,) "
    "characters. Return the lowest possible loss of a model on a long stream of such texts, in nats per character. "
    "A p[i] may be 0: that text never comes and adds nothing.",
    difficulty=2,
    minutes=7,
    source="Timo et al. 2009, arXiv:0904.3778",
    formula=r"\frac{-\sum_i p_i \ln p_i}{\sum_i p_i\,\ell_i}",
    cases=lambda: [
        (torch.tensor([0.5, 0.5]), torch.tensor([2, 6])),
        (torch.tensor([0.5, 0.25, 0.125, 0.125]), torch.tensor([1, 2, 3, 9])),
        (torch.tensor([0.7, 0.0, 0.3]), torch.tensor([4, 5, 10])),
        (torch.tensor([1.0]), torch.tensor([3])),
    ],
    hints=(
        "How many nats of surprise do n texts hold on average, and how many characters?",
        "n times the entropy of a text, and n times its mean length, weighted by p. A p of 0 adds nothing.",
        "torch.special.entr(p).sum() / (p * lengths).sum()",
    ),
)


@lowest.solution
def entropy_floor(p, lengths):
    """Nats per character, for texts of probabilities p (n,) and lengths (n,) characters."""
    return torch.special.entr(p).sum() / (p * lengths).sum()


lowest.slips("""
mean_of_ratios    return (torch.special.entr(p) / lengths).sum()
  You divided each text's surprise by its length and took the mean. A long text fills more of the stream: divide the two
  means.
plain_mean_length    (p * lengths).sum → lengths.double().mean
  Your mean length counts all texts alike. A likely text comes more often: weight the lengths by p.
per_text    return torch.special.entr(p).sum()
  You returned the entropy of a text. Per character it is less: divide by the mean length.
in_bits    (p * lengths) → math.log(2) / (p * lengths)
  You used log₂, which gives bits. A nat is 1 / ln 2 = 1.44 bits: use ln.
sign_lost    torch.special.entr → -torch.special.entr
  Your floor is negative: ln p is below 0, and the surprise is −ln p.
nan_at_zero    torch.special.entr(p) → -(p * p.log())
  0 · ln 0 is NaN in floats. A text that never comes adds no surprise.
mean_of_ratios_and_nan_at_zero    return -(p * p.log() / lengths).sum()
  You divided each text's surprise by its length: divide the two means. And 0 · ln 0 is NaN in floats: leave out a p of
  0.
plain_mean_length_and_nan_at_zero    return -(p * p.log()).sum() / lengths.double().mean()
  Your mean length counts all texts alike: weight the lengths by p. And 0 · ln 0 is NaN in floats: leave out a p of 0.
bits_and_nan_at_zero    torch.special.entr(p) → -(p * p.log2())
  You used log₂, which gives bits, not nats. And 0 · log₂ 0 is NaN in floats: leave out a p of 0.
not_weighted    torch.special.entr(p) → -p[p > 0].log()
  You added −ln p without the weight p: in the entropy each text counts as often as it comes.
""")


# --- two vocabularies ------------------------------------------------------------------------------------------------

alphabet = Exercise(
    "per_character",
    title="Words against characters",
    goal="Two models of one text: the first predicts words and has the perplexity `per_word` for each of its "
    "`words` tokens; the second predicts characters. To compare them, return the perplexity for each character that "
    "the first one's loss amounts to. The text has `characters` characters.",
    difficulty=2,
    minutes=8,
    cases=lambda: [(16.0, 3, 12), (120.0, 1000, 5200), (1.0, 7, 30), (2.5, 40, 40)],
    hints=(
        "Both models give the same text one probability each. What does the first one's perplexity say about it?",
        "The text's surprise is words · ln(per_word), in nats. Spread it over the characters; then e to that power.",
        "per_word ** (words / characters)",
    ),
)


@alphabet.solution
def per_character(per_word, words, characters):
    """The perplexity for each character, of a model with the perplexity per_word for each of its words."""
    return per_word ** (words / characters)


alphabet.slips("""
perplexity_divided    return per_word * words / characters
  You divided the perplexity. Surprises add up along a text, perplexities multiply: use the logarithm.
upside_down    return per_word ** (characters / words)
  Your exponent is upside down: a word has several characters, so each of them is easier than the word.
loss_returned    return math.log(per_word) * words / characters
  You returned the loss for each character, in nats. The perplexity is e to that power.
left_as_it_was    return per_word
  You left it as it was. A word is harder to guess than a character, so the two cannot be compared so.
base_two    return 2 ** (math.log(per_word) * words / characters)
  You mixed ln with 2 to the power: e belongs to ln, and 2 to log₂.
root_of_the_text    words / → 1 /
  You forgot how many words there are: the text's surprise is that of all words together.
""")


# --- the quiz --------------------------------------------------------------------------------------------------------

QUIZ = questions("""
How does a GPT read its prompt without an encoder?
  - It cannot | It can: the stack that writes also reads.
  * In the same stack, all positions at once | Its keys and values go into the cache.
  - By a second network, trained on prompts alone | There is only one network, without an encoder.
The entropy floor of a corpus is …
  - the loss of the best model that we trained | A better model may come; the floor stays.
  * the mean surprise of its source | No model can have a lower loss on average.
  - ln V, the loss of a model without any training | That is where training begins.
A writer sees 64 characters. Its hero was named 200 characters ago. What does it write?
  - The hero's name, which its weights remember | Weights know the corpus, not this story.
  * Some hero's name | The right kind of word, by guessing.
  - An end sign, since the name is missing | Nothing tells it that anything is missing.
What does a decoder-only model send through one stack, where an encoder–decoder has two?
  * Prompt and answer | To the model both are the text so far.
  - Two languages, which share one vocabulary | An encoder–decoder may share one, too.
  - The source and its memory | There is no encoder, so there is no memory.
A loss of 0.7 nats a character: between how many equally likely characters does the model waver?
  - 0.7 | The loss is a logarithm.
  * e^0.7 ≈ 2 | This number is the perplexity.
  - all V characters of the vocabulary | That would be a loss of ln V.
A model is said to have a context of 256 tokens. What does this promise?
  - It uses each of the 256 tokens | Ours did not use the friend, some 60 characters ago.
  * It may see as many, no more | What it does with them has to be measured.
  - It remembers 256 facts of a story | Facts are not counted in tokens, and some are never learned.
""")
