"""`AttentionView`: which token looks at which, in every layer and head, answered in the browser.

    with capture(model) as seen:
        model(source, target)
    AttentionView.from_capture(seen, queries, keys, "*.cross_attention")    # a model of this course
    AttentionView.from_tensor(weights, tokens)                              # any tensor (layers, heads, T, S)
    AttentionView.from_attentions(outputs.attentions, tokens)               # Hugging Face, output_attentions=True

The raw numbers are sent once, as bytes; the scripts in the folder `attention` answer to layer, head, temperature, mask
and scale without the kernel. A changed temperature or mask shows a counterfactual: the weights of this layer are
computed again, and everything before it stays as it was. Without a kernel a picture is shown, and `save("x.html")`
writes a page that needs neither kernel nor network.
"""

import re
from collections.abc import Sequence
from fnmatch import fnmatchcase
from numbers import Real
from os import PathLike
from pathlib import Path
from typing import Any

import anywidget
import numpy as np
import traitlets
from torch import Tensor

from tx_helpers.nn.arguments import check_numbers, check_types, described
from tx_helpers.nn.capture import Activations
from tx_helpers.show.plots import image
from tx_helpers.show.stored import PageForm, page_form
from tx_helpers.widgets import attention_page
from tx_helpers.widgets.attention_data import (
    UNKNOWN_WIDTH,
    Attention,
    Numbers,
    attention_from_scores,
    attention_from_weights,
    rounded,
    sentence,
    shown,
    stacked,
)
from tx_helpers.widgets.scripts import FOLDER, joined

ESM = joined(*sorted((FOLDER / "attention").glob("*.js")))  # in an order that does not matter
NOT_PRODUCTS = "these scores are not q·k/√d_k alone: a bias or another factor is in them"
Tokens = Sequence[str]


class _Widget(anywidget.AnyWidget):
    """The model that the browser sees: what to show, the numbers, and the state of the controls."""

    _esm = ESM
    spec = traitlets.Dict().tag(sync=True)
    data = traitlets.Bytes().tag(sync=True)
    state = traitlets.Dict().tag(sync=True)


