"""What shows: plots, drawings, charts, and `Explore`, which binds a drawing function to controls."""
