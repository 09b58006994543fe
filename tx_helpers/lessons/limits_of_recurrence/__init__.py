"""What the notebook "The limits of recurrence" alone uses."""
