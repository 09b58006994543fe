"""What the notebook "Beyond text" alone uses."""
