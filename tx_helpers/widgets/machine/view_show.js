// What is drawn again and again: the passes of this moment, pictures, names and sentences.

const prefixOf = (view) => [...view.prompt, ...view.written.slice(0, view.moment - 1)];
const firstOf = (view, side) => Math.max(0, idsOf(view, sideOf(side)).length - view.lanes[side]);

/** The two passes at this moment, over the same words: of the intact machine, and of the changed one. */
function compute(view) {
  const { machine, source, passes } = view, input = { source, target: prefixOf(view) };
  const remembered = (key, edits) => {
    if (!passes.has(key)) passes.set(key, run(machine, input, edits));
    return passes.get(key);
  };
  view.intact = remembered(`${view.moment}`, {});
  view.now = isEdited(view) ? remembered(`${view.moment} ${JSON.stringify(view.edits)}`, forRun(view)) : view.intact;
  if (passes.size > 60) passes.clear();
}

/** Everything that hangs on the moment, the stage or the changes. A row is painted again only if its numbers are others. */
function show(view) {
  compute(view);
  for (const drawn of view.drawn) {
    const { row } = drawn, shown = [view.now.get(row.name), view.intact.get(row.name), view.palettes, drawn.room, row.kind];
    if (row.kind === "strip") view.scales.set(row.name, scaleOf(view.intact.get(row.name)));
    if (row.kind === "words" || row.kind === "maps") shown.push(JSON.stringify(view.edits));
    if (row.kind === "logits") shown.push(view.temperature);
    if (drawn.shown?.every((one, i) => one === shown[i])) continue;
    drawn.shown = shown;
    PAINTERS[row.kind](view, drawn);
  }
  for (const drawn of view.drawn) showSwitches(view, drawn);
  showStage(view);
  showControls(view);
  if (!view.pointed) tellPanel(view);
  else fillPanel(view, aboutPart(view, view.pointed));
}

const PAINTERS = {
  maps: (view, drawn) => showMaps(view, drawn), words: (view, drawn) => showWords(view, drawn),
  strip: (view, drawn) => showStrip(view, drawn), logits: (view, drawn) => showLogits(view, drawn),
};

function meter(node, amount) {
  const width = amount > 0.004 ? `${Math.max(8, Math.round(100 * amount))}%` : "0";
  if (node.style.width !== width) node.style.width = width;
}

function showMaps(view, { row, maps, parts, changes }) {
  const now = view.now.get(row.name), before = view.intact.get(row.name), [, T, S] = now.shape, mask = view.now.get(`${row.id}.mask`);
  const lanes = [view.lanes[row.side], view.lanes[row.part === "cross_attention" ? "encoder" : row.side]];
  const removed = view.edits.heads[row.id] ?? [];
  maps.forEach((canvas, h) => {
    paintMap(canvas, now, mask, h, lanes, view.palettes);
    const cells = [h * T * S, (h + 1) * T * S];
    meter(changes[h], removed.includes(h) ? 1 : distance(before.data.subarray(...cells), now.data.subarray(...cells)));
    label(parts[h], `${placeOf(row, view.alone)}, head ${h + 1}: ${removed.includes(h) ? "removed" : "in use"}`);
    parts[h].setAttribute("aria-pressed", removed.includes(h));
  });
}

function showWords(view, { row, node, parts }) {
  const words = wordsOf(view, sideOf(row.side)), first = firstOf(view, row.side);
  node.parentNode.style.setProperty("--shown", Math.min(1, words.length / parts.length));
  node.querySelector(".tx-caption").textContent = row.caption + (first ? `: the last ${parts.length} of ${words.length}` : "");
  parts.forEach((part, lane) => {
    const position = lane + first, word = words[position], other = replacedBy(view, sideOf(row.side), position);
    part.classList.toggle("tx-none", word === undefined);
    part.classList.toggle("tx-last", row.side === "decoder" && position === words.length - 1);
    part.classList.toggle("tx-replaced", other !== undefined);
    if (part.word_ !== word) part.replaceChildren(make("bdi", {}, part.word_ = word ?? ""));
    label(part, `${row.side === "encoder" ? "source" : "so far"}: ${word}${other === undefined ? "" : `, with the vector of ${wordOf(view, sideOf(row.side), other)}`}`);
  });
}

function showStrip(view, { row, room: width, canvas, parts, changes }) {
  const before = view.intact.get(row.name), now = view.now.get(row.name), lanes = view.lanes[row.side], first = firstOf(view, row.side);
  const room = Math.floor(width / lanes), gap = room > 20 ? 4 : 2;
  const empty = { shape: before.shape, data: new Float32Array(before.data.length) };
  paintStrip(canvas, now ?? empty, lanes, Math.max(2, room - gap), gap, view.scales.get(row.name), paletteOf(view, row));
  const words = wordsOf(view, sideOf(row.side)), T = lengthOf(before);
  parts.forEach((part, lane) => {
    const t = lane + first;
    part.style.visibility = t < T ? "" : "hidden";
    if (t >= T) return;
    meter(changes[lane], distance(rowOf(before, t), rowOf(now ?? empty, t)));
    label(part, `${row.caption}${row.block >= 0 ? ` of ${placeOf({ ...row, part: "" }, view.alone)}` : ""}: ${words[t]}${labelOfPatch(view, row, t)}`);
  });
}

function labelOfPatch(view, row, position) {
  const id = ["stream", "memory"].includes(row.what) ? patchedBy(view, row, position) : undefined;
  return id === undefined ? "" : `, patched with the vector of ${wordOf(view, sideOf(row.side), id)}`;
}

