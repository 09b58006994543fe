// The panel: what a part is, its shape, its formula with the numbers of this pass, where it came from, which notebook builds it.
// Each function returns { title, note, text, shape, formulas, bars, strip, from, notebook, choice }, most of them optional.

const NOTEBOOKS = {
  words: "02_tokens_and_embeddings", embedding: "02_tokens_and_embeddings", positions: "03_positional_encodings",
  self_attention: "04_self_attention", cross_attention: "05_multi_head_attention", masks: "06_masking",
  units: "07_feed_forward", norms: "07_feed_forward", residuals: "07_feed_forward", stream: "07_feed_forward",
  memory: "08_full_model", logits: "11_decoding", patches: "21_inside_the_model",
};
const MOST_BARS = 8;

const tensorAt = (view, name) => view.now.get(name);
const sideOf = (side) => (side === "encoder" ? "source" : "target");
const wordOf = (view, side, id) => visibleToken(view.machine[side]?.tokens[id] ?? "");
const idsOf = (view, side) => (side === "source" ? view.source : prefixOf(view));
const wordAt = (view, side, position) => wordOf(view, side, idsOf(view, side)[position]);
const wordsOf = (view, side) => idsOf(view, side).map((id) => wordOf(view, side, id));

function aboutPart(view, { row, index, t, s, kind }) {
  if (kind) return aboutSwitch(view, row, kind);
  if (row.kind === "logits") return aboutLogits(view, row);
  if (row.kind === "maps") return aboutWeight(view, row, index, t, s);
  const position = index + firstOf(view, row.side);
  if (row.kind === "words") return aboutWord(view, row, position);
  return { embedding: aboutEmbedding, positions: aboutPosition, units: aboutUnits, stream: aboutStream, memory: aboutStream }[
    row.what](view, row, position, wordAt(view, sideOf(row.side), position));
}

function aboutWord(view, row, position) {
  const side = sideOf(row.side), ids = idsOf(view, side), { tokens, kind } = view.machine[side];
  return {
    title: `${quoted(wordAt(view, side, position))}, ${kind.slice(0, -1)} ${position + 1} of ${ids.length}`,
    shape: `(${LETTER[row.side]}) = (${ids.length})`,
    formulas: [`id = place in the vocabulary = ${ids[position]}   (V = ${whole(tokens.length)})`],
    from: row.side === "encoder" ? "the text that you typed" : position ? "the step before: this word was the likeliest" : "every sentence begins with it",
    notebook: NOTEBOOKS.words,
    choice: { side, label: "Give it the vector of ", name: "Vector of", own: ids[position], now: replacedBy(view, side, position),
      choose: (id) => replaceWord(view, side, position, id) },
  };
}

function aboutEmbedding(view, row, position, word) {
  const tensor = tensorAt(view, row.name), { d_model: D, embedding_scale } = view.machine.config;
  const id = replacedBy(view, sideOf(row.side), position) ?? idsOf(view, sideOf(row.side))[position];
  const table = `E_{${id}}`, root = embedding_scale ? ` · √D = ${table} · ${decimal(Math.sqrt(D))}` : "";
  return {
    title: `The vector of ${quoted(id === idsOf(view, sideOf(row.side))[position] ? word : wordOf(view, sideOf(row.side), id))}`,
    shape: shapeOf(row, tensor), formulas: [`x = ${table}${root} = (${firstNumbers(tensor, position)})`], strip: position,
    from: `row ${id} of the embedding table E, (V, D) = (${whole(view.machine[sideOf(row.side)].tokens.length)}, ${D})`,
    notebook: NOTEBOOKS.embedding,
  };
}

function aboutPosition(view, row, position, word) {
  const tensor = tensorAt(view, row.name);
  if (!tensor) return { title: "No positions are added", formulas: ["x = E_{id}"], notebook: NOTEBOOKS.positions };
  const start = firstNumbers(tensor, position), learned = view.machine.config.positions === "learned";
  return {
    title: `Position ${position}, added to ${quoted(word)}`, shape: shapeOf(row, tensor), strip: position,
    formulas: learned ? [`x ← x + P_{${position}} = x + (${start})`]
      : [`x ← x + P_{${position}},   P_{${position}} = (${start})`, `its first number: sin(${position} / 1) = ${decimal(Math.sin(position))}`],
    from: learned ? "a trained table with a row for each position" : "sines and cosines of the position, from fast to slow",
    notebook: NOTEBOOKS.positions,
  };
}

