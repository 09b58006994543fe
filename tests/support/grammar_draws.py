"""All that a small grammar can write, by brute force: what the exact figures are held against."""

import re
from itertools import product


def derivations(rules, cast, start="story"):
    """Every draw as (text, probability); two draws of one text stand there as two."""

    def expand(text, chosen):
        """All (text, probability) of a text with slots, the cast being chosen."""
        found = re.search(r"\{([^}]*)\}", text)
        if not found:
            return [(text, 1.0)]
        slot, before, after = found[1], text[: found.start()], text[found.end() :]
        if "." in slot:
            member, field = slot.split(".")
            options = [(chosen[member][field], 1.0)]
        else:
            rule = rules[slot]
            weights = rule if isinstance(rule, dict) else dict.fromkeys(rule, 1)
            total = sum(weights.values())
            options = [
                (written, weight / total * p)
                for alternative, weight in weights.items()
                for written, p in expand(alternative, chosen)
            ]
        return [(before + middle + end, p * q) for middle, p in options for end, q in expand(after, chosen)]

    every_cast = [dict(zip(cast, records, strict=True)) for records in product(*cast.values())]
    return [(text, p / len(every_cast)) for chosen in every_cast for text, p in expand("{" + start + "}", chosen)]
