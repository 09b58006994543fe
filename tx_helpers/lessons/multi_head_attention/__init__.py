"""What the notebook "Multi-head attention" alone uses.

exercises     exercises on multi-head attention
head_removal  heads taken out of a trained translator, and what that costs
head_split    splitting D into H heads of width K, followed by the eye
pronoun       what does "it" mean? A toy whose last head has one clear job in language
two_keys      a task that needs two heads
"""
