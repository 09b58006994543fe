"""What the notebook "Masking" alone uses.

exercises          exercises on masking, at the end
exercises_inline   exercises that stand inside the notebook
exercises_packing  exercises on packing: several texts in one row, in two steps that are checked one by one
leaks              who influences whom: the Jacobian of untrained attention under right and wrong masks
mask_grid          scores, a mask to click, and weights: three tables in a row, of which the middle one is a control
masks              the explorer of masks: scores, + mask, weights
pictures           drawings of masks: tables of who may look at whom, one pass beside many
rows               what a row of a batch holds and costs
"""
