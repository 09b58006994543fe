"""A trained model as data for the page: what it is, as plain JSON, and its weights, as bytes.

    spec, data = machine_data(number_translator())

    spec    kind     "encoder_decoder" or "decoder_only"
            config   the numbers and names of its `TransformerConfig`, flat
            tensors  name in the state_dict -> {shape, offset}, counted in numbers; shared weights have one offset
            dtype    "float32" or "float16": how each number stands in `data`, the lowest byte first
            source, target  the vocabularies: {tokens, specials, unknown, limit, …; kind: "words", "characters", or, in
                            a published page alone, "pieces"}

The scripts in the folder `machine` compute with it. They know the models of this course. So whatever is given here is
first rebuilt as one of them, with the same weights, and must give the same logits; a ValueError says what differs.
"""

from collections.abc import Mapping
from operator import attrgetter

import numpy as np
import torch
from torch import Tensor, nn

from tx_helpers.nn.arguments import described
from tx_helpers.nn.config import AttentionConfig, FeedForwardConfig, TransformerConfig
from tx_helpers.nn.models import DecoderOnly, EncoderDecoder, count_parameters
from tx_helpers.text.data import BOS, EOS, PAD
from tx_helpers.text.subwords import BytePairTokenizer, WordPieceTokenizer
from tx_helpers.text.tokenizers import CharTokenizer, Tokenizer, WordTokenizer
from tx_helpers.training.contexts import in_mode
from tx_helpers.widgets.scripts import FOLDER, joined
from tx_helpers.zoo.parts.inputs import NormedInput, TokenShift
from tx_helpers.zoo.parts.outputs import BiasedOutput, ScaledOutput
from tx_helpers.zoo.recipes import Translator, Writer

SCRIPT = joined(*sorted((FOLDER / "machine").glob("*.js")))
SUPPORTED = (
    "a Translator, a Writer, an EncoderDecoder, a DecoderOnly, or a model of the classes that you write yourself, "
    "with the names of their parts"
)
LIMIT = 64  # tokens of a text, where the model has no context length
LARGEST = 5_000_000  # parameters: 20 MB, and about ten milliseconds a token
NOT_IN_THE_PAGE = (  # what must be None, or empty
    *(
        "layers",
        "mixer",
        "attention.window",
        "attention.attend",
        "feed_forward.experts",
        "positions.stretch",
        "positions.d_rotary",
    ),
)
PARTS_OF_THE_PAGE = {"embedding.input": TokenShift | NormedInput, "embedding.output": BiasedOutput | ScaledOutput}
WHOLE = {WordTokenizer: "words", CharTokenizer: "characters"}
EVERY = WHOLE | {BytePairTokenizer: "pieces", WordPieceTokenizer: "pieces"}
TOLERANCE = 1e-3  # of the largest logit; of a model in half precision a hundred times as much
Known = EncoderDecoder | DecoderOnly


def machine_data(subject: Translator | Writer | nn.Module, *, half: bool = False) -> tuple[dict, bytes]:
    """(spec, data) of a trained model, as the head of this file describes them.

    half  the weights in float16: half as many bytes, each number rounded to 11 binary digits
    Raises ValueError for a model that the page cannot compute; it names what was found and what is supported.
    """
    return packed_model(course_model(subject), subject, half=half)


def packed_model(
    model: Known,
    subject: Translator | Writer | nn.Module,
    *,
    half: bool,
    kinds: Mapping[type, str] = WHOLE,
    limit: int = LIMIT,
) -> tuple[dict, bytes]:
    """`machine_data` of a subject whose `course_model` is at hand.

    kinds  of tokenizers that are known where it goes
    limit  tokens of a text, where the model has no context length
    """
    kind, config = type(model), model.config
    tensors, data = _packed(model.state_dict(), np.dtype("<f2" if half else "<f4"))
    spec = {
        "kind": "encoder_decoder" if kind is EncoderDecoder else "decoder_only",
        "config": _flat(config),
        "tensors": tensors,
        "dtype": "float16" if half else "float32",
        **_vocabularies(subject, config, kind, kinds, config.context_length or limit),
    }
    return spec, data


