"""What the notebook "The limits of recurrence" alone uses.

distance_chart  the recorded runs of `distance_runs` as a picture: a row a model, a column a distance, a bar a seed
distance_runs   does it still know the country? Small models, trained to answer a word that stood far back
exercises       exercises on the limits of recurrence
he_or_she       he or she? An explorer: small models read your sentence word by word, and say whom it is about
overwritten     the state, overwritten word by word, an explorer
recurrence      an explorer of a gradient multiplied again and again; training that explodes
recurrent       recurrent models, before the Transformer: a state is carried from word to word, h_t = f(h_{t−1}, x_t)
sentences       a sentence that a learner types
signal_race     the signal race: how far a word's information has come after each step, in three architectures
"""
