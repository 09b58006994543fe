"""The claims that the notebook tests."""

from claims import Break, claim

CLAIMS = [
    # steering
    claim(
        "The feed-forward layers store the facts",
        "one feed-forward layer carries the fact alone, but so does an attention layer, and every block can be edited",
        "Half right: the last feed-forward layer is enough",
        Break("patched(decoder, fact)", 'patched(decoder, ("dog", "dog"))'),
        Break("update=rank_one", "update=lambda W, k, v, C: W"),
    ),
]
