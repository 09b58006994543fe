"""Real processes, and what was measured.

processes      ranks that torchrun has started, with the methods of the simulated ones
launch         torchrun from a notebook or a test
on_processes   the program that the notebook launches
measured       memory and FLOPs as PyTorch counts them
two_processes  the record's training on two processes (../two_processes.json)
"""
