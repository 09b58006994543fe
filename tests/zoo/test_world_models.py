"""The models of the little world that come with the package: the files, how they are loaded, how well they do."""

import re

import pytest
import torch
from safetensors.torch import load_file

import measure_world_models
import pretrain_world_models
import world_card
from tx_helpers.nn.models import count_parameters
from tx_helpers.text.world import little_world
from tx_helpers.text.world_vocabulary import world_tokenizer
from tx_helpers.training.objectives import ObjectiveBatches, objective_loss
from tx_helpers.zoo.world_models import (
    CLASSES,
    FOLDER,
    OBJECTIVE_OF,
    new_world_model,
    world_config,
    world_model,
    world_model_facts,
)

every_kind = pytest.mark.parametrize("kind", CLASSES)


def test_together_they_take_three_megabytes_at_most():
    assert sum((FOLDER / f"{kind}.safetensors").stat().st_size for kind in CLASSES) <= 3_000_000


def test_they_are_equal_in_size():
    sizes = {kind: count_parameters(new_world_model(kind)) for kind in CLASSES}
    assert max(sizes.values()) <= 1.02 * min(sizes.values())
    assert sizes == {kind: world_model_facts(kind)["parameters"] for kind in CLASSES}


@every_kind
def test_a_model_is_what_its_file_says_in_evaluation_mode_and_a_copy_of_its_own(kind):
    model, values = world_model(kind), load_file(FOLDER / f"{kind}.safetensors")
    assert type(model) is CLASSES[kind] and not model.training and model.config == world_config(kind)
    parameters = dict(model.named_parameters())
    assert parameters.keys() == values.keys()
    assert all(torch.equal(parameters[name], value.float()) for name, value in values.items())
    assert {value.dtype for value in values.values()} == {torch.float16}
    with torch.no_grad():
        model.output.weight.zero_()
    assert world_model(kind).output.weight.abs().sum() > 0


def test_the_card_is_made_of_what_the_files_say_with_their_hashes():
    text = (FOLDER / "MODEL_CARD.md").read_text("utf-8")
    assert text == world_card.card(FOLDER)
    for kind in CLASSES:
        assert world_card.sha256(FOLDER / f"{kind}.safetensors") in text
    assert not re.search(r"\{\w+\}", text)


@pytest.mark.slow
def test_they_were_trained_alike_on_the_texts_and_the_vocabulary_of_today():
    told = {kind: world_model_facts(kind) for kind in CLASSES}
    assert {kind: facts["objective"] for kind, facts in told.items()} == OBJECTIVE_OF
    equal = {"steps", "seed", "texts in a step", "texts in a row, by turns", "texts to draw from", "optimizer"}
    equal |= {"sha256 of these texts", "sha256 of the vocabulary", "precision of training"}
    for name in equal:
        assert len({str(facts[name]) for facts in told.values()}) == 1, name
    facts = told["encoder"]
    texts = little_world("train").texts(facts["texts to draw from"])
    assert facts["sha256 of these texts"] == pretrain_world_models.sha256(texts)
    assert facts["sha256 of the vocabulary"] == pretrain_world_models.sha256(world_tokenizer().tokens)


@pytest.mark.slow
@every_kind
def test_a_model_is_as_good_as_is_said(kind):
    model, facts = world_model(kind), world_model_facts(kind)
    found = measure_world_models.mean_loss(kind, model, "test")
    assert found == pytest.approx(facts["loss on unseen combinations"], abs=0.002)
    if kind == "decoder":
        floor = measure_world_models.text_floor("test")
        assert floor == pytest.approx(facts["floor on unseen combinations"], abs=1e-4)
        assert floor < found < 1.1 * floor


@pytest.mark.slow
@pytest.mark.parametrize("kind", ["encoder", "encoder_decoder"])
def test_a_gap_is_filled_nearly_as_well_as_can_be(kind, monkeypatch):
    monkeypatch.setattr(measure_world_models, "GAPS", 40)
    loss, right, floor, best = measure_world_models.gaps(kind, world_model(kind), "train")
    assert floor < loss < floor + 0.6 and right > best - 0.3


@pytest.mark.slow
def test_the_decoder_writes_texts_of_the_world(monkeypatch):
    monkeypatch.setattr(measure_world_models, "WRITTEN", 60)
    share = measure_world_models.share_of_the_world(world_model("decoder"))
    assert share == pytest.approx(world_model_facts("decoder")["share of written texts that the world has"], abs=0.2)
    untrained = measure_world_models.share_of_the_world(new_world_model("decoder").eval())
    assert untrained == 0 < share


