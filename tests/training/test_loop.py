import signal
import threading
from copy import deepcopy
from typing import NamedTuple

import pytest
import torch
from torch import Tensor, nn

from tx_helpers.nn.config import TransformerConfig
from tx_helpers.nn.models import EncoderDecoder
from tx_helpers.text.data import PairBatches
from tx_helpers.training.checkpoints import save_checkpoint
from tx_helpers.training.loop import Run, fit
from tx_helpers.training.losses import language_model_loss, translation_loss
from tx_helpers.training.optimizers import adamw, constant, linear_warmup_decay, muon

V, D, T, B = 11, 12, 5, 2


class Batch(NamedTuple):
    input: Tensor
    target: Tensor

    def to(self, device):
        return Batch(*(ids.to(device) for ids in self))


def batches(step: int) -> Batch:
    ids = torch.randint(0, V, (B, T + 1), generator=torch.Generator().manual_seed(step))
    return Batch(ids[:, :-1], ids[:, 1:])


class Toy(nn.Module):
    def __init__(self, dropout=0.0):
        super().__init__()
        self.tokens = nn.Embedding(V, D)
        self.blocks = nn.ModuleList(
            nn.Sequential(nn.Linear(D, 20), nn.ReLU(), nn.Dropout(dropout), nn.Linear(20, D)) for _ in range(2)
        )
        self.output = nn.Linear(D, V)

    def forward(self, ids):
        x = self.tokens(ids)
        for block in self.blocks:
            x = x + block(x)
        return self.output(x)


def toy(dropout=0.0, seed=0) -> Toy:
    with torch.random.fork_rng():
        torch.manual_seed(seed)
        return Toy(dropout)


def train(model, steps, **options) -> Run:
    options = {"optimizer": adamw(model, 0.01), "loss": language_model_loss, "progress": False} | options
    return fit(model, batches, steps=steps, **options)


def test_a_compiled_model_is_trained_like_any_other():
    compiled = torch.compile(toy(), backend="eager")
    assert train(compiled, 3).losses == pytest.approx(train(toy(), 3).losses, abs=1e-5)


def assert_same(run: Run, other: Run) -> None:
    """Everything that a step reads or changes, to the last bit."""
    for name in ("step", "losses", "gradient_norms", "rates", "evaluations"):
        assert getattr(run, name) == getattr(other, name), name
    assert_equal(run.state_dict(), other.state_dict())


def assert_equal(a, b, where="state") -> None:
    if isinstance(a, Tensor):
        assert torch.equal(a, b), where
    elif isinstance(a, dict):
        assert a.keys() == b.keys(), where
        for key in a:
            assert_equal(a[key], b[key], f"{where}.{key}")
    elif isinstance(a, list):
        assert len(a) == len(b), where
        for i, (x, y) in enumerate(zip(a, b, strict=True)):
            assert_equal(x, y, f"{where}[{i}]")
    else:
        assert a == b, where


# ---- a step


@pytest.mark.parametrize("clip", [1.5, 100.0, None])
@pytest.mark.parametrize("dtype", [torch.float32, torch.float64])
def test_fit_is_the_loop_written_by_hand(clip, dtype):
    model, by_hand = toy().to(dtype), toy().to(dtype)
    schedule = linear_warmup_decay(6, warmup=2)
    # AdamW would hide a wrong scale of the gradients
    run = train(model, 6, schedule=schedule, clip=clip, optimizer=torch.optim.SGD(model.parameters(), lr=0.3))

    optimizer, losses, norms = torch.optim.SGD(by_hand.parameters(), lr=0.3), [], []
    for step in range(6):
        batch = batches(step)
        loss = nn.functional.cross_entropy(by_hand(batch.input).mT, batch.target)
        by_hand.zero_grad()
        loss.backward()
        norm = torch.nn.utils.clip_grad_norm_(by_hand.parameters(), clip or 1e9)
        for group in optimizer.param_groups:
            group["lr"] = 0.3 * schedule(step)
        optimizer.step()
        losses.append(loss.item())
        norms.append(norm.item())
    assert run.losses == pytest.approx(losses, rel=1e-5)
    assert run.gradient_norms == pytest.approx(norms, rel=1e-5)
    assert run.rates == [0.3 * schedule(step) for step in range(6)]
    if clip == 1.5:
        assert min(norms) < clip < max(norms) < 2 * clip, "this case should clip some"
    for ours, theirs in zip(model.parameters(), by_hand.parameters(), strict=True):
        torch.testing.assert_close(ours, theirs)


