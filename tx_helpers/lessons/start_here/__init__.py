"""What the notebook "Start here" alone uses."""
