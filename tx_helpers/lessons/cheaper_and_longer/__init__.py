"""What the notebook "Cheaper and longer" alone uses."""
