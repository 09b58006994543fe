"""Public checkpoints in our own models, and our models in the format of public checkpoints.

from tx_helpers.pretrained.load import load_pretrained
from tx_helpers.pretrained.save import save_pretrained
"""