function aboutWeight(view, row, head, t, s) {
  const scores = tensorAt(view, `${row.id}.scores`), weights = tensorAt(view, row.name), mask = tensorAt(view, `${row.id}.mask`);
  const asking = wordsOf(view, sideOf(row.side)), found = row.part === "cross_attention" ? wordsOf(view, "source") : asking;
  const w = rowOf(weights, t, head), z = rowOf(scores, t, head), open = rowOf(mask, t), K = tensorAt(view, `${row.id}.queries`).shape[2];
  const intact = rowOf(view.intact.get(row.name), t, head);
  const { scale } = view.machine.config, size = scale ?? 1 / Math.sqrt(K), bias = biasAt(view, row, head, t, s, size);
  const score = scale == null ? `q·k / √K = ${decimal((z[s] - bias) / size)} / ${decimal(Math.sqrt(K))}`
    : `q·k · ${decimal(scale)} = ${decimal((z[s] - bias) / size)} · ${decimal(scale)}`;
  const powers = strongest(w, w.length).filter((i) => open[i]), some = powers.slice(0, 3).map((i) => `e^{${decimal(z[i])}}`);
  const removed = view.edits.heads[row.id]?.includes(head);
  return {
    title: `Head ${head + 1}: ${quoted(asking[t])} looks at ${quoted(found[s])} with weight ${share(w[s])}`,
    note: removed ? "This head is removed: it still has weights, but it returns zeros." : "",
    shape: `${shapeOf(row, weights)}, K = ${K}`,
    formulas: open[s] ? [`score = ${score}${bias ? ` + ${decimal(bias)}` : ""} = ${decimal(z[s])}`,
      `weight = e^{${decimal(z[s])}} / (${some.join(" + ")}${powers.length > 3 ? " + …" : ""}) = ${share(w[s])}`]
      : ["the mask closes this cell: score = −∞, weight = 0"],
    bars: strongest(w, MOST_BARS).filter((i) => open[i] || intact[i]).sort((a, b) => a - b)
      .map((i) => ({ label: found[i], value: w[i], before: intact[i], best: i === s, text: brief(w[i]) })),
    from: `● q from ${quoted(asking[t])} in the stream, ■ k from ${quoted(found[s])} in ${row.part === "cross_attention" ? "the memory" : "the same stream"}; `
      + "each through its own matrix",
    notebook: NOTEBOOKS[row.part],
  };
}

/** What the score has besides q·k: the bias of ALiBi or T5. */
function biasAt(view, row, head, t, s, size) {
  const q = tensorAt(view, `${row.id}.queries`), k = tensorAt(view, `${row.id}.keys`);
  const group = Math.floor(head / (q.shape[0] / k.shape[0])), asks = rowOf(q, t, head), found = rowOf(k, s, group);
  const product = asks.reduce((sum, number, i) => sum + number * found[i], 0) * size;
  const bias = rowOf(tensorAt(view, `${row.id}.scores`), t, head)[s] - product;
  return Math.abs(bias) > 1e-3 ? bias : 0;
}

function aboutUnits(view, row, position, word) {
  const tensor = tensorAt(view, row.name), units = rowOf(tensor, position), before = rowOf(view.intact.get(row.name), position);
  const { activation, gated } = view.machine.config, active = units.filter((a) => a > 0).length, best = strongest(units, 6);
  return {
    title: `At ${quoted(word)} ${active} of F = ${whole(units.length)} units are active`, shape: shapeOf(row, tensor), strip: position,
    formulas: [gated ? `a = ${activation}(x W_{g}) ⊙ x W_{1}` : `a = ${activation}(x W_{1} + b_{1})`, `unit ${best[0] + 1}: a = ${decimal(units[best[0]])};   output = a W_{2} + b_{2}`],
    bars: best.map((i) => ({ label: `unit ${i + 1}`, value: units[i] / units[best[0]], before: before[i] / units[best[0]], text: decimal(units[i]) })),
    colour: "var(--tx-unit)", from: `the normalised stream of ${quoted(word)} alone: no other word has a part in it`, notebook: NOTEBOOKS.units,
  };
}

function aboutStream(view, row, position, word) {
  const tensor = tensorAt(view, row.name), at = rowOf(tensor, position), path = `${row.side}.blocks.${row.block}`;
  const parts = ["self_attention", "cross_attention", "feed_forward"].filter((part) => view.now.has(`${path}.${part}.output`));
  const size = (name) => decimal(sizeOf(rowOf(tensorAt(view, name), position)));
  const below = row.block ? `${row.side}.blocks.${row.block - 1}.hidden` : `${row.side}.input.hidden`;
  const x = hasResiduals(view) ? "x + " : "", names = parts.map((part) => part.replace("_", "-"));
  const added = parts.map((part, i) => `${names[i]} (length ${size(`${path}.${part}.output`)})`);
  const post = view.machine.config.wiring.startsWith("post"), side = sideOf(row.side), kind = view.machine[side].kind.slice(0, -1);
  const given = patchedBy(view, row, position);
  return {
    title: row.what === "memory" ? `The memory of ${quoted(word)}` : `The stream of ${quoted(word)} after block ${row.block + 1}`,
    note: given === undefined ? "" : `Patched: it comes from a run in which this ${kind} is ${quoted(wordOf(view, side, given))}.`,
    shape: shapeOf(row, tensor), strip: position, ...(row.side === "decoder" ? throughLens(view, row, position) : {}),
    choice: { side, label: `Patch: take it from a run in which this ${kind} is `, own: readAt(view, side, position), now: given,
      choose: (id) => patchState(view, row, position, id) },
    formulas: [post ? `x ← norm(${x}f(x)),   f = ${names.join(", then ")}` : `x ← ${x}${names.join(" + ")}`, `x = (${firstNumbers(tensor, position)}), length ${decimal(sizeOf(at))}`],
    from: `x before the block (length ${size(below)}), plus ${added.join(", plus ")}${post ? ", with a norm after each" : ""}${row.what === "memory" ? "; then the last norm" : ""}`,
    notebook: NOTEBOOKS[row.what], tested: NOTEBOOKS.patches,
  };
}

