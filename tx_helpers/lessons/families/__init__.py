"""What the notebook "Families" alone uses."""
