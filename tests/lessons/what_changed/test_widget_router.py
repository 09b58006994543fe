"""The router's explorer: decisions against the model's own, capacity, the drawing, the words, and the explorer."""

import math

import pytest
import torch

from tx_helpers.lessons.what_changed.router import (
    Routes,
    describe,
    draw,
    route,
    router_explorer,
    set_routers,
    tokens_of,
)
from tx_helpers.lessons.what_changed.specialists import specialist_config
from tx_helpers.nn.models import DecoderOnly
from tx_helpers.text.data import BOS
from tx_helpers.text.world_vocabulary import EXAMPLES, world_tokenizer
from tx_helpers.zoo.parts.experts import Router, expert_load, routes, within_capacity

TINY = Routes(  # one block, three words, three experts, two choices
    probabilities=torch.tensor([[[0.5, 0.3, 0.2], [0.1, 0.6, 0.3], [0.55, 0.25, 0.2]]]),
    chosen=torch.tensor([[[0, 1], [1, 2], [0, 1]]]),
    kept=torch.tensor([[[True, True], [True, True], [True, False]]]),
    room=2,
)
WORDS = ["a", "<b>", "."]


@pytest.fixture(scope="module")
def model():
    torch.manual_seed(0)
    made = DecoderOnly(specialist_config(5, width=16, biased=True)).eval()
    for parameter in made.parameters():
        parameter.data += 0.1 * torch.randn_like(parameter)  # what begins at zero would change nothing
    for router in (module for module in made.modules() if isinstance(module, Router)):
        router.bias.copy_(torch.linspace(-0.3, 0.3, 5))
    return made


# --- compute ---------------------------------------------------------------------------------------------------------


def test_the_probabilities_are_those_of_the_package(model):
    ids = torch.tensor([[BOS, *world_tokenizer().encode(EXAMPLES[0])]])
    found = route(model, EXAMPLES[0])
    with torch.no_grad(), routes(model) as routings:
        model(ids)
    assert torch.equal(found.probabilities, torch.stack([each.scores[0] for each in routings.values()]))
    assert len(tokens_of(EXAMPLES[0])) == ids.numel() and tokens_of(EXAMPLES[0])[1:] == EXAMPLES[0].split()
    assert found.kept.all() and found.room == math.inf


@pytest.mark.parametrize("top_k", [1, 2, 3])
def test_the_best_are_chosen_with_their_bias_as_far_as_there_is_room(model, top_k):
    found = route(model, EXAMPLES[0], top_k, 0.5)
    bias = torch.linspace(-0.3, 0.3, 5)
    assert torch.equal(found.chosen, (found.probabilities + bias).topk(top_k).indices)
    for block in range(2):
        assert torch.equal(found.kept[block], within_capacity(found.chosen[block], 5, 0.5))
        assert found.load(block) == pytest.approx((expert_load(found.chosen[block], 5) * 10).tolist())
    assert found.room == math.ceil(0.5 * 10 * top_k / 5) and not found.kept.all()


def test_a_word_without_room_changes_what_the_next_block_gets(model):
    free, full = route(model, EXAMPLES[0]), route(model, EXAMPLES[0], 1, 0.5)
    assert torch.equal(free.probabilities[0], full.probabilities[0])
    assert not torch.allclose(free.probabilities[1], full.probabilities[1])


def test_the_model_is_as_it_was(model):
    routers = [module for module in model.modules() if isinstance(module, Router)]
    before = [(router.config, router.training) for router in routers]
    with pytest.raises(RuntimeError), set_routers(model, 2, 1.0):
        assert all(router.config.top_k == 2 and router.training for router in routers)
        raise RuntimeError
    assert [(router.config, router.training) for router in routers] == before
    with pytest.raises(ValueError, match="route: top_k=0, expected at least 1"):
        route(model, EXAMPLES[0], 0)


# --- draw and describe -----------------------------------------------------------------------------------------------


def test_what_is_drawn_and_said(as_stored):
    """Experts in use are framed, those without room are full."""
    as_stored(
        full=draw(WORDS, TINY),
        bias=draw(WORDS, TINY._replace(bias=torch.tensor([[0.1, -0.04, 0.0]]))),
        room=draw(WORDS, TINY._replace(room=3, kept=torch.ones(1, 3, 2, dtype=torch.bool))),
        free=draw(WORDS, TINY._replace(room=math.inf, kept=torch.ones(1, 3, 2, dtype=torch.bool))),
    )


# --- bind ------------------------------------------------------------------------------------------------------------


def test_the_explorer_follows_its_controls(model):
    explorer = router_explorer({"one": model, "other": DecoderOnly(specialist_config(3, width=16)).eval()})
    assert explorer.summary == describe(tokens_of(EXAMPLES[0]), route(model, EXAMPLES[0]))
    assert explorer.controls["top_k"].max == 3
    explorer.set(top_k=2, capacity="1", text="tom lost a <script>zebra</script> .")
    assert explorer.error == "" and "<script" not in explorer.shown[0] and "lost" in explorer.summary
    explorer.set(model="other", text=EXAMPLES[0])
    assert " of 3 experts are used" in explorer.summary
    explorer.set(text="short")
    assert explorer.error == "words_of: 1 words and signs, expected 4 to 16"


def test_a_model_without_a_router_is_refused():
    with pytest.raises(ValueError, match="routes: the DecoderOnly has no router"):
        router_explorer({"plain": DecoderOnly(specialist_config(1, width=16)).eval()})
