"""The task of the queue, and the model that learns it."""

import pytest
import torch

from tx_helpers.lessons.positional_encodings.animal_queue import (
    LENGTH,
    NAMES,
    Block,
    QueueModel,
    draw_queue,
    queues,
    train_queue,
)


def test_the_animals_of_a_queue_are_all_different():
    ids = queues(40, 8, 20, torch.Generator().manual_seed(0))
    assert ids.shape == (40, 8) and all(len(set(row)) == 8 for row in ids.tolist())
    assert set(ids.flatten().tolist()) == set(range(20))


def test_the_block_is_attention_as_pytorch_computes_it():
    torch.manual_seed(0)
    block, x = Block(12), torch.randn(2, 5, 12)
    mask = torch.full((5, 5), -1e9).triu(1)
    theirs = torch.nn.TransformerEncoderLayer(12, 1, 24, 0.0, batch_first=True, norm_first=True)
    names = {"self_attn.in_proj_": block.read, "self_attn.out_proj.": block.write, "norm1.": block.before}
    names |= {"norm2.": block.between, "linear1.": block.network[0], "linear2.": block.network[2]}
    theirs.load_state_dict(
        {f"{name}{part}": getattr(own, part) for name, own in names.items() for part in ("weight", "bias")}
    )
    torch.testing.assert_close(block(x, mask), theirs(x, src_mask=mask), atol=1e-5, rtol=1e-5)


def model(positions="none", joined=0, causal=False):
    torch.manual_seed(0)
    return QueueModel(positions, joined, causal, width=12, blocks=2, animals=20, size=1.0).double()


def test_without_positions_a_queue_in_another_order_gets_the_same_scores():
    ids, order = torch.tensor([[3, 1, 4, 15, 9]]), [4, 2, 0, 3, 1]
    for other, equal in ((model(), True), (model(causal=True), False), (model("learned"), False)):
        gap = (other(ids[:, order]) - other(ids)[:, order]).abs().max().item()
        assert (gap < 1e-12) == equal


def test_with_the_mask_no_later_animal_counts():
    other = model(causal=True)
    gap = other(torch.tensor([[3, 1, 4, 15]])) - other(torch.tensor([[3, 1, 4, 7]]))
    assert gap[:, :3].abs().max() == 0 and gap[:, 3].abs().max() > 0.01


def test_parameters_are_counted_without_the_rows_that_no_queue_of_eight_uses():
    whole = sum(weight.numel() for weight in model("learned").parameters())
    assert model("learned").count == model().count + 12 * LENGTH == whole - 12 * 24
    assert model(joined=4).count == model().count - 4 * 20


def test_a_trained_model_is_the_same_each_time_and_leaves_the_seed_alone():
    torch.manual_seed(5)
    expected = torch.rand(1)
    torch.manual_seed(5)
    first, second = train_queue("sinusoids", steps=3, seed=2), train_queue("sinusoids", steps=3, seed=2)
    assert torch.rand(1) == expected
    assert all(torch.equal(a, b) for a, b in zip(first.parameters(), second.parameters(), strict=True))


def test_the_share_can_be_taken_of_some_places_alone():
    other = model("sinusoids")
    ids = queues(500, 16, 20, torch.Generator().manual_seed(10**6))
    right = other(ids)[:, 1:].argmax(-1) == ids[:, :-1]  # (B, 15), column 0 the answer at place 1
    near, far = right[:, :7].double().mean().item(), right[:, 7:].double().mean().item()
    assert other.right(16, last=7) == pytest.approx(near) and other.right(16, first=8) == pytest.approx(far)
    assert other.right(16) == pytest.approx((7 * near + 8 * far) / 15) and near != far


def test_what_is_refused():
    with pytest.raises(ValueError, match="positions='rotary', expected one of"):
        train_queue("rotary")
    with pytest.raises(ValueError, match="joined=32, expected at least 0 and less than 32"):
        train_queue(joined=32)
    with pytest.raises(ValueError, match="length=21, expected at least 2 and at most 20"):
        model().right(21)
    with pytest.raises(ValueError, match="first=16, expected at least 1 and less than 16"):
        model().right(16, first=16)


def test_the_drawing_names_each_answer():
    drawn = draw_queue()
    assert "cat answers fox, owl answers cat" in drawn.alt
    assert all(drawn.svg.count(f">{name}<") == 2 for name in NAMES[:-1]) and drawn.svg.count(f">{NAMES[-1]}<") == 1
