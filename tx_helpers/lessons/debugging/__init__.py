"""What the notebook "Debugging" alone uses.

bugs              what the notebook takes out of a translator, the bugs that it plants, and a drawing of them
exercises         exercises on debugging
exercises_hunt    exercises on numbers that go wrong: the first broken one, and the name of the fault, in two steps
exercises_inline  exercises on probes: one that stands inline, one for the padding
layers            layer by layer: the outputs of a translator's blocks, the gradients that arrive there
live_training     live training: start, watch loss and attention form, stop while it runs
probes            the probe explorer: change one thing in what a translator reads
runs              training runs with a planted fault, and what each of them records for the training doctor
symptoms          the symptom explorer: what runs with a planted fault have recorded
"""
