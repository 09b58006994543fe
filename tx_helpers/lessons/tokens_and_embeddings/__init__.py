"""What the notebook "Tokens and embeddings" alone uses."""
