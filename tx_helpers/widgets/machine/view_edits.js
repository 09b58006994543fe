// What a learner changes in the machine, in the form that `run` takes, and in words.

const noEdits = () => ({ heads: {}, masks: {}, positions: true, residuals: {}, norms: {}, replace: [], patches: [] });

const sublayersOf = (rows) => rows.filter((row) => row.part);
const hasResiduals = ({ machine }) => !machine.config.wiring.endsWith("without_residual");
const usualMask = (row) => row.side === "decoder";

/** Is the mask, norm or residual of this row in use? */
function isOn({ edits }, row, kind) {
  if (kind === "masks") return (edits.masks[row.id] ?? (usualMask(row) ? "causal" : "open")) === "causal";
  return edits[kind][kind === "norms" ? row.norm : row.id] !== false;
}

function turn({ edits }, row, kind, on) {
  const key = kind === "norms" ? row.norm : row.id;
  if (kind !== "masks") {
    if (on) delete edits[kind][key];
    else edits[kind][key] = false;
  } else if (on === usualMask(row)) delete edits.masks[key];
  else edits.masks[key] = on ? "causal" : "open";
}

/** Removes a head, or puts it back. */
function toggleHead({ edits }, row, head) {
  const removed = edits.heads[row.id] ?? [];
  const left = removed.includes(head) ? removed.filter((h) => h !== head) : [...removed, head].sort((a, b) => a - b);
  if (left.length) edits.heads[row.id] = left;
  else delete edits.heads[row.id];
}

/** The word at this position is read as the word with this id; without an id, as itself. */
function replaceWord({ edits }, side, position, id) {
  edits.replace = edits.replace.filter((one) => one.side !== side || one.position !== position);
  if (id !== undefined) edits.replace.push({ side, position, id });
}

const replacedBy = ({ edits }, side, position) =>
  edits.replace.find((one) => one.side === side && one.position === position)?.id;

/** The state after this block at this position is that of a run in which the word with this id stands there. */
function patchState({ edits }, { side, block }, position, id) {
  edits.patches = edits.patches.filter((one) => one.side !== side || one.block !== block || one.position !== position);
  if (id !== undefined) edits.patches.push({ side, position, block, id });
}

const patchedBy = ({ edits }, { side, block }, position) =>
  edits.patches.find((one) => one.side === side && one.block === block && one.position === position)?.id;

/** The id that the model reads at this position, whether or not that word is written yet. */
const readAt = (view, side, position) =>
  replacedBy(view, side, position) ?? (side === "source" ? view.source : [...view.prompt, ...view.written])[position];

/** Each change as a few words: ["without head 2 in the cross-attention of decoder block 1", …]. */
function changesInWords(view) {
  const { edits, rows, alone } = view, words = [];
  const sublayers = sublayersOf(rows), byId = new Map(sublayers.map((row) => [row.id, row]));
  for (const [id, heads] of Object.entries(edits.heads)) {
    const names = heads.map((h) => h + 1).join(" and ");
    words.push(`without head${heads.length > 1 ? "s" : ""} ${names} in the ${placeOf(byId.get(id), alone)}`);
  }
  for (const [id, mask] of Object.entries(edits.masks)) {
    words.push(`with ${mask === "open" ? "an open" : "a causal"} mask in the ${placeOf(byId.get(id), alone)}`);
  }
  if (!edits.positions) words.push("without positions");
  for (const [kind, one] of [["residuals", "residual"], ["norms", "norm"]]) {
    const off = sublayers.filter((row) => !isOn(view, row, kind));
    if (off.length > 2) words.push(`without ${off.length === sublayers.length ? "any" : off.length} of the ${sublayers.length} ${one}s`);
    else words.push(...off.map((row) => `without the ${one} of the ${placeOf(row, alone)}`));
  }
  for (const { side, position, id } of edits.replace) {
    words.push(`with the vector of ${quoted(wordOf(view, side, id))} in place of ${quoted(wordAt(view, side, position))}`);
  }
  for (const { side, position, block, id } of edits.patches) {
    const [given, own] = [id, readAt(view, sideOf(side), position)].map((one) => quoted(wordOf(view, sideOf(side), one)));
    words.push(`with the vector of ${given} after ${placeOf({ side, block }, alone)} in place of that of ${own}`);
  }
  return words;
}

const isEdited = ({ edits }) => JSON.stringify(edits) !== JSON.stringify(noEdits());

/** The edits as `run` takes them: `positions` only where there are none, and each patch as an edit of a hidden state. */
export function forRun({ edits: { positions, patches, ...others } }) {
  const edits = positions ? others : { ...others, positions }, edit = {};
  for (const patch of patches) {
    const name = `${patch.side}.blocks.${patch.block}.hidden`, before = edit[name] ?? ((x) => x);
    edit[name] = (x, pass) => patched(before(x, pass), pass, name, patch, edits);
  }
  return { ...edits, edit };
}

/** The hidden states (T, D) with one row of another run: there this position has another word; all else is equal, except
 *  that nothing is patched. With caches x has the last positions alone, and each position comes by only once. */
function patched(x, { model, source, target }, name, { side, position, id }, edits) {
  const [T, D] = x.shape, row = position - ((side === "encoder" ? source : target).length - T);
  if (row < 0 || row >= T) return x;
  const replace = [{ side: sideOf(side), position, id }, ...edits.replace]; // the first that fits counts
  const input = { source, target: side === "encoder" ? [0] : target }; // the encoder does not see the target
  const data = x.data.slice();
  data.set(rowOf(run(model, input, { ...edits, replace }).get(name), position), row * D);
  return { shape: x.shape, data };
}
