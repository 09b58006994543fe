"""A room for every notebook: its exercises with their mistakes, its explorers, its experiments and recorded results."""
