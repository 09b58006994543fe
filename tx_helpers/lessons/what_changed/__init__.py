"""What the notebook "What changed since 2017" alone uses."""
