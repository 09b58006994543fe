"""What the browser suite does in the notebook."""

from explorer_cases import Move

MOVES = {
    "symptoms": (
        Move("Run", r"^Run B: loss 4\.58 to 0\.07, validation 1\.33", keys=("ArrowDown",)),
        Move("Its fault", r"^Right: data repeated\.\s+Run B: ", mouse="choose:data repeated"),
        Move(
            "What the doctor says",
            r"^Right: data repeated\.\s+Run B: .* The doctor: repeats: data repeated",
            mouse="click",
        ),
        Move("Run", r"Run F: .* 80 of 80 norms not finite, .* The doctor: finite: half precision", mouse="choose:F"),
    ),
    "live-training": (
        Move("Start", r"^the right model: training, step \d+ of 70, loss", mouse="click"),
        Move("Stop", r"^the right model: (stopped at|done,) step \d+ of 70, loss", mouse="click", ends=True),
        Move("Model", r"^not started: press Start to train 'no causal mask'", mouse="choose:no causal mask"),
        Move("Start", r"^no causal mask: training, step \d+ of 70, loss", keys=("Space",)),
        Move("Stop", r"^no causal mask: (stopped at|done,) step \d+ of 70, loss", keys=("Space",), ends=True),
    ),
    "probe": (
        Move("Model", r"^mask one too far: .* 2 of them do, .* 13 of 28", mouse="choose:mask one too far"),
        Move("Which one", r"position 3; positions 1 to 2 must not move, and 2 of them do", keys=("ArrowLeft",)),
        Move("Change", r"^mask one too far: 3 × <pad> .* 0 of 64", mouse="choose:padding behind the source"),
        Move("Model", r"^padding not masked: 3 × <pad> .* 64 of 64", mouse="choose:padding not masked"),
        Move("Change", r"^padding not masked: 'four hundred twenty-one' .* 0 of 64", keys=("a", " ", "n")),
    ),
}
