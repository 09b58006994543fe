"""Text: numbers in words, grammars and stories, tokenizers, and the batches made of them."""
