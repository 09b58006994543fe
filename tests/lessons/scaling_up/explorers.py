"""What the browser suite does in the notebook."""

from explorer_cases import Move

MOVES = {
    "sharding": (
        Move("Way", r"^sharded \(FSDP\), 4 ranks, 64 tokens, step 1 of 9, hold: ", keys=("ArrowDown",)),
        Move("Step", r"step 2 of 9, gather W₁: .* each rank sends 3,072 bytes", keys=("ArrowRight",)),
        Move("Step", r"step [89] of 9, .* 12,288 backward", mouse="drag"),
        Move("Way", r"^tensor, 4 ranks, 64 tokens, step 5 of 5, ", mouse="point:way=tensor"),
        Move("Tokens", r"^tensor, 4 ranks, 256 tokens, .* formula: 49,152", mouse="drag"),
    ),
    "pipeline": (
        Move("Schedule", r"^1F1B, 4 ranks, 8 .* wait 27\.3% .* rank 0 keeps .* 4 microbatches", keys=("ArrowDown",)),
        Move("Microbatches", r"^1F1B, 4 ranks, 16 microbatches: the ranks wait 15\.8%", keys=("ArrowRight",)),
        Move("Schedule", r"^interleaved, 2 stages, 4 ranks, .* 8\.6%", mouse="choose:interleaved, 2 stages"),
        Move("Ranks", r"^interleaved, 2 stages, 8 ranks, 16 microbatches: the ranks wait 17\.9%", mouse="drag"),
    ),
    "scaling-law": (
        Move("Operations", r"For \d\.\de\+\d+ operations the best N is ", keys=("ArrowRight",)),
        Move("N counts the embedding", r"The best N without the embedding grows as C\^", mouse="click"),
        Move("Fit runs", r"^Fitted to \d+ runs: E = \d", keys=("ArrowDown",)),
    ),
    "ring": (
        Move("Step", r"^Step 2 of 6: reduce-scatter", keys=("ArrowRight",)),
        Move("Step", r"^Step [456] of 6: all-gather", mouse="drag"),
        Move("Ranks", r"^Step 2 of 2: all-gather. rank 0 has 11, 22", keys=("ArrowUp", "ArrowUp")),
    ),
    "planner": (
        Move("ZeRO stage", r"^GPT-3 175B.* It does not fit: ", keys=("ArrowRight",)),
        Move("The fastest layout that fits", r"^GPT-3 175B.* It fits: ", mouse="click"),
    ),
}
