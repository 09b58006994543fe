"""The commonest errors of PyTorch are told in plain words; each error is raised by the code that a learner writes."""

import math

import pytest
import torch
import torch.nn.functional as F
from torch import nn

from tx_helpers.exercises.catalogue import find
from tx_helpers.exercises.checks import examine
from tx_helpers.exercises.sandbox import stopped

GENERATOR = torch.Generator().manual_seed(0)
IDS = torch.arange(6)


def randn(*shape: int) -> torch.Tensor:
    return torch.randn(shape, generator=GENERATOR)


def assigned(x, y):
    x[:, ::2] = y


class WithoutSuper(nn.Module):
    def __init__(self):
        self.project = nn.Linear(2, 2)


class WithParameter(nn.Module):
    def __init__(self):
        self.gain = nn.Parameter(torch.ones(2))


class WithNumber(nn.Module):
    def __init__(self):
        self.width = 2

    def forward(self, x):
        return x


SLIPS = {
    ".mT swaps the last two": [
        lambda: randn(2, 5, 4) @ randn(2, 5, 4).T,
        lambda: randn(2, 3, 4, 8) @ randn(2, 3, 6, 8).T,
    ],
    "Should one of them be transposed": [
        lambda: randn(3, 4) @ randn(3, 4),
        lambda: randn(2, 3, 4) @ randn(2, 3, 4),
        lambda: randn(3, 4) @ randn(3),
        lambda: randn(3) @ randn(4),
        lambda: nn.Linear(3, 4)(randn(2, 4)),
    ],
    "along axis 1 one has 4 entries and the other 3": [lambda: randn(2, 4) + randn(2, 3)],
    "an axis may be missing": [lambda: randn(2, 3) / randn(2, 3).sum(1)],
    "fewer axes than this line takes for granted": [
        lambda: randn(3).softmax(1),
        lambda: randn(3)[0, 0],
        lambda: randn(3).transpose(0, 1),
        lambda: torch.cat([randn(2, 3), randn(3)]),
        lambda: torch.ones(3).triu(1),
    ],
    "differ in an axis in which they must be alike": [
        lambda: torch.cat([randn(2, 3), randn(2, 4)]),
        lambda: torch.stack([randn(2), randn(3)]),
        lambda: randn(3).expand(2, 4),
    ],
    "another shape than its place on the left": [lambda: assigned(randn(2, 3), randn(2, 3))],
    "an index points behind the end": [lambda: [][-1], lambda: randn(3)[3]],
    "a tensor has many truth values": [
        lambda: max(0, randn(3)),
        lambda: 1 if randn(3) > 0 else 0,
        lambda: (randn(3) > 0) and (randn(3) < 1),
    ],
    "Divide with //": [
        lambda: randn(2, 6).view(2, 3, 6 / 3),
        lambda: randn(2, 6).reshape(2, 6 / 2),
        lambda: randn(4)[: 4 / 2],
        lambda: randn(4).split(4 / 2),
        lambda: range(6 / 2),
    ],
    "Use reshape, or contiguous() first": [lambda: randn(2, 3, 4).transpose(1, 2).view(2, 12)],
    "the new shape [3, 4] does not have room for exactly 10 numbers": [lambda: randn(2, 5).view(3, 4)],
    "work on truth values, not on floats": [lambda: ~randn(3), lambda: randn(3) & randn(3)],
    "Call .float() first": [lambda: IDS.mean(), lambda: IDS.softmax(0), lambda: IDS.var()],
    "different dtypes, float and long int": [lambda: randn(2, 6) @ IDS[:, None]],
    "max along an axis gives a pair": [
        lambda: randn(2, 3) - randn(2, 3).max(1),
        lambda: randn(2, 3).max(1).exp(),
    ],
    "begins with super().__init__()": [WithoutSuper, WithParameter, lambda: WithNumber()(randn(2))],
    "F.cross_entropy wants the classes in axis 1": [
        lambda: F.cross_entropy(randn(2, 5, 7), torch.zeros(2, 5).long()),
        lambda: F.cross_entropy(randn(5, 7), torch.zeros(4).long()),
    ],
    "takes ids as targets": [lambda: F.cross_entropy(randn(5, 7), torch.zeros(5))],
    "where one number is needed": [lambda: randn(3).item(), lambda: float(randn(3)), lambda: math.sqrt(randn(3))],
    "an id is not below the size of its table": [
        lambda: F.embedding(torch.tensor([9]), randn(3, 2)),
        lambda: F.cross_entropy(randn(5, 7), torch.full((5,), 7)),
    ],
    "a mask must hold True and False": [
        lambda: randn(3).masked_fill(randn(3), 0.0),
        lambda: randn(3)[randn(3)],
        lambda: torch.where(randn(3), 1, 0),
    ],
    "takes a tensor, and gets a Python int": [lambda: torch.sqrt(3)],
    "Does one of your functions or methods lack its `return`": [
        lambda: None + randn(2),
        lambda: randn(2) * None,
        lambda: None.exp(),
    ],
}


@pytest.mark.filterwarnings("ignore:The use of `x.T`")
@pytest.mark.parametrize("meaning", SLIPS)
def test_an_error_of_this_family_is_told_in_plain_words_before_its_own(meaning):
    for slip in SLIPS[meaning]:
        problem = stopped(slip, 5.0)
        before, raised, _ = problem.partition(" It raised ")
        assert meaning in before and raised and before[-1] in ".?" != before[-2:-1], problem


def test_an_error_of_no_family_is_told_as_it_is():
    assert stopped(lambda: {}["width"], 5.0).startswith("it raised KeyError: 'width' (in <lambda>")


def test_a_softmax_of_whole_numbers_is_no_starter():
    feedback = examine(find("tempered"), lambda logits, temperature: logits.long().softmax(0))
    assert feedback.state == "wrong" and "Call .float() first" in feedback.text
