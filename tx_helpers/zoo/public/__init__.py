"""Public checkpoints in our own models, and our models in the format of public checkpoints.

from tx_helpers.zoo.public.load import load_pretrained
from tx_helpers.zoo.public.save import save_pretrained
"""
