"""What the browser suite does in the notebook."""

from explorer_cases import Move

MOVES = {
    "digit-attention": (
        Move("Test digit", r"^A 3, read as \d .* In layer 2, head 1, ", keys=("ArrowRight",)),
        Move("Head", r"^A 3, read as .* In layer 2, head 4, ", mouse="drag"),
        Move("Layer", r"^A 3, read as .* In layer 1, head 4, ", keys=("ArrowLeft",)),
        Move("Hide", r" Without the patch in row \d, column \d: \d ", mouse="choose:the patch with most weight"),
    ),
    "caption-search": (
        Move("Colour", r"^“yellow square top-left” \(yellow square was trained on\)", keys=("ArrowDown",)),
        Move("Shape", r"^“yellow ring top-left” \(yellow ring was never trained on\)", mouse="choose:ring"),
    ),
    "patch-size": (
        Move("Patch size", r" as 4 tokens of 4 × 4 pixels: 87,488 multiplications", keys=("ArrowDown",)),
        Move("Test digit", r"^An? \d as 4 tokens ", mouse="drag"),
    ),
    "picture-answers": (
        Move("Question", r"^“what colour is the ring \?” Its answer: ", mouse="choose:what colour is the ring ?"),
        Move(
            "Layer",
            r" In layer 2, the word asked about looks most at the patch in row \d, column \d ",
            keys=("ArrowLeft",),
        ),
        Move("Picture", r" In layer 2, the word asked about looks most at ", mouse="drag"),
    ),
    "arm-episode": (
        Move("Step", r"Step 1 of \d+: ", keys=("ArrowRight",)),
        Move("Order", r"^Order: .*\. Step 1 of \d+: ", mouse="drag"),
    ),
}
