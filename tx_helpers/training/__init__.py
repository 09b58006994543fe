"""Training: losses, optimizers, the loop, checkpoints."""
