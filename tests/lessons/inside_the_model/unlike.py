"""Wrong answers to the lesson's exercises, unlike any in the bank: none may pass."""

from answer_tables import edits

UNLIKE = edits("""
""")