def course_model(subject: Translator | Writer | nn.Module, largest: int = LARGEST) -> Known:
    """The course's model with the weights of this one, on the CPU and ready to translate; ValueError as above."""
    model = getattr(subject, "model", subject)
    if not isinstance(subject, Translator | Writer | nn.Module) or not isinstance(model, nn.Module):
        raise ValueError(f"machine: the model is {described(subject)}, expected {SUPPORTED}")
    if (size := count_parameters(model)) > largest:
        raise ValueError(f"machine: a model of {size:,} parameters, but a page computes with at most {largest:,}")
    config = model.config if isinstance(model, EncoderDecoder | DecoderOnly) else _config_of(model)
    _check_known(config)
    kind: type[Known] = EncoderDecoder if _has_encoder(model) else DecoderOnly
    state = {name: value.detach().float().cpu() for name, value in model.state_dict().items()}
    if isinstance(subject, Translator if kind is DecoderOnly else Writer):
        other = DecoderOnly if kind is EncoderDecoder else EncoderDecoder
        name = type(subject).__name__
        raise ValueError(f"machine: a {name} with a model {_what(kind)}, expected one {_what(other)}")
    for name, _ in model.named_buffers():  # constants, of which a learner's class may have others
        state.pop(name, None)
    rebuilt = _rebuilt(kind, config, state)
    _check_same(model, rebuilt)
    return rebuilt


def _check_known(config: TransformerConfig) -> None:
    for path in NOT_IN_THE_PAGE:
        if (value := attrgetter(path)(config)) not in (None, ()):
            expected = "()" if path == "layers" else "None"
            raise ValueError(f"machine: {path}={value}, which the page does not compute; expected {expected}")
    for path, value in (
        ("wiring", "sandwich"),
        ("norm.kind", "rms_plus_one"),
        ("positions.kind", "sinusoidal_halves"),
    ):
        if attrgetter(path)(config) == value:
            raise ValueError(f"machine: {path}={value!r}, which the page does not compute; expected another value")
    for path, known in PARTS_OF_THE_PAGE.items():
        if not isinstance(part := attrgetter(path)(config), known | None):
            raise ValueError(f"machine: {path}={part!r}, which the page does not compute; expected another value")


def _has_encoder(model: nn.Module) -> bool:
    return isinstance(getattr(model, "encoder", None), nn.Module)


def _what(kind: type) -> str:
    return "without an encoder" if kind is DecoderOnly else "with an encoder"


def _config_of(model: nn.Module) -> TransformerConfig:
    """The configuration of a model of the learner's classes, read off its parts."""
    try:
        decoder, block = model.decoder, model.decoder.blocks[0]
        encoder = model.encoder if _has_encoder(model) else None
        vocab_size, d_model = decoder.input.tokens.weight.shape
        return TransformerConfig(
            vocab_size,
            d_model,
            n_layers=len(decoder.blocks),
            n_encoder_layers=len(encoder.blocks) if encoder else None,
            source_vocab_size=len(encoder.input.tokens.weight) if encoder else None,
            pad_id=PAD if encoder else None,
            attention=AttentionConfig(block.self_attention.n_heads),
            feed_forward=FeedForwardConfig(block.feed_forward.expand.out_features),
        )
    except (AttributeError, TypeError, IndexError, ValueError) as error:
        raise ValueError(f"machine: a model of type {type(model).__name__} ({error}), expected {SUPPORTED}") from None


def _rebuilt(kind: type[Known], config: TransformerConfig, state: Mapping[str, Tensor]) -> Known:
    """The course's model of that configuration, with these weights."""
    with torch.device("meta"):  # nothing is drawn: the generator of random numbers stays as it was
        model = kind(config)
    expected = {name: tuple(value.shape) for name, value in model.state_dict().items()}
    found = {name: tuple(value.shape) for name, value in state.items()}
    differing = sorted(name for name in expected.keys() | found if expected.get(name) != found.get(name))
    if differing:
        name = differing[0]
        raise ValueError(
            f"machine: {len(differing)} tensors differ from those of the course's {kind.__name__}, among them {name}: "
            f"{found.get(name, 'missing')}, expected {expected.get(name, 'no such tensor')}"
        )
    model.load_state_dict(state, assign=True)
    return model.eval()


@torch.no_grad()
def _check_same(model: nn.Module, rebuilt: nn.Module) -> None:
    """Compare the logits of a few ids, which shows whatever in the model is not as its configuration says."""
    generator = torch.Generator().manual_seed(0)
    config = rebuilt.config
    sizes = [config.vocab_size]
    if isinstance(rebuilt, EncoderDecoder):
        sizes.insert(0, config.source_vocab_size or config.vocab_size)
    lengths = [min(length, config.context_length or length) for length in (11, 7)]
    device = next(model.parameters()).device
    inputs = [
        torch.randint(min(EOS + 1, size - 1), size, (2, length), generator=generator)
        for size, length in zip(sizes, lengths, strict=False)
    ]
    with in_mode(model, training=False):
        logits = model(*(ids.to(device) for ids in inputs)).cpu()
    expected = rebuilt(*inputs)
    if logits.shape != expected.shape:
        raise ValueError(f"machine: logits {tuple(logits.shape)}, expected {tuple(expected.shape)}")
    gap = (logits.float() - expected).abs().max().item()
    tolerance = TOLERANCE if logits.dtype.itemsize >= 4 else 100 * TOLERANCE
    if not gap <= tolerance * max(1.0, expected.abs().max().item()):
        raise ValueError(
            f"machine: the logits of this {type(model).__name__} differ by {gap:.2g} from those of the course's "
            f"{type(rebuilt).__name__} with the same weights, expected the same: some part of it computes otherwise"
        )


