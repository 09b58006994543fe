"""All families of checkpoints that can be loaded and saved, by the `model_type` of config.json."""

from tx_helpers.zoo.public.bart import BART, MARIAN
from tx_helpers.zoo.public.bert import BERT, DISTILBERT, ROBERTA
from tx_helpers.zoo.public.deepseek import DEEPSEEK_V2, DEEPSEEK_V3
from tx_helpers.zoo.public.family import Family
from tx_helpers.zoo.public.gemma import GEMMA, GEMMA2, GEMMA3
from tx_helpers.zoo.public.gpt2 import GPT2
from tx_helpers.zoo.public.llama import LLAMA, MISTRAL, QWEN2, QWEN3
from tx_helpers.zoo.public.mixtral import MIXTRAL, QWEN3_MOE
from tx_helpers.zoo.public.phi import PHI3, STABLELM
from tx_helpers.zoo.public.t5 import T5

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
