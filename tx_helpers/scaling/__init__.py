"""Larger models: ranks simulated in one process, with collectives, layouts and pipelines; scaling laws; μP."""
