"""Rounded weights of a trained model: fewer bits cost more, outliers cost more, and smaller groups cost less."""

from dataclasses import replace

import pytest
import torch

from tx_helpers.lessons.modern_transformers.quantise import quantised_copy
from tx_helpers.lessons.modern_transformers.rounding import losses_by_bits, rounded_copy, with_outliers
from tx_helpers.nn.config import FeedForwardConfig, NormConfig
from tx_helpers.nn.models import DecoderOnly
from tx_helpers.zoo.world_models import world_model


def test_each_way_to_share_a_scale():
    model = world_model("decoder")
    channel = rounded_copy(model, bits=4)
    expected = quantised_copy(model, bits=4)
    for ours, theirs in zip(channel.parameters(), expected.parameters(), strict=True):
        torch.testing.assert_close(ours, theirs)
    weight = model.decoder.blocks[0].feed_forward.expand.weight

    def error(share):
        rounded = rounded_copy(model, bits=4, share=share).decoder.blocks[0].feed_forward.expand.weight
        return (rounded - weight).square().mean().item()

    assert error("tensor") > error("channel") > error(32) > 0
    assert model.output.weight.equal(channel.output.weight)  # tied to the embedding
    with pytest.raises(ValueError, match="share=0"):
        rounded_copy(model, bits=4, share=0)


def test_outliers_change_no_result_and_cost_bits():
    model = world_model("decoder")
    spiked = with_outliers(model)
    ids = torch.arange(5, 25)[None]
    with torch.no_grad():
        torch.testing.assert_close(spiked(ids), model(ids), rtol=1e-3, atol=1e-3)
    plain, harder = (losses_by_bits(each, bits=(8, 4), texts=30) for each in (model, spiked))
    assert plain["full"] == pytest.approx(harder["full"], abs=1e-3)
    assert abs(plain["channel"][8] - plain["full"]) < 0.01 < plain["tensor"][4] - plain["full"]
    assert harder["channel"][4] - plain["channel"][4] > 0.01
    assert harder[32][4] < harder["channel"][4] and harder["channel"][4] <= harder["tensor"][4] + 0.05


@pytest.mark.parametrize(
    ("change", "named"),
    [
        (dict(wiring="post_norm"), "wiring='post_norm'"),
        (dict(norm=NormConfig("layer")), "norm='layer'"),
        (dict(feed_forward=FeedForwardConfig(64, "silu", gated=True)), "gated=True"),
    ],
)
def test_outliers_need_a_model_that_they_do_not_change(change, named):
    config = replace(world_model("decoder").config, **change)
    with pytest.raises(ValueError, match=f"with_outliers: {named}"):
        with_outliers(DecoderOnly(config))
