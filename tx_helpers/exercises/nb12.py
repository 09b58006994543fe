"""Exercises of notebook 12, a model that writes."""

from tx_helpers.exercises.quizzes import Choice, Question

# --- the quiz --------------------------------------------------------------------------------------------------------

QUIZ = [
    Question(
        "How does a GPT read its prompt without an encoder?",
        (
            Choice("It cannot", "It can: the stack that writes also reads."),
            Choice("In the same stack, all positions at once", "Its keys and values go into the cache.", right=True),
            Choice("By a second network, trained on prompts alone", "There is only one network, without an encoder."),
        ),
    ),
    Question(
        "The entropy floor of a corpus is …",
        (
            Choice("the loss of the best model that we trained", "A better model may come; the floor stays."),
            Choice("the mean surprise of its source", "No model can have a lower loss on average.", right=True),
            Choice("ln V, the loss of a model without any training", "That is where training begins."),
        ),
    ),
    Question(
        "A writer sees 64 characters. Its hero was named 200 characters ago. What does it write?",
        (
            Choice("The hero's name, which its weights remember", "Weights know the corpus, not this story."),
            Choice("Some hero's name", "The right kind of word, by guessing.", right=True),
            Choice("An end sign, since the name is missing", "Nothing tells it that anything is missing."),
        ),
    ),
    Question(
        "What does a decoder-only model send through one stack, where an encoder–decoder has two?",
        (
            Choice("Prompt and answer", "To the model both are the text so far.", right=True),
            Choice("Two languages, which share one vocabulary", "An encoder–decoder may share one, too."),
            Choice("The source and its memory", "There is no encoder, so there is no memory."),
        ),
    ),
    Question(
        "A loss of 0.7 nats a character: between how many equally likely characters does the model waver?",
        (
            Choice("0.7", "The loss is a logarithm."),
            Choice("e^0.7 ≈ 2", "This number is the perplexity.", right=True),
            Choice("all V characters of the vocabulary", "That would be a loss of ln V."),
        ),
    ),
    Question(
        "A model is said to have a context of 256 tokens. What does this promise?",
        (
            Choice("It uses each of the 256 tokens", "Ours did not use the friend, 50 characters ago."),
            Choice("It may see as many, no more", "What it does with them has to be measured.", right=True),
            Choice("It remembers 256 facts of a story", "Facts are not counted in tokens, and some are never learned."),
        ),
    ),
]
