// Around the model in transformer.js: its weights from bytes, and decoding word by word.

/** The model that machine_data.py wrote down: spec as it says there, data the bytes of all weights. */
export const load = (spec, data) => {
  const bytes = data.buffer ? data.buffer.slice(data.byteOffset, data.byteOffset + data.byteLength) : data;
  const numbers = spec.dtype === "float16" ? halves(new Uint16Array(bytes)) : new Float32Array(bytes);
  const tensors = new Map(Object.entries(spec.tensors).map(([name, { shape, offset }]) => {
    const size = shape.reduce((n, m) => n * m, 1);
    return [name, tensor(shape, numbers.subarray(offset, offset + size))];
  }));
  const { config, source, target } = spec;
  return { config, source, target, has: (name) => tensors.has(name), tensors: (name) => tensors.get(name) };
};

/** Begin to decode: the source is encoded once, and what is seen of it is in `state.seen`. */
export const start = (model, { source } = {}, edits = {}) => {
  const pass = { model, edits, source, seen: new Map() };
  const memory = model.source ? encoder(pass, source) : null;
  const caches = seesAhead(edits) ? null : [];
  for (let i = 0; caches && model.has(`decoder.blocks.${i}.self_attention.query.weight`); i++)
    caches.push({ length: 0, self_attention: {}, cross_attention: {} });
  return { model, edits, source, memory, caches, ids: [], seen: pass.seen };
};

/** Feed more ids: what is seen at these positions alone, of one id the logits (1, V) among it.
 *  Where an edit lets positions see later ones there can be no cache: all positions are computed again and seen. */
export const step = (state, ...ids) => {
  state.ids.push(...ids);
  const pass = { model: state.model, edits: state.edits, source: state.source, target: state.ids, seen: new Map() };
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