def test_fit_learns():
    model = toy()
    run = fit(model, lambda step: batches(0), steps=60, loss=language_model_loss, optimizer=muon(model), progress=False)
    assert run.losses[0] > 2.0 and run.losses[-1] < 0.2
    assert (run.step, run.interrupted) == (60, False)
    assert len(run.losses) == len(run.rates) == len(run.gradient_norms) == 60
    assert repr(run) == f"<Run: 60 steps, loss {run.losses[-1]:.3f}>"


def test_several_optimizers_follow_one_schedule_at_their_own_rates():
    model = toy()
    optimizers = muon(model, 0.03, adamw_lr=0.01)
    train(model, 2, optimizer=optimizers, schedule=constant(warmup=4))
    assert [group["lr"] for o in optimizers for group in o.param_groups] == pytest.approx([0.015, 0.005, 0.005, 0.005])


def test_autocast_lowers_the_precision_of_products_only():
    seen = []

    def loss(model, batch):
        model.output.register_forward_hook(lambda m, i, output: seen.append(output.dtype))
        return language_model_loss(model, batch)

    model = toy()
    train(model, 1, loss=loss, autocast=torch.bfloat16)
    assert seen == [torch.bfloat16]
    assert {p.dtype for p in model.parameters()} == {torch.float32}


@pytest.mark.skipif(not torch.cuda.is_available(), reason="no CUDA")
def test_fit_on_cuda(tmp_path):
    runs = []
    for stop in (None, 4):
        model = toy(dropout=0.3).cuda()
        run = train(model, 9 if stop is None else stop, checkpoint=tmp_path / "run.pt")
        runs.append(run if stop is None else train(model, 9, resume=run))
    assert_same(*runs)


# ---- stopping and going on


def pair_batches() -> PairBatches:
    """Five pairs in batches of three: an epoch ends in the middle of a batch."""
    pairs = [([3, 4, 5], [6, 7]), ([8], [9, 10, 3]), ([4, 4], [5]), ([6, 7, 8, 9], [10, 3]), ([5, 6], [7, 8, 9])]
    return PairBatches(pairs, 3, seed=1)


def translator(seed: int) -> EncoderDecoder:
    with torch.random.fork_rng():
        torch.manual_seed(seed)
        return EncoderDecoder(TransformerConfig(V, D, 1, pad_id=0, dropout=0.2))


def noise(model) -> dict[str, float]:
    return {"noise": torch.rand(()), "weight": next(model.parameters()).sum()}


@pytest.mark.slow
@pytest.mark.parametrize("precision", [None, torch.bfloat16])
@pytest.mark.parametrize("new_optimizer", [adamw, muon])
def test_a_resumed_run_is_the_run_that_never_stopped(new_optimizer, precision, tmp_path):
    def run(model, steps, **options):
        return fit(
            model,
            pair_batches(),
            steps=steps,
            loss=translation_loss,
            optimizer=new_optimizer(model),
            schedule=linear_warmup_decay(9, warmup=3),
            autocast=precision,
            evaluate=noise,
            every=2,
            progress=False,
            **options,
        )

    whole = run(translator(0), 9, seed=5)
    assert len(set(whole.losses)) == 9
    for stop in range(1, 9):
        path = tmp_path / f"{stop}.pt"
        first = run(translator(0), stop, seed=5, checkpoint=path)
        first.evaluations = [e for e in first.evaluations if e["step"] % 2 == 0]  # not the one at its end
        first.save(path)
        torch.manual_seed(stop)
        torch.rand(stop)
        resume = (path, str(path), first, deepcopy(first.state_dict()))[stop % 4]
        assert_same(run(translator(1), 9, resume=resume), whole)
        assert first.step == stop


