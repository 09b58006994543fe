"""Parts that later models have, handed to the core: experts, latent attention, YaRN, attention in tiles."""
