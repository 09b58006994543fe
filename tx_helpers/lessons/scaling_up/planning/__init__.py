"""A training run planned before the chips are rented.

modes             bytes of a parameter by precision
hardware          the table of chips
workload          what is trained: a model's sizes, and its tokens
cluster           chips, layouts, and what is assumed
layout_costs      bytes on a chip, and seconds of a step
planner           the plan, and the fastest layouts that fit
published         published runs beside the planner
planner_explorer  explorer: a plan
so_far            the opening question's answer, line by line
"""
