"""The checks of arguments: what they let through, and what they say."""

from collections.abc import Sequence

import pytest
import torch
from torch import nn

from tx_helpers.nn.arguments import check_numbers, check_one_of, check_tensors, check_types, values_are_known

x = torch.zeros(2, 3, 5, 4)


def test_right_tensors_give_their_sizes():
    sizes = check_tensors("f", {"B": 2}, q=(x, "float B H T K"), k=(x.mT, "… K T"), ids=(x[0, 0].long(), "int T 4"))
    assert sizes == {"B": 2, "H": 3, "T": 5, "K": 4}
    assert check_tensors("f", x=(torch.tensor(True), "bool")) == {}


@pytest.mark.parametrize(
    ("tensors", "message"),
    [
        ({"q": (x, "B T D")}, "f: q of shape (2, 3, 5, 4), expected (B, T, D)"),
        ({"q": (x, "B H T K"), "k": (x.mT, "B H S K")}, "f: k of shape (2, 3, 4, 5), expected (B, H, S, K) with "
         "B = 2, H = 3, K = 4"),
        ({"q": (x, "… T T")}, "f: q of shape (2, 3, 5, 4), expected (…, T, T)"),
        ({"q": (x, "… 7")}, "f: q of shape (2, 3, 5, 4), expected (…, 7)"),
        ({"q": (x[0, 0, 0, 0], "… T")}, "f: q of shape (), expected (…, T)"),
        ({"ids": ([1], "int B T")}, "f: ids is a list, expected int (B, T)"),
        ({"ids": (None, "int B T")}, "f: ids is None, expected int (B, T)"),
        ({"ids": (x, "int B T")}, "f: ids is a tensor of torch.float32, expected int (B, T)"),
    ],
)  # fmt: skip
def test_a_wrong_tensor_is_named(tensors, message):
    with pytest.raises(ValueError) as error:
        check_tensors("f", **tensors)
    assert str(error.value) == message


@pytest.mark.parametrize(
    ("options", "number", "message"),
    [
        (dict(least=1), 0, "f: n=0, expected at least 1"),
        (dict(above=0, most=1), 0.0, "f: n=0.0, expected more than 0 and at most 1"),
        (dict(above=0, most=1), 1.5, "f: n=1.5, expected more than 0 and at most 1"),
        (dict(), float("nan"), "f: n=nan, expected a number"),
        (dict(least=1, whole=True), 2.5, "f: n is 2.5, expected a whole number at least 1"),
        (dict(), None, "f: n is None, expected a number"),
        (dict(), True, "f: n is True, expected a number"),
        (dict(), "a" * 50, f"f: n is '{'a' * 36}…, expected a number"),
        (dict(), x, "f: n is a tensor of shape (2, 3, 5, 4), expected a number"),
        (dict(), object(), "f: n is an object, expected a number"),
    ],
)
def test_a_wrong_number_is_named(options, number, message):
    with pytest.raises(ValueError) as error:
        check_numbers("f", n=number, **options)
    assert str(error.value) == message


def test_right_numbers_pass():
    check_numbers("f", least=0, most=1, a=0, b=1, c=0.5, d=torch.tensor(1.0).item())
    check_numbers("f", least=1, whole=True, optional=True, a=None, b=3)


def test_a_choice_is_named():
    check_one_of("f", ("a", "b"), kind="a")
    with pytest.raises(ValueError, match=r"^f: kind='c', expected one of a, b$"):
        check_one_of("f", ("a", "b"), kind="c")


def test_an_empty_value_is_refused_but_a_module_is_not_asked_for_its_length():
    """What torch.compile returns has a `len` that raises TypeError for most models."""
    with pytest.raises(ValueError, match="f: names is empty, expected a list that is not"):
        check_types("f", Sequence, names=[])
    check_types("f", nn.Module, model=torch.compile(nn.Linear(2, 2)), layers=nn.ModuleList())


def test_values_are_not_read_where_they_are_not_known():
    seen = []

    def f(x):
        seen.append(values_are_known(x))
        return x.sum()

    f(x)
    f(x.to("meta"))
    torch.func.vmap(f)(x)
    torch.func.grad(f)(x)
    assert seen == [True, False, False, False]