def _packed(state: Mapping[str, Tensor], dtype: np.dtype) -> tuple[dict, bytes]:
    """Where each tensor stands, and all numbers; equal tensors, such as tied weights, are written once."""
    tensors, offsets, parts, end = {}, {}, [], 0
    for name, value in state.items():
        numbers = value.numpy().astype(dtype).tobytes()
        key = tuple(value.shape), numbers
        if key not in offsets:
            offsets[key], end = end, end + value.numel()
            parts.append(numbers)
        tensors[name] = {"shape": list(value.shape), "offset": offsets[key]}
    return tensors, b"".join(parts)


def _flat(config: TransformerConfig) -> dict:
    return {
        "vocab_size": config.vocab_size,
        "d_model": config.d_model,
        "d_ff": config.d_ff,
        "n_heads": config.attention.n_heads,
        "n_kv_heads": config.attention.n_kv_heads or config.attention.n_heads,
        "d_head": config.d_head,
        "scale": config.attention.scale,
        "n_layers": config.n_layers,
        "context_length": config.context_length,
        "pad_id": config.pad_id,
        "wiring": config.wiring,
        "norm": config.norm.kind,
        "eps": config.norm.eps,
        "activation": config.feed_forward.activation,
        "gated": config.feed_forward.gated,
        "positions": config.positions.kind,
        "base": config.positions.base,
        "layout": config.positions.layout,
        "interpolation": config.positions.interpolation,
        "buckets": config.positions.buckets,
        "max_distance": config.positions.max_distance,
        "embedding_scale": config.embedding.scale,
        "output_scale": getattr(config.embedding.output, "factor", 1.0),
        "tied": config.embedding.tied,
    }


def _vocabularies(
    subject: Translator | Writer | nn.Module,
    config: TransformerConfig,
    kind: type,
    kinds: Mapping[type, str],
    limit: int,
) -> dict:
    """`source` (None without an encoder) and `target`, with the ids of their beginning and end."""
    if isinstance(subject, Translator):
        tokenizers = subject.data.source_tokenizer, subject.data.target_tokenizer
    else:
        tokenizers = None, getattr(subject, "tokenizer", None)
    sizes = config.source_vocab_size or config.vocab_size, config.vocab_size
    source, target = (_side(tokenizer, size, limit, kinds) for tokenizer, size in zip(tokenizers, sizes, strict=True))
    ends = {"bos": BOS, "eos": EOS} if target["specials"] > EOS else {"bos": None, "eos": None}  # characters have none
    return {"source": source if kind is EncoderDecoder else None, "target": target | ends}


def _side(tokenizer: Tokenizer | None, size: int, limit: int, kinds: Mapping[type, str]) -> dict:
    """A vocabulary; of a model alone, which has no words, each word is its id."""
    if tokenizer is None:
        specials = min(EOS + 1, size)
        tokens = [*(f"<{id}>" for id in range(specials)), *map(str, range(specials, size))]
        return {"kind": "words", "tokens": tokens, "specials": specials, "unknown": None, "limit": limit}
    if type(tokenizer) not in kinds:
        *most, last = (f"a {known.__name__}" for known in kinds)
        raise ValueError(f"machine: a {type(tokenizer).__name__}, expected {', '.join(most)} or {last}")
    if len(tokenizer) != size:
        raise ValueError(f"machine: a vocabulary of {len(tokenizer)} tokens, but the model has {size}")
    specials = len(tokenizer) - len(tokenizer.pieces)
    side = {
        "kind": kinds[type(tokenizer)],
        "tokens": list(tokenizer.tokens),
        "specials": specials,
        "unknown": tokenizer.unknown_id,
        "limit": limit,
    }
    if isinstance(tokenizer, BytePairTokenizer):  # the page makes the pieces from the merges; the tokens are to be read
        shown = [*tokenizer.tokens[:specials], *map(tokenizer.readable, tokenizer.pieces)]
        side |= {"tokens": shown, "merges": [list(pair) for pair in tokenizer.merges]}
    return side
