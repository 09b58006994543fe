"""The tiers of `tx_helpers`: a module imports from its own tier or from lower ones.

`tests/setup/test_structure.py` holds the package to this table, and the API page has its order. A name is a module in
the package's root, or a folder; a longer name is looked up first.
"""

TIERS: dict[str, tuple[str, ...]] = {
    "Maths": ("plain", "nn"),
    "Parts": ("zoo.parts",),
    "Text": ("text",),
    "Work": ("training", "generation"),
    "Models": ("zoo", "environment", "progress_file", "opening", "contents", "language"),
    "Insight": ("diagnose",),
    "Show and teach": ("show", "exercises", "widgets", "publish"),
    "Lessons": ("lessons", "__main__"),
}
TIER_OF: dict[str, int] = {module: number for number, modules in enumerate(TIERS.values()) for module in modules}
