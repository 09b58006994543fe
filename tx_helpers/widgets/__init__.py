"""Explorers: turn a control and see the picture change. Import from the named modules.

`explore` binds any drawing function to controls; `attention_view` shows attention, computed in the browser; the others
are the course's own explorers, each in three parts: compute (numbers), draw (a picture of them), bind (the controls).
"""
