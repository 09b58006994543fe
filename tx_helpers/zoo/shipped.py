"""Models that come with the package: trained for long beforehand, and the same on every machine.

    writer = story_writer(256)                # tells stories, and sees 256 characters
    writer.write("\\n\\n", 400)

`tools/train_story_writers.py` trains them and writes the file. They are kept in float16, under a megabyte together.
"""

from functools import cache
from pathlib import Path

from tx_helpers.nn.config import AttentionConfig, PositionConfig, TransformerConfig
from tx_helpers.nn.models import DecoderOnly
from tx_helpers.text.tokenizers import CharTokenizer
from tx_helpers.training.checkpoints import load_checkpoint, load_weights
from tx_helpers.zoo.recipes import Writer, writer_config

FILE, KIND = Path(__file__).with_name("story_writers.pt"), "story writers"
CONTEXTS = (64, 256)


def story_writer_config(vocab_size: int, context: int) -> TransformerConfig:
    """0.2 million parameters: narrower than the course's writer, with two heads and slower rotations."""
    return writer_config(
        vocab_size,
        d_model=64,
        context_length=context,
        attention=AttentionConfig(2, bias=False, qk_norm=True),
        positions=PositionConfig("rotary", base=20_000.0),
    )


def story_writer(context: int = 256) -> Writer:
    """A writer of stories that sees the last `context` characters, 64 or 256. Both were trained on the same stories.

    A copy of its own at each call, in float32.
    """
    if context not in CONTEXTS:
        raise ValueError(f"story_writer: context={context!r}, expected {' or '.join(map(str, CONTEXTS))}")
    content = _content()
    tokenizer = CharTokenizer(content["characters"])
    model = DecoderOnly(story_writer_config(len(tokenizer), context))
    load_weights(model, {name: value.float() for name, value in content[str(context)].items()})
    return Writer(model.eval(), tokenizer)


@cache
def _content() -> dict:
    return load_checkpoint(FILE, KIND)
