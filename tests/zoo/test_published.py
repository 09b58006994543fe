"""The table of published models: parameters as they are published."""

import pytest

from tx_helpers.training.costs import parameters
from tx_helpers.zoo.published import PUBLISHED

EXACT = {  # counted in the published files
    **{"GPT-2": 124_439_808, "GPT-2 XL": 1_557_611_200, "Llama 2 7B": 6_738_415_616, "Llama 2 70B": 68_976_648_192},
    **{"Llama 3 8B": 8_030_261_248, "Mistral 7B": 7_241_732_096, "Qwen2.5 7B": 7_615_616_512},
    **{
        "Gemma 2 9B": 9_241_705_984,
        "Gemma 3 1B": 999_885_952,
        "Mixtral 8x7B": 46_702_792_704,
        "Qwen3 8B": 8_190_735_360,
    },
}
REPORTED = {
    **{"GPT-3 175B": 174.6e9, "GPT 530B": 529.6e9, "PaLM 540B": 540.35e9, "Llama 3 405B": 405e9, "DeepSeek-V3": 671e9},
    **{"gpt-oss 20B": 20.91e9, "Falcon 7B": 6.92e9},
}


def test_parameters_are_the_published_ones():
    assert PUBLISHED.keys() == EXACT.keys() | REPORTED.keys()
    for name, config in PUBLISHED.items():
        expected = EXACT.get(name) or pytest.approx(REPORTED[name], rel=0.003)
        assert parameters(config) == expected, name
