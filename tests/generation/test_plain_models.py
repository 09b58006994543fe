"""Models without `start`, such as those a learner writes: trained, decoded and searched like the package's own."""

import pytest
import torch

from tx_helpers.generation.search import beam_search, generate
from tx_helpers.nn.config import AttentionConfig, TransformerConfig
from tx_helpers.nn.models import DecoderOnly, EncoderDecoder
from tx_helpers.plain import GPT, Transformer
from tx_helpers.text.number_words import number_pairs
from tx_helpers.zoo import recipes
from tx_helpers.zoo.recipes import Writer, train_translator, train_writer

PAD, BOS, END = 0, 1, 2
SIZES = dict(d_model=12, n_layers=2)
SOURCE = torch.tensor([[3, 4, 5, 6, PAD], [7, 5, 4, 3, 8], [6, 6, PAD, PAD, PAD]])
TARGET = torch.tensor([[1, 3, 4, 5], [1, 6, 6, 2], [1, 3, 5, 6]])
PAIRS = number_pairs(120, 0)


def with_noise(model: torch.nn.Module) -> torch.nn.Module:
    torch.manual_seed(3)
    with torch.no_grad():
        for parameter in model.parameters():
            parameter.add_(0.3 * torch.randn_like(parameter))
    return model.eval()


def translators() -> tuple[torch.nn.Module, EncoderDecoder]:
    """A plain model and the package's, with the same weights."""
    plain = with_noise(Transformer(9, 7, d_model=12, n_heads=3, d_ff=48))
    config = TransformerConfig(7, source_vocab_size=9, pad_id=PAD, attention=AttentionConfig(3), **SIZES)
    package = EncoderDecoder(config).eval()
    package.load_state_dict(plain.state_dict())
    return plain, package


def writers() -> tuple[torch.nn.Module, DecoderOnly]:
    plain = with_noise(GPT(9, d_model=12, n_heads=3, d_ff=48, n_layers=2))
    package = DecoderOnly(TransformerConfig(9, attention=AttentionConfig(3), **SIZES)).eval()
    package.load_state_dict(plain.state_dict())
    return plain, package


def test_the_plain_model_computes_what_the_packages_computes():
    for (plain, package), inputs in ((translators(), (SOURCE, TARGET)), (writers(), (SOURCE.clamp(min=1),))):
        torch.testing.assert_close(plain(*inputs), package(*inputs), rtol=0, atol=1e-5)


@pytest.mark.parametrize("options", [{}, {"temperature": 1.5, "top_p": 0.9}])
def test_generation_is_the_same(options):
    for (plain, package), prompt, source in ((translators(), BOS, SOURCE), (writers(), [[3, 4, 5], [6, 7, 8]], None)):
        plan = dict(source=source, max_new_tokens=8, end_id=END, pad_id=PAD, **options)
        written = [
            generate(model, prompt, generator=torch.Generator().manual_seed(0), **plan) for model in (plain, package)
        ]
        assert torch.equal(*written)


def test_beam_search_is_the_same():
    for (plain, package), prompt, source in ((translators(), BOS, SOURCE), (writers(), [[3, 4], [6, 7]], None)):
        found = [
            beam_search(model, prompt, source=source, beams=3, max_new_tokens=6, end_id=END)
            for model in (plain, package)
        ]
        for mine, its in zip(*found, strict=True):
            assert [one.ids for one in mine] == [one.ids for one in its]
            assert [one.score for one in mine] == pytest.approx([one.score for one in its], abs=1e-5)


@pytest.mark.parametrize(
    ("model", "prompt", "options", "message"),
    [
        (writers()[0], BOS, {"source": SOURCE}, "generation: a source is given, but GPT takes none"),
        (translators()[0], BOS, {}, "generation: source=None, but Transformer needs a source (B, S)"),
        (
            writers()[0],
            [[3], [4, 5]],
            {"pad_id": PAD},
            "generation: prompts of lengths [1, 2], but GPT takes its target as it comes; expected one length",
        ),
        (
            torch.nn.Embedding(9, 4),
            BOS,
            {"end_id": 8},
            "generation: the special id 8 is outside the vocabulary, expected 0 to 3",
        ),
        (
            torch.nn.Sequential(torch.nn.Embedding(9, 4), torch.nn.Flatten()),
            BOS,
            {},
            "generation: the model's result of shape (1, 4), expected float (B, T, V)",
        ),
    ],
)
def test_what_does_not_fit_is_named(model, prompt, options, message):
    with pytest.raises(ValueError) as error:
        generate(model, prompt, max_new_tokens=2, **options)
    assert str(error.value).startswith(message)


@pytest.mark.slow
def test_new_model_is_made_in_the_seeded_stream_and_trained_like_ours():
    plan = dict(steps=3, seed=5, progress=False)
    ours = train_translator(PAIRS.train, **plan)
    same = train_translator(PAIRS.train, new_model=lambda data: EncoderDecoder(recipes.translator_config(data)), **plan)
    assert same.run.losses == ours.run.losses
    text = "to be or not to be " * 20
    ours = train_writer(text, **plan)
    again = train_writer(text, new_model=lambda tokenizer: DecoderOnly(recipes.writer_config(len(tokenizer))), **plan)
    assert again.run.losses == ours.run.losses


def test_a_plain_translator_translates():
    def new_model(data):
        return Transformer(len(data.source_tokenizer), len(data.target_tokenizer))

    translator = train_translator(PAIRS.train, steps=2, new_model=new_model, progress=False)
    assert type(translator.model) is Transformer and not translator.model.training
    assert isinstance(translator.translate("four hundred"), str)
    assert 0 <= translator.exact_match(PAIRS.train[:5]) <= 1


def test_a_plain_writer_writes_longer_than_its_context():
    text = "to be or not to be " * 20
    writer = train_writer(text, steps=2, new_model=lambda tokenizer: GPT(len(tokenizer), 16, 2, 32, 1), progress=False)
    assert writer.context == recipes.WRITER_CONTEXT and writer.loss(text) > 0
    generator = torch.Generator().manual_seed(0)
    assert 0 < len(writer.write("to ", 150, generator=generator)) <= 150


def test_a_writer_knows_the_context_of_its_config():
    tokenizer = recipes.CharTokenizer.train("abc")
    model = DecoderOnly(recipes.writer_config(len(tokenizer), context_length=16))
    assert Writer(model, tokenizer).context == 16


def test_changes_and_another_model_exclude_each_other():
    with pytest.raises(ValueError, match="changes are to the course's model, but new_model makes another one"):
        train_translator(PAIRS.train, changes={"dropout": 0.1}, new_model=lambda data: Transformer(9, 7))
