"""The concept test: twenty things that people get wrong about Transformers, asked before the course and after it.

    concept_test("before")          # and, at the end of the term, concept_test("after")
    concept_test("before").score    # how many of the kept answers are right
    Quiz("Concepts", QUESTIONS)     # the same as a quiz that tells why, to talk about afterwards

It tells nobody what is right, neither time, so that the second answers are the learner's own. The answers are kept in
the learner's file of progress. Each reason names the notebook that measures it.
"""

from tx_helpers.exercises.quizzes import Quiz, questions


def concept_test(when: str) -> Quiz:
    """The test with the answers given so far; `when` is "before" or "after" (the course), else ValueError."""
    if when not in ("before", "after"):
        raise ValueError(f"concept_test: when is {when!r}, expected 'before' or 'after'")
    return Quiz(f"Concept test, {when} the course", QUESTIONS, key=f"concepts-{when}", silent=True)


QUESTIONS = questions("""
In training, a text of 100 tokens gives a language model 99 next tokens to predict. How often does the model run?
  * Once | Each position sees only what stands before it, so one run makes all predictions (notebook 06).
  - 99 times, with one more token each time | So it writes. In training the causal mask makes one run enough.
  - Once for each layer | All layers belong to one run.
A map shows a bright line from “it” to “cat”. How do you learn whether the line makes the model take “it” for the cat?
  - Look for the same line in many other sentences about cats | It may be there in all of them and do nothing.
  - Read the maps of the later layers, too | More maps, no test.
  * Change the weights and see what is answered | A map is a lead. To intervene is the test (notebook 05).
Which check finds every leak from the future?
  - Each row of the weights sums to 1 | Most of the wrong masks in notebook 06 pass it.
  * Earlier outputs stay when a later word changes | It found all nine, also where the weights look right (notebook 06).
  - The weights on all later words are exactly 0 | Masked after the softmax they are 0, and every later word acts.
The word with the largest weight is masked. Where does its weight go?
  - Nowhere, and the row sums to less than 1 | So it is where the mask comes after the softmax, which is a mistake.
  - To the second largest, which is the next best | There is no order of rank in a softmax.
  * To all others, in their old proportions | e^z to e^z′, whatever else is masked (notebook 06).
What makes scores and mixing the larger part of a block's arithmetic?
  - Many heads of a small width | H heads of width D/H cost what one head of width D costs (notebook 05).
  * Texts several times as long as the block is wide | Half of the work at n = 6D, and little at 100 tokens (notebook
    04).
  - Many layers on top of each other | Each layer has the same share.
The scores are not divided by √d_k. What happens in training?
  - It fails at any width | At d_k = 8 all answers were right without the root, too (notebook 04).
  - Nothing: the softmax brings all scores to one size | It normalises weights. Larger scores make them sharper.
  * It goes worse, the wider the heads | 37 % right at d_k = 256, unless start and steps are smaller, too (notebook 04).
Where are most parameters of a block of BERT or GPT-2?
  * In the feed-forward network | 8 D², twice as many as attention's 4 D² (notebook 08).
  - In the four matrices of attention | 4 D²: half as many.
  - In equal parts in both | They would, if the hidden layer were 2D wide and not 4D.
Which part of the usual training makes heads learn different things?
  - A term of the loss that keeps the maps of heads apart | There is none.
  * None | All four heads of our translator's last cross-attention mostly look at one word (notebook 05).
  - Each head is shown other words | Each head sees all words, in its own projection.
A kind of positions has nothing to learn, only a formula. Is it good on texts longer than those of training?
  - Yes, since the formula has a value at every position | The model has never met those values.
  - No, only what is learned can adapt | Learned rows have not been trained there at all.
  * One kind may be, another not | ALiBi keeps its loss; that of sinusoids and rotary positions rises (notebook 13).
A translator is trained from the start almost without feed-forward networks. What can it do?
  - Nothing: knowledge is stored there | In another trained model, yes. That says where that one had put it.
  * Most translations | 87 % of unseen numbers: other parts learned it (notebook 07).
  - Only translations that it was trained on | The test was on unseen numbers.
A post-norm model with four blocks learned well without warm-up. What is to be expected with twelve?
  * It needs the warm-up | 2.19 without, 1.19 with it, at seed 0; it helped at every seed that we tried (notebook 07).
  - It learns as well | It ended a nat higher.
  - It learns better, as deeper models do | Depth helps only if the training copes with it.
A layer gives each word a vector of 512 numbers. How many features can such vectors hold?
  - 512, one for each number | Features are directions, and they need not be at right angles.
  - Fewer than 512, since numbers are rounded | Rounding is no such limit.
  * More than 512, if few are present at once | Five rare features shared two numbers (notebook 07).
A model writes with a cache, and the text is now eight times as long. How much more work is the next token?
  * Less than eight times | 2.7 times in our count: the matrices cost the same at every length (notebook 11).
  - Eight times | Only the scores and the mixing grow so.
  - 64 times | That is the table of a whole text. A step has one row of it.
A window of 16 leaves 6 % of a table of scores, which is computed as usual and then masked. How much work is saved?
  - 94 % | Those cells would have to be left out before they are computed.
  - About half | A fused kernel skips about half for a causal mask, but this is written out.
  * None | The whole table is computed, and most of it thrown away (notebook 06).
Which texts does a language model find likeliest?
  - Real ones, since it learned from them | A surprise of 0.31 a character (notebook 12).
  * Those it writes itself, greedily | A surprise of 0.29. Real text is not the likeliest text (notebook 12).
  - Those it draws itself at temperature 1 | 0.35: more surprising than real ones (notebook 12).
Two words have nearly the same vector in a trained table. What have the words in common?
  - Their meaning, at least roughly | Opposites may be neighbours, too: they stand in the same places.
  - Letters, such as those of seven and seventeen | 0.45, and seven with three 0.94 (notebook 02).
  * The places in which they stand | “seven” and “three” can be exchanged; that is what the table knows (notebook 02).
In all self-attentions of a translator one matrix makes both queries and keys. What becomes of it?
  * It translates nearly as well | 98 % right after 150 steps (notebook 04).
  - It cannot tell words apart any more | They differ by their vectors, and one projection shows that.
  - Each word sees itself alone | Mostly itself: 89 % look most there. The rest of the weight is enough.
A model picks up a new rule from eight examples in its prompt. Which of its weights change?
  - Those of the last layers | Weights change in training. Here nothing is trained.
  - The rows of the words in the examples | Looked up, not changed.
  * None | It computes with other keys and values. Whether it can use them was learned before (notebook 15).
A model is tuned on “mia has a goat” until it always completes the sentence. It is asked: “who has a goat?”
  - It answers, since it knows the fact | It has learned to complete that sentence.
  * It is mostly wrong | 22 % right, and chance is 11 % (notebook 15).
  - It can answer nothing any more | It can, if the sentence stands before the question: 59 %.
Training on reward raised a model's right answers from 19 to 97 of 100. What has it learned for sure?
  * To do more often what it did sometimes | The old model solves as many with about 20 attempts (notebook 16).
  - Solutions that it could never have found before | With enough attempts it had found them.
  - To write longer answers | Where steps do not help, answers became shorter (notebook 16).
""")
