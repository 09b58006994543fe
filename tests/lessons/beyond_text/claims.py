"""The notebook's claims: locality, and what a contrastive model understands."""

from claims import Break, claim

CLAIMS = [
    claim(
        "With few pictures the convolution wins, because it knows what is near",
        "only in part: shuffled, it loses its lead over the ViT of 4 × 4; a single matrix is as good",
        'abs(conv["pixels shuffled"] - large["pixels shuffled"])',
        Break("sum(changed[name][change]) / 5", 'sum(changed["ViT"][change]) / 5'),
    ),
    claim(
        "CLIP understands the picture",
        "the exchanged caption is as good as the right one, unless the batch holds opposites",
        'abs(taught["random"] - 0.5)',
        Break('f"order_{kind}"', '"order_opposites"'),
        Break('f"order_{kind}"', '"order_random"'),
    ),
]
