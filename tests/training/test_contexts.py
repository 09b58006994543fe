import signal
import threading

import pytest
import torch
from torch import nn

from tx_helpers.training.contexts import RandomStream, cpu_threads, in_mode, interrupts

CPU = torch.device("cpu")


@pytest.mark.parametrize("training", [True, False])
def test_in_mode_sets_all_and_restores_each(training):
    model = nn.Sequential(nn.Dropout(), nn.Sequential(nn.Dropout(), nn.Linear(3, 5)))
    model[1].eval()
    before = [module.training for module in model.modules()]
    assert set(before) == {True, False}
    with pytest.raises(RuntimeError, match="inside"), in_mode(model, training=training):
        assert {module.training for module in model.modules()} == {training}
        raise RuntimeError("inside")
    assert [module.training for module in model.modules()] == before


def test_a_stream_goes_on_where_it_was_and_disturbs_nobody():
    torch.manual_seed(1)
    undisturbed = torch.rand(6)
    torch.manual_seed(7)
    its_own = torch.rand(5)

    torch.manual_seed(1)
    stream = RandomStream(7)
    parts = [torch.rand(2)]
    with stream.on(CPU):
        drawn = [torch.rand(3)]
    parts.append(torch.rand(4))
    with stream.on(CPU):
        drawn.append(torch.rand(2))
    assert torch.equal(torch.cat(parts), undisturbed)
    assert torch.equal(torch.cat(drawn), its_own)


def test_a_block_that_fails_has_drawn_nothing():
    torch.manual_seed(1)
    outside = torch.get_rng_state()
    stream = RandomStream(7)
    with stream.on(CPU):
        torch.rand(3)
    kept = stream.states["cpu"].clone()
    with pytest.raises(RuntimeError, match="inside"), stream.on(CPU):
        torch.rand(3)
        raise RuntimeError("inside")
    assert torch.equal(stream.states["cpu"], kept)
    assert torch.equal(torch.get_rng_state(), outside)


@pytest.mark.skipif(not torch.cuda.is_available(), reason="no CUDA")
def test_a_stream_covers_cuda():
    torch.manual_seed(1)
    undisturbed = torch.rand(3, device="cuda")
    torch.manual_seed(1)
    with RandomStream(7).on(torch.device("cuda")):
        first = torch.rand(3, device="cuda")
    with RandomStream(7).on(torch.device("cuda")):
        assert torch.equal(torch.rand(3, device="cuda"), first)
    assert torch.equal(torch.rand(3, device="cuda"), undisturbed)


def test_one_interrupt_is_noted_and_a_second_raised():
    before = signal.getsignal(signal.SIGINT)
    with pytest.raises(KeyboardInterrupt), interrupts() as noted:
        assert not noted
        signal.raise_signal(signal.SIGINT)
        assert noted
        signal.raise_signal(signal.SIGINT)
    assert signal.getsignal(signal.SIGINT) is before


def test_outside_of_the_main_thread_nothing_is_hooked():
    before, inside = signal.getsignal(signal.SIGINT), []

    def work():
        with interrupts() as noted:
            inside.append((list(noted), signal.getsignal(signal.SIGINT)))

    thread = threading.Thread(target=work)
    thread.start()
    thread.join()
    assert inside == [([], before)]


@pytest.mark.parametrize(("count", "inside"), [(1, 1), (3, 3), (None, 2)])
def test_the_number_of_threads_is_restored(count, inside):
    outside = torch.get_num_threads()
    torch.set_num_threads(2)
    try:
        with pytest.raises(RuntimeError, match="inside"), cpu_threads(count):
            assert torch.get_num_threads() == inside
            raise RuntimeError("inside")
        assert torch.get_num_threads() == 2
    finally:
        torch.set_num_threads(outside)
