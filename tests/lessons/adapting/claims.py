"""The claims that the notebook tests."""

from claims import Break, claim

CLAIMS = [
    claim(
        "LoRA is as good as full fine-tuning",
        "as good beside all maps; beside query and value with rank 4 it is behind",
        "As good here, if it trains enough numbers",
        Break('scores["steps"]["lora"]["100"]', 'scores["steps"]["whole"]["100"]'),
    ),
    claim(
        "A frozen encoder is enough",
        "fine-tuning is better; with 1,000 labels even a model trained from scratch is",
        "for each seed fine-tuning is",
        Break('for way in ("frozen", "scratch", "whole")', 'for way in ("whole", "scratch", "frozen")'),
    ),
    claim(
        "LoRA forgets less",
        "not at the rate that we chose for it: it keeps no old answer right",
        "Not at this rate: of the old answers LoRA keeps",
        Break('of_lora = kept["lora"]', 'of_lora = kept["rehearsal"]'),
    ),
    claim(
        "DPO makes the good answer likelier",
        "with β = 0.1 it becomes less likely; only the difference grows",
        "Wrong with β = 0.1: ln p of the better answers",
        Break('drift.recorded()["runs"]["0.1"]', 'drift.recorded()["runs"]["2"]'),
    ),
    claim(
        "Fine-tuning teaches facts",
        "it teaches sentences: all are completed, few questions are answered",
        "It teaches the sentence:",
        Break('found["question"]', 'found["sentence"]'),
    ),
]
