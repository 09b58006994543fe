// The machine: one real forward pass of a trained model, drawn, stepped through and changed. transformer.js computes;
// the files view_*.js draw and tell. All that their functions share is one object, `view`, made in `render`.

let machines = 0; // on this page, so that each has ids of its own
const hintOf = (kind) => `Click a head’s map to remove the head, a ${kind} or stream to give it another ${kind}’s vector.`;
const MOST_WRITTEN = { words: 20, characters: 24, pieces: 24 }; // in one run

/** Another text: ids, the intact machine's whole translation, rows and stages. An unknown word leaves all as it is. */
function read(view, text, place = Infinity) {
  const { machine, frame } = view, side = machine.source ?? machine.target, { ids, error } = encode(side, text);
  frame.error.textContent = error;
  if (error) return;
  const another = ![undefined, text].includes(view.text), stays = ({ position, side }) =>
    position < (side === "source" || side === "encoder" ? ids.length : 1);
  view.text = text;
  view.source = machine.source ? ids : undefined;
  view.prompt = machine.source ? [machine.target.bos] : ids;
  const most = MOST_WRITTEN[machine.target.kind], room = Math.max(1, machine.target.limit - view.prompt.length);
  view.written = greedy(machine, { source: view.source, prompt: view.prompt }, Math.min(most, room));
  view.passes = new Map();
  view.scales = new Map();
  view.pointed = null;
  if (another) for (const kind of ["replace", "patches"]) view.edits[kind] = view.edits[kind].filter(stays);
  const lanes = (count) => Math.min(MOST_LANES, count);
  view.moment = 1;
  view.lanes = { encoder: lanes(view.source?.length ?? 0), decoder: lanes(view.prompt.length + view.written.length - 1) };
  compute(view);
  view.rows = rowsOf(view.intact);
  view.stages = stagesOf(view);
  view.whole = wholeRun(view);
  view.place = Math.max(0, Math.min(place, view.whole));
  view.moment = view.stages[view.place].moment;
  view.grown = -1;
  grow(view);
  buildFlow(view);
  reach(view, view.drawn[0].parts[0]);
  arrange(view);
  changed(view);
}

/** A step for each stage of the first word; for every further word the decoder's alone. */
function stagesOf({ rows, written }) {
  const first = rows.filter((row, i) => row.stage !== rows[i - 1]?.stage), again = first.filter(({ side }) => side === "decoder");
  return written.flatMap((_, i) => (i ? again : first).map((row) => ({ row, moment: i + 1 })));
}

/** The step to begin with: the one that writes the last word, before the end token. */
function wholeRun({ stages, written, machine }) {
  const last = Math.max(1, written.length - (written.at(-1) === machine.target.eos ? 1 : 0));
  return stages.findLastIndex(({ moment }) => moment === last);
}

/** The picture grows: what a step has reached stays in it. A change opens all of it. Says whether it grew. */
function grow(view) {
  const { stages, place, grown } = view, { row, moment } = stages[place];
  view.grown = moment > 1 || place >= view.whole ? Infinity : Math.max(grown, row.stage);
  return view.grown > grown;
}

/** Something was changed: draw, say, tell the kernel; what the changed machine would write follows when there is time. */
function changed(view) {
  if (isEdited(view) && view.grown !== Infinity) goTo(view, view.whole);
  view.broken = null;
  show(view);
  tellPlace(view);
  clearTimeout(view.later);
  view.frame.writes.classList.toggle("tx-changed", isEdited(view));
  if (isEdited(view)) view.later = setTimeout(() => tellWriting(view), 120);
  else tellHint(view);
}

/** What the changed machine writes by itself, each word from its own last ones: it becomes the headline. */
function tellWriting(view) {
  const { machine, source, prompt, written } = view;
  const most = written.length + (written.at(-1) === machine.target.eos ? 4 : 0); // what does not end is cut at one length
  view.broken = greedy(machine, { source, prompt }, most, forRun(view));
  const [text, was] = [view.broken, written].map((ids) => decode(machine.target, ids)), what = changesInWords(view).join(" and ");
  view.frame.writes.textContent = text === was ? `The same, ${what}.`
    : `This comes ${what}. The intact machine writes ${quoted(textOf(view, written))}.`;
  showHeadline(view);
}

/** What one can do next. */
function tellHint(view) {
  const { frame, grown, machine } = view;
  if (!isEdited(view)) frame.writes.textContent = grown === Infinity ? hintOf(machine.target.kind.slice(0, -1))
    : "Press Forward for the next step, Play for all of them, End for the whole machine.";
}

/** The kernel, or whoever holds the state, hears where the view stands. */
function tellPlace(view) {
  const { model, text, place, edits, temperature } = view;
  clearTimeout(view.telling);
  view.telling = setTimeout(() => {
    model.set("state", { text, place, edits: structuredClone(edits), temperature });
    model.save_changes();
  }, 80);
}

