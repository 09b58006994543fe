"""The maths of the Transformer, in the order of its tiers: an evening's reading. `tx_helpers.plain` is shorter."""