def test_a_finished_run_goes_on():
    whole = train(toy(0.3), 8)
    model = toy(0.3)
    part = train(model, 5)
    kept = [p.clone() for p in model.parameters()]
    again = train(model, 8, resume=part)
    assert_same(again, whole)
    assert again is not part and len(part.losses) == 5
    assert not torch.equal(kept[0], next(model.parameters()))
    done = train(model, 8, resume=again)
    assert_same(done, whole)


def test_taking_over_a_run_leaves_the_old_ones_optimizer_alone():
    part = train(toy(), 3)
    before = [state["exp_avg"].clone() for state in part.optimizers[0].state.values()]
    train(toy(seed=1), 6, resume=part)
    after = [state["exp_avg"] for state in part.optimizers[0].state.values()]
    assert_equal(after, before)


def test_checkpoints_are_written_on_the_way_and_at_the_end(tmp_path, monkeypatch):
    saved, save = [], Run.save
    monkeypatch.setattr(Run, "save", lambda run, path: (saved.append(run.step), save(run, path)))
    path = tmp_path / "new" / "run.pt"
    whole = train(toy(0.3), 7, checkpoint=path, save_every=3)
    assert saved == [3, 6, 7]
    assert_same(train(toy(0.3, seed=1), 7, resume=path), whole)
    saved.clear()
    train(toy(), 6, checkpoint=path, save_every=3)
    assert saved == [3, 6]
    saved.clear()
    train(toy(), 6, checkpoint=path, resume=path)
    assert saved == [], "nothing was left to do"


def interrupting(at: int, times: int = 1):
    """A loss that is hit by Ctrl-C in step `at`."""

    def loss(model, batch):
        if torch.equal(batch.input, batches(at).input):
            for _ in range(times):
                signal.raise_signal(signal.SIGINT)
        return language_model_loss(model, batch)

    return loss


@pytest.mark.parametrize("with_checkpoint", [True, False])
def test_ctrl_c_ends_the_run_after_the_step_and_loses_nothing(with_checkpoint, tmp_path, capsys):
    handler = signal.getsignal(signal.SIGINT)
    path = tmp_path / "run.pt" if with_checkpoint else None
    whole = train(toy(0.3), 9, evaluate=noise, every=4)
    model = toy(0.3)
    part = train(model, 9, loss=interrupting(3), checkpoint=path, evaluate=noise, every=4)
    assert (part.step, part.interrupted) == (4, True)
    has_it = f" and {str(path)!r} has it" if with_checkpoint else ""
    assert capsys.readouterr().out == (
        f"Interrupted after step 4 of 9: fit(…, resume=run) goes on from here{has_it}.\n"
    )
    assert signal.getsignal(signal.SIGINT) is handler
    again = train(model, 9, evaluate=noise, every=4, resume=path or part)
    assert not again.interrupted
    assert_same(again, whole)


def test_ctrl_c_in_the_last_step_interrupts_nothing(capsys):
    run = train(toy(), 4, loss=interrupting(3))
    assert (run.step, run.interrupted, capsys.readouterr().out) == (4, False, "")


def test_a_second_ctrl_c_breaks_off_at_once_and_leaves_no_trace():
    handler, state = signal.getsignal(signal.SIGINT), torch.get_rng_state()
    model = toy(0.3).eval()
    before = [p.clone() for p in model.parameters()]
    with pytest.raises(KeyboardInterrupt):
        train(model, 4, loss=interrupting(0, times=2))
    assert signal.getsignal(signal.SIGINT) is handler
    assert torch.equal(torch.get_rng_state(), state)
    assert not model.training
    assert_equal(list(model.parameters()), before)


