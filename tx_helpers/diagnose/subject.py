"""Anybody's model: how it is called, and what it is fed.

A `Subject` hides how a model wants to be called: ids (B, T) -> logits (B, T, V), or for sequence-to-sequence models
source (B, S) and target (B, T) -> (B, T, V). Calls in the manner of the library `transformers` are known by the names
of the parameters of `forward`. Everything else is found out by calling: the vocabulary, the longest length that works.

An `nn.Module` stays as it is: a deep copy in evaluation mode is probed, in float64 where that runs, so that rounding
(1e-15) is never mistaken for a leak. A function is probed as it is, in its own precision.
"""

import inspect
from collections.abc import Callable, Mapping
from copy import deepcopy
from dataclasses import dataclass, replace
from typing import Any

import torch
from torch import Tensor, nn

from tx_helpers.diagnose.untouched import held_modules

KINDS = ("decoder", "encoder", "seq2seq")
Ids = tuple[Tensor, ...]  # (ids,) or (source, target): what a model is called with


@dataclass(frozen=True)
class Subject:
    """A model and how it is called. T and S are lengths of target and source, V and V_source the numbers of ids."""

    model: Callable[..., Any]
    kind: str
    forward: Callable[..., Any] | None = None
    pad_id: int | None = None  # of the only sequence, or of the target
    source_pad_id: int | None = None  # of the first sequence: the only one, or the source
    apart: tuple[int, ...] = ()  # ids that look like padding, which nobody has said
    V: int = 0
    V_source: int = 0
    B: int = 3  # B, S and T differ, so that mixed-up axes do not fit by chance
    T: int = 16
    dtype: torch.dtype = torch.float32
    device: torch.device = torch.device("cpu")  # noqa: RUF009
    name: str = ""

    @property
    def module(self) -> nn.Module:
        """The model, where it is known to be no function."""
        assert isinstance(self.model, nn.Module)
        return self.model

    @property
    def S(self) -> int:  # noqa: N802
        return self.T - 2

    def __call__(self, *ids: Tensor) -> Tensor:
        """-> logits (B, T, V), also where the model answers with a tuple, a dict or an object that has them."""
        names = parameter_names(self.model)
        ids = tuple(x.contiguous() for x in ids)  # as all callers give them: some models say ids.view(-1)
        if self.forward is not None:
            answer = self.forward(self.model, *ids)
        elif "input_ids" in names:
            answer = self.model(**self.by_name(names, ids))
        else:
            answer = self.model(*ids)
        logits = logits_of(answer)
        if logits.dim() != 3 or logits.shape[:2] != ids[-1].shape or not logits.is_floating_point():
            raise ValueError(
                f"diagnose: the model made {logits.dtype} {tuple(logits.shape)} of ids {tuple(ids[-1].shape)}; "
                "expected logits (B, T, V), one row for each position; if the call is another one, give forward="
            )
        return logits

    def by_name(self, names: set[str], ids: Ids) -> dict[str, Tensor]:
        """Arguments by the names that `transformers` gives them."""
        arguments = {"input_ids": ids[0]}
        if len(ids) == 2:
            arguments["decoder_input_ids"] = ids[1]
        if self.source_pad_id is not None and "attention_mask" in names:
            arguments["attention_mask"] = (ids[0] != self.source_pad_id).long()
        return arguments

    def inputs(self, seed: int, rows: int | None = None) -> Ids:
        """Random ids, none of them padding: (ids (B, T),), or (source (B, S), target (B, T))."""
        rows = rows or self.B
        target = self._draw(rows, self.T, self.V, 2 * seed)
        return (self._draw(rows, self.S, self.V_source, 2 * seed + 1), target) if self.kind == "seq2seq" else (target,)

    def others(self, ids: Tensor, seed: int = 0, *, source: bool = False) -> Tensor:
        """Ids of the same shape that differ from the given ones at every position."""
        allowed = self.allowed(self.V_source if source else self.V)
        place = torch.searchsorted(allowed, ids.cpu().contiguous())
        shift = torch.randint(1, len(allowed), ids.shape, generator=torch.Generator().manual_seed(seed))
        return allowed[(place + shift) % len(allowed)].to(ids.device)

    def _draw(self, rows: int, length: int, V: int, seed: int) -> Tensor:
        allowed, generator = self.allowed(V), torch.Generator().manual_seed(seed)
        return allowed[torch.randint(len(allowed), (rows, length), generator=generator)].to(self.device)

    def allowed(self, V: int) -> Tensor:
        """The ids below V, without padding."""
        ids, padding = torch.arange(V), {self.pad_id, self.source_pad_id, *self.apart} - {None}
        return ids[~torch.isin(ids, torch.tensor(sorted(padding), dtype=torch.long))]


