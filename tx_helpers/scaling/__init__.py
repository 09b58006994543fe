"""Training on many processes, seen from one: simulated ranks, collectives, layouts of a model, pipeline schedules."""
