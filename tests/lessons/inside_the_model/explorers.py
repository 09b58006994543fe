"""What the browser suite does in the notebook."""

from explorer_cases import Move

MOVES = {}
