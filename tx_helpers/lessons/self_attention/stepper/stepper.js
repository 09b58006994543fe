// One attention, step by step: x, query, keys, values, scores, softmax, output. All of it is computed here, so that it
// works without a kernel, too. What the functions share is one object, `view`, made in `render`.

const PACE = 1800; // milliseconds from one step to the next while it plays

/** Computes and draws; `other` words need another drawing. */
const draw = (view, other = false) => {
  const { parts: { summary, sum, entry, inputs }, chosen } = view;
  view.found = attend(view.state);
  if (other) build(view);
  showControls(view);
  paint(view);
  const said = describe(view.state, view.found);
  if (summary.textContent !== said) summary.textContent = said;
  if (!chosen || other) view.chosen = undefined;
  showChosen(view, sum, entry, inputs.entry);
  follow(view);
};

/** The arithmetic of the chosen cell, and a field for a number that may be changed. */
const showChosen = ({ state, found, chosen }, sum, entry, input) => {
  entry.hidden = !chosen || !GIVEN.includes(chosen.matrix);
  if (!chosen) {
    sum.textContent = "Click a number, or press Enter on it, to see how it is computed.";
    return;
  }
  const { matrix, row, column } = chosen;
  sum.textContent = isKnown(state, matrix, row, column) ? explain(state, found, matrix, row, column)
    : "This number is not computed yet: go on with Next.";
  if (document.activeElement !== input) input.value = found[matrix][row][column];
};

const change = (view, changes) => {
  const words = view.state.words;
  Object.assign(view.state, changes);
  const other = words.length !== view.state.words.length || words.some((word, t) => word !== view.state.words[t]);
  draw(view, other);
  view.model.set("state", structuredClone(view.state));
  view.model.save_changes();
};

const choose = (view, cell) => {
  view.chosen = cell;
  draw(view);
  if (!view.parts.entry.hidden) view.parts.inputs.entry.select();
};

/** A number of x, W_Q, W_K or W_V is changed by hand. */
const enter = (view) => {
  const { matrix, row, column } = view.chosen, { value } = view.parts.inputs.entry, number = Number(value);
  if (value === "" || !(Math.abs(number) <= 9)) return;
  const numbers = view.state[matrix].map((line) => [...line]);
  numbers[row][column] = number;
  change(view, { [matrix]: numbers });
};

/** One step on or back. */
const go = (view, by) => {
  const step = Math.max(0, Math.min(countSteps(view.state) - 1, view.state.step + by));
  if (step === view.state.step) return;
  change(view, { step });
  if (by > 0) travel(view);
};

const stop = (view) => {
  clearInterval(view.playing);
  view.playing = 0;
  showControls(view);
};

/** Plays on from here, from the start if this is the end; pressed again, it pauses. */
const play = (view) => {
  if (view.playing) return stop(view);
  const last = () => view.state.step === countSteps(view.state) - 1;
  view.playing = setInterval(() => {
    go(view, 1);
    if (last()) stop(view);
  }, PACE);
  if (last()) change(view, { step: 0 });
  else go(view, 1);
  if (last()) stop(view);
};

const render = ({ model, el }) => {
  const spec = model.get("spec"), state = structuredClone(model.get("state"));
  const view = {
    model, spec, state, start: structuredClone(state), parts: makeParts(spec), playing: 0,
    found: undefined, layout: undefined, cells: [], chosen: undefined, reached: undefined, // from `draw` on
  };
  el.replaceChildren(view.parts.root);
  draw(view, true);
  listen(view);
  const fromKernel = () => {
    if (JSON.stringify(model.get("state")) === JSON.stringify(view.state)) return;
    view.state = structuredClone(model.get("state"));
    draw(view, true);
  };
  model.on("change:state", fromKernel);
  return () => {
    clearInterval(view.playing);
    model.off("change:state", fromKernel);
  };
};

export default { render };
