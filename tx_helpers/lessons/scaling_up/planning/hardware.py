"""Chips that models are trained on: what one can compute, keep and send, and where each number comes from.

    CHIPS["H100 SXM"].flops / CHIPS["H100 SXM"].bandwidth      # 295 operations for each byte: Williams et al. 2009

    flops, fp8   peak of products of dense matrices, operations/s: bfloat16 (float16 on the V100), and 8-bit floats
    memory       bytes; "80 GB" of memory chips are 80 · 2³⁰
    bandwidth    bytes/s between the chip and its memory
    link         bytes/s that a chip sends to the others of its node, in one direction
    network      bytes/s that a chip sends to other nodes, in one direction
    node         chips that `link` connects; for a TPU the whole pod
    watts        what the chip may draw for long (TDP); the mean that Google measured for TPU v3 and v4
    dollars      an hour's rent of one chip; prices change, so `Assumptions` takes another

Data sheets state two directions of a link together, and products with every second weight zero ("sparsity"): both are
halved here. None stands where nobody publishes a number, or rents the chip out. Prices are on-demand list prices:
Lambda's for NVIDIA's and RunPod's for the H200, August 2026; Vultr's for the MI300X, 2025; Google Cloud's for TPUs,
2026 (v4: 2023); for the H800 what DeepSeek-AI 2024, table 1, assumes.
"""

import re
from typing import NamedTuple

from tx_helpers.nn.arguments import check_types


class Chip(NamedTuple):
    """One row of the table. `device` is a pattern that PyTorch's name of the device contains."""

    flops: float
    memory: float
    bandwidth: float
    link: float
    network: float
    node: int
    watts: float | None
    source: str
    device: str
    fp8: float | None = None
    dollars: float | None = None


T, G, GIB = 1e12, 1e9, 2.0**30
_GPU = "NVIDIA's data sheet"
_TPU = "Google Cloud's documentation, 2026"
# Of an A100's node: 8 adapters of 200 Gbit/s for 8 chips, Narayanan et al. 2021, section 5; of an H100's, 400 Gbit/s.
CHIPS: dict[str, Chip] = {
    "V100": Chip(
        *(125 * T, 32 * GIB, 900 * G, 150 * G, 6.25 * G, 8, 300),
        f"{_GPU}, 2020; network of GPT-3's cluster, 400 Gbit/s a node: Microsoft, May 2020",
        "V100",
    ),
    "A100 40GB": Chip(
        *(312 * T, 40 * GIB, 1555 * G, 300 * G, 25 * G, 8, 400), f"{_GPU}, 2020", "A100.*40GB", dollars=1.99
    ),
    "A100 80GB": Chip(
        *(312 * T, 80 * GIB, 2039 * G, 300 * G, 25 * G, 8, 400), f"{_GPU}, 2021", "A100.*80GB", dollars=2.79
    ),
    "H100 SXM": Chip(
        *(989 * T, 80 * GIB, 3350 * G, 450 * G, 50 * G, 8, 700), f"{_GPU}, 2023", "H100 80GB", 1979 * T, 3.99
    ),
    "H100 PCIe": Chip(*(756 * T, 80 * GIB, 2000 * G, 64 * G, 25 * G, 8, 350), f"{_GPU}, 2023", "H100 PCIe", 1513 * T),
    "H100 NVL": Chip(*(835 * T, 94 * GIB, 3900 * G, 300 * G, 25 * G, 2, 400), f"{_GPU}, 2023", "H100 NVL", 1671 * T),
    "H800": Chip(
        *(989 * T, 80 * GIB, 3350 * G, 200 * G, 50 * G, 8, 700),
        "as the H100, with links of 400 GB/s in both directions; network: DeepSeek-AI 2024, section 3.2",
        *("NVIDIA H800$", 1979 * T, 2.00),
    ),
    "H200": Chip(
        *(989 * T, 141 * GIB, 4800 * G, 450 * G, 50 * G, 8, 700), f"{_GPU}, 2024", "NVIDIA H200$", 1979 * T, 3.59
    ),
    "B200": Chip(
        *(2250 * T, 180 * GIB, 8000 * G, 900 * G, 50 * G, 8, 1000),
        f"{_GPU} of the DGX, 2025",
        "NVIDIA B200$",
        4500 * T,
        6.69,
    ),
    "L40S": Chip(*(362 * T, 48 * GIB, 864 * G, 32 * G, 25 * G, 8, 350), f"{_GPU}, 2023", "L40S", 733 * T),
    "RTX 4090": Chip(*(165 * T, 24 * GIB, 1008 * G, 32 * G, 3.1 * G, 8, 450), f"{_GPU}, 2022", "RTX 4090$", 330 * T),
    "MI300X": Chip(
        *(1307 * T, 192 * GIB, 5300 * G, 448 * G, 50 * G, 8, 750), "AMD's data sheet, 2023", "MI300X", 2615 * T, 1.85
    ),
    # A pod's all-reduce bandwidth, divided by its chips, is what a chip sends in one direction.
    "TPU v3": Chip(
        *(123 * T, 32 * GIB, 900 * G, 332 * G, 3.1 * G, 1024, 220), f"{_TPU}; network as the v5e's", "TPU v3"
    ),
    "TPU v4": Chip(
        *(275 * T, 32 * GIB, 1200 * G, 269 * G, 3.1 * G, 4096, 170),
        f"{_TPU}; network as the v5e's",
        "TPU v4",
        dollars=3.22,
    ),
    "TPU v5e": Chip(*(197 * T, 16 * GIB, 819 * G, 200 * G, 3.1 * G, 256, None), _TPU, "TPU v5e", dollars=1.20),
    "TPU v5p": Chip(*(459 * T, 95 * GIB, 2765 * G, 600 * G, 6.25 * G, 8960, None), _TPU, "TPU v5p", dollars=4.20),
    "TPU v6e Trillium": Chip(
        *(918 * T, 32 * GIB, 1638 * G, 400 * G, 12.5 * G, 256, None), _TPU, "TPU v6e", dollars=2.70
    ),
}


def chip_of(device: str) -> Chip | None:
    """The chip of a device that PyTorch calls so (`torch.cuda.get_device_name()`), if the table has it."""
    check_types("chip_of", str, device=device)
    return next((chip for chip in CHIPS.values() if re.search(chip.device, device)), None)
