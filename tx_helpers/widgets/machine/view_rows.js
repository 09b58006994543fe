// What is drawn, read off the names and shapes of one forward pass. A row is one stage of the stream for all positions:
//   { id, kind: "words" | "strip" | "maps" | "logits", side, block, stage, caption, … }
// A stage is what one press of Forward adds; feed-forward and the stream behind it are one stage.

const LETTER = { encoder: "S", decoder: "T" };

function rowsOf(trace) {
  const rows = [];
  let stage = -1;
  const add = (row, isNew = true) => rows.push({ ...row, stage: isNew ? ++stage : stage });
  for (const side of ["encoder", "decoder"]) {
    if (!trace.has(`${side}.input.hidden`)) continue;
    const input = { side, name: `${side}.input.hidden`, block: -1 };
    add({ ...input, id: `${side}.words`, kind: "words", caption: side === "encoder" ? "source" : "so far" });
    add({ ...input, id: `${side}.embedding`, name: `${side}.input.vectors`, kind: "strip", what: "embedding", caption: "embedding" });
    const positions = `${side}.input.positions.output`;
    if (trace.has(positions)) {
      add({ ...input, id: `${side}.positions`, name: positions, kind: "strip", what: "positions", caption: "+ position" }, false);
    }
    for (let block = 0; trace.has(`${side}.blocks.${block}.hidden`); block++) addBlock(add, trace, side, block);
  }
  add({ id: "logits", name: "logits", kind: "logits", side: "decoder", block: -1, caption: "next word" });
  return rows;
}

function addBlock(add, trace, side, block) {
  const path = `${side}.blocks.${block}`, common = { side, block };
  for (const part of ["self_attention", "cross_attention"]) {
    const id = `${path}.${part}`;
    if (!trace.has(`${id}.weights`)) continue;
    add({ ...common, id, name: `${id}.weights`, kind: "maps", part, norm: `${id}_norm`,
      caption: part.replace("_", "-") });
  }
  const id = `${path}.feed_forward`;
  add({ ...common, id, name: `${id}.activation`, kind: "strip", what: "units", part: "feed_forward", norm: `${id}_norm`,
    caption: "feed-forward" });
  const last = side === "encoder" && !trace.has(`${side}.blocks.${block + 1}.hidden`);
  add({ ...common, id: `${path}.hidden`, name: last ? "encoder.output" : `${path}.hidden`, kind: "strip", what: last ? "memory" : "stream",
    caption: last ? "memory" : "stream" }, false);
}

/** How far two tensors of one shape are apart: 0 where they are equal, 1 where nothing is left of the first. */
function distance(before, after) {
  let gap = 0, size = 0;
  for (let i = 0; i < before.length; i++) {
    gap += (before[i] - after[i]) ** 2;
    size += before[i] ** 2;
  }
  return Math.min(1, Math.sqrt(gap / (size || 1)));
}

/** "self-attention of encoder block 1", as one would say it. */
function placeOf({ side, block, part }, onlyStack) {
  const where = `${onlyStack ? "" : `${side} `}block ${block + 1}`;
  return part ? `${part.replace("_", "-")} of ${where}` : where;
}

/** The shape in the legend's letters and in numbers: "(H, T, S) = (4, 6, 4)". */
function shapeOf(row, tensor) {
  const length = LETTER[row.side];
  const letters = row.kind === "maps" ? ["H", length, row.part === "cross_attention" ? "S" : length]
    : [length, row.kind === "logits" ? "V" : row.what === "units" ? "F" : "D"];
  return `(${letters.join(", ")}) = (${tensor.shape.map(whole).join(", ")})`;
}
