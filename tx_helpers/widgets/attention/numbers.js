// The arithmetic of the attention view, and its words. The same stands in Python, in attention_data.py.

/** softmax(score · factor / temperature) over the allowed keys of one head, T × S numbers in `raw`.
 *  base      bytes, 1 = allowed in the recorded pass
 *  recorded  whether that pass was causal; `causal` whether it shall be. A key no query may see is padding, and stays so.
 *  fromScores false: `raw` are weights, whose logarithms stand for the scores. A fully masked query gets zeros. */
export function recompute(raw, base, { T, S, fromScores, recorded }, { temperature, causal, factor }) {
  const out = new Float32Array(T * S);
  if (!fromScores && temperature === 1 && causal === recorded) {
    out.set(raw);
    return out;
  }
  const real = new Uint8Array(S);
  for (let i = 0; i < T * S; i++) real[i % S] |= base[i];
  const scores = new Float64Array(S);
  for (let t = 0; t < T; t++) {
    let top = -Infinity, sum = 0;
    for (let s = 0; s < S; s++) {
      const i = t * S + s, ahead = s > t + S - T;
      let allowed = base[i];
      if (causal !== recorded && ahead) allowed = causal ? 0 : real[s];
      scores[s] = allowed ? (fromScores ? raw[i] : Math.log(raw[i])) * factor / temperature : -Infinity;
      if (scores[s] > top) top = scores[s];
    }
    if (top === -Infinity) continue;
    for (let s = 0; s < S; s++) sum += scores[s] = Math.exp(scores[s] - top);
    for (let s = 0; s < S; s++) out[t * S + s] = scores[s] / sum;
  }
  return out;
}

/** The weights of one head at the settings of the view, out of the bytes that the kernel sent. */
function weightsOf({ model, attention, state }, layer, head) {
  const [, H, T, S] = attention.shape, data = model.get("data"), index = layer * H + head, n = T * S;
  const start = data.byteOffset + attention.offset + 4 * index * n;
  const aligned = start % 4 === 0; // a view of float32 must start at a multiple of 4
  const raw = aligned ? new Float32Array(data.buffer, start, n) : new Float32Array(data.buffer.slice(start, start + 4 * n));
  const ownMask = attention.maskSize > n ? index * n : 0; // one mask for each head, or one for all
  const base = new Uint8Array(data.buffer, data.byteOffset + attention.maskOffset + ownMask, n);
  const factor = state.scaled || !attention.headWidth ? 1 : Math.sqrt(attention.headWidth);
  const shape = { T, S, fromScores: attention.fromScores, recorded: attention.causal };
  return recompute(raw, base, shape, { ...state, factor });
}

/** Two decimals, halves upwards. */
const round = (weight) => (Math.floor(weight * 100 + 0.5) / 100).toFixed(2);

/** What the picked token looks at, or what each of the first four queries looks at most. Tokens: [full, shown]. */
export function sentence(weights, queries, keys, side, token) {
  const T = queries.length, S = keys.length;
  if (token >= 0 && side === "key") {
    let best = 0;
    for (let t = 1; t < T; t++) if (weights[t * S + token] > weights[best * S + token]) best = t;
    return `'${keys[token][1]}' is looked at most by '${queries[best][1]}' (${round(weights[best * S + token])})`;
  }
  const rows = token >= 0 ? [token] : [...Array(Math.min(4, T)).keys()];
  const parts = rows.map((t) => {
    let best = 0;
    for (let s = 1; s < S; s++) if (weights[t * S + s] > weights[t * S + best]) best = s;
    const most = weights[t * S + best];
    const aim = most > 0 ? `looks most at '${keys[best][1]}' (${round(most)})` : "may look at nothing";
    return `'${queries[t][1]}' ${aim}`;
  });
  return parts.join("; ") + (token < 0 && T > rows.length ? "; …" : "");
}

/** The settings that are shown and what is to be seen, in one sentence with the numbers. */
function describe({ attentions, attention, state, weights }) {
  const settings = attentions.length > 1 ? [attention.label] : [];
  settings.push(`layer ${state.layer + 1}`, `head ${state.head + 1}`);
  if (state.temperature !== 1) settings.push(`temperature ${round(state.temperature)}`);
  if (state.causal !== attention.causal) settings.push(`causal mask ${state.causal ? "on" : "off"}`);
  if (!state.scaled) settings.push("not scaled");
  return `${settings.join(", ")}: ${sentence(weights, attention.queries, attention.keys, state.side, state.token)}`;
}
