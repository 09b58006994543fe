"""What a trained model computes, and how one knows: the exercises, explorers and experiments of that notebook.

exercises       the exercises at the end, and the quiz
induction       models that copy a block of letters: their heads, and what edits of them change; with views and runs
"""
