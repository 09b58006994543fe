// The controls around the drawing, as plain elements of the page.

let steppers = 0; // on this page, so that each has ids of its own

const make = (tag, attributes = {}, ...children) => {
  const node = document.createElement(tag);
  set(node, attributes);
  node.append(...children);
  return node;
};

const labelled = (name, control) => make("label", {}, `${name} `, control);

const makeParts = ({ name, longest }) => {
  const button = (text) => make("button", { type: "button" }, text);
  const inputs = {
    sentence: make("input", { type: "text", size: 24, spellcheck: "false", autocomplete: "off" }),
    query: make("select"), step: make("input", { type: "range", min: 1 }),
    root: make("input", { type: "checkbox" }), temperature: make("input", { type: "range", min: 0.1, max: 4, step: 0.1 }),
    entry: make("input", { type: "number", min: -9, max: 9, step: 0.5 }),
  };
  const buttons = { back: button("Back"), play: button("Play"), next: button("Next"), again: button("Start again") };
  const degrees = make("output", { "aria-hidden": "true" });
  const summary = make("p", { class: "tx-summary", role: "status", "aria-live": "polite" });
  const sum = make("span", { role: "status", "aria-live": "polite" }), entry = labelled("Change it:", inputs.entry);
  const cell = make("p", { class: "tx-arithmetic" }, sum, " ", entry);
  const error = make("p", { class: "tx-error", role: "alert" });
  const picture = element("svg", { class: "tx-picture", role: "group", "aria-label": "Matrices of one attention" });
  const bar = (...children) => make("div", { class: "tx-bar" }, ...children);
  const root = make("div", { class: `tx-explorer tx-explorer-${name} tx-stepper`, role: "group",
    "aria-label": `Attention stepper ${name}`, "data-lm-suppress-shortcuts": "true" },
    bar(labelled(`Sentence (up to ${longest} words)`, inputs.sentence), labelled("Who asks", inputs.query)), error,
    bar(buttons.back, buttons.play, buttons.next, labelled("Step", inputs.step)), summary, make("div", {}, picture), cell,
    bar(labelled("Divide by √d_k", inputs.root), labelled("Temperature", inputs.temperature), degrees, buttons.again));
  return { root, picture, summary, sum, entry, error, degrees, inputs, buttons };
};

/** The controls show the state. */
const showControls = ({ state, playing, parts: { inputs, buttons, degrees } }) => {
  const last = countSteps(state) - 1;
  inputs.query.replaceChildren(...state.words.map((word, t) => make("option", { value: t }, word)));
  set(inputs.step, { max: last + 1, "aria-valuetext": `${state.step + 1} of ${last + 1}` });
  const values = { sentence: state.words.join(" "), query: state.query, step: state.step + 1, temperature: state.temperature };
  Object.entries(values).forEach(([key, value]) => { inputs[key].value = value; });
  inputs.root.checked = state.root;
  degrees.textContent = short(state.temperature);
  buttons.play.textContent = playing ? "Pause" : "Play";
  set(buttons.back, { "aria-disabled": state.step === 0 });
  set(buttons.next, { "aria-disabled": state.step === last });
};

/** The rows of x for the words of a sentence, 0 for a word that has no vector. */
const rowsOf = ({ table, width }, words) =>
  words.map((word) => (Object.hasOwn(table, word) ? table[word] : Array(width).fill(0)));

const readSentence = (view) => {
  const { spec, parts: { inputs, error } } = view;
  const words = inputs.sentence.value.toLowerCase().split(/\s+/).filter(Boolean);
  if (words.length < 1 || words.length > spec.longest) {
    error.textContent = `${words.length} words, expected 1 to ${spec.longest}`;
    return;
  }
  const unknown = words.filter((word) => !Object.hasOwn(spec.table, word));
  error.textContent = unknown.length === 0 ? ""
    : `'${unknown[0]}' has no vector yet: its row of x is 0. Click a number there to change it.`;
  if (words.join(" ") === view.state.words.join(" ")) return; // Enter was pressed; now the field is left
  change(view, { words, x: rowsOf(spec, words), query: Math.min(view.state.query, words.length - 1), step: 0 });
};

const listen = (view) => {
  const { inputs, buttons, root } = view.parts;
  const number = (key, read) => inputs[key].addEventListener("input", () => change(view, read(Number(inputs[key].value))));
  inputs.sentence.addEventListener("change", () => readSentence(view));
  inputs.sentence.addEventListener("keydown", (event) => { // JupyterLab keeps Enter from making a change
    if (event.key === "Enter") readSentence(view);
  });
  inputs.query.addEventListener("change", () => change(view, { query: Number(inputs.query.value) }));
  number("step", (value) => ({ step: value - 1 }));
  number("temperature", (temperature) => ({ temperature }));
  inputs.root.addEventListener("change", () => change(view, { root: inputs.root.checked }));
  inputs.entry.addEventListener("input", () => enter(view));
  inputs.entry.addEventListener("keydown", (event) => {
    if (event.key !== "Enter" && event.key !== "Escape") return;
    view.reached.node.focus();
    handled(event);
  });
  buttons.back.addEventListener("click", () => go(view, -1));
  buttons.next.addEventListener("click", () => go(view, 1));
  buttons.play.addEventListener("click", () => play(view));
  buttons.again.addEventListener("click", () => change(view, structuredClone(view.start)));
  // JupyterLab takes keys from the focused element itself unless that, not only its parent, says otherwise
  root.addEventListener("focusin", ({ target }) => target.setAttribute("data-lm-suppress-shortcuts", "true"));
};
