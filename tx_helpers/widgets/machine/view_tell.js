// The sentences: what the present stage does, and what the machine says next. The summary is one of them.

/** The largest weight of the last position, over all heads, in words. */
function strongestLook(view, row) {
  const weights = view.now.get(row.name), [H, T, S] = weights.shape, removed = view.edits.heads[row.id] ?? [];
  let best = { w: -1, h: 0, s: 0 };
  for (let h = 0; h < H; h++) {
    if (removed.includes(h)) continue;
    rowOf(weights, T - 1, h).forEach((w, s) => { if (w > best.w) best = { w, h, s }; });
  }
  const found = wordsOf(view, row.part === "cross_attention" ? "source" : sideOf(row.side))[best.s];
  const asks = wordAt(view, sideOf(row.side), T - 1);
  return best.w < 0 ? "All its heads are removed." : `${quoted(asks)} looks most at ${quoted(found)} (${share(best.w)}, head ${best.h + 1}).`;
}

/** What happens in this stage, with its numbers. */
function tellStage(view, row) {
  const side = sideOf(row.side), ids = idsOf(view, side), last = wordAt(view, side, ids.length - 1), kind = view.machine[side].kind;
  const { d_model: D } = view.machine.config, length = LETTER[row.side];
  if (row.kind === "logits") return tellNext(view);
  if (row.kind === "words") {
    return row.side === "encoder" ? `The text is cut into ${ids.length} ${kind}. Each has a number, its id: ${ids.slice(0, 8).join(", ")}${ids.length > 8 ? ", …" : ""}.`
      : view.machine.source && ids.length === 1
      ? `The decoder begins with ${quoted(last)}, the sign for the beginning of a sentence. From it comes the first word.`
      : `The decoder reads what is written so far, ${ids.length} ${ids.length === 1 ? kind.slice(0, -1) : kind}. From the last, ${quoted(last)}, comes the next.`;
  }
  if (row.what === "embedding") {
    const added = view.now.has(`${row.side}.input.positions.output`) ? ", and its position is added as a second vector" : "";
    return `${ids.length === 1 ? `The ${kind.slice(0, -1)}` : `Each of the ${ids.length} ${kind}`} becomes a vector of D = ${D} numbers${added}: (${length}, D) = (${ids.length}, ${D}).`;
  }
  const place = `Block ${row.block + 1}, ${row.caption}: `;
  if (row.kind === "maps") {
    const heads = view.now.get(row.name).shape[0], does = row.part === "cross_attention" ? "look at the memory" : row.side === "encoder" ? "look at each other" : "look back at each other";
    return `${place}the ${kind} ${does}, in H = ${heads} heads. ${strongestLook(view, row)}`;
  }
  const units = rowOf(view.now.get(row.name), ids.length - 1), active = units.filter((a) => a > 0).length;
  const ends = row.side === "encoder" && view.now.has("encoder.output") && !view.now.has(`encoder.blocks.${row.block + 1}.hidden`);
  return `${place}each ${kind.slice(0, -1)} for itself. At ${quoted(last)} ${active} of F = ${whole(units.length)} units are active.${ends ? " The result is the memory." : ""}`;
}

/** The next word with its probability, beside the intact machine's where something was changed. */
function tellNext(view) {
  const name = (i) => quoted(wordOf(view, "target", i)), now = oddsOf(view, view.now), best = largest(now);
  const written = quoted(textOf(view, prefixOf(view)) || wordAt(view, "target", prefixOf(view).length - 1));
  if (!isEdited(view)) {
    const [, second] = strongest(now, 2);
    const ends = best === view.machine.target.eos ? ", the sign for the end," : ",";
    return `After ${written} comes ${name(best)}${ends} with probability ${share(now[best])}; then ${name(second)} with ${share(now[second])}.`;
  }
  const before = oddsOf(view, view.intact), was = largest(before);
  return `After ${written} the intact machine says ${name(was)} (${share(before[was])}); ${changesInWords(view).join(" and ")} it says `
    + `${best === was ? "the same" : name(best)} (${share(now[best])}).`;
}

/** Ids as text: words with spaces between them, characters without. */
function textOf(view, ids) {
  const text = decode(view.machine.target, ids);
  return text.length <= 80 ? text : `…${text.slice(-79)}`;
}

/** One sentence with the numbers: the whole run at its end, else the present stage. */
function summaryOf(view) {
  const { stages, place } = view, where = `Step ${place + 1} of ${stages.length}. `;
  if (place < view.whole) return where + tellStage(view, stages[place].row);
  if (isEdited(view)) return tellNext(view);
  const read = quoted(textOfSource(view)), written = quoted(shortened(decode(view.machine.target, view.written)));
  const whole = `${read} ${view.machine.source ? "becomes" : "goes on with"} ${written}. `;
  return whole + tellNext(view);
}

const shortened = (text) => ([...text].length <= 120 ? text : `${[...text].slice(0, 119).join("")}…`);

/** What was typed, as the model reads it. */
const textOfSource = ({ machine, source, prompt }) => shortened(decode(machine.source ?? machine.target, source ?? prompt));
