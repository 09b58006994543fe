"""Models by the year they came out and the shape of their stack: `timeline()` draws them.

Behind each name stands its source: a paper's number on arXiv, which begins with its year and month, or the day of the
maker's announcement or model card.
"""

from tx_helpers.show.plots import Svg
from tx_helpers.show.shapes import BLUE, EDGE, GREEN, GREY, MUTED, ORANGE, Colour, box, card, line, words

ENCODER, BOTH, DECODER, UNKNOWN = "encoder-only", "encoder–decoder", "decoder-only", "shape not published"
# fmt: off
SOURCES = {
    ENCODER: "BERT 1810.04805, RoBERTa 1907.11692, DistilBERT 1910.01108, ViT 2010.11929, ModernBERT 2412.13663, "
    "LLaDA 2502.09992",
    BOTH: "original 1706.03762, T5 1910.10683, BART 1910.13461, OPUS-MT 2020-11, Switch 2101.03961, NLLB 2207.04672, "
    "Whisper 2212.04356, T5Gemma 2504.06225",
    DECODER: "GPT 2018-06, GPT-2 2019-02, GPT-3 2005.14165, Codex 2107.03374, InstructGPT 2203.02155, PaLM 2204.02311, "
    "OPT 2205.01068, BLOOM 2211.05100, ChatGPT 2022-11-30, Llama 2302.13971, Phi 2306.11644, Llama 2 2307.09288, "
    "Qwen 2309.16609, Mistral 2310.06825, Gemini 2312.11805, Mixtral 2401.04088, Gemma 2403.08295, "
    "DeepSeek-V2 2405.04434, Llama 3 2407.21783, Qwen2 2407.10671, DeepSeek-V3 2412.19437, DeepSeek-R1 2501.12948, "
    "Gemma 3 2503.19786, Llama 4 2025-04-05, Qwen3 2505.09388, Kimi K2 2507.20534, GLM-4.5 2508.06471, "
    "gpt-oss 2508.10925, DeepSeek-V3.2 2512.02556, Qwen3.5 2026-02, GLM-5 2602.15763, DeepSeek-V4 2026-04-24",
    UNKNOWN: "GPT-4 2303.08774, Claude 2023-03-14, Claude 2 2023-07-11, Gemini 1.5 2024-02-15, Claude 3 2024-03-04, "
    "GPT-4o 2024-05-13, o1 2024-09-12, GPT-4.5 2025-02-27, Gemini 2.5 2025-03-25, o3 2025-04-16, Claude 4 2025-05-22, "
    "GPT-5 2025-08-07, Gemini 3 2025-11-18, Opus 4.6 2026-02-05",
}
# fmt: on
COLUMNS: dict[str, tuple[Colour, int]] = {  # colour, pixels
    ENCODER: (BLUE, 130),
    BOTH: (GREEN, 136),
    DECODER: (ORANGE, 330),
    UNKNOWN: (GREY, 200),
}  # fmt: skip
LEFT, TOP, CHIP, LETTER = 62, 44, 24, 7.6


def shapes_by_year() -> dict[str, dict[int, list[str]]]:
    """Shape -> year -> the models, in the order of their dates."""
    found: dict[str, dict[int, list[str]]] = {shape: {year: [] for year in range(2017, 2027)} for shape in SOURCES}
    for shape, listed in SOURCES.items():
        for entry in listed.split(", "):
            name, source = entry.rsplit(" ", 1)
            found[shape][int(source[:4]) if "-" in source else 2000 + int(source[:2])].append(name)
    return found


def timeline() -> Svg:
    """A row for each year, a column for each shape, a chip for each model."""
    models, parts, y = shapes_by_year(), [], float(TOP)
    for year in models[DECODER]:
        x, lines = float(LEFT), 1
        parts += [line(12, y, LEFT + 806, y, EDGE), words(14, y + 19, str(year), fill=MUTED)]
        for shape, (colour, width) in COLUMNS.items():
            at, row = x, 0
            for name in models[shape][year]:
                wide = 14 + LETTER * len(name)
                if at + wide > x + width:
                    at, row = x, row + 1
                parts.append(box(at, y + 4 + CHIP * row, wide, CHIP - 3, name, colour, 12.5))
                at += wide + 4
            x, lines = x + width + 6, max(lines, row + 1)
        y += CHIP * lines + 8
    x = float(LEFT)
    for shape, (colour, width) in COLUMNS.items():
        parts.append(words(x, TOP - 14, shape, font_weight="bold", fill=colour.shade))
        x += width + 6
    return card(LEFT + 820, y + 6, parts, describe())


def describe() -> str:
    """How many models of each shape, before 2022 and since."""
    said = []
    for first, last in ((2017, 2021), (2022, 2026)):
        counts = {
            shape: sum(len(names) for year, names in years.items() if first <= year <= last)
            for shape, years in shapes_by_year().items()
        }
        said.append(f"{first} to {last}: {', '.join(f'{count} {shape}' for shape, count in counts.items())}.")
    return " ".join(["Models by year and shape.", *said])
