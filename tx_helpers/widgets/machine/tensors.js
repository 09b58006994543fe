// The numbers of the machine: small functions on tensors, named as in PyTorch. Read transformer.js first.
//
// A tensor is { shape, data }: its numbers stand one after another in `data`, the last dimension fastest. So row t of
// x (T, D) begins at t · D. Sums are made in double precision and stored in single precision.

const tensor = (shape, data = new Float32Array(shape.reduce((n, size) => n * size, 1))) => ({ shape, data });

/** f of each number, of the same shape. */
const map = (x, f) => tensor(x.shape, x.data.map(f));

/** a + b, of the same shape. */
const add = (a, b) => tensor(a.shape, a.data.map((number, i) => number + b.data[i]));

/** y = x Wᵀ + b: x (T, I), weight (O, I) as `nn.Linear` keeps it, bias (O) or none. -> (T, O) */
const linear = (x, weight, bias) => {
  const [T, I] = x.shape, O = weight.shape[0], y = tensor([T, O]);
  let t = 0;
  for (; t + 4 <= T; t += 4) fourRows(x.data, weight.data, bias?.data, y.data, t, I, O);
  for (; t < T; t++) oneRow(x.data.subarray(t * I), weight.data, bias?.data, y.data.subarray(t * O), I, O);
  return y;
};

/** The same for rows t … t + 3 of x at once: each weight is read once for all four, which takes half the time. */
const fourRows = (x, weight, bias, y, t, I, O) => {
  const row = t * I;
  for (let o = 0; o < O; o++) {
    const start = bias ? bias[o] : 0;
    let a = start, b = start, c = start, d = start;
    for (let i = 0; i < I; i++) {
      const w = weight[o * I + i];
      a += x[row + i] * w;
      b += x[row + I + i] * w;
      c += x[row + 2 * I + i] * w;
      d += x[row + 3 * I + i] * w;
    }
    y[t * O + o] = a; y[(t + 1) * O + o] = b; y[(t + 2) * O + o] = c; y[(t + 3) * O + o] = d;
  }
};

/** The same for one row, as in decoding: each of its numbers is read once for four outputs. */
const oneRow = (x, weight, bias, y, I, O) => {
  let o = 0;
  for (; o + 4 <= O; o += 4) {
    const first = o * I, second = first + I, third = second + I, fourth = third + I;
    let a = bias ? bias[o] : 0, b = bias ? bias[o + 1] : 0, c = bias ? bias[o + 2] : 0, d = bias ? bias[o + 3] : 0;
    for (let i = 0; i < I; i++) {
      const number = x[i];
      a += number * weight[first + i];
      b += number * weight[second + i];
      c += number * weight[third + i];
      d += number * weight[fourth + i];
    }
    y[o] = a; y[o + 1] = b; y[o + 2] = c; y[o + 3] = d;
  }
  for (; o < O; o++) {
    let sum = bias ? bias[o] : 0;
    for (let i = 0; i < I; i++) sum += x[i] * weight[o * I + i];
    y[o] = sum;
  }
};

/** y = w v: rows of weights (T, S) over values (S, K). -> (T, K) */
const weighted = (w, v) => {
  const [T, S] = w.shape, K = v.shape[1], y = tensor([T, K]), sums = new Float64Array(K);
  for (let t = 0; t < T; t++) {
    sums.fill(0);
    for (let s = 0; s < S; s++) {
      const weight = w.data[t * S + s];
      if (weight) for (let k = 0; k < K; k++) sums[k] += weight * v.data[s * K + k];
    }
    y.data.set(sums, t * K);
  }
  return y;
};

/** The rows of a table (V, D) at these ids: `nn.Embedding`. -> (T, D) */
const embedding = (table, ids) => {
  const D = table.shape[1], x = tensor([ids.length, D]);
  ids.forEach((id, t) => x.data.set(table.data.subarray(id * D, (id + 1) * D), t * D));
  return x;
};

/** (x − mean) / √(variance + ε) · weight + bias, of each row. (…, D) -> (…, D) */
const layerNorm = (x, weight, bias, eps) => {
  const D = weight.data.length, y = tensor(x.shape);
  for (let row = 0; row < x.data.length; row += D) {
    let mean = 0, variance = 0;
    for (let d = 0; d < D; d++) mean += x.data[row + d] / D;
    for (let d = 0; d < D; d++) variance += (x.data[row + d] - mean) ** 2 / D;
    const factor = 1 / Math.sqrt(variance + eps);
    for (let d = 0; d < D; d++) y.data[row + d] = (x.data[row + d] - mean) * factor * weight.data[d] + bias.data[d];
  }
  return y;
};

/** x / √(mean(x²) + ε) · weight, of each row. (…, D) -> (…, D) */
const rmsNorm = (x, weight, eps) => {
  const D = weight.data.length, y = tensor(x.shape);
  for (let row = 0; row < x.data.length; row += D) {
    let square = 0;
    for (let d = 0; d < D; d++) square += x.data[row + d] ** 2 / D;
    const factor = 1 / Math.sqrt(square + eps);
    for (let d = 0; d < D; d++) y.data[row + d] = x.data[row + d] * factor * weight.data[d];
  }
  return y;
};