def new_subject(
    model: Callable[..., Any],
    *,
    kind: str | None = None,
    forward: Callable[..., Any] | None = None,
    vocab_size: int | None = None,
    source_vocab_size: int | None = None,
    length: int = 16,
    pad_id: int | None = None,
    source_pad_id: int | None = None,
) -> Subject:
    """Find out how the model is called, and copy it. Raises ValueError if it cannot be called."""
    if not callable(model):
        raise ValueError(f"diagnose: model={model!r}, expected a module, or a function from ids to logits")
    kind = kind or _guess_kind(model, forward)
    if kind not in KINDS:
        raise ValueError(f"diagnose: kind={kind!r}, expected one of {', '.join(KINDS)}")
    if length < 4:
        raise ValueError(f"diagnose: length={length}, expected at least 4 positions to compare")
    tensor = _first_parameter(model)
    if tensor.is_meta:
        raise ValueError(
            f"diagnose: the parameters of {_name(model)} are on the device meta and have no values; "
            "model.to_empty(device='cpu') makes room for them, then load or initialise them"
        )
    known_pad_id = _padding_id(model) if pad_id is None else pad_id
    probed, name = _copy(model) if isinstance(model, nn.Module) else model, _name(model)
    subject = Subject(
        probed,
        kind,
        forward,
        known_pad_id,
        source_pad_id,
        T=length,
        dtype=tensor.dtype,
        device=tensor.device,
        name=name,
    )
    subject, logits = _first_call(subject)
    V = vocab_size or logits.shape[-1]
    subject = replace(subject, V=V, dtype=logits.dtype, device=logits.device)
    if subject.pad_id is not None and not 0 <= subject.pad_id < V:
        if pad_id is not None:
            raise ValueError(f"diagnose: pad_id={pad_id} is no id of the model, expected 0 to {V - 1}")
        subject = replace(subject, pad_id=None)  # a library's default that is none of this model's ids
    if source_pad_id is not None and kind != "seq2seq":
        raise ValueError(f"diagnose: source_pad_id={source_pad_id}, expected None: a {kind} has one sequence (pad_id)")
    subject = replace(subject, source_pad_id=subject.pad_id if source_pad_id is None else source_pad_id)
    if len(subject.allowed(V)) < 2:
        raise ValueError(f"diagnose: a vocabulary of {V} ids, expected at least 2 besides padding to swap tokens")
    known = source_vocab_size or (_source_vocab_size(subject) if kind == "seq2seq" else V)
    if source_pad_id is not None and not 0 <= source_pad_id < known:
        raise ValueError(f"diagnose: source_pad_id={source_pad_id} is no id of the source, expected 0 to {known - 1}")
    return replace(subject, V_source=known)


def copy_of(model: nn.Module) -> nn.Module:
    """A deep copy that can be trained, also of a module that keeps results (its last attention weights, say).

    Without no_grad, the copied parameters of a traced module would be results of a computation.
    """
    stored = [thing for module in model.modules() for thing in vars(module).values() if isinstance(thing, Tensor)]
    with torch.no_grad():
        copied = deepcopy(model, {id(tensor): tensor.detach() for tensor in stored if not tensor.is_leaf})
    wanted = dict(model.named_parameters())
    for name, parameter in copied.named_parameters():
        parameter.requires_grad_(wanted[name].requires_grad)
        parameter.grad = None
    return copied


def _copy(model: nn.Module) -> nn.Module:
    try:
        return copy_of(model).eval()
    except Exception as error:
        raise ValueError(
            f"diagnose: {type(model).__name__} cannot be copied ({short_error(error)}), the original stays; "
            "pass a function instead: diagnose(lambda ids: model(ids))"
        ) from error


def _first_call(subject: Subject) -> tuple[Subject, Tensor]:
    """The longest length that works, halved until it does, and what the model answers."""
    T = subject.T
    first: Exception | None = None
    padding = {subject.pad_id, subject.source_pad_id, *padding_rows(subject.model).values()}
    while T >= 4:
        tried = replace(subject, T=T)
        token = next(id for id in (1, 2, 0, 3) if id not in padding)  # surely an id, and not padding
        lengths = (tried.S, T) if subject.kind == "seq2seq" else (T,)
        try:
            with torch.no_grad():
                return tried, tried(*(torch.full((tried.B, n), token, device=subject.device) for n in lengths))
        except ValueError as error:
            if str(error).startswith("diagnose:"):
                raise
            first = first or error
        except Exception as error:
            first = first or error
        T //= 2
    raise ValueError(
        f"diagnose: the model fails on ids (B, T) = ({subject.B}, {subject.T}): {short_error(first)}; "
        "if the call is another one, give forward="
    ) from first


