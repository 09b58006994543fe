"""The course's order, in one table: a notebook's number is its place in it.

    LESSONS["masking"].number          # "06"
    LESSONS["masking"].stem            # "06_masking": notebooks/06_masking.ipynb

`python tools/renumber.py` makes files and references agree with the table. From it come the line "You are here" of
every notebook, the map of the course, the lists in README.md and TEACHING.md, and the first page of the web edition.
"""

from dataclasses import dataclass


@dataclass(frozen=True)
class Lesson:
    """A line of the table.

    name   its topic: the folder in `tx_helpers.lessons`, and the end of the notebook's file name
    group  the part of the course that it belongs to
    short  what the drawing of the map calls it
    title  its title; the notebook's own may go on from there
    about  what the README says about it
    ask    what TEACHING.md tells a teacher to show and to ask; "" if it is looked up, not taught
    """

    name: str
    group: str
    short: str
    title: str
    about: str
    ask: str = ""

    @property
    def number(self) -> str:
        """Its place in the table, "04"."""
        return f"{list(LESSONS).index(self.name):02}"

    @property
    def stem(self) -> str:
        """The name of its notebook's file, without the ending: "04_self_attention"."""
        return f"{self.number}_{self.name}"


# fmt: off
_TABLE = [
    Lesson(
        "start_here", "Start", "", "Start here",
        "the translator in ten seconds, the map, the legend",
        "type a number: in which numbers do the strong lines cross?",
    ),
    Lesson(
        "limits_of_recurrence", "Before", "Recurrence", "The limits of recurrence",
        "what a state forgets, and how attention mends it",
        "one state, overwritten: after how many words is less than a tenth of a word left?",
    ),
    Lesson(
        "tokens_and_embeddings", "Parts", "Tokens", "Tokens and embeddings",
        "from text to ids to vectors, with tokenizers trained from scratch",
        "any text in GPT-2's own tokens: why can it not see how many r's a word has?",
    ),
    Lesson(
        "positional_encodings", "Parts", "Positions", "Positional encodings",
        "why order must be told, clocks, sinusoids, what their dot product knows",
        "two positions: does the dot product fall at every step of the distance?",
    ),
    Lesson(
        "self_attention", "Parts", "Self-attention", "Self-attention",
        "queries, keys, values; three tokens by hand; why √d_k; what it costs",
        "drag a query in the plane: where must it point to get a single word?",
    ),
    Lesson(
        "multi_head_attention", "Parts", "Heads", "Multi-head attention",
        "what one head cannot do, and what heads do, tested by removing them",
        "remove a head: which one does the translator miss?",
    ),
    Lesson(
        "masking", "Parts", "Masks", "Masking",
        "padding, causal, sliding window; the leak test; rows of several texts",
        "click cells of the mask: which row is left with nothing?",
    ),
    Lesson(
        "feed_forward", "Parts", "Feed-forward", "Feed-forward, residuals, normalisation",
        "the network as a memory; what residuals and norms are for",
        "depth without residuals: after how many layers are all tokens alike?",
    ),
    Lesson(
        "full_model", "Whole", "Full model", "The full model",
        "write all of it yourself, in eight short classes",
        "click a part: which holds the most parameters?",
    ),
    Lesson(
        "training", "Whole", "Training", "Training",
        "your own class from data to exact match; the learning rate, overfitting and its remedies",
        "from crawling to exploding: which rate has the lowest loss after 60 steps?",
    ),
    Lesson(
        "debugging", "Whole", "Debugging", "Debugging",
        "what each part is worth, bugs that train beautifully, and probes that find them",
        "change one word: which positions move though they must not?",
    ),
    Lesson(
        "decoding", "Writing", "Decoding", "Decoding",
        "greedy, sampling, beams, and what the cache saves",
        "temperature and top-p: which setting leaves only one word?",
    ),
    Lesson(
        "a_model_that_writes", "Writing", "A model that writes", "A model that writes",
        "your own GPT, its stories and their entropy floor, and how far back it looks",
        "two writers at work: at which word does the story leave its grammar?",
    ),
    Lesson(
        "positions_inside_attention", "Further", "Positions inside attention", "Positions inside attention",
        "rotary, ALiBi, T5's bias, and texts longer than those of training",
        "clocks on a longer text: which hands meet angles that they have never met?",
    ),
    Lesson(
        "families", "Further", "Families", "Families",
        "BERT, GPT and T5 on the same texts: objectives by hand, nine tasks as dots, a checkpoint used",
        "a score below the guess: what does it say about the shape?",
    ),
    Lesson(
        "adapting", "Further", "Adapting", "Adapting a model",
        "fine-tuning with few labels, LoRA, conversations, preferences, and what is forgotten",
        "what does a model forget while it learns?",
    ),
    Lesson(
        "learning_from_reward", "Further", "Reward", "Learning from reward",
        "sampled answers and an exact checker: from REINFORCE to GRPO; what reward adds, and what it only sharpens",
        "a group of answers: which token gets the strongest push?",
    ),
    Lesson(
        "beyond_text", "Further", "Beyond text", "Beyond text",
        "pictures, captions, actions and graphs as tokens, and when a convolution is better",
        "hide the patch with the most weight: does the answer change?",
    ),
    Lesson(
        "what_changed", "Further", "What changed", "What changed since 2017",
        "what each change since 2017 is worth: norms, gates, shared keys, experts, Muon; built and measured",
        "one change to the model of 2017, and no other: which lowers its loss clearly?",
    ),
    Lesson(
        "cheaper_and_longer", "Further", "Cheaper and longer", "Cheaper and longer",
        "FlashAttention, caches, drafting, fewer bits, one matrix for the past, and how far a long context is used",
        "the cache of a model that you describe: at which length does it outgrow the card?",
    ),
    Lesson(
        "scaling_up", "Further", "Scaling up", "Scaling up",
        "memory, time and messages before a training run starts; six ways to cut a model, on simulated ranks and real "
        "processes; scaling laws; a planner",
        "four ranks in a pipeline: which schedule lets them wait least, and what does it keep?",
    ),
    Lesson(
        "inside_the_model", "Further", "Inside", "Inside the model",
        "how we know what it computes: patching, circuits, probes, sparse features, steering",
        "where in the model does *twenty* become *zwanzig*: point at a layer and a word, then patch it",
    ),
    Lesson(
        "your_own_model", "Further", "Your own model", "Your own model",
        "from a text file to a page that you can send, and a chatbot",
        "who finds the leak in a file with pasted copies? Which rival beats the model after 100 steps?",
    ),
    Lesson(
        "reference", "Look up", "Reference", "Reference",
        "formulas drawn and computed, interview questions, tables to look up",
    ),
]
# fmt: on
LESSONS: dict[str, Lesson] = {lesson.name: lesson for lesson in _TABLE}


@dataclass(frozen=True)
class Route:
    """A way through a part of the course: its title, whom it is for, the names of its lessons in order."""

    title: str
    about: str
    lessons: tuple[str, ...]


ROUTES = (
    Route(
        "Attention in an afternoon",
        "what attention is, and what its heads and masks do",
        ("start_here", "self_attention", "multi_head_attention", "masking"),
    ),
    Route(
        "Build and train a GPT in a weekend",
        "your own classes, from tokens to a model that writes",
        (
            *("start_here", "tokens_and_embeddings", "positional_encodings", "self_attention"),
            *("multi_head_attention", "masking", "feed_forward", "full_model", "training", "decoding"),
            "a_model_that_writes",
        ),
    ),
    Route(
        "The engineer's route",
        "you know PyTorch, and have a model to mend, to speed up or to scale",
        (
            *(
                "full_model",
                "debugging",
                "decoding",
                "positions_inside_attention",
                "what_changed",
                "cheaper_and_longer",
            ),
            "scaling_up",
        ),
    ),
)
