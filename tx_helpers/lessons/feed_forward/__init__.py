"""What the notebook "Feed-forward, residuals, norms" alone uses."""
