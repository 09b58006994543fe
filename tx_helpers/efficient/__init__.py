"""Attention, its cache and its weights, cheaper: how a modern Transformer saves time and memory, a few lines each."""