function showLogits(view, { parts: [part], changes: [change] }) {
  const now = oddsOf(view, view.now), before = oddsOf(view, view.intact), most = strongest(now, 4), was = largest(before);
  if (!most.includes(was)) most[3] = was;
  const word = (i) => wordOf(view, "target", i), next = make("span", { class: "tx-next" }, make("bdi", {}, `→ ${word(most[0])}`));
  if (was !== most[0]) next.append(make("small", {}, `intact: ${word(was)}`));
  part.replaceChildren(makeBars(most.map((i) => ({
    label: word(i), value: now[i], before: before[i], best: i === most[0], text: brief(now[i]),
  }))), next, change);
  meter(change, distance(before, now));
  label(part, `probabilities: ${most.map((i) => `${wordOf(view, "target", i)} ${share(now[i])}`).join(", ")}`);
}

function showSwitches(view, { row, node, switches = [] }) {
  for (const one of switches) {
    const kind = one.dataset.switch, on = isOn(view, row, kind);
    one.setAttribute("aria-pressed", on);
    one.classList.toggle("tx-changed", on !== (kind !== "masks" || usualMask(row)));
  }
  node.classList.toggle("tx-cut", Boolean(row.part) && !isOn(view, row, "residuals"));
}

const label = (part, text) => { if (part.label_ !== text) part.setAttribute("aria-label", part.label_ = text); };

/** Which rows are reached, and where the machine is now. */
function showStage(view) {
  const { stages, place } = view, { row } = stages[place], end = place >= view.whole;
  for (const drawn of view.drawn) {
    const later = drawn.row.stage > row.stage, current = drawn.row.stage === row.stage && !end;
    drawn.node.classList.toggle("tx-later", later);
    drawn.node.classList.toggle("tx-folded", drawn.row.stage > view.grown && drawn.row.kind !== "logits");
    drawn.node.classList.toggle("tx-current", current);
  }
  view.wires.classList.toggle("tx-flowing", row.part === "cross_attention");
}

function showControls(view) {
  const { frame, stages, place, edits, rows } = view, off = (kind) => sublayersOf(rows).filter((row) => !isOn(view, row, kind)).length;
  frame.back.disabled = place === 0;
  frame.forward.disabled = place === stages.length - 1;
  frame.where.textContent = `step ${place + 1} of ${stages.length}`;
  const placed = view.machine.config.positions !== "none";
  frame.checks.positions.disabled = !placed;
  frame.checks.positions.checked = placed && edits.positions;
  frame.checks.residuals.disabled = !hasResiduals(view);
  for (const kind of ["residuals", "norms"]) {
    frame.checks[kind].checked = off(kind) === 0 && !frame.checks[kind].disabled;
    frame.checks[kind].indeterminate = off(kind) > 0 && off(kind) < sublayersOf(rows).length;
  }
  frame.temperature.value = view.temperature;
  frame.degrees.textContent = view.temperature.toFixed(1);
  frame.reset.disabled = !isEdited(view) && view.temperature === 1;
  frame.summary.textContent = summaryOf(view);
  showHeadline(view);
}

/** Above the picture: the text, what is written so far, and the next word once it is there; of a changed machine, all
 *  that it writes by itself, with each word marked that the intact one does not write at this place. */
function showHeadline(view) {
  const { frame: { headline }, machine } = view, reached = view.stages[view.place].row.kind === "logits";
  const next = view.written[view.moment - 1], word = next === machine.target.eos ? "" : wordOf(view, "target", next);
  const gap = machine.target.kind === "characters" ? "" : " ";
  const written = isEdited(view) ? brokenWords(view, gap)
    : [textOf(view, prefixOf(view)), gap, make("b", {}, reached ? word : "…")];
  headline.replaceChildren(
    ...(machine.source ? [make("span", { class: "tx-from-text" }, textOfSource(view)), " → "] : []),
    make("span", { class: "tx-to-text" }, ...written),
  );
}

/** The words of the changed machine as pieces; "…" while they are computed. */
function brokenWords({ broken, written, prompt, machine }, gap) {
  const { specials, tokens } = machine.target, begin = decode(machine.target, prompt);
  if (!broken) return [begin, "…"];
  const [words, intact] = [broken, written].map((ids) => ids.filter((id) => id >= specials));
  if (!words.length) return [begin, make("b", { class: "tx-wrong" }, "(nothing)")];
  return [begin, ...words.flatMap((id, i) => {
    const between = begin || i ? [gap] : [];
    return [...between, id === intact[i] ? tokens[id] : make("b", { class: "tx-wrong" }, tokens[id])];
  })];
}

/** With nothing pointed at, the panel tells of the stage. */
function tellPanel(view) {
  const { row } = view.stages[view.place], end = view.place >= view.whole;
  if (end) {
    fillPanel(view, { title: "One real forward pass",
      text: `Every number is computed here, in the page, from the trained weights. ${view.machine.source ? "The encoder reads the source once. For each word the decoder runs again. " : "For each character the model runs again. "}`
        + "In a map each row looks at the columns; the stronger the gold, the larger the weight. "
        + "In the strips of vectors pink numbers are positive and grey ones negative. Point at anything, or move with the arrow keys, to see its shape and its formula with the numbers. Play shows the pass step by step.",
      notebook: NOTEBOOKS.memory });
  } else fillPanel(view, { title: `Step ${view.place + 1}: ${row.caption}`, text: tellStage(view, row), notebook: NOTEBOOKS[row.part ?? row.what ?? row.kind] });
}
