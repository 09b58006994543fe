"""`python -m tx_helpers check` says what the course misses on this machine and how to mend it."""

import sys

from tx_helpers.environment import report


def main(arguments: list[str]) -> int:
    """Command line: `check` prints the report; the exit code is 0 if all is well, 1 if not, 2 if the call is wrong."""
    if arguments != ["check"]:
        print("usage: python -m tx_helpers check", file=sys.stderr)
        return 2
    try:
        text, well = report()
    except ValueError as error:
        print(error, file=sys.stderr)
        return 1
    print(text)
    return 0 if well else 1


if __name__ == "__main__":
    sys.exit(main(sys.argv[1:]))
