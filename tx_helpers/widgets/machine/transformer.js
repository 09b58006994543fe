// A trained Transformer in the page: the same computation as attention.py, layers.py, blocks.py and models.py, in the
// same order and with the same names. Read it beside them. One sequence at a time, so there is no batch dimension:
// T query positions, S key positions, D width, H heads (G of keys and values), K head width, F hidden width, V words.
//
//     const model = load(spec, data);                       // decode.js; machine_data.py makes spec and data
//     const seen = run(model, { source, target });          // ids; a decoder-only model has no source
//     seen.get("decoder.blocks.0.cross_attention.weights")  // { shape: [H, T, S], data: Float32Array }
//
// `seen` has every name that `capture` records, of the same shape, and "logits" (T, V). It also has, for this view:
//     NAME.output         what a module returns, for embedding tables and position vectors, norms, the feed-forward's
//                         expand and gate, and each stack: "decoder.blocks.0.self_attention_norm.output" (T, D),
//                         "encoder.input.positions.output" (S, D), "encoder.output", the memory, (S, D)
//     ….input.vectors     the words' vectors times √D, with the token shift, before positions are added (T, D)
//     ATTENTION.mask      1 where a query may see a key (T, S)
//     SUBLAYER.stream     the residual stream after this sub-layer, in post-norm after its norm (T, D)
//
// Edits, all of them optional:
//     heads: { "decoder.blocks.0.cross_attention": [2] }              these heads give zeros
//     masks: { "decoder.blocks.0.self_attention": "open" }            or "causal", or rows of booleans (T, S), true = may
//                                                                     see; where a row or a cell is missing, as usual
//     positions: false                                                none are added, rotated, or added to the scores
//     residuals: { "encoder.blocks.0.feed_forward": false }           x + f(x) becomes f(x)
//     norms: { "encoder.blocks.0.self_attention_norm": false }        x in place of norm(x); "encoder.norm" has no block
//     replace: [{ side: "source", position: 1, id: 7 }]               the model reads another word there; or "target"
//     edit: { "encoder.blocks.1.hidden": (tensor) => tensor }         the computation goes on with this, as in `capture`;
//                                                                     its second argument is { model, source, target },
//                                                                     of which with caches the tensor has the last

/** One whole forward pass: everything that was seen in it, name -> tensor. */
export const run = (model, { source, target }, edits = {}) => {
  const pass = { model, edits, source, target, seen: new Map() };
  logits(pass, decoder(pass, target, model.source ? encoder(pass, source) : null));
  return pass.seen;
};

/** The logit lens: states (T, D) of the decoder after any block, read as if that block were the last -> (T, V).
 *  Source: nostalgebraist 2020, "interpreting GPT: the logit lens". */
export const lens = (model, x, edits = {}) => {
  const pass = { model, edits, seen: new Map() };
  return logits(pass, lastNorm(pass, "decoder", x));
};

/** Source ids (S) -> the memory (S, D), and which of its positions are real. */
const encoder = (pass, source) => ({
  hidden: stack(pass, "encoder", source, { side: "source" }),
  real: source.map((id) => id !== pass.model.config.pad_id),
});

/** Target ids (T), and the memory if there is an encoder -> (T, D). With caches, only new ids are computed. */
const decoder = (pass, target, memory, caches) =>
  stack(pass, "decoder", target, { side: "target", causal: true, memory, caches });

/** Hidden states (T, D) -> one number for each word of the vocabulary (T, V). */
const logits = (pass, hidden) => {
  const scaled = map(hidden, (number) => number * pass.model.config.output_scale);
  return observe(pass, "logits", linearOf(pass, "output", scaled));
};

// ------------------------------------------------------------------------------------------------- models.py: a stack

/** Ids -> hidden states (T, D): embedding, blocks, final norm. T counts the ids that are not in the caches yet. */
const stack = (pass, path, ids, { side, causal = false, memory, caches }) => {
  const { config } = pass.model, S = ids.length, T = S - (caches?.[0].length ?? 0);
  checkIds(ids, pass.model.tensors(`${path}.input.tokens.weight`).shape[0], config.context_length ?? Infinity);
  const real = ids.map((id) => Boolean(memory) || id !== config.pad_id); // a target has no padding
  const positions = countReal(real);
  let x = inputEmbedding(pass, `${path}.input`, replaced(ids, side, pass.edits), positions, T);
  const options = { causal, real, memory, ...positionsInAttention(pass, path, positions.slice(S - T), T, S, causal) };
  for (let i = 0; pass.model.has(`${path}.blocks.${i}.self_attention.query.weight`); i++)
    x = block(pass, `${path}.blocks.${i}`, x, { ...options, cache: caches?.[i] });
  return lastNorm(pass, path, x);
};

/** After the last block of a stack: its final norm, if it has one. (T, D) -> (T, D) */
const lastNorm = (pass, path, x) => observe(pass, `${path}.output`, normOf(pass, `${path}.norm`, x));

