"""The tiers of `tx_helpers`, from the maths upwards: a module imports from its own tier or from lower ones.

`tests/setup/test_structure.py` holds the package to this table, and the API page has its order. A name is a module in
the package's root, or a folder.
"""

TIERS: dict[str, tuple[str, ...]] = {
    "Maths": (
        *("arguments", "masks", "observe", "positions", "yarn"),
        *("cache", "attention", "layers", "expert_groups", "experts", "mixers", "latent", "value_embeddings"),
    ),
    "Models": ("config", "presets", "blocks", "building", "decoding", "models", "recurrent"),
    "Text": ("text",),
    "Work": (
        "training",
        "generation",
        "efficient",
        "scaling",
        "pretrained",
        "families",
        "modern",
        "recipes",
        "recipe_file",
        "shipped",
        "environment",
    ),
    "Insight": ("capture", "inside", "diagnose"),
    "Show": ("show", "widgets"),
    "Teach": ("exercises", "__main__"),
}
TIER_OF: dict[str, int] = {module: number for number, modules in enumerate(TIERS.values()) for module in modules}
