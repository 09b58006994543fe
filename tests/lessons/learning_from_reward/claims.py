"""The claims that the notebook tests."""

from claims import Break, claim

CLAIMS = [
    claim(
        "Reward teaches the model to think",
        "the base model could: one token of a hint does as much",
        "Wrong here: the base model could think already",
        Break("hinted(base)", "hinted(base_model(FOUR))"),
    ),
    claim(
        "The written steps are the reason for the answer",
        "they are here: a changed step changes the answer by as much",
        "True here: the answer follows the changed step",
        Break("shares = follow(model, at=at)", 'shares = {"follows": 0.1, "repairs": 0.8, "other": 0.1}'),
    ),
    claim(
        "Any reward will do",
        "a coin spoils the steps",
        "Wrong here: with a coin 8 to 14 %",
        Break('["after"]["right"] for row', '["before"]["right"] for row'),
    ),
    claim(
        "GRPO makes answers longer, because of how it averages",
        "wrong answers grow where each answer is divided by its own length, and with no other average",
        "True here: averaged within each answer",
        Break("mean: lengths_after(mean)", 'mean: lengths_after("tokens")'),
    ),
    claim(
        "Without a baseline it does not work",
        "keeping the right answers is as good here",
        "Wrong here: with as many samples the filter is as good",
        Break('["after"]["right"] for row', '["before"]["right"] for row'),
    ),
]
