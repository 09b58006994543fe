"""What the notebook "Positional encodings" alone uses.

animal_queue  a task that order alone solves
clocks        the explorer of sinusoids as clocks: their hands at a position, and which other positions look like it
clouds        two sentences of the same words, drawn as two clouds of points: does each word end at the same place?
exercises     exercises on positional encodings
positions     explorers of positions: sinusoids as a heatmap, and two positions compared
two_in_one    the explorer of sums: a word and a position are added; can both be read from the sum?
"""
