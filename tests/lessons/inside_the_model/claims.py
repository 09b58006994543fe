"""The claims that the notebook tests."""

from claims import Break, claim

CLAIMS = []
