"""What the notebook "Training" alone uses."""
