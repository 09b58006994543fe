"""What the notebook "A model that writes" alone uses."""
