"""What the notebook "Modern Transformers" alone uses."""
