"""Prompts that are read causally, and prompts whose positions see each other."""

import pytest
import torch

from tx_helpers.lessons.families.chat import ask_all, chat_batches, chats, exact_match, tune
from tx_helpers.lessons.families.prompts import all_right, open_prompt, open_prompt_loss, open_prompt_mask
from tx_helpers.nn.config import PositionConfig, TransformerConfig
from tx_helpers.nn.models import DecoderOnly
from tx_helpers.text.data import IGNORE, PAD
from tx_helpers.text.world_vocabulary import world_tokenizer
from tx_helpers.training.losses import language_model_loss
from tx_helpers.zoo.world_models import world_model


def small_decoder():
    torch.manual_seed(0)
    positions = PositionConfig("rotary")
    config = TransformerConfig(len(world_tokenizer()), d_model=32, n_layers=2, pad_id=PAD, positions=positions)
    return DecoderOnly(config).eval()


def test_the_mask_by_hand():
    targets = torch.tensor([[IGNORE, IGNORE, 7, 8], [5, IGNORE, IGNORE, 6]])
    first, second = open_prompt_mask(targets)[:, 0].int().tolist()
    assert first == [[1, 1, 1, 0], [1, 1, 1, 0], [1, 1, 1, 0], [1, 1, 1, 1]]
    assert second == [[1, 0, 0, 0], [1, 1, 0, 0], [1, 1, 1, 0], [1, 1, 1, 1]]


@pytest.mark.parametrize("opened", [False, True])
def test_what_a_causal_prompt_computes_does_not_depend_on_the_rest(opened):
    """Change the last word of the prompt: what an earlier position says changes only if the prompt is open."""
    model = open_prompt(small_decoder()) if opened else small_decoder()
    ids = torch.tensor([[1, 60, 61, 62, 63, 64]])
    other = ids.clone()
    other[0, 3] = 70
    targets = torch.tensor([[IGNORE, IGNORE, IGNORE, 63, 64, 65]])
    mask = open_prompt_mask(targets) if opened else None
    with torch.no_grad():
        moved = (model(ids, mask=mask) - model(other, mask=mask)).abs().amax(-1)[0]
    assert (moved[:3] > 1e-4).tolist() == [opened] * 3
    assert (moved[3:] > 1e-4).all()


def test_a_prompt_in_one_pass_is_the_prompt_word_by_word():
    """The decoder itself reads the prompt: all at once, or a token at a time into its cache, with the same result."""
    model, ids = small_decoder(), torch.tensor([[1, 60, 61, 62, 63]])
    with torch.no_grad():
        state = model.start(1)
        steps = torch.cat([state.step(ids[:, place : place + 1]) for place in range(5)], dim=1)
        assert torch.allclose(model(ids), steps, atol=1e-5)


def test_opening_a_copy_leaves_the_model_causal():
    model = small_decoder()
    opened = open_prompt(model)
    assert model.decoder.causal and not opened.decoder.causal
    with pytest.raises(ValueError, match="open_prompt: model is a Linear, expected a DecoderOnly"):
        open_prompt(torch.nn.Linear(1, 1))


def test_an_open_prompt_can_be_trained():
    data, base = chats(20, kinds=["summarise"]), open_prompt(small_decoder())
    batch = chat_batches(data, 20, seed=9)(0)
    tuned = tune(base, data, steps=10, loss=open_prompt_loss)
    assert not tuned.decoder.causal
    assert open_prompt_loss(tuned, batch) < open_prompt_loss(base, batch) - 0.5
    assert open_prompt_loss(base, batch) != language_model_loss(small_decoder(), batch)


def test_all_right_is_the_exact_match_of_greedy_decoding():
    """What a model writes itself is right, and another answer is not."""
    model = tune(world_model("decoder"), chats(8, kinds=["summarise"]), steps=25)
    data = chats(6, kinds=["summarise"], seed=1)
    written = ask_all(model, [chat[:1] for chat in data])
    own = [[asked, {"role": "assistant", "content": said}] for (asked, _), said in zip(data, written, strict=True)]
    right = [chat for chat in own if all_right(model, [chat])]  # the others did not end in <end>
    changed = [[chat[0], {"role": "assistant", "content": f"{chat[1]['content']} tom"}] for chat in right]
    assert right and exact_match(model, right) == 1
    assert all_right(model, right + changed) == exact_match(model, right + changed) == 0.5
