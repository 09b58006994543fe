"""What the notebook "Learning from reward" alone uses."""
