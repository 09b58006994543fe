"""What the notebook "Adapting a model" alone uses."""
