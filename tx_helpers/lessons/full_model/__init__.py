"""What the notebook "The full model" alone uses.

exercises         exercises on the full model
exercises_inline  exercises that stand inside the notebook
exercises_stacks  exercises of the full model that stand inside the notebook: its stacks, and the models made of them
filled            how the classes of the learner's model are examined: filled with numbers, run, and compared
model_map         the clickable map of a model
model_parts       the explorer of the full model
plan              the whole model, small, with the part lit that the notebook writes next
"""
