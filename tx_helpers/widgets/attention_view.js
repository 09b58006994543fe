// The attention view: tokens, lines of weight, matrix and thumbnails of all heads. No library, no build step.
// The kernel sends raw numbers once; everything a learner turns is computed here. Token text enters by textContent only.

const ROW = 22, FAINTEST = 0.02, MOST_LINES = 200, THUMB = 48;
const STOPS = ["00224e", "123570", "3b496c", "575d6d", "707173", "8a8678", "a59c74", "c3b369", "e1cc55", "fee838"]
  .map((hex) => [0, 2, 4].map((i) => parseInt(hex.slice(i, i + 2), 16)));
const CIVIDIS = Uint32Array.from({ length: 256 }, (_, level) => { // colours as a canvas keeps them: alpha, blue, green, red
  const at = level / 255 * (STOPS.length - 1), low = Math.min(Math.floor(at), STOPS.length - 2);
  const [red, green, blue] = STOPS[low].map((c, i) => Math.round(c + (at - low) * (STOPS[low + 1][i] - c)));
  return ((255 << 24) | (blue << 16) | (green << 8) | red) >>> 0;
});

const CSS = `
.tx-attention { --tx-back: var(--jp-layout-color0, #fff); --tx-ink: var(--jp-content-font-color1, #1a1a1a);
  --tx-quiet: #555; --tx-edge: #767676; --tx-line: #0072b2; --tx-pick: #fff0c2; --tx-mark: #c04a00;
  background: var(--tx-back); color: var(--tx-ink); padding: 8px; box-sizing: border-box; max-width: 100%;
  font: 13px/1.4 var(--jp-ui-font-family, system-ui, sans-serif); }
.tx-attention.tx-dark { --tx-back: var(--jp-layout-color0, #111); --tx-ink: var(--jp-content-font-color1, #f2f2f2);
  --tx-quiet: #bbb; --tx-edge: #8c8c8c; --tx-line: #56b4e9; --tx-pick: #4a3b00; --tx-mark: #ffa24d; color-scheme: dark; }
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
.tx-attention .tx-heads canvas { width: 100%; height: 100%; image-rendering: pixelated; display: block; }
.tx-attention .tx-heads span { color: var(--tx-quiet); text-align: center; }
.tx-attention .tx-all { max-height: 16rem; }
.tx-attention .tx-band { position: absolute; pointer-events: none; box-sizing: border-box; border: 2px solid #d55e00; }
`;

/** softmax(score · factor / temperature) over the allowed keys of one head, T × S numbers in `raw`.
 *  base      bytes, 1 = allowed in the recorded pass
 *  recorded  whether that pass was causal; `causal` whether it shall be. A key no query may see is padding, and stays so.
 *  fromScores false: `raw` are weights, whose logarithms stand for the scores. A fully masked query gets zeros. */
export function recompute(raw, base, { T, S, fromScores, recorded }, { temperature, causal, factor }) {
  const out = new Float32Array(T * S);
  if (!fromScores && temperature === 1 && causal === recorded) { out.set(raw); return out; }
  const real = new Uint8Array(S);
  for (let i = 0; i < T * S; i++) real[i % S] |= base[i];
  const scores = new Float64Array(S);
  for (let t = 0; t < T; t++) {
    let top = -Infinity, sum = 0;
    for (let s = 0; s < S; s++) {
      const i = t * S + s, ahead = s > t + S - T;
      let allowed = base[i];
      if (causal !== recorded && ahead) allowed = causal ? 0 : real[s];
      scores[s] = allowed ? (fromScores ? raw[i] : Math.log(raw[i])) * factor / temperature : -Infinity;
      if (scores[s] > top) top = scores[s];
    }
    if (top === -Infinity) continue;
    for (let s = 0; s < S; s++) sum += scores[s] = Math.exp(scores[s] - top);
    for (let s = 0; s < S; s++) out[t * S + s] = scores[s] / sum;
  }
  return out;
}

const round = (weight) => (Math.floor(weight * 100 + 0.5) / 100).toFixed(2);

