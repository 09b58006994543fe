"""What all tests share: the package before torch, and the closing line on how much of the notebooks is compared."""

import nbformat

import tx_helpers  # noqa: F401  sets how idle threads wait, which torch must see when it is imported
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
