"""What the notebook "Cheaper and longer" alone uses.

batching           continuous batching, simulated: a sequence that ends makes room for one that waits, at every step
cache_bytes        how many bytes a cache takes, by formula, for published models; and why decoding waits for memory
cache_size         the cache of a model that you describe, beside its weights, and the cards that have room for both
context            longer context: at which length does a model still find what it is asked for
drafting           Speculative decoding measured
effective_context  Advertised against effective length
exercises          exercises on the cost of attention and its cache: the size of a cache, and the quiz
exercises_inline   exercises that stand inside the notebook
exercises_linear   exercises on linear attention: its step as a recurrent network, and the delta rule
exercises_scales   exercises on scales: weights in a few bits, and the frequencies of YaRN
exercises_sparse   exercises on sparse attention: the score of a block, and the mask of the best blocks
linear             linear attention: without the softmax, attention is a recurrent network whose state is a matrix
mixers             layers without a softmax in the place of self-attention
online_softmax     the softmax in one pass: scores arrive in blocks, and three numbers are kept up to date
overlap            two distributions over each other: what a draft's token is kept for, and what must be drawn again
paged              the cache in pages: keys and values in blocks of a few positions, which sequences take
quantise           smaller numbers: a tensor in 8 bits or fewer
recall             Recall of several pairs (MQAR): the task on which models without attention are told apart
recall_runs        who can recall what it has read: small models that differ in one layer, trained on `recall_pairs`
roofline           the roofline of this machine
rungs              where the time of writing goes: the same text, written with less and less beside the products
speculative        Speculative decoding: a small model drafts some tokens
state_space        a selective state-space layer (Mamba)
tiles              FlashAttention tile by tile: which blocks are in fast memory, and how many numbers have been moved
weight_row         one row of weights on the steps of whole numbers
"""
