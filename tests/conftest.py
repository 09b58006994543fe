"""What all tests share: nothing but the closing line that says how much of the notebooks is really compared."""

import nbformat

from notebook_comparison import compared_share
from notebook_frame import ROOT


def pytest_terminal_summary(terminalreporter) -> None:
    """Print the share of output-bearing code cells that strict nbval compares, over the whole course."""
    notebooks = [nbformat.read(path, as_version=4) for path in sorted((ROOT / "notebooks").glob("*.ipynb"))]
    compared, bearing = compared_share(notebooks)
    if bearing:
        terminalreporter.write_line(
            f"strict nbval really compares {compared} of {bearing} code cells with an output "
            f"({compared / bearing:.0%}) in {len(notebooks)} notebooks"
        )