/** What the picked token looks at, or what each of the first four queries looks at most. Tokens: [whole, shown]. */
export function sentence(weights, queries, keys, side, token) {
  const T = queries.length, S = keys.length;
  if (token >= 0 && side === "key") {
    let best = 0;
    for (let t = 1; t < T; t++) if (weights[t * S + token] > weights[best * S + token]) best = t;
    return `'${keys[token][1]}' is looked at most by '${queries[best][1]}' (${round(weights[best * S + token])})`;
  }
  const rows = token >= 0 ? [token] : [...Array(Math.min(4, T)).keys()];
  const parts = rows.map((t) => {
    let best = 0;
    for (let s = 1; s < S; s++) if (weights[t * S + s] > weights[t * S + best]) best = s;
    const most = weights[t * S + best];
    const aim = most > 0 ? `looks most at '${keys[best][1]}' (${round(most)})` : "may look at nothing";
    return `'${queries[t][1]}' ${aim}`;
  });
  return parts.join("; ") + (token < 0 && T > rows.length ? "; …" : "");
}

/** A picture of the weights, at most `size` cells a side: a cell is the strongest of those it stands for. */
function paint(canvas, weights, T, S, size) {
  const rows = Math.min(T, size), columns = Math.min(S, size), strongest = new Float32Array(rows * columns);
  for (let t = 0; t < T; t++) {
    for (let s = 0; s < S; s++) {
      const cell = Math.floor(t * rows / T) * columns + Math.floor(s * columns / S), w = weights[t * S + s];
      if (w > strongest[cell]) strongest[cell] = w;
    }
  }
  const image = new ImageData(columns, rows), cells = new Uint32Array(image.data.buffer);
  for (let i = 0; i < cells.length; i++) cells[i] = CIVIDIS[Math.min(255, Math.round(strongest[i] * 255))];
  canvas.width = columns;
  canvas.height = rows;
  canvas.getContext("2d").putImageData(image, 0, 0);
}

/** Light or dark? What the page behind the view looks like; where it is transparent, what the page says of itself. */
function isDark(element) {
  for (let e = element; e; e = e.parentElement) {
    const [r, g, b, alpha = 1] = (getComputedStyle(e).backgroundColor.match(/[\d.]+/g) ?? [0, 0, 0, 0]).map(Number);
    if (alpha > 0.5) return 0.3 * r + 0.59 * g + 0.11 * b < 128;
  }
  return document.documentElement.getAttribute("theme") === "dark"; // Colab's frames are transparent
}

function make(tag, attributes = {}, ...children) {
  const element = document.createElement(tag);
  for (const [name, value] of Object.entries(attributes)) element.setAttribute(name, value);
  element.append(...children);
  return element;
}

let views = 0;

