"""`diagnose` leaves no trace on a model, whatever the model does and in whatever mode it was made."""

import random

import numpy as np
import pytest
import torch

from right_models import TorchEncoder
from toy import Toy
from tx_helpers.diagnose import diagnose
from tx_helpers.diagnose.report import RIGHT as FINE


class Restless(Toy):
    """Draws random numbers of every kind, counts its calls in a buffer, and replaces another."""

    def __init__(self):
        super().__init__(dropout=0.1)
        self.register_buffer("calls", torch.zeros(()))
        self.register_buffer("last", torch.zeros(3))

    def forward(self, ids, caches=None):
        self.calls += 1
        self.last = torch.rand(5)
        self.stored, self.norm.stored = ids, ids
        self.register_buffer("new", torch.rand(2))
        random.random(), np.random.rand()
        self.blocks[0].expand.weight.data += 0.01
        return super().forward(ids, caches)


class Failing(Restless):
    def forward(self, ids, caches=None):
        super().forward(ids)
        raise RuntimeError("never")


def everything(model):
    parameters = [
        (p.detach().clone(), None if p.grad is None else p.grad.clone(), p.requires_grad) for p in model.parameters()
    ]
    buffers = [buffer.clone() for buffer in model.buffers()]
    modes = [module.training for module in model.modules()]
    names = [sorted(vars(module)) for module in model.modules()]
    hooks = [len(module._forward_hooks) + len(module._forward_pre_hooks) for module in model.modules()]
    states = [torch.get_rng_state(), torch.tensor(np.random.get_state()[1].astype("int64"))]
    numbers = (random.getstate(), np.random.get_state()[2], torch.is_grad_enabled(), torch.get_num_threads())
    return parameters, buffers, states, modes, names, hooks, numbers


def same(one, other):
    if isinstance(one, torch.Tensor):
        return isinstance(other, torch.Tensor) and torch.equal(one, other)
    if isinstance(one, list | tuple):
        return len(one) == len(other) and all(map(same, one, other))
    return one == other


@pytest.mark.parametrize("as_function", [False, True])
@pytest.mark.parametrize("kind", [Restless, Failing])
def test_nothing_about_the_model_is_changed(kind, as_function):
    model = kind().train()
    model.blocks[1].eval()
    model.norm.bias.requires_grad_(False)
    for parameter in list(model.parameters())[::2]:
        parameter.grad = torch.ones_like(parameter)
    before, gradients = everything(model), [id(parameter.grad) for parameter in model.parameters()]
    buffers = [id(buffer) for buffer in model.buffers()]
    try:
        diagnose((lambda ids: model(ids)) if as_function else model)
        assert kind is Restless
    except ValueError:
        assert kind is Failing
    assert same(everything(model), before)
    assert [id(parameter.grad) for parameter in model.parameters()] == gradients
    assert [id(buffer) for buffer in model.buffers()] == buffers


def test_a_model_made_in_inference_mode():
    with torch.inference_mode():
        model = Toy(n_layers=1)
    before = [parameter.clone() for parameter in model.parameters()]
    found = diagnose(model)
    assert found.wrong == [] and found["gradients"].state == FINE
    assert same(list(model.parameters()), before) and all(p.is_inference() for p in model.parameters())


def test_a_model_without_values():
    with torch.device("meta"):
        model = Toy(n_layers=1)
    with pytest.raises(ValueError, match="the parameters of Toy are on the device meta and have no values"):
        diagnose(model)


def test_the_comparison_sees():
    model = Toy()
    before = everything(model)
    torch.rand(1)
    assert not same(everything(model), before)


def test_inside_no_grad_and_inference_mode():
    for context in (torch.no_grad, torch.inference_mode):
        with context():
            assert diagnose(Toy(n_layers=1)).wrong == []


@pytest.mark.slow
def test_two_reports_agree_word_for_word():
    model = TorchEncoder(True)
    assert repr(diagnose(model)) == repr(diagnose(model))
    assert diagnose(model)._repr_html_() == diagnose(model)._repr_html_()
