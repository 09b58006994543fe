// What a learner does: pointing by pointer, focus and arrow keys; switching parts; stepping and playing.

const DWELL = 60; // milliseconds a pointer must stay: on its way to the panel it crosses other parts
const PLAY = [900, 350]; // milliseconds for a stage of the first word, and of the later ones

/** What a button of the picture stands for; in a map the cell below the pointer, else the last query's strongest. */
function partOf(view, button, event) {
  const drawn = view.drawn.find(({ row }) => row.id === button.dataset.row), { row } = drawn;
  if (button.dataset.switch) return { row, kind: button.dataset.switch, button };
  const index = Number(button.dataset.index), part = { row, index, button };
  return row.kind === "maps" ? { ...part, ...cellOf(view, drawn, index, event) } : part;
}

function cellOf(view, { row, maps }, head, event) {
  const tensor = view.now.get(row.name), [, T, S] = tensor.shape, { pointed } = view;
  const keyLanes = view.lanes[row.part === "cross_attention" ? "encoder" : row.side], lanes = view.lanes[row.side];
  if (event?.clientX !== undefined && event.type !== "focusin") {
    const box = maps[head].getBoundingClientRect();
    const at = (share, count, length) => Math.max(0, Math.min(length - 1, Math.floor(share * count) + Math.max(0, length - count)));
    return { t: at((event.clientY - box.top) / box.height, lanes, T), s: at((event.clientX - box.left) / box.width, keyLanes, S) };
  }
  if (pointed?.t !== undefined && pointed.row === row && pointed.t < T) return { t: pointed.t, s: pointed.s };
  return { t: T - 1, s: largest(rowOf(tensor, T - 1, head)) };
}

function point(view, part) {
  view.pointed?.button.classList.remove("tx-pointed");
  view.pointed = part;
  part.button.classList.add("tx-pointed");
  fillPanel(view, aboutPart(view, part));
}

function unpoint(view) {
  clearTimeout(view.dwell);
  view.pointed?.button.classList.remove("tx-pointed");
  view.pointed = null;
  tellPanel(view);
}

/** Tab reaches one part of the picture; this one from now on. */
function reach(view, button) {
  view.reached?.setAttribute("tabindex", -1);
  view.reached = button;
  button.setAttribute("tabindex", 0);
}

const isShown = (button) => getComputedStyle(button).visibility !== "hidden";

/** The parts as lines of buttons from top to bottom; beside some of them their switches. */
const linesOf = (view) => view.drawn.filter(({ node }) => node.offsetHeight)
  .map(({ parts, switches = [] }) => [...parts.filter(isShown), ...switches]).filter((line) => line.length);

function moveFocus(view, button, key) {
  const lines = linesOf(view), y = lines.findIndex((line) => line.includes(button)), x = lines[y].indexOf(button);
  const [dx, dy] = { ArrowLeft: [-1, 0], ArrowRight: [1, 0], ArrowUp: [0, -1], ArrowDown: [0, 1] }[key] ?? [0, 0];
  let line = lines[Math.max(0, Math.min(lines.length - 1, y + dy))];
  if (key === "Home") line = lines[0];
  if (key === "End") line = lines.at(-1);
  const next = line[Math.max(0, Math.min(line.length - 1, x + dx))];
  reach(view, next);
  next.focus();
}

/** Shift with an arrow goes inside a map, from cell to cell. */
function moveCell(view, key) {
  const { pointed } = view, [, T, S] = view.now.get(pointed.row.name).shape;
  const [ds, dt] = { ArrowLeft: [-1, 0], ArrowRight: [1, 0], ArrowUp: [0, -1], ArrowDown: [0, 1] }[key];
  const inside = (value, length) => Math.max(0, Math.min(length - 1, value));
  point(view, { ...pointed, t: inside(pointed.t + dt, T), s: inside(pointed.s + ds, S) });
}

function press(view, button) {
  const { row, kind, index } = partOf(view, button);
  if (kind) turn(view, row, kind, !isOn(view, row, kind));
  else if (row.kind === "maps") toggleHead(view, row, index);
  else {
    view.frame.panel.querySelector("select")?.focus(); // of a word or a stream: whose vector it gets
    return;
  }
  changed(view);
}

