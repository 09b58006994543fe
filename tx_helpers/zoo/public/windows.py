"""Windows in some layers and none in others: `layer_types` and `sliding_window` of config.json, and our `layers`."""

from collections.abc import Callable, Mapping, Sequence
from dataclasses import replace
from typing import Any

from tx_helpers.nn.config import LayerConfig, PositionConfig, TransformerConfig

Fields = Mapping[str, Any]
SLIDING, FULL = "sliding_attention", "full_attention"


def slides(fields: Fields, usual: Callable[[int], bool]) -> list[bool]:
    """Which layers have the window: by `layer_types`, and where that is missing, by the family's rule for layer i."""
    n_layers, kinds = fields["num_hidden_layers"], fields.get("layer_types")
    if kinds is None:
        return [usual(i) for i in range(n_layers)]
    if not isinstance(kinds, list) or len(kinds) != n_layers or not all(kind in (SLIDING, FULL) for kind in kinds):
        raise ValueError(f"layer_types is {str(kinds)[:80]}, expected {n_layers} times {SLIDING!r} or {FULL!r}")
    return [kind == SLIDING for kind in kinds]


def with_windows(
    config: TransformerConfig, sliding: Sequence[bool], window: int | None, positions: PositionConfig | None = None
) -> TransformerConfig:
    """The config whose blocks have the window, and those positions of their own, where `sliding` is True."""
    if any(sliding) and window is None:
        raise ValueError(f"sliding_window is None, but {sum(sliding)} layers have a window")
    own = LayerConfig(attention=replace(config.attention, window=window), positions=positions)
    return replace(config, layers=tuple(own if one else LayerConfig() for one in sliding))


def layer_types(config: TransformerConfig) -> list[str]:
    """The field of that name."""
    windows = (config.of_layer(i).attention.window for i in range(config.n_layers))
    return [FULL if window is None else SLIDING for window in windows]


def sliding_window(config: TransformerConfig) -> int | None:
    """The field of that name: the one window that layers have, or None."""
    found = {config.of_layer(i).attention.window for i in range(config.n_layers)} - {None}
    if len(found) > 1:
        raise ValueError(f"windows of {' and '.join(map(str, sorted(found)))} positions, but the family has one")
    return next(iter(found), None)