function render({ model, el }) {
  const { name, attentions } = model.get("spec");
  const id = `tx-attention-${Date.now().toString(36)}-${views++}`;
  let state = { ...model.get("state") };
  let a, weights, hovered = false, timer = 0, thumbs = [], queue = new Set(), working = 0;

  // ------------------------------------------------------------------------------------------------ the parts
  const select = () => make("select");
  const controls = {
    attention: select(), layer: select(), head: select(),
    temperature: make("input", { type: "range", min: 0.1, max: 5, step: 0.1 }),
    causal: make("input", { type: "checkbox" }), scaled: make("input", { type: "checkbox" }),
  };
  const degrees = make("output", { "aria-hidden": "true" });
  const reset = make("button", { type: "button", class: "tx-reset" }, "As recorded");
  const labelled = (text, ...parts) => make("label", {}, text, ...parts);
  const reasons = { causal: make("span", { class: "tx-reason", id: `${id}-causal` }),
    scaled: make("span", { class: "tx-reason", id: `${id}-scaled` }) };
  const attentionLabel = labelled("Attention", controls.attention);
  const bar = make("div", { class: "tx-controls" }, attentionLabel, labelled("Layer", controls.layer),
    labelled("Head", controls.head), labelled("Temperature", controls.temperature), degrees);
  const switches = make("div", { class: "tx-controls" },
    make("span", { class: "tx-switch" }, labelled(controls.causal, "Causal mask"), reasons.causal),
    make("span", { class: "tx-switch" }, labelled(controls.scaled, "Scale by sqrt(d_k)"), reasons.scaled), reset);
  const names = { attention: "Attention", layer: "Layer", head: "Head", temperature: "Temperature", causal: "Causal mask",
    scaled: "Scale by sqrt(d_k)" };
  for (const [key, words] of Object.entries(names)) controls[key].setAttribute("aria-label", words);
  const note = make("p", { class: "tx-note" });
  const summary = make("p", { class: "tx-summary", role: "status", "aria-live": "polite" });
  const error = make("p", { class: "tx-error", role: "alert" });
  const heads = make("div", { class: "tx-heads", role: "group", "aria-label": "All heads, a row for each layer" });
  const headsPanel = make("div", {}, make("div", { class: "tx-caption" }, "all heads, a row for each layer"),
    make("div", { class: "tx-scroll tx-all" }, heads));
  const list = (side, words) => make("ul", { role: "listbox", tabindex: 0, class: `tx-${side}`, "aria-label": words });
  const lists = { query: list("queries", "Query tokens"), key: list("keys", "Key tokens") };
  const picture = document.createElementNS("http://www.w3.org/2000/svg", "svg");
  for (const [k, v] of Object.entries({ class: "tx-picture", role: "img", preserveAspectRatio: "none" })) picture.setAttribute(k, v);
  const caption = (text) => make("div", { class: "tx-caption" }, text);
  const linesPanel = make("div", { class: "tx-scroll" },
    make("div", { class: "tx-lines" }, caption("query"), caption(""), caption("key"), lists.query, picture, lists.key));
  const matrix = make("canvas", { role: "img" }), band = make("div", { class: "tx-band" });
  const matrixPanel = make("div", { class: "tx-scroll" }, caption("matrix: a row for each query"),
    make("div", { style: "position: relative; width: max-content" }, matrix, band));
  const root = make("div", { class: `tx-explorer tx-explorer-${name} tx-attention`, role: "group",
    "aria-label": `Attention view ${name}`, "data-lm-suppress-shortcuts": "true" },
    make("style", {}, CSS), bar, switches, note, headsPanel, summary, error,
    make("div", { class: "tx-panels" }, linesPanel, matrixPanel));
  el.replaceChildren(root);

  // ------------------------------------------------------------------------------------------------ the numbers
  function compute(layer, head) {
    const [, H, T, S] = a.shape, data = model.get("data"), index = layer * H + head, n = T * S;
    const at = data.byteOffset + a.offset + 4 * index * n;
    const raw = at % 4 ? new Float32Array(data.buffer.slice(at, at + 4 * n)) : new Float32Array(data.buffer, at, n);
    const base = new Uint8Array(data.buffer, data.byteOffset + a.maskOffset + (a.maskSize > n ? index * n : 0), n);
    const factor = state.scaled || !a.headWidth ? 1 : Math.sqrt(a.headWidth);
    return recompute(raw, base, { T, S, fromScores: a.fromScores, recorded: a.causal }, { ...state, factor });
  }

  // ------------------------------------------------------------------------------------------------ the drawing
  const lines = []; // kept and used again: making one costs more than moving it
  const sightOf = { first: 0, last: Infinity }; // the rows to be seen; asked for only when they change, not at each drawing
  function look() {
    sightOf.first = Math.floor(linesPanel.scrollTop / ROW) - 2;
    sightOf.last = Math.ceil((linesPanel.scrollTop + linesPanel.clientHeight) / ROW) || Infinity;
  }
  function drawLines() {
    const T = a.queries.length, S = a.keys.length, { side, token } = state;
    let pairs = [];
    const add = (i) => { if (weights[i] >= FAINTEST) pairs.push(i); };
    if (token < 0) { // all lines that cross what is to be seen
      const { first, last } = sightOf;
      for (let t = 0; t < T; t++) {
        for (let s = t < first ? Math.max(0, first) : 0; s < (t > last ? Math.min(S, last + 1) : S); s++) add(t * S + s);
      }
    }
    else if (side === "query") for (let s = 0; s < S; s++) add(token * S + s);
    else for (let t = 0; t < T; t++) add(t * S + token);
    if (pairs.length > MOST_LINES) {
      const least = Float32Array.from(pairs, (i) => weights[i]).sort().at(-MOST_LINES); // typed arrays sort by value, fast
      pairs = pairs.filter((i) => weights[i] >= least).slice(0, MOST_LINES);
    }
    while (lines.length < pairs.length) {
      lines.push(picture.appendChild(document.createElementNS("http://www.w3.org/2000/svg", "line")));
      lines.at(-1).setAttribute("x1", 0);
      lines.at(-1).setAttribute("x2", 100);
    }
    lines.forEach((line, n) => {
      const i = pairs[n], hidden = n >= pairs.length;
      if (line.hidden_ !== hidden) line.style.display = (line.hidden_ = hidden) ? "none" : "";
      if (hidden) return;
      line.setAttribute("y1", (Math.floor(i / S) + 0.5) * ROW);
      line.setAttribute("y2", (i % S + 0.5) * ROW);
      line.setAttribute("stroke-opacity", weights[i].toFixed(3));
      line.setAttribute("stroke-width", (0.5 + 3.5 * weights[i]).toFixed(2));
    });
  }

  const geometry = { left: 0, top: 0, cell: 1 };
  function drawMatrix() {
    const T = a.queries.length, S = a.keys.length, n = Math.max(T, S), named = n <= 32;
    const cell = geometry.cell = Math.max(n > 1000 ? 1 : 3, Math.min(22, Math.floor(384 / n)));
    const pen = matrix.getContext("2d"), scale = window.devicePixelRatio || 1, small = make("canvas");
    const font = `${Math.min(12, cell)}px system-ui, sans-serif`;
    pen.font = font;
    const longest = (tokens) => named ? 8 + Math.max(...tokens.map(([, text]) => pen.measureText(text).width)) : 0;
    geometry.left = Math.ceil(longest(a.queries));
    geometry.top = Math.ceil(longest(a.keys) * 0.87 + (named ? 6 : 0));
    const slant = named ? Math.ceil(longest(a.keys) * 0.5) : 0;
    const width = geometry.left + S * cell + slant, height = geometry.top + T * cell;
    matrix.width = width * scale;
    matrix.height = height * scale;
    matrix.style.width = `${width}px`;
    matrix.style.height = `${height}px`;
    pen.scale(scale, scale);
    pen.imageSmoothingEnabled = false;
    paint(small, weights, T, S, 4096);
    pen.drawImage(small, geometry.left, geometry.top, S * cell, T * cell);
    if (!named) return;
    pen.font = font;
    pen.fillStyle = getComputedStyle(root).color;
    pen.textBaseline = "middle";
    pen.textAlign = "right";
    a.queries.forEach(([, text], t) => pen.fillText(text, geometry.left - 5, geometry.top + (t + 0.5) * cell));
    pen.textAlign = "left";
    a.keys.forEach(([, text], s) => {
      pen.save();
      pen.translate(geometry.left + (s + 0.5) * cell, geometry.top - 5);
      pen.rotate(-Math.PI / 3);
      pen.fillText(text, 0, 0);
      pen.restore();
    });
  }

  function drawPick() {
    const T = a.queries.length, S = a.keys.length, { side, token } = state, { left, top, cell } = geometry;
    for (const [which, ul] of Object.entries(lists)) {
      [...ul.children].forEach((li, i) => {
        const own = token >= 0 && side === which, picked = own && i === token;
        const w = token < 0 || own ? 0 : weights[side === "query" ? token * S + i : i * S + token];
        const text = w >= 0.005 ? round(w) : "";
        if (li.picked_ !== picked) li.setAttribute("aria-selected", li.picked_ = picked);
        if (li.lastChild.data_ !== text) li.lastChild.textContent = li.lastChild.data_ = text;
        if (picked || li.classList.length) li.classList.toggle("tx-locked", picked && state.locked);
      });
      if (token >= 0 && side === which) ul.setAttribute("aria-activedescendant", `${id}-${which}-${token}`);
      else ul.removeAttribute("aria-activedescendant");
    }
    band.style.display = token < 0 ? "none" : "";
    const across = side === "query";
    const box = across ? [left, top + token * cell, S * cell, cell] : [left + token * cell, top, cell, T * cell];
    ["left", "top", "width", "height"].forEach((edge, i) => { band.style[edge] = `${box[i]}px`; });
    const prefix = attentions.length > 1 ? [a.label] : [];
    prefix.push(`layer ${state.layer + 1}`, `head ${state.head + 1}`);
    if (state.temperature !== 1) prefix.push(`temperature ${round(state.temperature)}`);
    if (state.causal !== a.causal) prefix.push(`causal mask ${state.causal ? "on" : "off"}`);
    if (!state.scaled) prefix.push("not scaled");
    const words = `${prefix.join(", ")}: ${sentence(weights, a.queries, a.keys, side, token)}`;
    summary.textContent = words;
    picture.setAttribute("aria-label", `Lines of attention. ${words}`);
    matrix.setAttribute("aria-label", `Matrix of ${T} queries by ${S} keys. ${words}`);
    drawLines();
  }

  function drawHead() { // a layer, a head, a temperature or a mask has changed
    try {
      weights = compute(state.layer, state.head);
      error.textContent = "";
    } catch (problem) {
      error.textContent = `The numbers of this view are not complete (${problem.message}); run its cell again.`;
      return;
    }
    for (const key of ["attention", "layer", "head", "temperature"]) controls[key].value = state[key];
    for (const key of ["causal", "scaled"]) controls[key].checked = state[key];
    degrees.textContent = state.temperature.toFixed(1);
    const asRecorded = state.temperature === 1 && state.causal === a.causal && state.scaled;
    const from = a.fromScores ? "its raw scores" : "the logarithms of its weights (only weights were given)";
    note.textContent = asRecorded ? "The weights as they were recorded."
      : `Recomputed: this layer's weights from ${from}, with everything before it frozen.`;
    reset.disabled = asRecorded;
    thumbs.forEach((thumb) => {
      const here = thumb.layer === state.layer && thumb.head === state.head;
      if (thumb.here === here) return;
      thumb.button.setAttribute("aria-pressed", thumb.here = here);
      thumb.button.tabIndex = here ? 0 : -1;
    });
    drawMatrix();
    drawPick();
  }

  // Thumbnails are painted when they come into sight, a few milliseconds at a time, and again when a setting changed.
  const sight = new IntersectionObserver((entries) => entries.forEach(({ target, isIntersecting }) => {
    target.thumb_.inSight = isIntersecting;
    if (isIntersecting && target.thumb_.stale) paintLater(target.thumb_);
  }));
  function paintLater(thumb) {
    queue.add(thumb);
    working ||= setTimeout(function work() {
      const end = performance.now() + 6;
      if (error.textContent) queue.clear();
      for (const next of queue) {
        queue.delete(next);
        paint(next.canvas, compute(next.layer, next.head), a.queries.length, a.keys.length, THUMB);
        next.stale = false;
        if (performance.now() > end) break;
      }
      working = queue.size ? setTimeout(work, 12) : 0;
    }, 120);
  }
  function staleThumbs() {
    clearTimeout(working); // the hand is still moving: wait until it rests
    working = 0;
    thumbs.forEach((thumb) => { thumb.stale = true; if (thumb.inSight) paintLater(thumb); });
  }

  function drawAll() { // another attention: other tokens, other layers and heads
    a = attentions[state.attention];
    const [L, H, T, S] = a.shape;
    const options = (control, words) => control.replaceChildren(...words.map((word, i) => {
      const option = make("option", { value: i });
      option.textContent = word;
      return option;
    }));
    options(controls.attention, attentions.map(({ label }) => label));
    options(controls.layer, Array.from({ length: L }, (_, i) => i + 1));
    options(controls.head, Array.from({ length: H }, (_, i) => i + 1));
    attentionLabel.style.display = attentions.length > 1 ? "" : "none";
    for (const [key, reason] of [["causal", a.causalReason], ["scaled", a.scaleReason]]) {
      controls[key].disabled = Boolean(reason);
      reasons[key].textContent = reason && `(${reason})`;
      if (reason) controls[key].setAttribute("aria-describedby", reasons[key].id);
      else controls[key].removeAttribute("aria-describedby");
    }
    for (const [which, tokens] of [["query", a.queries], ["key", a.keys]]) {
      lists[which].replaceChildren(...tokens.map(([whole, text], i) => {
        const word = make("bdi"), li = make("li", { role: "option", id: `${id}-${which}-${i}`, "aria-selected": "false" },
          word, make("span", { class: "tx-weight" }));
        word.textContent = text;
        if (whole !== text) li.title = whole;
        return li;
      }));
    }
    const height = Math.max(T, S) * ROW;
    picture.setAttribute("viewBox", `0 0 100 ${height}`);
    picture.style.height = `${height}px`;
    sight.disconnect();
    queue.clear();
    const size = Math.max(26, Math.min(64, Math.floor(560 / H)));
    heads.style.gridTemplateColumns = `auto repeat(${H}, ${size}px)`;
    heads.replaceChildren(make("span"), ...Array.from({ length: H }, (_, i) => make("span", { "aria-hidden": "true" }, `${i + 1}`)));
    thumbs = [];
    for (let layer = 0; layer < L; layer++) {
      heads.append(make("span", { "aria-hidden": "true" }, `${layer + 1}`));
      for (let head = 0; head < H; head++) {
        const canvas = make("canvas"), label = `layer ${layer + 1}, head ${head + 1}`;
        const button = make("button", { type: "button", "aria-label": label, title: label, style: `height: ${size}px` }, canvas);
        thumbs.push(canvas.thumb_ = { layer, head, canvas, button, stale: true, inSight: false });
        heads.append(button);
        sight.observe(canvas);
      }
    }
    headsPanel.style.display = L * H > 1 ? "" : "none";
    look();
    drawHead();
    if (matrixPanel.scrollHeight > matrixPanel.clientHeight || matrixPanel.scrollWidth > matrixPanel.clientWidth) {
      for (const [k, v] of [["tabindex", 0], ["role", "group"], ["aria-label", "Matrix of weights"]]) matrixPanel.setAttribute(k, v);
    } else for (const k of ["tabindex", "role", "aria-label"]) matrixPanel.removeAttribute(k);
  }
  const arrival = new IntersectionObserver(([entry]) => { // drawn before it stood in the page, it had no size and no theme
    if (!entry.isIntersecting) return;
    arrival.disconnect();
    theme();
    drawAll();
  });

  // ------------------------------------------------------------------------------------------------ the moves
  function tell() { // the kernel hears of it when the hand rests
    clearTimeout(timer);
    timer = setTimeout(() => { model.set("state", { ...state }); model.save_changes(); }, 80);
  }
  function change(changes, draw = drawHead) {
    Object.assign(state, changes);
    draw();
    tell();
  }
  function pick(side, token, locked = state.locked) {
    hovered = false;
    change({ side, token, locked }, drawPick);
  }
  function intoSight(side, token) { // scrolls the list, never the notebook
    const above = lists[side].offsetTop + token * ROW, room = linesPanel.clientHeight;
    if (above < linesPanel.scrollTop) linesPanel.scrollTop = above;
    else if (above + ROW > linesPanel.scrollTop + room) linesPanel.scrollTop = above + ROW - room;
  }
  const free = () => pick("query", -1, false);

  controls.attention.addEventListener("change", () => {
    const attention = Number(controls.attention.value), { causal } = attentions[attention];
    change({ attention, layer: 0, head: 0, token: -1, locked: false, causal, scaled: true }, drawAll);
  });
  for (const key of ["layer", "head"]) controls[key].addEventListener("change", () => change({ [key]: Number(controls[key].value) }));
  controls.temperature.addEventListener("input", () => {
    change({ temperature: Number(controls.temperature.value) });
    staleThumbs();
  });
  for (const key of ["causal", "scaled"]) {
    controls[key].addEventListener("change", () => { change({ [key]: controls[key].checked }); staleThumbs(); });
  }
  reset.addEventListener("click", () => {
    change({ temperature: 1, causal: a.causal, scaled: true });
    staleThumbs();
    controls.temperature.focus();
  });
  heads.addEventListener("click", (event) => {
    const thumb = thumbs.find(({ button }) => button.contains(event.target));
    if (thumb) change({ layer: thumb.layer, head: thumb.head });
  });
  heads.addEventListener("keydown", (event) => {
    const [L, H] = a.shape;
    const step = { ArrowLeft: [0, -1], ArrowRight: [0, 1], ArrowUp: [-1, 0], ArrowDown: [1, 0] }[event.key];
    if (!step) return;
    event.preventDefault();
    const layer = Math.max(0, Math.min(L - 1, state.layer + step[0])), head = Math.max(0, Math.min(H - 1, state.head + step[1]));
    change({ layer, head });
    thumbs[layer * H + head].button.focus();
  });
  for (const [side, ul] of Object.entries(lists)) {
    const at = (event) => [...ul.children].indexOf(event.target.closest("li"));
    ul.addEventListener("pointermove", (event) => {
      const token = at(event);
      if (state.locked || token < 0 || (state.side === side && state.token === token)) return;
      Object.assign(state, { side, token });
      hovered = true;
      drawPick();
    });
    ul.addEventListener("click", (event) => {
      const token = at(event);
      if (token < 0) return;
      if (state.locked && state.side === side && state.token === token) free();
      else pick(side, token, true);
    });
    ul.addEventListener("keydown", (event) => {
      const last = ul.children.length - 1, here = state.side === side ? state.token : -1;
      const target = { ArrowDown: Math.min(last, here + 1), ArrowUp: Math.max(0, here < 0 ? last : here - 1), Home: 0, End: last }[event.key];
      if (target !== undefined) { pick(side, target); intoSight(side, target); }
      else if (["Enter", " "].includes(event.key) && here >= 0) pick(side, here, !state.locked);
      else if (["ArrowLeft", "ArrowRight"].includes(event.key)) lists[side === "query" ? "key" : "query"].focus();
      else return;
      event.preventDefault();
    });
  }
  linesPanel.addEventListener("scroll", () => {
    look();
    if (weights && state.token < 0) drawLines();
  });
  matrix.addEventListener("pointermove", (event) => {
    const token = Math.floor((event.offsetY - geometry.top) / geometry.cell);
    if (state.locked || token < 0 || token >= a.queries.length || (state.side === "query" && state.token === token)) return;
    Object.assign(state, { side: "query", token });
    hovered = true;
    drawPick();
  });
  matrix.addEventListener("click", () => { if (state.token >= 0) pick(state.side, state.token, !state.locked); });
  for (const part of [lists.query, lists.key, matrix]) {
    part.addEventListener("pointerleave", () => {
      if (!hovered || state.locked) return;
      state.token = -1;
      hovered = false;
      drawPick();
    });
  }
  // JupyterLab takes arrow keys from the focused element itself unless that, not only its parent, says otherwise
  root.addEventListener("focusin", ({ target }) => target.setAttribute("data-lm-suppress-shortcuts", "true"));
  root.addEventListener("keydown", (event) => { if (event.key === "Escape") free(); });

  // ------------------------------------------------------------------------------------------------ kernel and theme
  const fromKernel = () => {
    const told = model.get("state"), other = told.attention !== state.attention;
    if (JSON.stringify(told) === JSON.stringify(state)) return;
    state = { ...told };
    (other ? drawAll : drawHead)();
    staleThumbs();
  };
  const theme = () => {
    const dark = isDark(el);
    if (root.classList.contains("tx-dark") === dark) return;
    root.classList.toggle("tx-dark", dark);
    if (weights) drawMatrix();
  };
  const watcher = new MutationObserver(() => setTimeout(theme, 50));
  for (const page of [document.documentElement, document.body]) watcher.observe(page, { attributes: true });
  const preference = matchMedia("(prefers-color-scheme: dark)");
  preference.addEventListener("change", theme);
  model.on("change:state", fromKernel);
  theme();
  drawAll();
  arrival.observe(root);
  const later = setTimeout(theme, 500); // a notebook's style sheet may come after its cells
  return () => {
    [timer, later, working].forEach(clearTimeout);
    model.off("change:state", fromKernel);
    preference.removeEventListener("change", theme);
    watcher.disconnect();
    sight.disconnect();
    arrival.disconnect();
  };
}

export default { render };
