"""What the notebook "Debugging" alone uses."""
