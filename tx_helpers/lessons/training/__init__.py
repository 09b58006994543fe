"""What the notebook "Training" alone uses.

exercises      exercises on training
exercises_run  two exercises that build a training run
experiments    the notebook's trainings that would take too long in it
guessing       what it costs to guess a German number without its English
learning_rate  a learning rate for one and the same training
pictures       drawings: one row of probabilities with the surprise at its right word, Adam's two means
schedules      learning-rate schedules side by side
"""
