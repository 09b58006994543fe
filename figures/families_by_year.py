"""Families by maker and year, 2017 to 2026: figures/families_by_year.svg

Each entry has its source, mostly its paper, beside it in MODELS.
"""

from canvas import BLUE, EDGE, GREEN, GREY, MUTED, ORANGE, SMALL, Canvas, save

TITLE = "Families by maker and year"
YEARS = range(2017, 2027)
ENCODER, DECODER, BOTH, UNKNOWN = "encoder-only", "decoder-only", "encoder–decoder", "shape not published"
LOOKS = {
    ENCODER: dict(fill=BLUE.tint, stroke=BLUE.full, colour=BLUE.shade, radius=0),
    DECODER: dict(fill=ORANGE.tint, stroke=ORANGE.full, colour=ORANGE.shade, radius=11),
    BOTH: dict(fill=GREEN.tint, stroke=GREEN.full, colour=GREEN.shade, thickness=2.4),
    UNKNOWN: dict(stroke=GREY.full, colour=MUTED, dash="3 3"),
}
# maker -> (year, name, shape, source: an arXiv number where there is one)
MODELS: dict[str, list[tuple[int, str, str, str]]] = {
    "Google": [
        (2017, "original", BOTH, "1706.03762"),
        (2018, "BERT", ENCODER, "1810.04805"),
        (2019, "T5", BOTH, "1910.10683"),
        (2020, "ViT", ENCODER, "2010.11929"),
        (2021, "Switch", BOTH, "2101.03961"),
        (2022, "PaLM", DECODER, "2204.02311"),
        (2023, "Gemini", DECODER, "2312.11805"),
        (2024, "Gemma", DECODER, "2403.08295"),
        (2025, "Gemma 3", DECODER, "2503.19786"),
        (2025, "T5Gemma", BOTH, "2504.06225"),
    ],
    "OpenAI": [
        (2018, "GPT", DECODER, "Radford et al. 2018"),
        (2019, "GPT-2", DECODER, "Radford et al. 2019"),
        (2020, "GPT-3", DECODER, "2005.14165"),
        (2021, "Codex", DECODER, "2107.03374"),
        (2022, "Whisper", BOTH, "2212.04356"),
        (2022, "InstructGPT", DECODER, "2203.02155"),
        (2023, "GPT-4", UNKNOWN, "2303.08774"),
        (2024, "GPT-4o", UNKNOWN, "2410.21276"),
        (2025, "gpt-oss", DECODER, "2508.10925"),
    ],
    "Meta": [
        (2019, "RoBERTa", ENCODER, "1907.11692"),
        (2019, "BART", BOTH, "1910.13461"),
        (2020, "mBART", BOTH, "2001.08210"),
        (2022, "OPT", DECODER, "2205.01068"),
        (2022, "NLLB", BOTH, "2207.04672"),
        (2023, "Llama", DECODER, "2302.13971"),
        (2023, "Llama 2", DECODER, "2307.09288"),
        (2024, "Llama 3", DECODER, "2407.21783"),
        (2025, "Llama 4", DECODER, "Meta's model card"),
    ],
    "Anthropic": [
        (2023, "Claude", UNKNOWN, "Anthropic's announcement"),
        (2024, "Claude 3", UNKNOWN, "Anthropic's model card"),
        (2025, "Claude 4", UNKNOWN, "Anthropic's system card"),
        (2026, "Opus 4.6", UNKNOWN, "Anthropic's documentation"),
    ],
    "Mistral AI": [
        (2023, "Mistral", DECODER, "2310.06825"),
        (2024, "Mixtral", DECODER, "2401.04088"),
        (2025, "Magistral", DECODER, "2506.10910"),
    ],
    "DeepSeek": [
        (2024, "V2", DECODER, "2405.04434"),
        (2024, "V3", DECODER, "2412.19437"),
        (2025, "R1", DECODER, "2501.12948"),
        (2026, "V4", DECODER, "2606.19348"),
    ],
    "Alibaba": [
        (2023, "Qwen", DECODER, "2309.16609"),
        (2024, "Qwen2", DECODER, "2407.10671"),
        (2025, "Qwen3", DECODER, "2505.09388"),
        (2026, "Qwen3.5", DECODER, "github.com/QwenLM"),
    ],
    "others": [
        (2020, "OPUS-MT", BOTH, "Tiedemann & Thottingal 2020"),
        (2019, "DistilBERT", ENCODER, "1910.01108"),
        (2022, "BLOOM", DECODER, "2211.05100"),
        (2023, "Phi", DECODER, "2306.11644"),
        (2024, "ModernBERT", ENCODER, "2412.13663"),
    ],
}
DESCRIPTION = "A table of models: a row for each maker, a column for each year from 2017 to 2026. " + " ".join(
    f"{maker}: " + ", ".join(f"{name} {year} ({shape})" for year, name, shape, _ in models) + "."
    for maker, models in MODELS.items()
)
WIDE = {"T5Gemma": 0, "InstructGPT": 0, "DistilBERT": -20, "ModernBERT": 0}  # by 20: where they begin in the column
LEFT, TOP, COLUMN, CHIP = 88, 130, 68.8, 25


def draw() -> Canvas:
    rows = {maker: max(sum(year == y for year, *_ in models) for y in YEARS) for maker, models in MODELS.items()}
    height = TOP + sum(CHIP * count + 12 for count in rows.values()) + 16
    canvas = Canvas("families_by_year", height, title=TITLE, description=DESCRIPTION)
    canvas.heading(TITLE, "A model stands in the year of its paper, or of its release where there is none.")
    x = 28
    for shape, look in LOOKS.items():
        canvas.box(x, 75, 26, 18, **look)
        canvas.text(x + 33, 89, shape, size=SMALL)
        x += 60 + 7.2 * len(shape)
    for place, year in enumerate(YEARS):
        canvas.text(LEFT + COLUMN * (place + 0.5), TOP - 10, str(year), size=SMALL, colour=MUTED, anchor="middle")
    y = TOP
    for maker, models in MODELS.items():
        canvas.line((24, y), (776, y), colour=EDGE, thickness=1, arrow=False)
        canvas.text(24, y + 23, maker, size=13, bold=True)
        draw_row(canvas, y + 6, models)
        y += CHIP * rows[maker] + 12
    return canvas


def draw_row(canvas: Canvas, top: float, models: list[tuple[int, str, str, str]]) -> None:
    """The models of one maker; those of the same year below each other."""
    taken = dict.fromkeys(YEARS, 0)
    for year, name, shape, _ in models:
        x, y = LEFT + COLUMN * (year - YEARS[0]) + WIDE.get(name, 0), top + CHIP * taken[year]
        wider, size = 20 * (name in WIDE), 12.5 if len(name) > 6 else 13
        canvas.box(x + 1, y + 1, COLUMN - 2 + wider, CHIP - 2, name, **LOOKS[shape], size=size, bold=False)
        taken[year] += 1


if __name__ == "__main__":
    save(draw())
