"""Three families on the little world: what each of them learns from, and what each of them can do."""
