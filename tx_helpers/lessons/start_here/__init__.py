"""What the notebook "Start here" alone uses.

exercises         the first exercises: a test of a translator in two steps, first each sentence
exercises_inline  the exercise that stands where the notebook needs it: the id of the likeliest next word
next_word         the next word of a text, as a chatbot chooses it
translation       its explorer: translate a number, and see where each German word looked
"""
