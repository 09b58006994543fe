"""What the notebook "Multi-head attention" alone uses."""
