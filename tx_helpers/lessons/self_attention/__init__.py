"""What the notebook "Self-attention" alone uses."""