const checkIds = (ids, V, context) => {
  const wrong = ids.find((id) => !(id >= 0 && id < V));
  if (!ids.length || ids.length > context) throw new RangeError(`${ids.length} ids, expected 1 to ${context}`);
  if (wrong !== undefined) throw new RangeError(`id ${wrong}, but the vocabulary has ${V}`);
};

/** Positions count real words only: 0, 1, 2 … */
const countReal = (real) => {
  let count = 0;
  return real.map((isReal) => Math.max(0, (count += isReal ? 1 : 0) - 1));
};

/** The ids with those that the edits put in their place. */
const replaced = (ids, side, { replace = [] }) =>
  ids.map((id, position) => replace.find((one) => one.side === side && one.position === position)?.id ?? id);

/** `rotate` for queries and keys, or `bias` (H, T, S) for the scores, where the model has its positions there. */
const positionsInAttention = (pass, path, positions, T, S, causal) => {
  const { config, tensors } = pass.model;
  if (pass.edits.positions === false) return {};
  if (config.positions === "rotary") return { rotate: rotary(positions, config) };
  if (config.positions === "alibi") return { bias: alibi(config.n_heads, T, S) };
  if (config.positions === "t5") return { bias: t5Bias(tensors(`${path}.bias.table.weight`), T, S, config, !causal) };
  return {};
};

// ------------------------------------------------------------------------------------- blocks.py: embedding and blocks

/** The last T of the ids -> vectors (T, D): word (times √D if `embedding_scale`), plus position, then a norm if any. */
const inputEmbedding = (pass, path, ids, positions, T) => {
  const { config, has, tensors } = pass.model, D = config.d_model, table = tensors(`${path}.tokens.weight`);
  const start = ids.length - T, factor = config.embedding_scale ? Math.sqrt(D) : 1;
  let x = observe(pass, `${path}.tokens.output`, embedding(table, ids.slice(start)));
  x = map(x, (number) => number * factor);
  if (has(`${path}.token_shift`)) x = tokenShift(x, tensors(`${path}.token_shift`), table, ids, positions);
  x = observe(pass, `${path}.vectors`, x);
  if (pass.edits.positions !== false && ["sinusoidal", "learned"].includes(config.positions)) {
    const places = positions.slice(start);
    const learned = config.positions === "learned";
    const added = learned ? embedding(tensors(`${path}.positions.table.weight`), places) : sinusoidal(places, D, config.base);
    x = add(x, observe(pass, `${path}.positions.output`, added));
  }
  if (has(`${path}.segments.weight`)) x = add(x, embedding(tensors(`${path}.segments.weight`), ids.slice(start).fill(0)));
  return observe(pass, `${path}.hidden`, normOf(pass, `${path}.norm`, x));
};

/** x + the vectors of the N previous words, each times a learned vector: shift (N, D). Positions below n have no n-th. */
const tokenShift = (x, shift, table, ids, positions) => {
  const [T, D] = x.shape, y = map(x, (number) => number);
  for (let n = 1; n <= shift.shape[0]; n++)
    for (let t = 0, at = ids.length - T; t < T; t++, at++)
      for (let d = 0; d < D && positions[at] >= n; d++)
        y.data[t * D + d] += shift.data[(n - 1) * D + d] * table.data[ids[at - n] * D + d];
  return y;
};

/** Self-attention, cross-attention where the block has one, feed-forward. (T, D) -> (T, D) */
const block = (pass, path, x, { causal, real, bias, rotate, memory, cache }) => {
  const self = { causal, real, bias, rotate, cache: cache?.self_attention, start: cache?.length ?? 0 };
  const cross = { real: memory?.real, cache: cache?.cross_attention, start: self.start };
  x = wired(pass, `${path}.self_attention`, x, (x, name) => multiHeadAttention(pass, name, x, x, self));
  if (memory)
    x = wired(pass, `${path}.cross_attention`, x, (x, name) => multiHeadAttention(pass, name, x, memory.hidden, cross));
  x = wired(pass, `${path}.feed_forward`, x, (x, name) => feedForward(pass, name, x));
  if (cache) cache.length += x.shape[0];
  return observe(pass, `${path}.hidden`, x);
};

/** pre-norm: x + sublayer(norm(x)); post-norm: norm(x + sublayer(x)); without a residual connection, x is not added. */
const wired = (pass, path, x, sublayer) => {
  const { wiring } = pass.model.config, norm = (x) => normOf(pass, `${path}_norm`, x);
  const residual = pass.edits.residuals?.[path] !== false && !wiring.endsWith("without_residual");
  const plus = (y) => (residual ? add(x, y) : y);
  const y = wiring.startsWith("pre_norm") ? plus(sublayer(norm(x), path)) : norm(plus(sublayer(x, path)));
  return observe(pass, `${path}.stream`, y);
};

// ---------------------------------------------------------------------------------------------------- attention.py

