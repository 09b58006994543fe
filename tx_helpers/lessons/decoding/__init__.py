"""What the notebook "Decoding" alone uses.

beam_tree          explorer: a beam search as a tree, for a translator of number words
beam_widths        what a wider search finds: how likely its texts are, how long, and how many are right
cache_costs        explorer: what a key–value cache saves for one more token, and when it no longer fits
decoding_steps     explorer: greedy decoding, one step at a time, for a translator of number words
exercises          exercises on decoding
exercises_cache    inside the notebook: a cache for the learner's own attention
exercises_grammar  inside the notebook: what a grammar allows next, and greedy decoding that obeys it
exercises_inline   greedy decoding and a step of beams, which stand inside the notebook
filter_orders      the same rules in another order, applied to one distribution
many_samples       many answers to one question, and three ways to choose one
named_ends         a chart whose lines carry their names at their right ends
number_grammar     the grammar of German number words from 0 to 999,999, as a map of states
own_cache          what a cache saves: the work of each step as a drawing, and tokens per second as a chart
"""
