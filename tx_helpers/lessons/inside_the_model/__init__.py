"""What a trained model computes, and how one knows: the exercises, explorers and experiments of that notebook.

editing         a rank-one edit of one fact, and what else it changes
facts           what a decoder knows of animals: where it is, and how far an edit reaches
steering        a direction that changes the next word, and what else it changes
world_decoder   what these three share
exercises       the exercises at the end, and the quiz
induction       models that copy a block of letters: their heads, and what edits of them change; with views and runs
"""