def test_fit_works_in_another_thread():
    runs = []
    thread = threading.Thread(target=lambda: runs.append(train(toy(0.3), 4)))
    thread.start()
    thread.join()
    assert_same(runs[0], train(toy(0.3), 4))


# ---- nothing outside is disturbed, nothing outside disturbs


def test_random_numbers_are_the_runs_own():
    runs = []
    for outside in (1, 2):
        torch.manual_seed(outside)
        state = torch.get_rng_state()
        runs.append(train(toy(0.3), 4, seed=5, evaluate=noise))
        assert torch.equal(torch.get_rng_state(), state)
    assert_same(*runs)
    assert train(toy(0.3), 4, seed=6).losses != runs[0].losses, "dropout follows the seed"


@pytest.mark.parametrize("training", [True, False])
def test_the_mode_of_the_model_is_restored(training):
    modes = []

    def loss(model, batch):
        modes.append(model.training)
        return language_model_loss(model, batch)

    def measure(model):
        modes.append(model.training)
        assert not torch.is_grad_enabled()
        return {}

    model = toy(0.3).train(training)
    train(model, 2, loss=loss, evaluate=measure)
    assert modes == [True, True, False]
    assert {module.training for module in model.modules()} == {training}
    assert torch.is_grad_enabled()


def test_evaluations_come_every_so_often_and_at_the_end_and_change_nothing():
    plain = train(toy(0.3), 7)
    measured = train(toy(0.3), 7, evaluate=noise, every=3)
    assert [e["step"] for e in measured.evaluations] == [3, 6, 7]
    assert all(set(e) == {"step", "noise", "weight"} and type(e["noise"]) is float for e in measured.evaluations)
    assert len({e["noise"] for e in measured.evaluations}) == 3
    assert_equal(plain.state_dict() | {"evaluations": 0}, measured.state_dict() | {"evaluations": 0})


def test_an_error_restores_everything():
    handler, state = signal.getsignal(signal.SIGINT), torch.get_rng_state()
    model = toy(0.3).eval()

    def measure(model):
        raise RuntimeError("in the measurement")

    with pytest.raises(RuntimeError, match="in the measurement"):
        train(model, 4, evaluate=measure, every=2)
    assert signal.getsignal(signal.SIGINT) is handler
    assert torch.equal(torch.get_rng_state(), state)
    assert not model.training


def test_the_progress_bar_tells_loss_and_measures(capsys):
    train(toy(), 3, progress=True, evaluate=lambda model: {"exact": 0.25})
    shown = capsys.readouterr().err
    assert "3/3" in shown and "exact=0.25" in shown and "loss=" in shown
    train(toy(), 3)
    assert capsys.readouterr() == ("", "")


# ---- what is not finite


def new_run(loss=language_model_loss, **options) -> Run:
    model = toy(0.3)
    return Run(model, batches, loss=loss, optimizer=adamw(model, 0.01), **options)


def snapshot(run: Run):
    state = run.state_dict()
    return torch.utils._pytree.tree_map(lambda x: x.clone() if isinstance(x, Tensor) else x, state)


@pytest.mark.parametrize(
    ("spoil", "message"),
    [
        (
            lambda loss, model: loss * float("nan"),
            r"fit: at step 3 the loss is nan and the gradient's norm nan; "
            r"all parameters are finite; the first whose gradient is not is 'tokens\.weight'",
        ),
        (
            lambda loss, model: loss + (model.blocks[1][0].bias * 0).sum().sqrt(),
            r"fit: at step 3 the loss is \d\.\d+ and the gradient's norm nan; "
            r"all parameters are finite; the first whose gradient is not is 'blocks\.1\.0\.bias'",
        ),
        (
            lambda loss, model: loss + torch.tensor(float("inf")),
            r"fit: at step 3 the loss is inf and the gradient's norm \d\.\d+; all parameters and gradients are finite",
        ),
    ],
)
def test_the_first_loss_or_gradient_that_is_not_finite_stops_the_run_as_it_was(spoil, message):
    broken = True

    def loss(model, batch):
        value = language_model_loss(model, batch)
        return spoil(value, model) if broken and torch.equal(batch.input, batches(3).input) else value

    run = new_run(loss)
    for _ in range(3):
        run.train_step()
    before, outside = snapshot(run), torch.get_rng_state()
    with pytest.raises(FloatingPointError, match=f"^{message}$"):
        run.train_step()
    assert_equal(run.state_dict(), before)
    assert torch.equal(torch.get_rng_state(), outside)
    broken = False
    for _ in range(2):
        run.train_step()
    undisturbed = new_run()  # by hand as well: `fit` takes one thread
    for _ in range(5):
        undisturbed.train_step()
    assert_same(run, undisturbed)


