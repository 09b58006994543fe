"""Generation: sampling from logits, and search."""
