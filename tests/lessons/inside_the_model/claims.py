"""The claims that the notebook tests."""

from claims import Break, claim

CLAIMS = [
    claim(
        "Attention shows what the model looks at",
        "half true: where it reads, not what it depends on",
        "Half true: it shows where the model reads",
        Break(
            'scores["attention, last block"], scores["patching"]', 'scores["patching"], scores["attention, last block"]'
        ),
    ),
]