def _source_vocab_size(subject: Subject) -> int:
    """How many of the ids 0 … V−1 the source may hold, found by calling (not on CUDA: a wrong id ends the process)."""

    def works(V: int) -> bool:
        ids = torch.full((subject.B, subject.S), V - 1, device=subject.device)
        try:
            with torch.no_grad():
                subject(ids, subject.inputs(0)[1])
        except Exception:
            return False
        return True

    subject = replace(subject, V_source=1, pad_id=None, source_pad_id=None)
    if subject.device.type != "cpu" or works(subject.V):
        return subject.V
    low, high = 1, subject.V
    while high - low > 1:
        middle = (low + high) // 2
        low, high = (middle, high) if works(middle) else (low, middle)
    return low


def _guess_kind(model: Callable[..., Any], forward: Callable[..., Any] | None) -> str:
    if forward is None and "decoder_input_ids" in parameter_names(model):
        return "seq2seq"
    try:
        parameters = inspect.signature(_callee(model) if forward is None else forward).parameters.values()
    except (TypeError, ValueError):
        return "decoder"
    positional = (inspect.Parameter.POSITIONAL_ONLY, inspect.Parameter.POSITIONAL_OR_KEYWORD)
    needed = sum(p.kind in positional and p.default is inspect.Parameter.empty for p in parameters)
    return "seq2seq" if needed == (2 if forward is None else 3) else "decoder"


def _callee(model: Callable[..., Any]) -> Callable[..., Any]:
    return model.forward if isinstance(model, nn.Module) else model


def parameter_names(model: Callable[..., Any]) -> set[str]:
    """The names of what a model can be called with."""
    try:
        return set(inspect.signature(_callee(model)).parameters)
    except (TypeError, ValueError):
        return set()


def subject_options(subject: Subject) -> list[str]:
    """What a model in the manner of `transformers` can be given besides ids: segments, masks, embeddings."""
    names = parameter_names(subject.model)
    given = {"input_ids", "decoder_input_ids", "attention_mask", "labels", "kwargs"}
    return sorted(names - given) if subject.forward is None and "input_ids" in names else []


def logits_of(answer: Any) -> Tensor:
    """The logits in a model's answer: a tensor, or a tuple, a dict or an object that has them."""
    for name in ("logits", "last_hidden_state"):
        found = answer.get(name) if isinstance(answer, Mapping) else getattr(answer, name, None)
        if isinstance(found, Tensor):
            return found
    if isinstance(answer, tuple | list) and answer:  # (logits, cache) or (loss, logits)
        answer = next((part for part in answer if isinstance(part, Tensor) and part.dim() == 3), answer[0])
    if not isinstance(answer, Tensor):
        raise ValueError(f"diagnose: the model answered with {type(answer).__name__}, expected logits (B, T, V)")
    return answer


def padding_rows(model: Callable[..., Any]) -> dict[nn.Embedding, int]:
    """The embeddings of a module that name the row of padding, and the row."""
    modules = model.modules() if isinstance(model, nn.Module) else ()
    tables = (module for module in modules if isinstance(module, nn.Embedding))
    return {table: table.padding_idx for table in tables if table.padding_idx is not None}


def _padding_id(model: Callable[..., Any]) -> int | None:
    config = getattr(model, "config", None)
    for name in ("pad_id", "pad_token_id"):
        found = getattr(config, name, None)
        if isinstance(found, int) and found >= 0:
            return found
    return None


def _first_parameter(model: Callable[..., Any]) -> Tensor:
    floating = (p for module in held_modules(model) for p in module.parameters() if p.is_floating_point())
    return next(floating, torch.empty(0))


def _name(model: Callable[..., Any]) -> str:
    return type(model).__name__ if isinstance(model, nn.Module) else getattr(model, "__name__", type(model).__name__)


def short_error(error: BaseException | None) -> str:
    """The kind of an error and its message on one line."""
    text = " ".join(str(error).split())
    return f"{type(error).__name__}: {text[:160]}"