class AttentionView:
    """Attentions of one model to choose from; made by `from_capture`, `from_tensor` or `from_attentions`.

    name  a slug (letters, digits, hyphens), unique in its notebook
    """

    def __init__(self, attentions: Sequence[Attention], name: str = "attention"):
        if not isinstance(name, str) or not re.fullmatch(r"[A-Za-z][\w-]*", name, re.ASCII):
            raise ValueError(f"AttentionView: name={name!r}, expected a slug of letters, digits and hyphens")
        if not attentions:
            raise ValueError("AttentionView: 0 attentions, expected at least 1")
        self.name, self.attentions = name, tuple(attentions)
        spec, data = _payload(name, self.attentions)
        start = {"attention": 0, "layer": 0, "head": 0, "side": "query", "token": -1, "locked": False}
        settings = {"temperature": 1.0, "causal": self.attentions[0].causal, "scaled": True}
        self.widget = _Widget(spec=spec, data=data, state=start | settings)

    @classmethod
    def from_capture(
        cls, seen: Activations, queries: Tokens, keys: Tokens | None = None, pattern: str = "*attention", *,
        name: str = "attention", row: int = 0, d_head: int | None = None,
    ) -> "AttentionView":  # fmt: skip
        """What `capture` recorded in the last forward pass, of one row of the batch.

        queries, keys  the tokens of target and source; an encoder's self-attention has the source on both sides, any
                       other self-attention the target. One list alone serves all.
        pattern        of the attentions' names: "*.cross_attention", "decoder.*", by default all of them
        d_head     d_k, where queries and keys were not captured

        Scores, where they were captured beside the weights, make temperature, mask and scale exact.
        """
        check_types("AttentionView", Activations, seen=seen)
        check_types("AttentionView", str, pattern=pattern)
        keys = queries if keys is None else keys
        groups: dict[str, list[str]] = {}
        for recorded in seen.names("*weights"):
            path = recorded.removesuffix("weights").removesuffix(".")
            if fnmatchcase(path, pattern):
                groups.setdefault(re.sub(r"\d+", "*", path), []).append(path)
        if not groups:
            raise ValueError(f"AttentionView: no weights match {pattern!r} in {', '.join(seen) or 'an empty capture'}")
        attentions = []
        for group, paths in groups.items():
            words = [part for part in group.split(".") if part not in ("*", "blocks")]
            label = " ".join(words).replace("_", "-").capitalize() or "Attention"
            same = keys if "encoder" in group else queries
            sides = (same, same) if "self" in group else (queries, keys)
            weights = _recorded(seen, paths, "weights", row)
            if all(_name(path, "scores") in seen for path in paths):
                width, reason = (d_head, "") if d_head else _head_width(seen, paths[0], row)
                scores = _recorded(seen, paths, "scores", row)
                known = {"weights": weights, "d_head": width, "scale_reason": reason}
                attentions.append(attention_from_scores(label, scores, *sides, **known))
            else:
                attentions.append(attention_from_weights(label, weights, *sides))
        return cls(attentions, name)

    @classmethod
    def from_tensor(
        cls, values: Numbers, queries: Tokens, keys: Tokens | None = None, *, scores: bool = False,
        d_head: int | None = None, name: str = "attention", label: str = "Attention",
    ) -> "AttentionView":  # fmt: skip
        """Weights (layers, heads, T, S), or with scores=True raw scores, -inf where masked; fewer axes will do."""
        keys = queries if keys is None else keys
        if scores:
            made = attention_from_scores(label, values, queries, keys, d_head=d_head)
        else:
            made = attention_from_weights(label, values, queries, keys)
        return cls([made], name)

    @classmethod
    def from_attentions(
        cls, attentions: Sequence, tokens: Tokens, keys: Tokens | None = None, *, row: int = 0, name: str = "attention"
    ) -> "AttentionView":
        """What a Hugging Face model returns for output_attentions=True: a tensor (B, H, T, S) for each layer.

        Arrays of NumPy, and one tensor (layers, B, H, T, S), will do, too.
        """
        if isinstance(attentions, (Tensor, np.ndarray)) and attentions.ndim == 5:
            attentions = list(attentions)
        _check_layers(attentions)
        layers = [_row("AttentionView: attentions", layer, row) for layer in attentions]
        return cls.from_tensor(_stack("AttentionView: attentions", layers), tokens, keys, name=name)

    # ------------------------------------------------------------------------------------------------------- the state

    @property
    def state(self) -> dict:
        """The controls as they stand, here or in the browser: indices from 0, token -1 where none is picked."""
        return dict(self.widget.state)

    def set(self, **changes: Any) -> "AttentionView":
        """Turn controls from Python, e.g. set(layer=1, head=2, token=0, temperature=2.0); indices from 0."""
        state = self.state
        if unknown := sorted(changes.keys() - state.keys()):
            raise ValueError(f"AttentionView: no control named {', '.join(unknown)}; there is: {', '.join(state)}")
        if changes.get("attention", state["attention"]) != state["attention"]:
            _check("attention", changes["attention"], 0, len(self.attentions))
            causal = self.attentions[changes["attention"]].causal
            state |= {"layer": 0, "head": 0, "token": -1, "causal": causal, "locked": False, "scaled": True}
        state |= changes
        L, H, T, S = self.attentions[state["attention"]].values.shape
        if state["side"] not in ("query", "key"):
            raise ValueError(f"AttentionView: side={state['side']!r}, expected 'query' or 'key'")
        for control, low, count in (
            ("layer", 0, L),
            ("head", 0, H),
            ("token", -1, T if state["side"] == "query" else S),
        ):
            _check(control, state[control], low, count)
        if not isinstance(state["temperature"], Real) or not 0.1 <= state["temperature"] <= 5:
            raise ValueError(f"AttentionView: temperature={described(state['temperature'])}, expected 0.1 to 5")
        self._refuse_what_cannot_be(state)
        self.widget.state = state
        return self

    def _refuse_what_cannot_be(self, state: dict) -> None:
        chosen = self.attentions[state["attention"]]
        if state["causal"] != chosen.causal and chosen.causal_reason:
            raise ValueError(f"AttentionView: causal={state['causal']}, but {chosen.causal_reason}")
        if not state["scaled"] and chosen.scale_reason:
            raise ValueError(f"AttentionView: scaled=False, but {chosen.scale_reason}")

    @property
    def attention(self) -> Attention:
        """The weights of the layer and head on show."""
        return self.attentions[self.state["attention"]]

    @property
    def weights(self) -> np.ndarray:
        """The weights that are shown, (T, S)."""
        options = {key: self.state[key] for key in ("layer", "head", "temperature", "causal", "scaled")}
        return self.attention.weights(**options)

    @property
    def summary(self) -> str:
        """What is to be seen, in a sentence with the numbers."""
        state, chosen = self.state, self.attention
        prefix = [chosen.label] if len(self.attentions) > 1 else []
        prefix += [f"layer {state['layer'] + 1}", f"head {state['head'] + 1}"]
        if state["temperature"] != 1:
            prefix.append(f"temperature {rounded(state['temperature'])}")
        if state["causal"] != chosen.causal:
            prefix.append(f"causal mask {'on' if state['causal'] else 'off'}")
        if not state["scaled"]:
            prefix.append("not scaled")
        seen = sentence(self.weights, chosen.queries, chosen.keys, state["side"], state["token"])
        return f"{', '.join(prefix)}: {seen}"

    # ----------------------------------------------------------------------------------------------------- the showing

    def save(self, path: str | Path) -> Path:
        """The view as it stands: .html (interactive, in one file, with no kernel and no network), .svg or .png."""
        check_types("AttentionView", (str, PathLike), path=path)
        path = Path(path)
        picture = (self.weights, self.attention.queries, self.attention.keys, self.state, self.summary)
        if path.suffix == ".html":
            spec, data, state = self.widget.spec, self.widget.data, self.state
            static = attention_page.svg(*picture)
            path.write_text(attention_page.page(ESM, spec, data, state, static), encoding="utf-8")
        elif path.suffix == ".svg":
            path.write_text(attention_page.svg(*picture), encoding="utf-8")
        elif path.suffix == ".png":
            path.write_bytes(attention_page.png(*picture))
        else:
            raise ValueError(f"AttentionView: cannot save {path.name!r}; expected a name in .html, .svg or .png")
        return path

    def page_form(self) -> PageForm:
        return page_form(self.widget, repr(self))

    def _repr_mimebundle_(self, **_asked: object) -> tuple[dict, dict]:
        data, metadata = self.widget._repr_mimebundle_()
        picture = (self.weights, self.attention.queries, self.attention.keys, self.state, self.summary)
        still = attention_page.still(*picture[:-1]).encode()
        html = image("image/svg+xml", still, self.summary)  # nbconvert's alt text
        data = data | {"text/html": html, "image/png": attention_page.png(*picture), "text/plain": repr(self)}
        return data, metadata | {"image/png": {"alt": self.summary}}

    def __repr__(self) -> str:
        return f"AttentionView {self.name!r}: {self.summary}"


