"""The notebook's claims: locality, and what a contrastive model understands."""

from claims import Break, claim

CLAIMS = [
    claim(
        "With few pictures the convolution wins, because it knows what is near",
        "most of its lead stays when all pixels are shuffled, and a single matrix leads the ViT, too",
        'lead["pixels shuffled"] > 0.5',
        Break("sum(changed[conv][change]) / 5", 'sum(changed["ViT"][change]) / 5'),
        Break("few_digits, steps=300, rate=0.03", "few_digits, steps=1, rate=0.0001"),
    ),
    claim(
        "CLIP understands the picture",
        "the exchanged caption is as good as the right one, unless the batch holds opposites",
        'abs(taught["random"] - 0.5)',
        Break('f"order_{kind}"', '"order_opposites"'),
        Break('f"order_{kind}"', '"order_random"'),
    ),
]