@every_kind
def test_another_model_s_file_is_refused_and_both_sides_are_named(kind, tmp_path):
    other = "decoder" if kind == "encoder" else "encoder"
    (tmp_path / f"{kind}.safetensors").write_bytes((FOLDER / f"{other}.safetensors").read_bytes())
    with pytest.raises(
        ValueError, match=rf" is \(.*\) in the {kind} of the little world, but (missing|\(.*\)) in {kind}"
    ):
        world_model(kind, tmp_path)


def test_what_is_not_there_is_named(tmp_path):
    with pytest.raises(ValueError, match="kind='bert', expected one of encoder, decoder, encoder_decoder"):
        world_model("bert")
    with pytest.raises(ValueError, match="kind='gpt', expected one of encoder, decoder"):
        world_config("gpt")
    with pytest.raises(ValueError, match=r"decoder.safetensors: no such file"):
        world_model("decoder", tmp_path)


@pytest.mark.slow
@pytest.mark.parametrize(
    "kind", [pytest.param(kind, marks=() if kind == "decoder" else pytest.mark.thorough) for kind in CLASSES]
)
def test_the_recipe_gives_the_same_losses_again(kind):
    losses = [pretrain_world_models.train(kind, 3, texts=300, progress=False).losses for _ in range(2)]
    assert losses[0] == losses[1]
    assert losses[0][0] == pytest.approx(6.3, abs=0.3)  # ln 506 = 6.23


@pytest.fixture
def small(monkeypatch):
    """A recipe of seconds: fewer texts to measure on."""
    for name, number in {"LOSS_TEXTS": 64, "GAPS": 4, "WRITTEN": 5, "PROBE_TEXTS": 300}.items():
        monkeypatch.setattr(measure_world_models, name, number)


@pytest.mark.thorough
def test_the_tool_writes_files_that_load_and_a_card(tmp_path, monkeypatch, capsys, small):
    options = ["--steps", "2", "--texts", "200", "--to", str(tmp_path)]
    monkeypatch.setattr("sys.argv", ["pretrain_world_models", *options])
    pretrain_world_models.main()
    assert {path.name for path in tmp_path.iterdir()} == {*(f"{kind}.safetensors" for kind in CLASSES), "MODEL_CARD.md"}
    assert capsys.readouterr().out.startswith("encoder: {'objective': 'masked'")
    for kind in CLASSES:
        facts = world_model_facts(kind, tmp_path)
        assert facts["steps"] == 2 and facts["seconds of training"] >= 0
        loss = objective_loss(world_model(kind, tmp_path), ObjectiveBatches(OBJECTIVE_OF[kind], 4, texts=20)(0))
        assert loss < 7
    assert world_card.card(tmp_path) == (tmp_path / "MODEL_CARD.md").read_text("utf-8")


def test_the_probe_finds_what_is_there_and_nothing_else():
    generator = torch.Generator().manual_seed(0)
    labels = torch.arange(600) % 3
    noise = torch.randn(600, 8, generator=generator)
    told = noise + torch.nn.functional.one_hot(labels, 8) * 6
    assert measure_world_models.share_right(told[:300], labels[:300], told[300:], labels[300:]) > 0.97
    assert measure_world_models.share_right(noise[:300], labels[:300], noise[300:], labels[300:]) < 0.45


def test_the_probes_look_at_the_right_words():
    for question, words in {"sense of apple and orange": {"apple", "orange"}, "what it stands for": {"it"}}.items():
        examples = measure_world_models.examples_of(question, "test", most=50)
        assert {truth.tokens[place] for truth, place, _ in examples} == words
        assert {said for *_, said in examples} == {0, 1}
    ends = measure_world_models.examples_of("sentiment, from the mean", "test", most=200)
    assert {said for *_, said in ends} == {0, 1, 2}


def test_a_damaged_file_is_named(tmp_path):
    for content in (b"", (FOLDER / "decoder.safetensors").read_bytes()[:-1]):
        (tmp_path / "decoder.safetensors").write_bytes(content)
        for read in (world_model, world_model_facts):
            with pytest.raises(ValueError, match=r"decoder.safetensors: is damaged, or not in the format"):
                read("decoder", tmp_path)
