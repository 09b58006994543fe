"""What the notebook "Scaling up" alone uses: its exercises, and four rooms.

simulated  ranks in one process: messages, collectives, the ways to cut a model, schedules
real       the same on real processes, and what was measured
laws       scaling laws, fitted to recorded runs
planning   a training run planned on chips: memory, time, cost
"""
