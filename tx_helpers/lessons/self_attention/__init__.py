"""What the notebook "Self-attention" alone uses.

attention_stepper  one attention, step by step
children           eight children at a table: who holds which card, and at whom each child looks
exercises          exercises on self-attention
exercises_pieces   two exercises that build attention piece by piece
query_plane        drag a query in the plane and watch the weights
root               how much gradient reaches each query, drawn for several widths with the root and without
self_attention     explorers of self-attention
trophy             what does "it" mean? A sentence, two nouns, one adjective that decides
"""
