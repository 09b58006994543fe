"""Attention and its cache, cheaper: what a modern Transformer computes differently, in a few lines each."""
