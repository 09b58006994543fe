"""Helpers of the course on the Transformer: every part of the model, small, tested and told in the order of the maths.

Import from the named modules: `from tx_helpers.nn.attention import MultiHeadAttention`. Nothing heavy is imported here.
The whole model in plain lines is `tx_helpers.plain`; read it first.

Shapes are written with these letters: B batch, T query positions, S key positions, D model width, H heads, K head
width, F hidden width, V vocabulary.
"""

import os

__version__ = "0.2.0"

# Must stand before torch is imported: spinning threads collapse when a core is shared, waiting ones do not.
os.environ.setdefault("OMP_WAIT_POLICY", "PASSIVE")