/** Cut the columns into heads: (T, H·K) -> (H, T, K). */
const split = (x, H) => {
  const T = x.shape[0], K = x.shape[1] / H, y = tensor([H, T, K]);
  for (let h = 0; h < H; h++)
    for (let t = 0; t < T; t++)
      for (let k = 0; k < K; k++) y.data[(h * T + t) * K + k] = x.data[(t * H + h) * K + k];
  return y;
};

/** Put the heads side by side again: (H, T, K) -> (T, H·K). */
const join = (x) => {
  const [H, T, K] = x.shape, y = tensor([T, H * K]);
  for (let h = 0; h < H; h++)
    for (let t = 0; t < T; t++)
      for (let k = 0; k < K; k++) y.data[(t * H + h) * K + k] = x.data[(h * T + t) * K + k];
  return y;
};

/** The matrix of one head: (H, T, K) -> (T, K). In a cache there is `room` for more positions than T. */
const headOf = ({ shape: [, T, K], data, room = T }, h) => tensor([T, K], data.subarray(h * room * K, (h * room + T) * K));

/** A matrix for each head, matrix(h) (T, K), as one tensor (H, T, K). */
const perHead = (H, matrix) => {
  const matrices = Array.from({ length: H }, (_, h) => matrix(h)), y = tensor([H, ...matrices[0].shape]);
  matrices.forEach(({ data }, h) => y.data.set(data, h * data.length));
  return y;
};

/** More positions behind those already there: (G, S, K) and (G, T, K) -> (G, S + T, K). While there is room, they are
 *  written into `old`'s own numbers; else all move to where there is twice as much room. */
const append = (old, added) => {
  if (!old) return added;
  const [G, S, K] = old.shape, T = added.shape[1], before = old.room ?? S;
  const room = S + T <= before ? before : 2 * (S + T);
  const data = room === before ? old.data : new Float32Array(G * room * K);
  for (let g = 0; g < G; g++) {
    if (data !== old.data) data.set(headOf(old, g).data, g * room * K);
    data.set(headOf(added, g).data, (g * room + S) * K);
  }
  return { shape: [G, S + T, K], data, room };
};

/** softmax of each row (…, S) over the keys that `mask` (T, S) allows; a row that may see nothing gets zeros. */
const maskedSoftmax = (scores, mask) => {
  const S = scores.shape.at(-1), weights = tensor(scores.shape);
  for (let row = 0; row < scores.data.length; row += S) {
    const allowed = row % mask.data.length; // the same mask for all heads
    let top = -Infinity, sum = 0;
    for (let s = 0; s < S; s++) if (mask.data[allowed + s]) top = Math.max(top, scores.data[row + s]);
    for (let s = 0; s < S; s++)
      if (mask.data[allowed + s]) sum += weights.data[row + s] = Math.exp(scores.data[row + s] - top);
    for (let s = 0; s < S; s++) if (sum) weights.data[row + s] /= sum;
  }
  return weights;
};

/** softmax(logits / temperature) of one row of logits (V); at temperature 0 all of it goes to the likeliest. */
export const probabilities = (logits, temperature = 1) => {
  const top = logits.reduce((a, b) => Math.max(a, b));
  const powers = logits.map((logit) => (temperature ? Math.exp((logit - top) / temperature) : Number(logit === top)));
  const sum = powers.reduce((a, b) => a + b);
  return powers.map((power) => power / sum);
};

/** The error function to 1.5e-7. Source: Abramowitz and Stegun 1964, formula 7.1.26. */
const erf = (x) => {
  const t = 1 / (1 + 0.3275911 * Math.abs(x));
  const sum = t * (0.254829592 + t * (-0.284496736 + t * (1.421413741 + t * (-1.453152027 + t * 1.061405429))));
  return Math.sign(x) * (1 - sum * Math.exp(-x * x));
};

const sigmoid = (x) => 1 / (1 + Math.exp(-x));

const ACTIVATIONS = {
  relu: (x) => Math.max(0, x),
  relu2: (x) => Math.max(0, x) ** 2,
  gelu: (x) => (x / 2) * (1 + erf(x / Math.SQRT2)),
  gelu_tanh: (x) => (x / 2) * (1 + Math.tanh(Math.sqrt(2 / Math.PI) * (x + 0.044715 * x ** 3))),
  silu: (x) => x * sigmoid(x),
  sigmoid,
};

/** One float16, given as its 16 bits: sign, 5 bits of the exponent, 10 bits of the fraction. */
const half = (bits) => {
  const sign = bits >> 15 ? -1 : 1, exponent = (bits >> 10) & 31, fraction = bits & 1023;
  if (exponent === 31) return fraction ? NaN : sign * Infinity;
  return sign * (exponent ? 2 ** (exponent - 15) * (1 + fraction / 1024) : 2 ** -24 * fraction);
};

/** Many of them; each of the 65,536 is computed once. */
const halves = (bits) => {
  const table = Float32Array.from({ length: 65536 }, (_, i) => half(i)), numbers = new Float32Array(bits.length);
  for (let i = 0; i < bits.length; i++) numbers[i] = table[bits[i]];
  return numbers;
};
