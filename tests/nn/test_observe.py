"""Reporting to a listener: who hears what, what it may change, and that nothing stays behind."""

import asyncio
from concurrent.futures import ThreadPoolExecutor

import pytest
import torch

from tx_helpers.nn.observe import listening, observe, observed


def test_without_a_listener_the_very_same_tensor_comes_back():
    x = torch.arange(3.0)
    assert observe("x", x) is x
    assert not observed()


def test_a_listener_hears_names_and_tensors_in_order():
    heard = []
    x, y = torch.arange(3.0), torch.arange(4.0)
    with listening(lambda name, tensor: heard.append((name, tensor))):
        assert observed()
        assert observe("x", x) is x
        assert observe("y", y) is y
    assert [name for name, _ in heard] == ["x", "y"]
    assert heard[0][1] is x
    assert heard[1][1] is y


def test_what_the_listener_returns_replaces_the_tensor():
    replacement = torch.zeros(3)
    with listening(lambda name, tensor: replacement if name == "x" else None):
        assert observe("x", torch.ones(3)) is replacement
        assert torch.equal(observe("y", torch.ones(3)), torch.ones(3))


def test_nobody_listens_after_an_exception():
    with pytest.raises(RuntimeError, match="inside"), listening(lambda name, tensor: None):
        raise RuntimeError("inside")
    assert not observed()


def test_an_exception_in_the_listener_comes_out():
    def refuse(name, tensor):
        raise RuntimeError(f"not {name}")

    with pytest.raises(RuntimeError, match="not x"), listening(refuse):
        observe("x", torch.ones(1))
    assert not observed()


def test_an_inner_block_hides_the_outer_one_while_it_lasts():
    outer, inner = [], []
    with listening(lambda name, tensor: outer.append(name)):
        observe("a", torch.ones(1))
        with listening(lambda name, tensor: inner.append(name)):
            observe("b", torch.ones(1))
        observe("c", torch.ones(1))
    assert outer == ["a", "c"]
    assert inner == ["b"]


def test_another_thread_is_not_heard():
    heard = []
    with listening(lambda name, tensor: heard.append(name)), ThreadPoolExecutor(1) as pool:
        assert pool.submit(observed).result() is False
        pool.submit(observe, "elsewhere", torch.ones(1)).result()
        observe("here", torch.ones(1))
    assert heard == ["here"]


def test_a_task_that_began_before_is_not_heard():
    heard = []

    async def elsewhere(go: asyncio.Event):
        await go.wait()
        observe("elsewhere", torch.ones(1))

    async def main():
        go = asyncio.Event()
        task = asyncio.create_task(elsewhere(go))
        await asyncio.sleep(0)
        with listening(lambda name, tensor: heard.append(name)):
            go.set()
            await task
            observe("here", torch.ones(1))

    asyncio.run(main())
    assert heard == ["here"]
