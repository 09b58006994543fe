// The attention view: tokens, lines of weight, matrix and thumbnails of all heads. No library, no build step: Python
// joins the files of this folder into one module. The kernel sends raw numbers once; what a learner changes is computed
// here. All that the functions share is one object, `view`, made in `render`.

let views = 0; // on this page, so that each has ids of its own

function drawPick(view) { // a token is picked, or none
  const { attention: { queries, keys }, parts: { summary, picture, matrix } } = view, words = describe(view);
  markTokens(view);
  drawBand(view);
  summary.textContent = words;
  picture.setAttribute("aria-label", `Lines of attention. ${words}`);
  matrix.setAttribute("aria-label", `Matrix of ${queries.length} queries by ${keys.length} keys. ${words}`);
  drawLines(view);
}

function drawHead(view) { // a layer, a head, a temperature or a mask has changed
  const { attention, state, parts: { controls, degrees, note, reset, error } } = view;
  try {
    view.weights = weightsOf(view, state.layer, state.head);
    error.textContent = "";
  } catch (problem) {
    error.textContent = `The numbers of this view are not complete (${problem.message}); run its cell again.`;
    return;
  }
  for (const key of ["attention", "layer", "head", "temperature"]) controls[key].value = state[key];
  for (const key of ["causal", "scaled"]) controls[key].checked = state[key];
  degrees.textContent = state.temperature.toFixed(1);
  const asRecorded = state.temperature === 1 && state.causal === attention.causal && state.scaled;
  const from = attention.fromScores ? "its raw scores" : "the logarithms of its weights (only weights were given)";
  note.textContent = asRecorded ? "The weights as they were recorded."
    : `Recomputed: this layer's weights from ${from}, with everything before it frozen.`;
  reset.disabled = asRecorded;
  markHead(view);
  drawMatrix(view);
  drawPick(view);
}

function drawAll(view) { // another attention: other tokens, other layers and heads
  const { attentions, parts: { controls, attentionLabel, reasons } } = view;
  const attention = view.attention = attentions[view.state.attention], [L, H] = attention.shape;
  const numbers = (count) => Array.from({ length: count }, (_, i) => i + 1);
  const choices = { attention: attentions.map(({ label }) => label), layer: numbers(L), head: numbers(H) };
  for (const [key, labels] of Object.entries(choices)) {
    controls[key].replaceChildren(...labels.map((label, i) => make("option", { value: i }, label)));
  }
  attentionLabel.style.display = attentions.length > 1 ? "" : "none";
  for (const [key, reason] of [["causal", attention.causalReason], ["scaled", attention.scaleReason]]) {
    controls[key].disabled = Boolean(reason);
    reasons[key].textContent = reason && `(${reason})`;
    if (reason) controls[key].setAttribute("aria-describedby", reasons[key].id);
    else controls[key].removeAttribute("aria-describedby");
  }
  makeTokens(view);
  makeHeads(view);
  lookAtRows(view);
  drawHead(view);
  letMatrixScroll(view);
}

function change(view, changes, draw = drawHead) {
  const { model } = view;
  Object.assign(view.state, changes);
  draw(view);
  clearTimeout(view.timer); // the kernel is told when the hand rests
  view.timer = setTimeout(() => {
    model.set("state", { ...view.state });
    model.save_changes();
  }, 80);
}

function listenToControls(view) {
  const { controls, reset } = view.parts;
  const changeAndRepaint = (changes) => {
    change(view, changes);
    repaintHeads(view);
  };
  controls.attention.addEventListener("change", () => {
    const attention = Number(controls.attention.value), { causal } = view.attentions[attention];
    change(view, { attention, layer: 0, head: 0, token: -1, locked: false, causal, scaled: true }, drawAll);
  });
  for (const key of ["layer", "head"]) {
    controls[key].addEventListener("change", () => change(view, { [key]: Number(controls[key].value) }));
  }
  controls.temperature.addEventListener("input", () =>
    changeAndRepaint({ temperature: Number(controls.temperature.value) }));
  for (const key of ["causal", "scaled"]) {
    controls[key].addEventListener("change", () => changeAndRepaint({ [key]: controls[key].checked }));
  }
  reset.addEventListener("click", () => {
    changeAndRepaint({ temperature: 1, causal: view.attention.causal, scaled: true });
    controls.temperature.focus(); // the button is disabled now and would lose the focus
  });
}

function listenToPage(view) {
  const { root, linesPanel } = view.parts;
  listenToControls(view);
  listenToHeads(view);
  listenToTokens(view, "query");
  listenToTokens(view, "key");
  listenToMatrix(view);
  linesPanel.addEventListener("scroll", () => {
    lookAtRows(view);
    if (view.weights && view.state.token < 0) drawLines(view);
  });
  // JupyterLab takes arrow keys from the focused element itself unless that, not only its parent, says otherwise
  root.addEventListener("focusin", ({ target }) => target.setAttribute("data-lm-suppress-shortcuts", "true"));
  root.addEventListener("keydown", (event) => { if (event.key === "Escape") free(view); });
}

function followTheme(view) {
  const { el, parts: { root } } = view, dark = isDark(el);
  if (root.classList.contains("tx-dark") === dark) return;
  root.classList.toggle("tx-dark", dark);
  if (view.weights) drawMatrix(view);
}

/** Follows the page's theme from now on; returns what ends that. */
function watchTheme(view) {
  const theme = () => followTheme(view), preference = matchMedia("(prefers-color-scheme: dark)");
  const watcher = new MutationObserver(() => setTimeout(theme, 50));
  for (const page of [document.documentElement, document.body]) watcher.observe(page, { attributes: true });
  preference.addEventListener("change", theme);
  const later = setTimeout(theme, 500); // a notebook's style sheet may come after its cells
  theme();
  return () => {
    clearTimeout(later);
    preference.removeEventListener("change", theme);
    watcher.disconnect();
  };
}

/** Draws again once the view stands in the page: drawn before, it had no size and no theme. */
function drawOnArrival(view) {
  const arrival = new IntersectionObserver(([entry]) => {
    if (!entry.isIntersecting) return;
    arrival.disconnect();
    followTheme(view);
    drawAll(view);
  });
  arrival.observe(view.parts.root);
  return arrival;
}

function render({ model, el }) {
  const { name, attentions } = model.get("spec"), id = `tx-attention-${Date.now().toString(36)}-${views++}`;
  const view = {
    model, el, id, attentions, parts: makeParts(id, name), state: { ...model.get("state") },
    attention: undefined, weights: undefined, thumbs: [], lines: [], // what is drawn, from drawAll on
    rows: { first: 0, last: Infinity }, geometry: { left: 0, top: 0, cell: 1 }, // what is in sight, and where
    hovered: false, timer: 0,
  };
  view.painting = watchHeads(view);
  el.replaceChildren(view.parts.root);
  listenToPage(view);
  const fromKernel = () => {
    const told = model.get("state"), other = told.attention !== view.state.attention;
    if (JSON.stringify(told) === JSON.stringify(view.state)) return;
    view.state = { ...told };
    (other ? drawAll : drawHead)(view);
    repaintHeads(view);
  };
  model.on("change:state", fromKernel);
  const endTheme = watchTheme(view);
  drawAll(view);
  const arrival = drawOnArrival(view);
  return () => {
    [view.timer, view.painting.timer].forEach(clearTimeout);
    model.off("change:state", fromKernel);
    endTheme();
    view.painting.sight.disconnect();
    arrival.disconnect();
  };
}

export default { render };
