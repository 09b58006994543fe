"""What the notebook "Positional encodings" alone uses."""
