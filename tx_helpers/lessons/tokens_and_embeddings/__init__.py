"""What the notebook "Tokens and embeddings" alone uses.

directions   the explorer of directions: is the step from one word to another the same for other words?
embeddings   the explorer of embeddings: words in the plane, moving as the table is trained
exercises    exercises on tokens and embeddings
fusing       the explorer of byte pairs by hand: a few words, whose letters fuse merge by merge
gpt2         GPT-2's own tokenizer: 50,257 tokens, from OpenAI's merges, with the byte-pair code of this course
real_tokens  pictures of a real vocabulary: how it cuts all four-digit numbers, and what a chat is made of
tokens       explorers of tokens: a text in the pieces of several tokenizers with their ids, and the merges one by one
"""
