"""The probe `context`: does each part of the input matter, down to single tokens, positions and ids?"""

import math

import torch
from torch import Tensor, nn

from tx_helpers.diagnose.examination import TOO_COARSE, Examination
from tx_helpers.diagnose.report import LOOK, RIGHT, SKIPPED, WRONG, Result
from tx_helpers.diagnose.subject import Subject
from tx_helpers.diagnose.versions import COARSE, movement
from tx_helpers.diagnose.watch import attention_weights

MOST_IDS = 256  # of a larger vocabulary some two dozen ids are compared, and the rows of its embedding


@torch.no_grad()
def context(exam: Examination) -> Result:
    """Does all that is read matter: the tokens before the last position, those after the first, the source, each id?"""
    live = [subject for subject in exam.versions if exam.scale(subject) > 0]
    moved: dict[str, float] = {}
    for subject in live:
        for name, movement_of_part in _parts(subject).items():
            moved[name] = max(moved.get(name, 0.0), exam.share(subject, movement_of_part))
    without = [name for name, share in moved.items() if share <= exam.loose]
    least = min(moved.values(), default=0.0)
    if exam.subject.dtype in COARSE:
        return Result(SKIPPED, TOO_COARSE) if without else Result(RIGHT, "all of it does", least)
    if moved and not without:
        return _single_tokens(exam, live) or Result(RIGHT, "all of it does", least)
    figure = f"{', '.join(without)}: no influence"
    if not moved:
        figure = "nothing does"
    elif "earlier tokens" in without:
        figure = "earlier tokens do not: each answer depends on its own token alone"
    elif len(without) == sum(name.startswith("source") for name in moved):
        figure = "the source does not"
    return Result(WRONG, figure, least, ("unused", "closed", "memory", "causal"))


def _parts(subject: Subject) -> dict[str, float]:
    """How far the logits move with other tokens in a part of the input."""
    *source, ids = subject.inputs(0)
    other, base = subject.others(ids), subject(*source, ids)
    before = torch.cat([other[:, :-1], ids[:, -1:]], dim=1)
    moved = {"earlier tokens": movement(subject(*source, before)[:, -1], base[:, -1])}
    if subject.kind == "encoder":
        after = torch.cat([ids[:, :1], other[:, 1:]], dim=1)
        moved["later tokens"] = movement(subject(after)[:, 0], base[:, 0])
    if subject.kind == "seq2seq":
        others = subject.others(source[0], source=True)
        for s in range(subject.S):
            changed = source[0].clone()
            changed[:, s] = others[:, s]
            moved[f"source position {s}"] = movement(subject(changed, ids), base)
    return moved


def _single_tokens(exam: Examination, live: list[Subject]) -> Result | None:
    """Checks of single tokens, for a model to which every part of the input matters."""
    alike, compared = _ids_alike(live[0], exam.tolerance * exam.scale(live[0]))
    if alike and len(alike) == len(compared):
        figure = "the token just read does not: its logits do not change with it"
        return Result(WRONG, figure, 0.0, ("late", "diagonal"))
    if alike:
        return Result(WRONG, f"ids {_some(alike)} are read as if they were one", 0.0, ("wrapped", "equal rows"))
    name, rows = _equal_embeddings(live[0])
    if rows:
        figure = f"ids {_some(rows)} have one and the same embedding"
        return Result(LOOK, figure, 0.0, ("equal rows", "unused ids"), name)
    without = _gap(live)
    if without:
        positions = ", ".join(map(str, without))
        figure = f"positions {positions} have no influence on the last, and earlier ones have"
        return Result(LOOK, figure, 0.0, ("lost keys", "strided"))
    layers = attention_weights(exam.subject, exam.subject.inputs(0), {exam.subject.S})
    if exam.subject.kind == "seq2seq" and layers and all(layer.weights.triu(1).max() == 0 for layer in layers):
        values = {"at": f", in {layers[0].module or 'the forward'}"}
        figure = "yes, but no source token sees a later one"
        return Result(LOOK, figure, 0.0, ("causal encoder", "one direction"), values=values)
    return None


def _some(ids: list[int], most: int = 6) -> str:
    return ", ".join(map(str, ids[:most])) + (" …" if len(ids) > most else "")


def _ids_alike(subject: Subject, tolerance: float) -> tuple[list[int], list[int]]:
    """The ids that give equal logits when each in turn is the last token, and all ids that were compared."""
    chosen = subject.allowed(subject.V)
    if len(chosen) > MOST_IDS:
        chosen = chosen[[*torch.linspace(0, len(chosen) - 1, 24).long().tolist(), -2]].unique()
    ids, answers = subject.inputs(0), []
    for some in chosen.split(4 * subject.B):  # a row for each id
        rows = [x[:1].repeat(len(some), 1) for x in ids]
        rows[-1][:, -1] = some.to(rows[-1].device)
        answers.append(subject(*rows)[:, [0, -1]].flatten(1).double())
    return chosen[_equal_rows(torch.cat(answers), tolerance)].tolist(), chosen.tolist()


def _equal_rows(rows: Tensor, tolerance: float = 0.0) -> list[int]:
    """The rows of a matrix (n, D) that have an equal one: neighbours after they are sorted by a random projection."""
    direction = torch.randn(rows.shape[1], generator=torch.Generator().manual_seed(0)).to(rows)
    by_projection = (rows @ direction).argsort()
    ordered = rows[by_projection]
    equal = (ordered[1:] - ordered[:-1]).abs().amax(dim=1) <= tolerance
    pair = by_projection[:-1][equal], by_projection[1:][equal]
    return sorted({index for indices in pair for index in indices.tolist()})


def _equal_embeddings(subject: Subject) -> tuple[str, list[int]]:
    """An embedding of the vocabulary in which rows other than padding's are equal, by name; ("", []) if none is."""
    modules = subject.model.named_modules() if isinstance(subject.model, nn.Module) else ()
    for name, module in modules:
        if isinstance(module, nn.Embedding) and module.num_embeddings in (subject.V, subject.V_source):
            skipped = {subject.pad_id, module.padding_idx}
            rows = [row for row in _equal_rows(module.weight.detach()) if row not in skipped]
            if len(rows) > 1:
                return name, rows
    return "", []


def _gap(live: list[Subject]) -> list[int]:
    """Positions without influence on the last logits though an earlier one has some, which no window explains."""
    with_influence = set()
    for subject in live:
        *source, ids = subject.inputs(0)
        base, other = subject(*source, ids)[:, -1], subject.others(ids)
        for t in range(subject.T - 1):
            changed = torch.where(torch.arange(subject.T, device=ids.device) == t, other, ids)
            if movement(subject(*source, changed)[:, -1], base) > 0:
                with_influence.add(t)
    first = min(with_influence, default=math.inf)
    return [t for t in range(live[0].T - 1) if first < t and t not in with_influence]
