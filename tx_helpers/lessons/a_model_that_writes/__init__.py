"""What the notebook "A model that writes" alone uses.

exercises         exercises on a model that writes; those inline are in `exercises_inline`
exercises_inline  the exercises that stand where the notebook needs them: perplexity, and the loop that writes
exercises_memory  the exercise in two steps: find the places that ask a model's memory, then measure what it remembers
friend            why the writer of stories loses the friend: it learns on, each time with one thing changed
looking           what a writer still sees of a story, what it writes next, and where its heads look
writing           the writing explorer: press Write, and two copies of a model write, character by character
"""
