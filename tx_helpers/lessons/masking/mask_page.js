// The explorer of masks on a page without a kernel: what masks.py computes and says, for the tables of mask_grid.js.

/** What the rules allow: no later position, no <pad>, no position more than window − 1 away. */
const compose = (tokens, { causal, padding, window }) =>
  tokens.map((_, t) =>
    tokens.map((key, s) => Math.abs(t - s) < window && !(causal && s > t) && !(padding && key === "<pad>")));

const setByHand = (base, cells) => {
  const mask = base.map((row) => [...row]);
  for (const cell of cells) {
    const [place, allowed] = cell.split(":"), [t, s] = place.split(",").map(Number);
    if (t < mask.length && s < mask.length) mask[t][s] = allowed === "1";
  }
  return mask;
};

/** The softmax of a row under its mask. Without an allowed key: zeros (ours), NaN (−∞ alone) or equal weights (−1e9). */
const weightsOf = (scores, mask, fill) => {
  if (fill === "ours" && !mask.includes(true)) return scores.map(() => 0);
  const filled = scores.map((score, s) => (mask[s] ? score : fill === "large" ? -1e9 : -Infinity));
  const largest = Math.max(...filled), powers = filled.map((score) => Math.exp(score - largest));
  const sum = powers.reduce((a, b) => a + b, 0);
  return powers.map((power) => power / sum);
};

const fate = (weights) => {
  const sum = weights.reduce((a, b) => a + b, 0);
  if (Number.isNaN(sum)) return "its weights are NaN";
  return sum === 0 ? "its weights are 0" : `its weights sum to ${sum.toFixed(2)}, all on masked keys`;
};

const describe = (weights, mask, tokens) => {
  const cells = mask.flat(), allowed = `${cells.filter(Boolean).length} of ${cells.length} cells allowed.`;
  const empty = tokens.map((token, t) => [mask[t].includes(true), `query ${t} ${token} (${fate(weights[t])})`]);
  const named = empty.filter(([any]) => !any).map(([, said]) => said);
  if (named.length) return `${allowed} Fully masked: ${named.join(", ")}.`;
  return `${allowed} Every row sums to 1.00: each query has at least one allowed key.`;
};

const compute = (values, given) => {
  const tokens = given.tokens.slice(0, values.length), base = compose(tokens, values);
  const scores = given.scores.slice(0, values.length).map((row) => row.slice(0, values.length));
  const mask = setByHand(base, values.mask);
  const weights = scores.map((row, t) => weightsOf(row, mask[t], values.fill));
  const table = {
    base: base.map((row) => row.map(Number)), scores, queries: tokens, keys: tokens,
    weights: weights.map((row) => row.map((weight) => (Number.isNaN(weight) ? null : weight))),
    fill: values.fill === "large" ? "−1e9" : "−∞",
  };
  return { alt: describe(weights, mask, tokens), traits: { mask: { table } } };
};

export default compute;
