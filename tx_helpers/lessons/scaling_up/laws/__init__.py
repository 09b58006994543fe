"""Scaling laws.

law            the loss over parameters and tokens, fitted, with an interval
law_runs       thirty small models: how they are trained, and what was recorded (../laws.json)
law_ways       two ways to fit a law to them, and how far each extrapolates
mup            μP: rates that hold at every width
scaling_law    explorer: a law and its extrapolation
scaling_plots  the runs as pictures
"""
