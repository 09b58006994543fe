"""The table with orders: its teacher, its world, and the stored model."""

import torch

from tx_helpers.lessons.beyond_text import arm
from tx_helpers.lessons.beyond_text.arm_episode import describe, new_orders
from tx_helpers.lessons.beyond_text.drawn_shapes import HELD_OUT
from tx_helpers.lessons.beyond_text.stored_weights import load_small


def test_the_teacher_carries_out_every_order():
    tables = arm.fresh_orders(HELD_OUT)
    for _ in range(arm.LONGEST):
        done = arm.fulfilled(tables)
        after = arm.carried_out(tables, arm.teacher(tables))
        tables = arm.Tables(
            *(torch.where(done.view(-1, *[1] * (a.dim() - 1)), b, a) for a, b in zip(after, tables, strict=True))
        )
    assert arm.fulfilled(tables).all()


def test_an_action_that_cannot_be_done_changes_nothing():
    tables = arm.fresh_orders(HELD_OUT)
    after = arm.carried_out(tables, torch.tensor([[arm.DROP, 0]]).expand(len(tables.hand), 2))
    assert all(map(torch.equal, tables, after))


def test_the_stored_model_gives_the_recorded_figures():
    scores = arm.arm_scores(load_small(arm.Arm(), "arm"))
    for name, value in arm.recorded_arms()["names"][0].items():
        assert abs(scores[name] - value) < 0.03


def test_an_episode_is_described():
    steps = arm.episode(load_small(arm.Arm(), "arm"), new_orders())
    assert describe(steps[0], 0, len(steps) - 1, 0).startswith("Order: take ")
    assert "carried out" in describe(steps[-1], 2, len(steps) - 1, len(steps) - 1)
