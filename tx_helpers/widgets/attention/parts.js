// The elements of the view, made once. Token text enters an element by textContent only, so it is never markup.

const NAMES = {
  attention: "Attention", layer: "Layer", head: "Head", temperature: "Temperature", causal: "Causal mask",
  scaled: "Divide by √d_k",
};

function make(tag, attributes = {}, ...children) {
  const element = document.createElement(tag);
  setAll(element, attributes);
  element.append(...children);
  return element;
}

function makeSvg(tag, attributes = {}) {
  const element = document.createElementNS("http://www.w3.org/2000/svg", tag);
  setAll(element, attributes);
  return element;
}

function setAll(element, attributes) {
  for (const [name, value] of Object.entries(attributes)) element.setAttribute(name, value);
}

/** Selects, slider and checkboxes, and the two bars in which they stand. */
function makeControls(id) {
  const controls = {
    attention: make("select"), layer: make("select"), head: make("select"),
    temperature: make("input", { type: "range", min: 0.1, max: 5, step: 0.1 }),
    causal: make("input", { type: "checkbox" }), scaled: make("input", { type: "checkbox" }),
  };
  for (const [key, name] of Object.entries(NAMES)) controls[key].setAttribute("aria-label", name);
  const degrees = make("output", { "aria-hidden": "true" });
  const reset = make("button", { type: "button", class: "tx-reset" }, "As recorded");
  const reason = (key) => make("span", { class: "tx-reason", id: `${id}-${key}` });
  const reasons = { causal: reason("causal"), scaled: reason("scaled") };
  const labelled = (key) => make("label", {}, NAMES[key], controls[key]);
  const attentionLabel = labelled("attention");
  const selects = make("div", { class: "tx-controls" },
    attentionLabel, labelled("layer"), labelled("head"), labelled("temperature"), degrees);
  const checkbox = (key) => make("span", { class: "tx-switch" }, make("label", {}, controls[key], NAMES[key]), reasons[key]);
  const checkboxes = make("div", { class: "tx-controls" }, checkbox("causal"), checkbox("scaled"), reset);
  return { controls, degrees, reset, reasons, attentionLabel, bars: [selects, checkboxes] };
}

/** Everything that is seen. */
function makeParts(id, name) {
  const { bars, ...controls } = makeControls(id);
  const caption = (text, of = "") => make("div", { class: `tx-caption ${of}` }, text);
  const note = make("p", { class: "tx-note" });
  const summary = make("p", { class: "tx-summary", role: "status", "aria-live": "polite" });
  const error = make("p", { class: "tx-error", role: "alert" });
  const heads = make("div", { class: "tx-heads", role: "group", "aria-label": "All heads, a row for each layer" });
  const headsPanel = make("div", {}, caption("all heads, a row for each layer"),
    make("div", { class: "tx-scroll tx-all" }, heads));
  const list = (side, label) => make("ul", { role: "listbox", tabindex: 0, class: `tx-${side}`, "aria-label": label });
  const lists = { query: list("queries", "Query tokens"), key: list("keys", "Key tokens") };
  const picture = makeSvg("svg", { class: "tx-picture", role: "img", preserveAspectRatio: "none" });
  const linesPanel = make("div", { class: "tx-scroll" }, make("div", { class: "tx-lines" },
    caption("● query", "tx-query"), caption(""), caption("■ key", "tx-key"), lists.query, picture, lists.key));
  const matrix = make("canvas", { role: "img" }), band = make("div", { class: "tx-band" });
  const matrixPanel = make("div", { class: "tx-scroll" }, caption("matrix: a row for each query"),
    make("div", { style: "position: relative; width: max-content" }, matrix, band));
  const root = make("div", { class: `tx-explorer tx-explorer-${name} tx-attention`, role: "group",
    "aria-label": `Attention view ${name}`, "data-lm-suppress-shortcuts": "true" },
    make("style", {}, CSS), ...bars, note, headsPanel, summary, error,
    make("div", { class: "tx-panels" }, linesPanel, matrixPanel));
  return { ...controls, note, summary, error, heads, headsPanel, lists, picture, linesPanel, matrix, band, matrixPanel, root };
}
