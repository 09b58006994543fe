"""How the attention stepper looks: the colours of its parts, on light pages and on dark ones."""

from tx_helpers.show.shapes import INK, KEY, MUTED, ORANGE, PAPER, QUERY, RESIDUAL, SCORE, VALUE, WEIGHT, either

COLOURS = {"stream": RESIDUAL, "query": QUERY, "key": KEY, "value": VALUE, "score": SCORE, "weight": WEIGHT}
PALETTE = " ".join(f"--{kind}: {either(c.shade)}; --{kind}-fill: {either(c.tint)};" for kind, c in COLOURS.items())
STYLE = f"""
html[theme="dark"] .tx-stepper {{ color-scheme: dark; }}
.tx-stepper {{ --paper: {either(PAPER)}; --ink: {either(INK)}; --quiet: {either(MUTED)}; --edge: #767E86; {PALETTE}
  background: var(--paper); color: var(--ink); padding: 8px; box-sizing: border-box; max-width: 100%;
  border-radius: 12px; font: 14px/1.45 var(--jp-ui-font-family, system-ui, sans-serif); }}
.tx-stepper .tx-bar {{ display: flex; flex-wrap: wrap; gap: 6px 16px; align-items: center; min-height: 32px; }}
.tx-stepper label {{ display: inline-flex; gap: 6px; align-items: center; }}
.tx-stepper label[hidden] {{ display: none; }}
.tx-stepper input, .tx-stepper select, .tx-stepper button {{ font: inherit; color: inherit; margin: 0;
  background: var(--paper); border: 1px solid var(--edge); border-radius: 4px; padding: 2px 8px;
  accent-color: var(--key); }}
.tx-stepper input[type="range"] {{ padding: 0; border: 0; }}
.tx-stepper button {{ cursor: pointer; min-width: 4.5em; }}
.tx-stepper button[aria-disabled="true"] {{ color: var(--quiet); border-style: dashed; cursor: default; }}
.tx-stepper p {{ margin: 6px 0; }}
.tx-stepper .tx-summary {{ font-weight: 600; min-height: 2.9em; overflow-wrap: anywhere; }}
.tx-stepper .tx-arithmetic {{ min-height: 2.9em; color: var(--ink); }}
.tx-stepper .tx-error:empty {{ display: none; }}
.tx-stepper .tx-error {{ border-left: 4px solid {ORANGE.full}; padding-left: 8px; }}
.tx-stepper .tx-picture {{ display: block; width: 100%; height: auto; font-size: 12px;
  font-variant-numeric: tabular-nums; }}
.tx-stepper svg text {{ fill: var(--ink); }}
.tx-stepper .tx-title {{ font-weight: 700; }}
.tx-stepper .tx-name {{ font-size: 11px; }}
.tx-stepper .tx-cell {{ cursor: pointer; outline: none; }}
.tx-stepper .tx-cell rect {{ fill: var(--paper); stroke: var(--line); stroke-width: 1; stroke-dasharray: 2 3; }}
.tx-stepper .tx-cell.tx-known rect {{ stroke-dasharray: none; }}
.tx-stepper .tx-cell.tx-lit rect {{ fill: var(--fill); stroke-width: 2; }}
.tx-stepper .tx-cell.tx-lit text {{ font-weight: 700; }}
.tx-stepper .tx-cell.tx-operand rect {{ stroke-width: 3; }}
.tx-stepper .tx-cell.tx-chosen rect, .tx-stepper .tx-cell:hover rect {{ stroke: var(--ink); stroke-width: 3; }}
.tx-stepper .tx-cell:focus-visible rect {{ stroke: var(--ink); stroke-width: 3; stroke-dasharray: 5 2; }}
.tx-stepper .tx-mark {{ fill: var(--line); pointer-events: none; }}
.tx-stepper .tx-flow {{ stroke: var(--line); stroke-linecap: round; fill: none; }}
{" ".join(f".tx-stepper .tx-{kind} {{ --line: var(--{kind}); --fill: var(--{kind}-fill); }}" for kind in COLOURS)}
"""
