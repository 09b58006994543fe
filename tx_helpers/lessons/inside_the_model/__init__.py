"""What a trained model computes, and how one knows: the exercises, explorers and experiments of that notebook.

features        Features in superposition, and sparse autoencoders that look for them where they are known
feature_runs    the autoencoders against their rivals on the toy and in the translator; outlier dimensions (recorded)
dictionary      the explorer of what they found
feature_findings  the record of feature_runs in words and as a picture
exercises       the exercises at the end, and the quiz
"""
