// How the attention view looks: queries orange, keys blue, weights gold, as in tx_helpers/show/shapes.py.

const ROW = 22; // height of a token, in pixels
const CSS = `
.tx-attention { --tx-back: var(--jp-layout-color0, #fff); --tx-ink: var(--jp-content-font-color1, #1a1a1a);
  --tx-quiet: #555; --tx-edge: #767676; --tx-line: #a16f00; --tx-pick: #fff0c2; --tx-mark: #c04a00;
  --tx-grid: #cbd2d9; --tx-query: #9a4400; --tx-key: #00527f;
  background: var(--tx-back); color: var(--tx-ink); padding: 8px; box-sizing: border-box; max-width: 100%;
  font: 13px/1.4 var(--jp-ui-font-family, system-ui, sans-serif); }
.tx-attention.tx-dark { --tx-back: var(--jp-layout-color0, #111); --tx-ink: var(--jp-content-font-color1, #f2f2f2);
  --tx-quiet: #bbb; --tx-edge: #8c8c8c; --tx-line: #e69f00; --tx-pick: #4a3b00; --tx-mark: #ffa24d;
  --tx-grid: #47525d; --tx-query: #ffb27a; --tx-key: #8cc8f0; color-scheme: dark; }
.tx-attention :focus-visible { outline: 2px solid var(--tx-mark); outline-offset: 1px; }
.tx-attention .tx-controls { display: flex; flex-wrap: wrap; gap: 6px 18px; align-items: center; min-height: 32px; }
.tx-attention .tx-switch { display: inline-flex; flex-wrap: wrap; gap: 0 6px; align-items: center; }
.tx-attention label { display: inline-flex; gap: 6px; align-items: center; }
.tx-attention select, .tx-attention button.tx-reset { font: inherit; color: inherit; background: var(--tx-back);
  border: 1px solid var(--tx-edge); border-radius: 3px; padding: 2px 6px; }
.tx-attention button.tx-reset:disabled { opacity: 0.6; }
.tx-attention input { accent-color: var(--tx-line); margin: 0; }
.tx-attention output { min-width: 2.2em; font-variant-numeric: tabular-nums; }
.tx-attention p { margin: 6px 0; }
.tx-attention .tx-note, .tx-attention .tx-reason, .tx-attention .tx-caption { color: var(--tx-quiet); }
.tx-attention .tx-caption.tx-query { color: var(--tx-query); text-align: right; }
.tx-attention .tx-caption.tx-key { color: var(--tx-key); }
.tx-attention .tx-summary { font-weight: 600; overflow-wrap: anywhere; min-height: 1.4em; }
.tx-attention .tx-error { color: var(--tx-mark); }
.tx-attention .tx-error:empty { margin: 0; }
.tx-attention .tx-panels { display: flex; flex-wrap: wrap; gap: 12px 28px; align-items: flex-start; }
.tx-attention .tx-scroll { max-height: 30rem; overflow: auto; max-width: 100%; position: relative; padding: 3px; }
.tx-attention .tx-lines { display: grid; grid-template-columns: auto minmax(110px, 180px) auto; }
.tx-attention ul { list-style: none; margin: 0; padding: 0; }
.tx-attention li { height: ${ROW}px; line-height: ${ROW}px; padding: 0 5px; margin: 0; display: flex; gap: 8px;
  white-space: pre; cursor: pointer; border-radius: 3px; box-sizing: border-box; }
.tx-attention .tx-queries li { flex-direction: row-reverse; }
.tx-attention li[aria-selected=true] { background: var(--tx-pick); font-weight: 600; }
.tx-attention li.tx-locked { box-shadow: inset 0 0 0 2px var(--tx-mark); }
.tx-attention li .tx-weight { color: var(--tx-quiet); font-variant-numeric: tabular-nums; min-width: 2.2em; }
.tx-attention .tx-picture { width: 100%; display: block; }
.tx-attention .tx-picture line { stroke: var(--tx-line); vector-effect: non-scaling-stroke; }
.tx-attention .tx-heads { display: grid; gap: 4px; justify-content: start; align-items: center; font-size: 11px; }
.tx-attention .tx-heads button { padding: 0; border: 2px solid transparent; border-radius: 3px; background: none;
  line-height: 0; cursor: pointer; }
.tx-attention .tx-heads button[aria-pressed=true] { border-color: var(--tx-mark); }
.tx-attention .tx-heads canvas { width: 100%; height: 100%; image-rendering: pixelated; display: block;
  outline: 1px solid var(--tx-grid); }
.tx-attention .tx-heads span { color: var(--tx-quiet); text-align: center; }
.tx-attention .tx-all { max-height: 16rem; }
.tx-attention .tx-band { position: absolute; pointer-events: none; box-sizing: border-box; border: 2px solid var(--tx-query); }
`;
