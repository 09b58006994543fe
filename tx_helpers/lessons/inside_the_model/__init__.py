"""What a trained model computes, and how one knows: the exercises, explorers and experiments of that notebook.

tools           what is put in the place of an activation: a vector, a mean, another sentence's; for any module, too
attribution     which source word decides a target word: eight methods, scored against what is known
patching        one vector of one run in another: the whole grid, and its explorer
circuit         which heads and feed-forward layers are enough: the search, direct effects, and the explorer
reading         logit lens, tuned lens, and linear probes with their controls
findings        all this at translators of three seeds (recorded)
induction       models that copy a block of letters: their heads, and what edits of them change; with views and runs
features        features in superposition, and sparse autoencoders that look for them where they are known
feature_runs    the autoencoders against their rivals on the toy and in the translator; outlier dimensions (recorded)
dictionary      the explorer of what they found
feature_findings  the record of feature_runs in words and as a picture
steering        a direction that changes the next word, and what else it changes
editing         a rank-one edit of one fact, and what else it changes
facts           what a decoder knows of animals: where it is, and how far an edit reaches
world_decoder   what these three share
exercises       the exercises at the end, and the quiz
"""