def _check_layers(attentions: object) -> None:
    """Each layer has a tensor; the error says which of the usual reasons it is."""
    layers = list(attentions) if isinstance(attentions, (list, tuple)) else []
    if layers and all(isinstance(layer, (Tensor, np.ndarray)) for layer in layers):
        return
    if layers and all(isinstance(layer, (list, tuple)) for layer in layers):
        why = "these are those of generate, a tuple for each token: call the model on the whole text"
    elif any(layer is not None for layer in layers) and (
        empty := [n for n, one in enumerate(layers, 1) if one is None]
    ):
        why = (
            f"layer {empty[0]} of {len(layers)} has none: leave it out, or load it with attention that returns weights"
        )
    else:
        why = 'call the model with output_attentions=True, loaded with attn_implementation="eager"'
    raise ValueError(f"AttentionView: attentions is {described(attentions)}, expected a tensor of each layer: {why}")


def _payload(name: str, attentions: Sequence[Attention]) -> tuple[dict, bytes]:
    """What the browser gets: a description, and for each attention its float32 values and the bytes of its mask."""
    described, parts, offset = [], [], 0
    for a in attentions:
        values, mask = a.values.astype("<f4").tobytes(), a.allowed.astype(np.uint8).tobytes()
        padding = b"\0" * (-len(mask) % 4)  # float32 begin at multiples of 4
        described.append(
            {
                "label": a.label, "shape": list(a.values.shape), "fromScores": a.from_scores,
                "queries": [[token, shown(token)] for token in a.queries],
                "keys": [[token, shown(token)] for token in a.keys],
                "headWidth": a.d_head, "causal": a.causal,
                "causalReason": a.causal_reason, "scaleReason": a.scale_reason,
                "offset": offset, "maskOffset": offset + len(values), "maskSize": len(mask),
            }
        )  # fmt: skip
        parts += [values, mask, padding]
        offset += len(values) + len(mask) + len(padding)
    return {"name": name, "attentions": described}, b"".join(parts)


