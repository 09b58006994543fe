"""The table of chips: plausible in every column, found by the names that PyTorch gives, and used by the benchmark."""

import pytest

import bench_gpu
from tx_helpers.lessons.scaling_up.planning.hardware import CHIPS, chip_of
from wrong_arguments import faults

# What torch.cuda.get_device_name() says.
DEVICES = {
    "Tesla V100-SXM2-32GB": "V100",
    "NVIDIA A100-SXM4-40GB": "A100 40GB",
    "NVIDIA A100-SXM4-80GB": "A100 80GB",
    "NVIDIA A100 80GB PCIe": "A100 80GB",
    "NVIDIA H100 80GB HBM3": "H100 SXM",
    "NVIDIA H100 PCIe": "H100 PCIe",
    "NVIDIA H100 NVL": "H100 NVL",
    "NVIDIA H800": "H800",
    "NVIDIA H200": "H200",
    "NVIDIA B200": "B200",
    "NVIDIA L40S": "L40S",
    "NVIDIA GeForce RTX 4090": "RTX 4090",
    "AMD Instinct MI300X": "MI300X",
}


@pytest.mark.parametrize(("device", "name"), DEVICES.items())
def test_a_device_is_found_by_its_name(device, name):
    assert chip_of(device) is CHIPS[name]
    assert bench_gpu.peak_of(device) == CHIPS[name].flops


def test_what_is_not_in_the_table():
    """Also chips whose names only resemble those of the table: they have other sizes."""
    others = ("GeForce GTX 1060", "GH200 480GB", "GB200", "H200 NVL", "H800 PCIe", "GeForce RTX 4090 Laptop GPU")
    assert [chip_of(f"NVIDIA {name}") for name in others] == [None] * len(others)
    assert faults(chip_of, dict(device="NVIDIA H200")) == []


@pytest.mark.parametrize("name", CHIPS)
def test_the_columns_are_in_the_units_that_the_table_says(name):
    chip = CHIPS[name]
    assert 1e14 < chip.flops < 3e15 and 15 * 2**30 < chip.memory < 200 * 2**30
    assert 100 < chip.flops / chip.bandwidth < 600  # operations for each byte, where the roofline bends
    assert chip.network < chip.link < chip.bandwidth
    assert chip.fp8 is None or chip.fp8 == pytest.approx(2 * chip.flops, rel=0.02)
    assert chip.watts is None or 0.1e12 < chip.flops / chip.watts < 3e12
    assert chip.dollars is None or 0.5 < chip.dollars < 10
    assert any(year in chip.source for year in map(str, range(2017, 2027)))


def test_the_bend_of_the_roofline_in_the_text():
    assert round(CHIPS["H100 SXM"].flops / CHIPS["H100 SXM"].bandwidth) == 295


def test_what_a_pods_all_reduce_bandwidth_says_of_a_chips_links():
    """Google Cloud's documentation: of a whole pod, in TB/s."""
    for name, of_the_pod in (("TPU v3", 340), ("TPU v4", 1100), ("TPU v5e", 51.2), ("TPU v6e Trillium", 102.4)):
        assert CHIPS[name].link == pytest.approx(of_the_pod * 1e12 / CHIPS[name].node, rel=0.01)
