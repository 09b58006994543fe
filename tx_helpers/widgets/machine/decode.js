// Around the model in transformer.js: its weights from bytes, text to ids and back, and decoding word by word.

/** The model that machine_data.py wrote down: spec as it says there, data the bytes of all weights. */
export const load = (spec, data) => {
  const bytes = data.buffer ? data.buffer.slice(data.byteOffset, data.byteOffset + data.byteLength) : data;
  const numbers = spec.dtype === "float16" ? Float32Array.from(new Uint16Array(bytes), half) : new Float32Array(bytes);
  const tensors = new Map(Object.entries(spec.tensors).map(([name, { shape, offset }]) => {
    const size = shape.reduce((n, m) => n * m, 1);
    return [name, tensor(shape, numbers.subarray(offset, offset + size))];
  }));
  const { config, source, target } = spec;
  return { config, source, target, has: (name) => tensors.has(name), tensors: (name) => tensors.get(name) };
};

/** Text -> { ids, error }: one of the two is empty. `side` is spec.source or spec.target.
 *  Words are separated by white space and hyphens; a writer's tokens are characters. */
export const encode = (side, text) => {
  const pieces = side.kind === "words" ? text.replaceAll("-", " ").split(/\s+/).filter(Boolean) : [...text];
  const ids = pieces.map((piece) => idOf(side, piece)), kind = side.kind.slice(0, -1);
  const unknown = pieces.find((_, i) => ids[i] === undefined);
  if (!pieces.length) return { ids: [], error: `Write at least one ${kind}.` };
  if (unknown !== undefined) {
    const shown = unknown.length > 20 ? `${unknown.slice(0, 20)}…` : unknown;
    return { ids: [], error: `The model does not know the ${kind} “${shown}”.` };
  }
  if (ids.length > side.limit) return { ids: [], error: `${ids.length} ${side.kind}, but at most ${side.limit} fit.` };
  return { ids, error: "" };
};

/** The id of a piece, never that of a special token; `unknown`, where the model has an id for it, or undefined. */
const idOf = ({ tokens, specials, unknown }, piece) => {
  const id = tokens.indexOf(piece, specials);
  return id >= 0 ? id : (unknown ?? undefined);
};

/** Ids -> text, without the special tokens. */
export const decode = (side, ids) =>
  ids.filter((id) => id >= side.specials).map((id) => side.tokens[id]).join(side.kind === "words" ? " " : "");

/** Begin to decode: the source is encoded once, and what is seen of it is in `state.seen`. */
export const start = (model, { source } = {}, edits = {}) => {
  const pass = { model, edits, seen: new Map() };
  const memory = model.source ? encoder(pass, source) : null;
  const caches = seesAhead(edits) ? null : [];
  for (let i = 0; caches && model.has(`decoder.blocks.${i}.self_attention.query.weight`); i++)
    caches.push({ length: 0, self_attention: {}, cross_attention: {} });
  return { model, edits, memory, caches, ids: [], seen: pass.seen };
};

/** Feed one more id: what is seen at this position alone (T = 1), the logits (1, V) among it.
 *  Where an edit lets positions see later ones there can be no cache: all positions are computed again and seen. */
export const step = (state, id) => {
  state.ids.push(id);
  const pass = { model: state.model, edits: state.edits, seen: new Map() };
  logits(pass, decoder(pass, state.ids, state.memory, state.caches));
  return pass.seen;
};

/** Is a mask of the decoder's self-attention opened, so that earlier positions change with each new word? */
const seesAhead = ({ masks = {} }) =>
  Object.entries(masks).some(([path, mask]) => /^decoder\.blocks\.\d+\.self_attention$/.test(path) && mask !== "causal");

/** The ids that the model writes after the prompt, always the likeliest, up to its end token or `most` of them. */
export const greedy = (model, { source, prompt }, most, edits = {}) => {
  const state = start(model, { source }, edits), written = [];
  let seen = prompt.map((id) => step(state, id)).at(-1);
  while (written.length < most) {
    const next = likeliest(seen.get("logits"));
    written.push(next);
    if (next === model.target.eos || written.length === most) break;
    seen = step(state, next);
  }
  return written;
};

/** The id with the largest logit of the last position: logits (T, V). */
export const likeliest = ({ shape: [T, V], data }) => {
  const row = data.subarray((T - 1) * V);
  return row.indexOf(row.reduce((a, b) => Math.max(a, b)));
};