def _check(control: str, value: int, low: int, count: int) -> None:
    if not isinstance(value, int) or not low <= value < count:
        raise ValueError(f"AttentionView: {control}={value!r}, expected {low} to {count - 1}")


def _name(path: str, what: str) -> str:
    return f"{path}.{what}".lstrip(".")


def _row(operation: str, tensor: Tensor, row: int) -> np.ndarray:
    """One row of a batch: (B, H, T, S), or (B, T, S) of attention without heads -> (H, T, S)."""
    check_numbers(operation, whole=True, row=row)
    if tensor.ndim not in (3, 4) or not -len(tensor) <= row < len(tensor):
        raise ValueError(f"{operation}: row={row} of a tensor of shape {tuple(tensor.shape)}, expected (B, H, T, S)")
    return stacked(operation, tensor[row])[0]


def _stack(operation: str, layers: Sequence[np.ndarray]) -> np.ndarray:
    if len(shapes := {layer.shape for layer in layers}) > 1:
        raise ValueError(
            f"{operation}: layers of the shapes {' and '.join(map(str, sorted(shapes)))}, expected one shape"
        )
    return np.stack(layers)


def _recorded(seen: Activations, paths: Sequence[str], what: str, row: int) -> np.ndarray:
    names = [_name(path, what) for path in paths]
    return _stack(names[0], [_row(name, seen[name], row) for name in names])


def _head_width(seen: Activations, path: str, row: int) -> tuple[int | None, str]:
    """d_k, where queries and keys were captured and the scores are indeed q·k/√d_k; else why it is not known."""
    q, k = (seen.get(_name(path, what)) for what in ("queries", "keys"))
    if q is None or k is None or q.ndim != 4:
        return None, UNKNOWN_WIDTH
    q, k, scores = q[row], k[row], seen[_name(path, "scores")][row]
    if k.shape[1] != scores.shape[-1]:
        return None, UNKNOWN_WIDTH
    product = q @ k.repeat_interleave(len(q) // len(k), dim=0).mT / q.shape[-1] ** 0.5
    exact = (product - scores).abs().max() <= 1e-2 * scores.abs().max() + 1e-6
    return (q.shape[-1], "") if exact else (None, NOT_PRODUCTS)
