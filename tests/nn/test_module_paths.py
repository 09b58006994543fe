"""module_paths: which module is running, who called it, and what it returned."""

import warnings

import pytest
import torch
from torch import nn

from tx_helpers.nn.capture import module_paths


class Inner(nn.Module):
    def __init__(self):
        super().__init__()
        self.linear, self.seen = nn.Linear(3, 2), []

    def forward(self, x):
        self.seen.append(self.path())
        return self.linear(x)


@pytest.fixture
def model() -> nn.Sequential:
    return nn.Sequential(Inner(), nn.Identity())


def test_the_path_is_that_of_the_running_module(model):
    with module_paths(model) as model[0].path:
        model(torch.zeros(5, 3))
        assert model[0].path() is None
        nn.Identity()(torch.zeros(5, 3))
        model[0](torch.zeros(5, 3))
    assert model[0].seen == ["0", "0"]
    assert not any(module._forward_hooks or module._forward_pre_hooks for module in model.modules())


def test_what_enters_and_what_leaves_is_told_with_its_caller(model):
    events, x = [], torch.zeros(5, 3)
    model[0].path = lambda: ""
    with module_paths(
        model,
        entering=lambda path, caller, arguments: events.append((path, caller, *[a.shape for a in arguments])),
        leaving=lambda path, output: events.append((path, None if output is None else output.shape)),
    ):
        model(x)
        with pytest.raises(RuntimeError):
            model(x[:, :2])
    inner, outer = [("0", "", (5, 3)), ("0.linear", "0", (5, 3))], ("", None, (5, 3))
    assert events[:8] == [
        outer,
        *inner,
        ("0.linear", (5, 2)),
        ("0", (5, 2)),
        ("1", "", (5, 2)),
        ("1", (5, 2)),
        ("", (5, 2)),
    ]
    assert events[8:] == [
        ("", None, (5, 2)),
        ("0", "", (5, 2)),
        ("0.linear", "0", (5, 2)),
        ("0.linear", None),
        ("0", None),
        ("", None),
    ]


def test_what_is_no_module_and_what_takes_no_hooks_is_left_out():
    with warnings.catch_warnings(action="ignore"):
        script = torch.jit.trace(nn.Linear(3, 2), torch.zeros(5, 3))
    with module_paths(lambda x: x) as path, module_paths(nn.Sequential(script)):
        assert path() is None
