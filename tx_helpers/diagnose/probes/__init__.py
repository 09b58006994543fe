"""The probes of `diagnose`, in the order of the report. Each takes an `Examination` and returns a `Result`.

The texts of each probe stand in reasons.py, in the row of its name.
"""
