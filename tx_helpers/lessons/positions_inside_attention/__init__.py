"""What the notebook "Positions inside attention" alone uses."""
