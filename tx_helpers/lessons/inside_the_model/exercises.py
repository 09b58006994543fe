"""Exercises on the inside of a model, and the quiz."""
