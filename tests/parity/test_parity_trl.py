"""The group objective against the library `trl` on the same numbers: the loss and its gradient, clip and KL."""

from types import SimpleNamespace
from unittest.mock import MagicMock

import pytest
import torch

from tx_helpers.training.reward import group_advantages, kl_to_reference, policy_loss

grpo = pytest.importorskip("trl.trainer.grpo_trainer", reason="trl is not installed")
B, T, MOST = 6, 5, 7


@pytest.mark.parametrize(("ours", "theirs"), [("answers", "grpo"), ("tokens", "bnpo"), ("constant", "dr_grpo")])
def test_loss_and_gradient_are_those_of_trl(ours, theirs):
    draw = torch.Generator().manual_seed(0)
    old, reference, moved = (-torch.rand(B, T, generator=draw).double() - 0.1 for _ in range(3))
    lengths = torch.tensor([5, 3, 1, 4, 2, 5])
    written = torch.arange(T) < lengths[:, None]
    answer = torch.cat([torch.zeros(B, 1, dtype=torch.bool), written], dim=1)
    advantages = group_advantages(torch.rand(2, 3, generator=draw).double()).flatten()
    found = []
    for side in ("ours", "theirs"):
        log_p = moved.clone().requires_grad_()
        if side == "ours":
            loss = policy_loss(log_p, old, advantages, answer, clip=0.2, mean=ours, most=MOST)
            if ours == "tokens":
                loss = loss + 0.1 * kl_to_reference(log_p, reference, answer)
        else:
            loss = theirs_loss(theirs, log_p, old, reference, advantages, written, 0.1 if ours == "tokens" else 0.0)
        loss.backward()
        found.append((loss.detach(), log_p.grad))
    torch.testing.assert_close(*found, rtol=1e-9, atol=1e-12)


def theirs_loss(kind, log_p, old, reference, advantages, written, weight):
    """`GRPOTrainer._compute_loss` of these ln p, as if its model had given them."""
    trainer = MagicMock(
        loss_type=kind, beta=weight, epsilon_low=0.2, epsilon_high=0.2, max_completion_length=MOST,
        importance_sampling_level="token", top_entropy_quantile=1.0, off_policy_mask_threshold=None,
        use_vllm=False, _entropy_bonus_enabled=False, aux_loss_enabled=False, current_gradient_accumulation_steps=1,
        args=SimpleNamespace(delta=None, use_bias_correction_kl=False), model=SimpleNamespace(training=True),
    )  # fmt: skip
    trainer._get_per_token_logps_and_entropies.return_value = (log_p, torch.zeros_like(log_p), None)
    trainer.accelerator.gather.side_effect = lambda values: values
    ids, mask = torch.zeros(B, T, dtype=torch.long), written.long()
    given = dict(prompt_ids=ids[:, :1], prompt_mask=mask[:, :1], completion_ids=ids, completion_mask=mask)
    given |= dict(advantages=advantages, old_per_token_logps=old, ref_per_token_logps=reference)
    return grpo.GRPOTrainer._compute_loss(trainer, None, given)
