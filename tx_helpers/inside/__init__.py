"""Experiments on the inside of a model."""