/** The logit lens: the likeliest next words if this state were the last one. */
function throughLens(view, { name }, position) {
  const [now, before] = [[view.now, forRun(view)], [view.intact, {}]].map(([trace, edits]) => {
    const state = { shape: [1, view.machine.config.d_model], data: rowOf(trace.get(name), position) };
    return chances(lens(view.machine, state, edits), view.temperature);
  });
  return {
    says: "Read as the last state (logit lens), it says:", colour: "var(--tx-unit)",
    bars: strongest(now, 4).map((i, place) =>
      ({ label: wordOf(view, "target", i), value: now[i], before: before[i], best: !place, text: brief(now[i]) })),
  };
}

function aboutLogits(view, row) {
  const tensor = tensorAt(view, row.name), now = oddsOf(view, view.now), before = oddsOf(view, view.intact), last = lengthOf(tensor) - 1;
  const best = strongest(now, 5), z = rowOf(tensor, last), word = wordAt(view, "target", last);
  const power = (i) => (view.temperature === 1 ? decimal(z[i]) : `${decimal(z[i])} / ${decimal(view.temperature)}`);
  return {
    title: `After ${quoted(word)}: ${quoted(wordOf(view, "target", best[0]))} with probability ${share(now[best[0]])}`,
    shape: `${shapeOf(row, tensor)}, here its last row`,
    formulas: [`z = x · each word’s vector = ${decimal(z[best[0]])} for ${quoted(wordOf(view, "target", best[0]))}`,
      `p = e^{${power(best[0])}} / (${best.slice(0, 3).map((i) => `e^{${power(i)}}`).join(" + ")} + …) = ${share(now[best[0]])}`],
    bars: best.map((i) => ({ label: wordOf(view, "target", i), value: now[i], before: before[i], best: i === best[0], text: brief(now[i]) })),
    colour: "var(--tx-unit)", from: `the stream of ${quoted(word)} after the last block and the last norm`, notebook: NOTEBOOKS.logits,
  };
}

function aboutSwitch(view, row, kind) {
  const on = isOn(view, row, kind), x = hasResiduals(view) ? "x + " : "", place = placeOf(row, view.alone), post = view.machine.config.wiring.startsWith("post");
  const f = row.part.replace("_", "-");
  const texts = {
    norms: ["norm", post ? `x ← norm(${x}${f}(x))` : `x ← ${x}${f}(norm(x))`, `x ← ${x}${f}(x)`,
      view.machine.config.norm === "rms" ? "Each word’s vector is divided by its root mean square, then scaled by learned weights."
        : "Each word’s vector is brought to mean 0 and variance 1, then scaled and shifted by learned numbers."],
    residuals: ["residual", post ? `x ← norm(x + ${f}(x))` : `x ← x + ${f}(norm(x))`, post ? `x ← norm(${f}(x))` : `x ← ${f}(norm(x))`,
      "The sub-layer only adds to the stream; without the residual it replaces the stream."],
    masks: ["causal mask", "weight (t, s) = 0 where s > t", "every word sees every word", "A word must not see the words after it."],
  }[kind];
  return { title: `The ${texts[0]} of the ${place} is ${on ? "on" : "off"}`, formulas: [texts[on ? 1 : 2]], text: texts[3],
    note: `Press to switch it ${on ? "off" : "on"}.`, notebook: NOTEBOOKS[kind] };
}

const firstNumbers = (tensor, position) => `${[...rowOf(tensor, position).slice(0, 3)].map(decimal).join(", ")}, …`;

/** The probabilities of the next word, from the last row of the logits. */
const oddsOf = (view, trace) => chances(trace.get("logits"), view.temperature);

const chances = (tensor, temperature) =>
  Array.from(probabilities(Float64Array.from(rowOf(tensor, lengthOf(tensor) - 1)), temperature));
