"""Text: numbers in words, grammars, stories and a little world, tokenizers, and the batches made of them."""
