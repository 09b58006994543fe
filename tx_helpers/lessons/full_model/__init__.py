"""What the notebook "The full model" alone uses."""