/** MultiHead(X, M) = Concat(head_1 … head_H) W_O. x (T, D) attends to memory (S, D), which is x in self-attention. */
const multiHeadAttention = (pass, path, x, memory, { causal, real, bias, rotate = (x) => x, cache, start }) => {
  const { n_heads: H, n_kv_heads: G } = pass.model.config;
  let q = normOf(pass, `${path}.query_norm`, split(linearOf(pass, `${path}.query`, x), H));
  q = observe(pass, `${path}.queries`, rotate(q)); // (H, T, K)
  const { keys, values } = keysAndValues(pass, path, memory, G, rotate, cache, memory === x);
  const mask = observe(pass, `${path}.mask`, maskOf(pass, path, x.shape[0], keys.shape[1], { causal, real, start }));
  let heads = attention(pass, path, q, keys, values, mask, bias);
  for (const h of pass.edits.heads?.[path] ?? []) heads = withoutHead(heads, h);
  heads = observe(pass, `${path}.heads`, heads); // (H, T, K)
  return observe(pass, `${path}.output`, linearOf(pass, `${path}.output`, join(heads)));
};

/** (G, S, K) each. With a cache, those of earlier positions too; those of a memory are computed once. */
const keysAndValues = (pass, path, source, G, rotate, cache, grows) => {
  if (cache?.keys && !grows) return cache;
  const normed = normOf(pass, `${path}.key_norm`, split(linearOf(pass, `${path}.key`, source), G));
  const keys = observe(pass, `${path}.keys`, rotate(normed));
  const values = observe(pass, `${path}.values`, split(linearOf(pass, `${path}.value`, source), G));
  if (!cache) return { keys, values };
  return Object.assign(cache, { keys: append(cache.keys, keys), values: append(cache.values, values) });
};

/** softmax(q kᵀ · scale + bias, where the mask allows) v. q (H, T, K), k and v (G, S, K) -> (H, T, K) */
const attention = (pass, path, q, k, v, mask, bias) => {
  const [H, , K] = q.shape, shared = H / k.shape[0]; // the number of heads that share keys and values
  const shares = (x, h) => headOf(x, Math.floor(h / shared)), scale = pass.model.config.scale ?? 1 / Math.sqrt(K);
  const products = perHead(H, (h) => linear(headOf(q, h), shares(k, h))); // q kᵀ, (T, K) and (S, K) -> (T, S)
  const scaled = map(products, (product, i) => product * scale + (bias ? bias.data[i] : 0));
  const scores = observe(pass, `${path}.scores`, scaled); // (H, T, S)
  const weights = observe(pass, `${path}.weights`, maskedSoftmax(scores, mask));
  return perHead(H, (h) => weighted(headOf(weights, h), shares(v, h))); // (T, S) and (S, K) -> (T, K)
};

/** Which keys each query may see, (T, S): real ones, and with `causal` none behind its own position start + t. */
const maskOf = (pass, path, T, S, { causal, real, start }) => {
  const edit = pass.edits.masks?.[path], rows = Array.isArray(edit) ? edit : [], mask = tensor([T, S]);
  if (edit === "open" || edit === "causal") causal = edit === "causal";
  for (let t = 0; t < T; t++)
    for (let s = 0; s < S; s++) {
      const usual = real[s] && !(causal && s > start + t);
      mask.data[t * S + s] = Number(rows[start + t]?.[s] ?? usual);
    }
  return mask;
};

const withoutHead = (heads, h) => {
  const [, T, K] = heads.shape;
  return tensor(heads.shape, heads.data.slice().fill(0, h * T * K, (h + 1) * T * K));
};

// ------------------------------------------------------------------------------------------------------- layers.py

/** f(x W₁ + b₁) W₂ + b₂, or with a gate (f(x W_g) ⊙ x W₁) W₂. (T, D) -> (T, D) */
const feedForward = (pass, path, x) => {
  const { gated, activation } = pass.model.config, f = ACTIVATIONS[activation];
  const expanded = observe(pass, `${path}.expand.output`, linearOf(pass, `${path}.expand`, x)); // (T, F)
  let hidden = map(gated ? observe(pass, `${path}.gate.output`, linearOf(pass, `${path}.gate`, x)) : expanded, f);
  if (gated) hidden = map(hidden, (number, i) => number * expanded.data[i]);
  hidden = observe(pass, `${path}.activation`, hidden);
  return observe(pass, `${path}.output`, linearOf(pass, `${path}.contract`, hidden));
};

/** The linear map at this path; its bias may be missing. */
const linearOf = ({ model: { has, tensors } }, path, x) =>
  linear(x, tensors(`${path}.weight`), has(`${path}.bias`) ? tensors(`${path}.bias`) : null);

/** The LayerNorm or RMSNorm at this path; where there is none, x as it is. */
const normOf = (pass, path, x) => {
  const { has, tensors, config } = pass.model;
  if (!has(`${path}.weight`)) return x;
  const weight = tensors(`${path}.weight`);
  const normed = () =>
    has(`${path}.bias`) ? layerNorm(x, weight, tensors(`${path}.bias`), config.eps) : rmsNorm(x, weight, config.eps);
  return observe(pass, `${path}.output`, pass.edits.norms?.[path] === false ? x : normed());
};

/** Report a named tensor. Returns the tensor to continue with, as in observe.py: an edit may give another. */
const observe = (pass, name, x) => {
  const given = pass.edits.edit?.[name] ? pass.edits.edit[name](x, pass) : x;
  pass.seen.set(name, given);
  return given;
};
