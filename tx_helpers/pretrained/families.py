"""All families of checkpoints that can be loaded and saved, by the `model_type` of config.json."""

from tx_helpers.pretrained.bart import BART, MARIAN
from tx_helpers.pretrained.bert import BERT, DISTILBERT, ROBERTA
from tx_helpers.pretrained.deepseek import DEEPSEEK_V2, DEEPSEEK_V3
from tx_helpers.pretrained.family import Family
from tx_helpers.pretrained.gemma import GEMMA, STABLELM
from tx_helpers.pretrained.gemma2 import GEMMA2, GEMMA3
from tx_helpers.pretrained.gpt2 import GPT2
from tx_helpers.pretrained.llama import LLAMA, MISTRAL, QWEN2, QWEN3
from tx_helpers.pretrained.mixtral import MIXTRAL, QWEN3_MOE
from tx_helpers.pretrained.phi import PHI3
from tx_helpers.pretrained.t5 import T5

FAMILIES: dict[str, Family] = {
    family.name: family
    for family in (
        *(
            GPT2,
            LLAMA,
            MISTRAL,
            QWEN2,
            QWEN3,
            MIXTRAL,
            QWEN3_MOE,
            GEMMA,
            GEMMA2,
            GEMMA3,
            STABLELM,
            PHI3,
            DEEPSEEK_V2,
            DEEPSEEK_V3,
        ),
        *(BERT, ROBERTA, DISTILBERT),
        *(T5, BART, MARIAN),
    )
}
