"""Ranks in one process, simulated, and what they do together.

ranks              threads that send each other tensors, and a program that all of them run
collectives        all-reduce and the others, written with send and receive
layouts            one model on many ranks: data, tensor, context, expert
schedules          which stage of a pipeline computes which microbatch when
on_ranks           a learner's program on ranks, told so that it can be compared
ring               explorer: all-reduce on a ring
pipeline_schedule  explorer: schedules of a pipeline
sharded_ways       the ways to cut one layer: what a rank holds at each step, and what it sends
sharded_count      these ways carried out, and the bytes counted
sharded_layer      explorer: one layer on several ranks
"""