/** Sizes that hang on the room: maps, steep words, the lines of the stream, and those from the memory. */
function arrange(view) {
  for (const drawn of view.drawn) drawn.room = drawn.body.clientWidth || 240; // read before anything is written
  for (const { row, room, body, parts } of view.drawn) {
    const lanes = view.lanes[row.side];
    if (row.kind === "maps") {
      const beside = parts.length > 4 ? Math.ceil(parts.length / 2) : parts.length, most = lanes > 10 ? 96 : 54;
      body.style.setProperty("--map", `${Math.max(24, Math.min(most, Math.floor(room / beside) - 5))}px`);
    }
    if (row.kind === "words") {
      const words = row.side === "encoder" ? wordsOf(view, "source") : [...view.prompt, ...view.written].map((id) => wordOf(view, "target", id));
      body.classList.toggle("tx-steep", Math.max(...words.map(widthOf)) + 6 > room / lanes);
    }
  }
  drawLines(view);
  drawWires(view);
}

/** The width of a word in the letters of the chips. */
function widthOf(word) {
  widthOf.pen ??= document.createElement("canvas").getContext("2d");
  widthOf.pen.font = "bold 12px system-ui, sans-serif";
  return widthOf.pen.measureText(word).width;
}

/** The residual stream of each word: a line from its vector to the last row. */
function drawLines({ drawn, lanes, frame: { flow } }) {
  for (const node of flow.querySelectorAll(".tx-lines")) {
    const stack = node.parentNode, own = drawn.filter(({ body, row }) => row.kind === "strip" && stack.contains(body) && body.offsetHeight);
    node.hidden = !own.length;
    if (!own.length) continue;
    const frame = stack.getBoundingClientRect(), [top, end] = [own[0], own.at(-1)].map(({ body }) => body.getBoundingClientRect());
    node.style.cssText = `--lanes: ${lanes[own[0].row.side]}; left: ${top.left - frame.left}px; width: ${top.width}px; `
      + `top: ${top.top - frame.top}px; height: ${end.bottom - top.top}px`;
  }
}

function drawWires({ wires, drawn, frame: { flow } }) {
  const inSight = drawn.filter(({ node }) => node.offsetHeight), from = inSight.find(({ row }) => row.what === "memory");
  const to = inSight.filter(({ row }) => row.part === "cross_attention");
  wires.replaceChildren();
  if (!from || !to.length) return;
  const frame = flow.getBoundingClientRect(), box = (node) => node.getBoundingClientRect();
  const start = box(from.body), x0 = start.right - frame.left + 4, y0 = start.top - frame.top + start.height / 2;
  const pieces = to.map(({ node }) => {
    const end = box(node), x1 = end.left - frame.left - 4, y1 = end.top - frame.top + end.height / 2, middle = x1 - 14;
    const path = document.createElementNS("http://www.w3.org/2000/svg", "path"), tip = path.cloneNode();
    path.setAttribute("d", `M${x0},${y0}H${middle}V${y1}H${x1}`);
    tip.setAttribute("d", `M${x1 + 7},${y1}l-9,-5v10z`);
    tip.setAttribute("class", "tx-tip");
    return [path, tip];
  });
  wires.replaceChildren(...pieces.flat());
}

/** Follows the page's theme and the room; returns what ends that. */
function watchPage(view) {
  const { root } = view;
  let theme = "", width = 0;
  const follow = () => {
    if (!root.isConnected) return; // it has no colours then
    const { color, backgroundColor } = getComputedStyle(root), now = `${color} ${backgroundColor}`;
    if (now === theme) return;
    theme = now;
    view.palettes = palettesOf(root);
    show(view);
  };
  const preference = matchMedia("(prefers-color-scheme: dark)"), later = () => setTimeout(follow, 50);
  const watcher = new MutationObserver(later), sizes = new ResizeObserver(([entry]) => {
    if (Math.abs(entry.contentRect.width - width) < 1) return;
    width = entry.contentRect.width;
    follow();
    arrange(view);
    show(view);
  });
  for (const page of [document.documentElement, document.body]) watcher.observe(page, { attributes: true });
  preference.addEventListener("change", later);
  sizes.observe(root);
  return () => {
    preference.removeEventListener("change", later);
    watcher.disconnect();
    sizes.disconnect();
  };
}

function render({ model, el }) {
  const spec = model.get("spec"), state = model.get("state") ?? {}, machine = load(spec, model.get("data"));
  const labels = { text: machine.source ? "Translate" : "Continue" };
  const frame = makeFrame(spec.name ?? "machine", labels);
  const view = {
    model, el, machine, frame, root: frame.root, id: `tx-machine-${machines++}`, alone: !machine.source,
    edits: { ...noEdits(), ...structuredClone(state.edits ?? {}) }, temperature: state.temperature ?? 1, pointed: null, playing: 0,
  };
  el.replaceChildren(view.root);
  view.palettes = palettesOf(view.root);
  frame.text.value = state.text ?? "";
  listenToControls(view);
  listenToFlow(view);
  read(view, frame.text.value, state.place ?? Infinity);
  const end = watchPage(view);
  return () => {
    [view.later, view.telling, view.dwell, view.playing].forEach(clearTimeout);
    end();
  };
}

export default { render };