def test_an_error_on_the_way_to_the_update_leaves_the_run_as_it_was():
    def schedule(step):
        if step == 2:
            raise RuntimeError("no rate for step 2")
        return 1.0

    run = new_run(schedule=schedule)
    for _ in range(2):
        run.train_step()
    before = snapshot(run)
    with pytest.raises(RuntimeError, match="no rate"):
        run.train_step()
    assert_equal(run.state_dict(), before)


def test_a_parameter_that_is_not_finite_is_named():
    model = toy()
    with torch.no_grad():
        model.blocks[0][3].weight[2, 3] = float("inf")
        model.output.bias[1] = float("nan")
    message = (
        r"^fit: at step 0 the loss is nan and the gradient's norm nan; "
        r"the first parameter that is not finite is 'blocks\.0\.3\.weight'$"
    )
    with pytest.raises(FloatingPointError, match=message):
        train(model, 2)


# ---- bad input


@pytest.mark.parametrize(
    ("options", "message"),
    [
        ({"steps": 0}, "fit: steps=0, expected at least 1"),
        ({"every": 0}, "fit: every=0, expected at least 1"),
        ({"save_every": -1, "checkpoint": "x"}, "fit: save_every=-1, expected at least 1"),
        ({"save_every": 5}, "fit: save_every=5, but checkpoint=None says no file to save to"),
        ({"clip": 0.0}, "fit: clip=0.0, expected more than 0"),
        ({"threads": 0}, "fit: threads=0, expected at least 1"),
        (
            {"autocast": torch.float64},
            "fit: autocast=torch.float64, expected torch.bfloat16, torch.float16, or None for full precision",
        ),
        ({"loss": lambda model, batch: model(batch.input)}, "fit: the loss has shape (2, 5, 11), expected a scalar"),
        ({"evaluate": lambda model: 0.5}, "fit: evaluate returned 0.5, expected a dict of numbers by name"),
    ],
)
def test_fit_refuses(options, message):
    with pytest.raises(ValueError) as error:
        train(toy(), **({"steps": 1} | options))
    assert str(error.value) == message


def test_fit_refuses_another_models_optimizer():
    model, other = toy(), toy()
    with pytest.raises(ValueError) as error:
        train(model, 1, optimizer=adamw(other))
    assert str(error.value) == (
        "fit: of 11 parameters in the optimizers only 0 are this model's: "
        "the optimizer must be made from the model that it trains"
    )
    with pytest.raises(ValueError) as error:
        train(model, 1, optimizer=[adamw(model), adamw(model.output)])
    assert str(error.value) == "fit: of 13 parameters in the optimizers some are held twice, expected each once"


