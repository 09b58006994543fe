"""Models: the course's own recipes and trained models, published sizes, later parts, public checkpoints."""
