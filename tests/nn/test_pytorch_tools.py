"""The models under PyTorch's own tools: compiled, exported, differentiated by torch.func, made on the meta device."""

import pytest
import torch
from torch import Tensor, nn
from torch.func import functional_call, grad, stack_module_state, vmap

from parity import B, S, T, tokens
from toy_models import CONTEXT, POSITIONS, close, model
from tx_helpers.nn.models import DecoderOnly, EncoderDecoder, EncoderOnly

KINDS = [EncoderOnly, DecoderOnly, EncoderDecoder]
each_kind = pytest.mark.parametrize("kind", KINDS)


def inputs(kind: type, batch: int = B, T: int = T) -> tuple[Tensor, ...]:
    """The ids that the model takes; the second row of the source ends in padding."""
    source = tokens(batch, S)
    source[1:, 4:] = 0
    target = tokens(batch, T, seed=1)
    return (source, target) if kind is EncoderDecoder else (target,)


# What takes seconds is tried with each kind of model and with each kind of positions; `make thorough` tries all pairs.
each_and_each = pytest.mark.parametrize(
    ("kind", "positions"),
    [
        pytest.param(kind, name, marks=() if kind is DecoderOnly or name == "learned" else pytest.mark.thorough)
        for kind in KINDS
        for name in POSITIONS
    ],
)


@pytest.mark.slow
@each_and_each
def test_a_model_compiles_whole(kind, positions):
    torch.compiler.reset()
    built = model(kind, positions, dropout=0.1)
    close(torch.compile(built, fullgraph=True, backend="eager")(*inputs(kind)), built(*inputs(kind)), 1e-12)


@pytest.mark.slow
@each_kind
def test_a_compiled_model_takes_a_training_step(kind):
    torch.compiler.reset()
    built = model(kind)
    compiled = torch.compile(built, fullgraph=True, backend="aot_eager")
    built(*inputs(kind)).sum().backward()
    expected = {name: p.grad.clone() for name, p in built.named_parameters()}
    built.zero_grad()
    compiled(*inputs(kind)).sum().backward()
    for name, parameter in built.named_parameters():
        close(parameter.grad, expected[name], 1e-9)


@pytest.mark.slow
@pytest.mark.parametrize("dynamic", [False, True])
@each_kind
def test_a_model_is_exported_with_static_and_dynamic_lengths(kind, dynamic):
    built = model(kind)
    lengths = tuple({1: torch.export.Dim(f"length{n}", min=2, max=CONTEXT)} for n in range(len(inputs(kind))))
    program = torch.export.export(built, inputs(kind), dynamic_shapes=lengths if dynamic else None)
    close(program.module()(*inputs(kind)), built(*inputs(kind)), 1e-12)
    if dynamic:
        close(program.module()(*inputs(kind, T=T + 1)), built(*inputs(kind, T=T + 1)), 1e-12)


@pytest.mark.filterwarnings("ignore::torch.jit.TracerWarning", "ignore:`torch.jit:DeprecationWarning")
@each_and_each
def test_a_model_is_traced_by_torch_jit(kind, positions):
    built = model(kind, positions)
    program = torch.jit.trace(built, inputs(kind))
    close(program(*inputs(kind)), built(*inputs(kind)), 1e-12)


def loss_of(built: nn.Module, parameters: dict[str, Tensor], *ids: Tensor) -> Tensor:
    return functional_call(built, parameters, ids).square().mean()


@each_kind
def test_torch_func_differentiates_tied_parameters_as_backward_does(kind):
    """The embedding is tied to the output, and in the encoder–decoder to the other stack's, too."""
    built = model(kind)
    weights = {name: p.detach() for name, p in built.named_parameters()}
    found = grad(lambda w: loss_of(built, w, *inputs(kind)))(weights)
    built(*inputs(kind)).square().mean().backward()
    for name, parameter in built.named_parameters():
        close(found[name], parameter.grad, 1e-9)


@each_kind
def test_functional_call_uses_other_values_and_leaves_the_model_as_it_was(kind):
    built, other = model(kind), model(kind)
    for parameter in other.parameters():
        parameter.data.mul_(1.5)
    before = built(*inputs(kind))
    assert torch.equal(functional_call(built, dict(other.named_parameters()), inputs(kind)), other(*inputs(kind)))
    assert torch.equal(built(*inputs(kind)), before)


@each_kind
def test_vmap_runs_an_ensemble(kind):
    ensemble = [model(kind), model(kind)]
    ensemble[1].load_state_dict({name: 1.2 * value for name, value in ensemble[0].state_dict().items()})
    parameters, buffers = stack_module_state(ensemble)
    ids = inputs(kind)
    out = vmap(lambda p, b: functional_call(ensemble[0], (p, b), ids))(parameters, buffers)
    close(out, torch.stack([one(*ids) for one in ensemble]), 1e-9)


@each_kind
def test_gradients_of_each_sample(kind):
    built = model(kind)
    weights = {name: p.detach() for name, p in built.named_parameters()}

    def loss(weights, *ids):
        return loss_of(built, weights, *(row.unsqueeze(0) for row in ids))

    found = vmap(grad(loss), in_dims=(None, *[0] * len(inputs(kind))))(weights, *inputs(kind))
    for row in range(B):
        expected = grad(loss)(weights, *(ids[row] for ids in inputs(kind)))
        for name in weights:
            close(found[name][row], expected[name], 1e-9)


@pytest.mark.parametrize("positions", list(POSITIONS))
@each_kind
def test_a_model_made_on_the_meta_device_can_be_filled_and_loaded(kind, positions):
    built = model(kind, positions, dtype=torch.float32)
    with torch.device("meta"):
        empty = kind(built.config)
    empty = empty.to_empty(device="cpu").eval()
    empty.load_state_dict(built.state_dict())
    assert torch.equal(empty(*inputs(kind)), built(*inputs(kind)))
    assert [name for name, _ in empty.named_parameters()] == [name for name, _ in built.named_parameters()]
