"""Models by maker and year, each with one dated sentence, its source, and the lesson that builds its news.

The day is that of the source: of a paper its first version on arXiv, of a product its maker's announcement. A number
with a point, such as 1810.04805, is a paper on arXiv. The shape is what the source says; "shape not published" where it
says nothing.
"""

from typing import NamedTuple

ENCODER, DECODER, BOTH, UNKNOWN = "encoder-only", "decoder-only", "encoder–decoder", "shape not published"


class Model(NamedTuple):
    """One name on the timeline."""

    name: str
    maker: str
    day: str  # "2018-10", "2022-11-30"
    shape: str
    news: str  # a sentence
    source: str
    lesson: str  # where the course builds it
    built: str  # what it builds there

    @property
    def year(self) -> int:
        return int(self.day[:4])


def _of(maker: str, *rows: tuple[str, str, str, str, str, str, str]) -> list[Model]:
    return [Model(row[0], maker, *row[1:]) for row in rows]


# fmt: off
GOOGLE = _of(
    "Google",
    ("original", "2017-06", BOTH,
     "The first Transformer, made to translate, needs no recurrence and no convolution.",
     "1706.03762", "full_model", "all of it, in eight classes"),
    ("BERT", "2018-10", ENCODER,
     "Pretrained on hidden words and then fine-tuned, it set new records on eleven tasks.",
     "1810.04805", "families", "hidden words, by hand"),
    ("T5", "2019-10", BOTH,
     "Every task becomes text to text; cutting out spans was a good objective at small cost.",
     "1910.10683", "families", "spans cut out, by hand"),
    ("ViT", "2020-10", ENCODER,
     "It cuts a picture into patches of 16 × 16, and classifies it; it learned from labels.",
     "2010.11929", "beyond_text", "patches as tokens"),
    ("Switch", "2021-01", BOTH,
     "Each token goes to one expert of many, so parameters grow to a trillion at equal cost.",
     "2101.03961", "what_changed", "experts and their router"),
    ("PaLM", "2022-04", DECODER,
     "540 billion parameters; with written steps and a calculator, it solved 58 % of GSM8K.",
     "2204.02311", "learning_from_reward", "steps before the answer"),
    ("Gemini", "2023-12", DECODER,
     "It reads text, pictures, sound and video in one sequence of tokens.",
     "2312.11805", "beyond_text", "pictures and words in one space"),
    ("Gemini 1.5", "2024-02-15", UNKNOWN,
     "Announced with a window of one million tokens, tested on needles up to ten.",
     "Google's announcement; 2403.05530", "cheaper_and_longer", "advertised against effective length"),
    ("Gemma", "2024-03", DECODER,
     "Open weights of 2 and 7 billion parameters, built from the research behind Gemini.",
     "2403.08295", "families", "how a public folder is loaded"),
    ("Gemini 2.5", "2025-03-25", UNKNOWN,
     "It thinks in steps before it answers: Google calls it a thinking model.",
     "Google's announcement; 2507.06261", "learning_from_reward", "thinking, learned from reward"),
    ("Gemma 3", "2025-03", DECODER,
     "Five layers with a window of 1,024 tokens for each layer that sees everything.",
     "2503.19786", "cheaper_and_longer", "windows, and layers that see all"),
    ("T5Gemma", "2025-04", BOTH,
     "A decoder becomes an encoder–decoder; fine-tuned, it does better at a similar cost.",
     "2504.06225", "families", "the tournament of the shapes"),
)
OPENAI = _of(
    "OpenAI",
    ("GPT", "2018-06", DECODER,
     "Pretrained on the next word, then fine-tuned: a new best on 9 of 12 tasks, none of writing.",
     "Radford et al. 2018", "families", "every next word, by hand"),
    ("GPT-2", "2019-02", DECODER,
     "1.5 billion parameters; it does tasks by a prompt alone, without any fine-tuning.",
     "Radford et al. 2019", "a_model_that_writes", "a GPT of your own"),
    ("GPT-3", "2020-05", DECODER,
     "175 billion parameters; a few examples in the prompt help it more, the larger it is.",
     "2005.14165", "adapting", "examples in the prompt"),
    ("Codex", "2021-07", DECODER,
     "A GPT trained on code solves 29 % of 164 tasks with one program, 70 % with a hundred.",
     "2107.03374", "learning_from_reward", "right at k samples, with a checker"),
    ("InstructGPT", "2022-03", DECODER,
     "People preferred 1.3 billion parameters taught by feedback to GPT-3's 175.",
     "2203.02155", "adapting", "instructions and preferences"),
    ("Whisper", "2022-12", BOTH,
     "It learned from 680,000 hours of speech with their text, and transcribes or translates.",
     "2212.04356", "beyond_text", "what else can be a token"),
    ("ChatGPT", "2022-11-30", DECODER,
     "A GPT-3.5 taught to converse by human feedback, opened to everybody as a preview.",
     "OpenAI's announcement", "adapting", "conversations as one text"),
    ("GPT-4", "2023-03-14", UNKNOWN,
     "It reads pictures, too; its makers publish many test scores, but neither size nor shape.",
     "2303.08774", "beyond_text", "pictures as tokens"),
    ("GPT-4o", "2024-05-13", UNKNOWN,
     "One network for text, pictures and sound; it answers speech after 0.32 s on average.",
     "OpenAI's announcement; 2410.21276", "beyond_text", "several senses in one sequence"),
    ("o1", "2024-09-12", UNKNOWN,
     "Trained by reward to write long hidden steps; more steps at test time, better answers.",
     "OpenAI's announcement", "learning_from_reward", "steps learned from reward"),
    ("GPT-4.5", "2025-02-27", UNKNOWN,
     "A preview of OpenAI's largest model until then; it has more pretraining, and no long steps.",
     "OpenAI's system card", "scaling_up", "what more training buys"),
    ("gpt-oss", "2025-08", DECODER,
     "Open weights again, with experts: 5.1 of 117 billion parameters work for each token.",
     "2508.10925", "what_changed", "experts"),
)
META = _of(
    "Meta",
    ("RoBERTa", "2019-07", ENCODER,
     "BERT trained longer on more text, without next sentences, is clearly better.",
     "1907.11692", "families", "the masked objective"),
    ("BART", "2019-10", BOTH,
     "It repairs a spoiled text: words deleted, spans cut out, sentences in another order.",
     "1910.13461", "families", "spans cut out, by hand"),
    ("OPT", "2022-05", DECODER,
     "A model as large as GPT-3, for researchers, with the log book of its training.",
     "2205.01068", "debugging", "spikes, and how to find them"),
    ("NLLB", "2022-07", BOTH,
     "It translates between 200 languages, with experts.",
     "2207.04672", "training", "a translator's training"),
    ("Llama", "2023-02", DECODER,
     "13 billion parameters, trained on a trillion tokens, beat GPT-3's 175 on most tests.",
     "2302.13971", "what_changed", "rotary, RMSNorm, gates"),
    ("Llama 2", "2023-07", DECODER,
     "Open weights that chat; the largest one shares keys and values among its heads.",
     "2307.09288", "what_changed", "shared keys and values"),
    ("Llama 3", "2024-07", DECODER,
     "405 billion parameters and 15.6 trillion tokens, trained on up to 16,000 cards.",
     "2407.21783", "scaling_up", "six ways to cut a model"),
    ("Llama 4", "2025-04", DECODER,
     "Experts, pictures, and a window that is said to hold ten million tokens.",
     "Meta's model card", "cheaper_and_longer", "advertised against effective length"),
)
ANTHROPIC = _of(
    "Anthropic",
    ("Claude", "2023-03-14", UNKNOWN,
     "An assistant trained with written principles, by which a model judges its answers.",
     "Anthropic's announcement; 2212.08073", "adapting", "preferences"),
    ("Claude 2", "2023-07-11", UNKNOWN,
     "Opened to the public, with prompts of up to 100,000 tokens.",
     "Anthropic's announcement", "cheaper_and_longer", "what a long prompt costs"),
    ("Claude 3", "2024-03-04", UNKNOWN,
     "Three sizes, which read pictures, too, and a window of 200,000 tokens.",
     "Anthropic's model card", "beyond_text", "pictures as tokens"),
    ("Claude 3.5", "2024-06-20", UNKNOWN,
     "The middle size passes the largest of the generation before, at a fifth of its price.",
     "Anthropic's announcement", "scaling_up", "what a smaller model can reach"),
    ("Claude 4", "2025-05", UNKNOWN,
     "It answers at once or thinks first, and may use tools while it thinks.",
     "Anthropic's system card", "learning_from_reward", "steps before the answer"),
    ("Opus 4.6", "2026-02-05", UNKNOWN,
     "It decides itself how long to think; a window of a million tokens is in trial.",
     "Anthropic's documentation", "learning_from_reward", "what more steps buy"),
)
MISTRAL = _of(
    "Mistral AI",
    ("Mistral", "2023-10", DECODER,
     "7 billion parameters with a sliding window pass the 13 billion of Llama 2.",
     "2310.06825", "masking", "the sliding window"),
    ("Mixtral", "2024-01", DECODER,
     "Two of eight experts work for each token: 13 of 47 billion parameters.",
     "2401.04088", "what_changed", "experts"),
    ("Magistral", "2025-06", DECODER,
     "The larger of two learned to reason by reward alone, on answers that a program can check.",
     "2506.10910", "learning_from_reward", "reward with a checker"),
)
DEEPSEEK = _of(
    "DeepSeek",
    ("V2", "2024-05", DECODER,
     "Latent keys and values make the cache 93 % smaller than that of the model before it.",
     "2405.04434", "what_changed", "latent keys and values"),
    ("V3", "2024-12", DECODER,
     "37 of 671 billion parameters work for each token; a bias keeps the experts busy alike.",
     "2412.19437", "what_changed", "experts balanced by a bias"),
    ("R1", "2025-01", DECODER,
     "In R1-Zero, long steps arise from reward alone; R1 begins with some written examples.",
     "2501.12948", "learning_from_reward", "GRPO, from groups of answers"),
    ("V4", "2026-04-24", DECODER,
     "A window of a million tokens, with compressed attention; trained with Muon.",
     "DeepSeek's release; 2606.19348", "what_changed", "Muon"),
)
ALIBABA = _of(
    "Alibaba",
    ("Qwen", "2023-09", DECODER,
     "Open models for Chinese and English, with versions for chat, code and mathematics.",
     "2309.16609", "adapting", "conversations as one text"),
    ("Qwen2", "2024-07", DECODER,
     "All sizes share keys and values; the window grows by YaRN after training.",
     "2407.10671", "cheaper_and_longer", "YaRN"),
    ("Qwen3", "2025-05", DECODER,
     "One model that thinks or answers at once, in 119 languages, with QK-norm.",
     "2505.09388", "what_changed", "QK-norm"),
    ("Qwen3.5", "2026-02", DECODER,
     "Three layers of four keep matrices of fixed size instead of the past's keys and values.",
     "the model card on Hugging Face", "cheaper_and_longer", "delta layers and hybrids"),
)
OTHERS = _of(
    "others",
    ("DistilBERT", "2019-10", ENCODER,
     "A BERT with 40 % fewer parameters, taught by BERT, keeps 97 % of its score.",
     "1910.01108", "families", "the encoder's tasks"),
    ("OPUS-MT", "2020-11", BOTH,
     "Over 1,000 free translators between many languages, trained on public texts.",
     "Tiedemann and Thottingal 2020", "training", "a translator's training"),
    ("BLOOM", "2022-11", DECODER,
     "176 billion parameters, 46 languages, made in public by hundreds of researchers.",
     "2211.05100", "positions_inside_attention", "ALiBi, its positions"),
    ("Phi", "2023-06", DECODER,
     "1.3 billion parameters, trained on texts like textbooks, write half of Codex's 164 programs.",
     "2306.11644", "a_model_that_writes", "small models on clean texts"),
    ("ModernBERT", "2024-12", ENCODER,
     "BERT's shape with the parts of later decoders, and a window of 8,192 tokens.",
     "2412.13663", "what_changed", "what was changed"),
)
# fmt: on
MODELS = [*GOOGLE, *OPENAI, *META, *ANTHROPIC, *MISTRAL, *DEEPSEEK, *ALIBABA, *OTHERS]