def test_another_models_or_optimizers_checkpoint_is_refused_and_changes_nothing(tmp_path):
    path = tmp_path / "run.pt"
    train(toy(), 2, checkpoint=path)
    other = translator(0)
    before = [p.clone() for p in other.parameters()]
    with pytest.raises(ValueError) as error:
        fit(other, batches, steps=3, loss=translation_loss, optimizer=adamw(other), resume=path, progress=False)
    first = next(iter(other.state_dict()))
    assert str(error.value) == (
        f"load_weights: {first!r} is {tuple(other.state_dict()[first].shape)} in EncoderDecoder, "
        "but missing in the checkpoint"
    )
    assert_equal(list(other.parameters()), before)

    run = new_run()
    before = snapshot(run)
    model = toy()
    muon_run = train(model, 2, optimizer=muon(model))
    with pytest.raises(ValueError) as error:
        run.load_state_dict(muon_run.state_dict())
    said = "fit: the optimizers are ['AdamW'], but ['Muon', 'AdamW'] in the checkpoint: resume with the same"
    assert str(error.value) == said
    assert_equal(run.state_dict(), before)


WRONG_STATES = {
    "no model": lambda state: state.pop("model"),
    "model a list": lambda state: state.update(model=[1]),
    "weights no tensors": lambda state: state["model"].update({"output.bias": 3}),
    "no optimizers": lambda state: state.pop("optimizers"),
    "optimizers a number": lambda state: state.update(optimizers=3),
    "no param_groups": lambda state: state["optimizers"][0]["state"].pop("param_groups"),
    "a group lacks betas": lambda state: state["optimizers"][0]["state"]["param_groups"][0].pop("betas"),
    "a group lacks a parameter": lambda state: state["optimizers"][0]["state"]["param_groups"][0]["params"].pop(),
    "ragged moments": lambda state: state["optimizers"][0]["state"]["state"][0].update(exp_avg=torch.zeros(3)),
    "no random": lambda state: state.pop("random"),
    "no random states": lambda state: state["random"].pop("states"),
    "seed a text": lambda state: state["random"].update(seed="0"),
    "short random state": lambda state: state["random"]["states"].update(cpu=torch.zeros(3, dtype=torch.uint8)),
    "no step": lambda state: state.pop("step"),
    "step a text": lambda state: state.update(step="3"),
    "negative step": lambda state: state.update(step=-1),
    "no losses": lambda state: state.pop("losses"),
    "ragged losses": lambda state: state["losses"].pop(),
    "rates a number": lambda state: state.update(rates=1.0),
    "evaluations of numbers": lambda state: state.update(evaluations=[1.0]),
}


@pytest.mark.parametrize("name", WRONG_STATES)
def test_a_checkpoint_with_a_part_missing_or_ragged_is_refused_and_changes_nothing(name, tmp_path):
    state = deepcopy(train(toy(0.3), 2).state_dict())
    WRONG_STATES[name](state)
    save_checkpoint(tmp_path / "run.pt", "run", state)
    run = new_run()
    run.train_step()
    before = snapshot(run)
    with pytest.raises(ValueError, match=r"^(fit|load_weights|load_checkpoint): "):
        run.load(tmp_path / "run.pt")
    assert_equal(run.state_dict(), before)


def test_an_error_in_a_step_restores_the_buffers_of_batch_norm():
    class Normed(Toy):
        def __init__(self):
            super().__init__()
            self.norm = nn.BatchNorm1d(V)

        def forward(self, ids):
            return self.norm(super().forward(ids).mT).mT

    model = Normed()
    run = Run(
        model,
        batches,
        loss=lambda model, batch: language_model_loss(model, batch) * float("nan"),
        optimizer=adamw(model),
    )
    before = snapshot(run)
    with pytest.raises(FloatingPointError):
        run.train_step()
    assert_equal(run.state_dict(), before)
    run.loss = language_model_loss
    run.train_step()
    assert model.norm.num_batches_tracked == 1


@pytest.mark.parametrize(("threads", "inside"), [(1, 1), (2, 2), (None, 3)])
def test_training_has_its_own_number_of_threads(threads, inside):
    used, outside = [], torch.get_num_threads()

    def loss(model, batch):
        used.append(torch.get_num_threads())
        return language_model_loss(model, batch)

    torch.set_num_threads(3)
    try:
        train(toy(), 1, loss=loss, threads=threads)
        assert used == [inside] and torch.get_num_threads() == 3
    finally:
        torch.set_num_threads(outside)
