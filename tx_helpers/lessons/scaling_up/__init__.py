"""What the notebook "Scaling up" alone uses."""