function listenToFlow(view) {
  const { flow } = view.frame, partAt = (event) => event.target.closest?.(".tx-part");
  flow.addEventListener("pointermove", (event) => {
    const button = partAt(event);
    clearTimeout(view.dwell);
    if (!button) return;
    const go = () => point(view, partOf(view, button, event));
    if (view.pointed?.button === button) go();
    else view.dwell = setTimeout(go, DWELL);
  });
  flow.addEventListener("pointerleave", () => clearTimeout(view.dwell));
  flow.addEventListener("focusin", (event) => {
    const button = partAt(event);
    if (!button) return;
    reach(view, button);
    if (view.pointed?.button !== button) point(view, partOf(view, button, event));
  });
  flow.addEventListener("click", (event) => {
    const button = partAt(event);
    if (!button) return;
    clearTimeout(view.dwell);
    if (event.detail) point(view, partOf(view, button, event)); // of a pointer, not of Enter
    press(view, button);
  });
  flow.addEventListener("keydown", (event) => {
    const button = partAt(event), arrow = event.key.startsWith("Arrow");
    if (!button || !(arrow || event.key === "Home" || event.key === "End")) return;
    if (event.shiftKey && arrow && view.pointed?.t !== undefined) moveCell(view, event.key);
    else moveFocus(view, button, event.key);
    event.preventDefault();
    event.stopPropagation();
  });
}

// ------------------------------------------------------------------------------------------------------------ stepping

function goTo(view, place) {
  view.place = Math.max(0, Math.min(view.stages.length - 1, place));
  view.moment = view.stages[view.place].moment;
  const grew = grow(view);
  show(view);
  if (grew) {
    arrange(view);
    show(view);
  }
  tellHint(view);
  tellPlace(view);
}

function stop(view) {
  clearTimeout(view.playing);
  view.playing = 0;
  view.frame.play.textContent = "▶ Play";
  view.frame.play.setAttribute("aria-label", "Play");
}

function play(view) {
  if (view.playing) {
    stop(view);
    return;
  }
  view.frame.play.textContent = "❚❚ Pause";
  view.frame.play.setAttribute("aria-label", "Pause");
  unpoint(view);
  if (view.place >= view.whole) goTo(view, 0);
  const next = () => {
    if (view.place === view.stages.length - 1 || !view.root.isConnected) {
      stop(view);
      return;
    }
    goTo(view, view.place + 1);
    follow(view);
    view.playing = setTimeout(next, PLAY[view.moment > 1 ? 1 : 0]);
  };
  view.playing = setTimeout(next, PLAY[0]);
}

/** On a phone the page follows the row that lights up. */
function follow({ root, drawn }) {
  const current = drawn.find(({ node }) => node.classList.contains("tx-current"));
  if (root.clientWidth < 570) current?.node.scrollIntoView({ block: "center" });
}

function listenToControls(view) {
  const { frame } = view;
  const on = (control, event, act) => control.addEventListener(event, act);
  const halted = (act) => () => { stop(view); act(); };
  on(frame.back, "click", halted(() => goTo(view, view.place - 1)));
  on(frame.forward, "click", halted(() => goTo(view, view.place + 1)));
  on(frame.play, "click", () => play(view));
  on(frame.end, "click", halted(() => goTo(view, view.whole)));
  on(frame.reset, "click", halted(() => {
    view.edits = noEdits();
    view.temperature = 1;
    changed(view);
    frame.text.focus();
  }));
  on(frame.text, "change", halted(() => read(view, frame.text.value)));
  on(frame.text, "keydown", (event) => { if (event.key === "Enter") { stop(view); read(view, frame.text.value); } });
  on(frame.checks.positions, "change", () => { view.edits.positions = frame.checks.positions.checked; changed(view); });
  for (const kind of ["residuals", "norms"]) {
    on(frame.checks[kind], "change", () => {
      for (const row of sublayersOf(view.rows)) turn(view, row, kind, frame.checks[kind].checked);
      changed(view);
    });
  }
  on(frame.temperature, "input", () => { view.temperature = Number(frame.temperature.value); changed(view); });
  on(view.root, "focusin", ({ target }) => target.setAttribute("data-lm-suppress-shortcuts", "true"));
  on(view.root, "keydown", (event) => { if (event.key === "Escape") { stop(view); unpoint(view); } });
}
