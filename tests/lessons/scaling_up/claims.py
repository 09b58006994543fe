"""The claims that the notebook tests."""

from claims import Break, claim

CLAIMS = [
    claim(
        "Two processes train twice as fast",
        "not on two cores of a laptop: messages, waiting, small pieces and work done twice take their part",
        "Wrong here: ",
        Break("two_processes.speedup(on_two)", 'on_two["about"]["cores"]'),
    ),
    claim(
        "1F1B has a smaller bubble than GPipe",
        "the bubbles are equal; 1F1B keeps fewer activations",
        "Wrong: the bubbles are equal for",
        Break("one_forward_one_backward(ranks, microbatches)", "gpipe(ranks, 2 * microbatches)"),
    ),
    claim(
        "All-reduce gets slower with every rank you add",
        "slowly: the bytes of a rank stay below twice the size; only the number of messages grows",
        "Slowly: the bytes of a rank stay below",
        Break('bytes_sent("all_reduce", 10**9, n)', 'bytes_sent("all_reduce", n * 10**8, n)'),
    ),
    claim(
        "Gradient accumulation equals the large batch",
        "only if each piece counts by its targets",
        "Only if each piece counts by its targets",
        Break("half.scored() / four.scored()", "1 / 2"),
    ),
    claim(
        "Sharding is free",
        "1.5 times the bytes of copies",
        "Not quite: each process keeps 1/",
        Break("sum(sent(gpt3", "max(sent(gpt3"),
    ),
    claim(
        "Checkpointing doubles the time",
        "the forward pass is a third of the work, and only it runs twice, not all of it",
        "Wrong: it needs",
        Break("(counted_model, Parallel(checkpointing=again))", "(counted_model, Parallel(checkpointing=False))"),
    ),
    claim(
        "A straight line in log-log goes on for ever",
        "it falls below the smallest possible loss",
        "Wrong: the fit finds no floor",
        Break("way = kaplan_way()", "way = hoffmann_way()"),
    ),
    claim(
        "The best learning rate of the small model is right for the large one",
        "not with one rate for all parameters; with μP it is",
        "With one rate it costs ",
        Break("lost[rates] = loss_with_small - best_loss", "lost[rates] = 0 * (loss_with_small - best_loss)"),
    ),
]
