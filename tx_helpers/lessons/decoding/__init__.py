"""What the notebook "Decoding" alone uses."""
