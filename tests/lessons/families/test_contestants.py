"""How each family is asked: ids, targets, answers."""

import pytest
import torch

from tx_helpers.lessons.families.contestants import CONTESTANTS, contestant, family_loss
from tx_helpers.lessons.families.tasks import TASKS
from tx_helpers.nn.config import AttentionConfig, TransformerConfig
from tx_helpers.nn.models import DecoderOnly, EncoderDecoder, EncoderOnly
from tx_helpers.text.data import IGNORE, PAD
from tx_helpers.text.world_vocabulary import KINDS, world_tokenizer
from tx_helpers.training.contexts import RandomStream
from tx_helpers.training.loop import fit
from tx_helpers.training.optimizers import adamw

TOKENS = world_tokenizer()
CLASSES = {"encoder": EncoderOnly, "decoder": DecoderOnly, "encoder_decoder": EncoderDecoder}
FAMILIES = list(CLASSES)


def small(family, task, seed=0):
    config = TransformerConfig(len(TOKENS), d_model=12, n_layers=1, pad_id=PAD, attention=AttentionConfig(3))
    with RandomStream(seed).on(torch.device("cpu")):
        return contestant(family, CLASSES[family](config).eval(), task)


def text(ids):
    return TOKENS.decode([token for token in ids if token != PAD], skip_special=False)


def scored(target):
    return [(place, token) for place, token in enumerate(target.tolist()) if token != IGNORE]


@pytest.mark.parametrize("task", TASKS)
@pytest.mark.parametrize("family", FAMILIES)
def test_every_family_is_asked_every_task(family, task):
    player = small(family, task)
    given, targets = TASKS[task].examples(5, seed=1)
    batch = player.batch(given, targets, seed=3)
    loss = player.loss(batch)
    loss.backward()
    assert 0 < loss.item() < 20 and any(parameter.grad is not None for parameter in player.parameters())
    given = given[:3]
    answers = player.answers(given)
    assert len(answers) == 3 and all(isinstance(word, str) for answer in answers for word in answer)
    assert 0 <= TASKS[task].score(given, targets[:3], answers) <= 1


@pytest.mark.parametrize("family", FAMILIES)
def test_answers_do_not_depend_on_the_other_questions_of_a_batch(family):
    for task in ("sentiment", "resolve", "summarise"):
        player = small(family, task)
        given, _ = TASKS[task].examples(4, seed=2)
        assert player.answers(given) == [player.answers([one])[0] for one in given]


def test_the_decoder_reads_a_question_and_is_scored_on_the_answer_alone():
    batch = small("decoder", "answer").batch(["mia had pears . what ?", "who ?"], ["two pears", "mia"])
    assert text(batch.input[0]) == "<bos> mia had pears . what ? <answer> two pears"
    assert text(batch.input[1]) == "<bos> who ? <answer> mia"
    assert text([token for _, token in scored(batch.target[0])]) == "two pears <eos>"
    assert scored(batch.target[0])[0][0] == 7  # where <answer> is
    gap = small("decoder", "fill_gap").batch(["mia had <mask> pears ."], ["two"])  # it tries words: all that follows
    assert text(gap.input[0]) == "<bos> mia had two pears ."
    assert text([token for _, token in scored(gap.target[0])]) == "two pears . <eos>"
    rest = small("decoder", "go_on").batch(["mia left ."], ["she was sad ."])
    assert text(rest.input[0]) == "<bos> mia left . she was sad ."  # it goes on, without a sign


def test_the_encoder_decoder_reads_the_question_and_writes_the_answer():
    batch = small("encoder_decoder", "fill_gap").batch(["mia had <mask> pears ."], ["two"])
    assert text(batch.source[0]) == "<fill> mia had <x0> pears ."
    assert text(batch.decoder_input[0]) == "<bos> <x0> two <x1>"
    assert text(batch.target[0]) == "<x0> two <x1> <eos>"


def test_the_encoder_fills_tags_points_and_classifies():
    fill = small("encoder", "fill_gap").batch(["mia had <mask> pears ."], ["two"])
    assert text(fill.input[0]) == "<cls> mia had <mask> pears . <sep>"
    assert scored(fill.target[0]) == [(3, TOKENS.encode("two")[0])]
    kinds = ["person", "-", "fruit", "-"]
    tags = small("encoder", "entities").batch(["mia had pears ."], [kinds])
    assert scored(tags.target[0]) == [(n + 1, KINDS.index(kind)) for n, kind in enumerate(kinds)]
    point = small("encoder", "resolve").batch([("ada saw mia because she ran .", 4)], [2])
    assert text(point.input[0]) == "<cls> ada saw mia because <resolve> she ran . <sep>"
    assert text([point.input[0, point.target[0, 0]]]) == "mia"
    label = small("encoder", "sentiment").batch(["mia ran ."], ["positive"])
    assert scored(label.target[0]) == [(0, 2)]


def test_the_encoder_writes_where_the_mask_is():
    player = small("encoder", "summarise")
    rows = [player.batch(["mia ran ."], ["mia ran away ."], seed=seed) for seed in range(40)]
    read = {text(row.input[0]): text([token for _, token in scored(row.target[0])]) for row in rows}
    question = "<cls> mia ran . <sep>"
    assert read == {
        f"{question} <mask>": "mia",
        f"{question} mia <mask>": "ran",
        f"{question} mia ran <mask>": "away",
        f"{question} mia ran away <mask>": ".",
        f"{question} mia ran away . <mask>": "<eos>",
    }
    rest = small("encoder", "go_on").batch(["mia ran ."], ["."], seed=1)
    assert text(rest.input[0]).startswith("<cls> mia ran . ") and "<sep>" not in text(rest.input[0])


@pytest.mark.slow
@pytest.mark.parametrize("family", FAMILIES)
@pytest.mark.parametrize("task", ["answer", "sentiment", "entities", "resolve"])
def test_what_was_learned_by_heart_is_answered(family, task):
    """Two examples, learned until the loss is small: what is trained is what is asked."""
    player = small(family, task)
    given, targets = TASKS[task].examples(2, seed=5)
    fit(
        player,
        lambda step: player.batch(given, targets, seed=step),
        steps=250,
        loss=family_loss,
        optimizer=adamw(player, 2e-2, weight_decay=0.0),
        progress=False,
    )
    assert TASKS[task].score(given, targets, player.answers(given)) == 1


def test_wrong_names_are_refused():
    model = small("decoder", "answer").model
    with pytest.raises(ValueError, match="family='recurrent', expected one of encoder, decoder, encoder_decoder"):
        contestant("recurrent", model, "answer")
    assert set(CONTESTANTS) == set(CLASSES)
