"""What the notebook "Masking" alone uses."""
