// The numbers of the attention stepper, and how each of them is computed, in words.

/** a (n, m) times b (m, p). */
const times = (a, b) => a.map((row) => b[0].map((_, j) => row.reduce((sum, value, i) => sum + value * b[i][j], 0)));

const transposed = (a) => a[0].map((_, j) => a.map((row) => row[j]));

const softmax = (row) => {
  const powers = row.map((score) => Math.exp(score - Math.max(...row)));
  const sum = powers.reduce((total, power) => total + power, 0);
  return powers.map((power) => power / sum);
};

/** All matrices, from x to the output; `root`: are the scores divided by √d_k? */
export const attend = ({ x, W_Q, W_K, W_V, root, temperature }) => {
  const Q = times(x, W_Q), K = times(x, W_K), V = times(x, W_V), scores = times(Q, transposed(K));
  const divisor = (root ? Math.sqrt(K[0].length) : 1) * temperature;
  const scaled = scores.map((row) => row.map((score) => score / divisor)), weights = scaled.map(softmax);
  return { x, W_Q, W_K, W_V, Q, K, V, scores, scaled, weights, out: times(weights, V), divisor };
};

/** At most two decimals; a half is rounded away from zero, in Python as well. */
const short = (value) => {
  if (value >= 1e6) return "over a million";
  const size = Math.floor(Math.abs(value) * 100 + 0.5 + 1e-9) / 100;
  return (value < 0 && size > 0 ? "−" : "") + size.toFixed(2).replace(/\.?0+$/, "");
};

const vector = (row) => `(${row.map(short).join(", ")})`;

/** 1·2 + 0·0 + (−1)·0: a negative number has brackets. */
const products = (a, b) => {
  const factor = (value) => (short(value)[0] === "−" ? `(${short(value)})` : short(value));
  return a.map((value, i) => `${factor(value)}·${factor(b[i])}`).join(" + ");
};

/** What the scores are divided by, as it is written: √4, or √4 · 0.5 with a temperature. */
const divisorName = ({ root, temperature, W_K }) => {
  const parts = [root ? `√${W_K[0].length}` : "", temperature === 1 ? "" : short(temperature)].filter(Boolean);
  return parts.join(" · ") || "1";
};

const column = (matrix, j) => matrix.map((row) => row[j]);

/** The arithmetic of one cell, in words and numbers. */
export const explain = (state, found, matrix, t, j) => {
  const words = state.words.map((word) => `'${word}'`), value = short(found[matrix][t][j]);
  const projected = (letter) =>
    `${letter} of ${words[t]}, entry ${j + 1}: row ${words[t]} of x times column ${j + 1} of W_${letter.toUpperCase()}, ` +
    `${products(found.x[t], column(found[`W_${letter.toUpperCase()}`], j))} = ${value}.`;
  const given = (letter) =>
    `W_${letter.toUpperCase()}, row ${t + 1}, column ${j + 1}: ${value}. It says how much number ${t + 1} of x adds to ` +
    `entry ${j + 1} of ${letter}.`;
  const powers = (found.scaled[t] ?? []).map(Math.exp); // W has rows of its own
  const sum = powers.reduce((total, power) => total + power, 0);
  return {
    x: () => `x of ${words[t]}, number ${j + 1}: ${value}.`,
    W_Q: () => given("q"), W_K: () => given("k"), W_V: () => given("v"),
    Q: () => projected("q"), K: () => projected("k"), V: () => projected("v"),
    scores: () => `Score: the query of ${words[t]} times the key of ${words[j]}, ` +
      `${products(found.Q[t], found.K[j])} = ${value}.`,
    scaled: () => `Scaled: the score ${short(found.scores[t][j])} divided by ${divisorName(state)} is ${value}.`,
    weights: () => `Weight of ${words[j]} for ${words[t]}: e to the power ${short(found.scaled[t][j])} is ` +
      `${short(powers[j])}; divided by the sum of its row, ${powers.map(short).join(" + ")} = ${short(sum)}, it is ${value}.`,
    out: () => `Output of ${words[t]}, entry ${j + 1}: weights times column ${j + 1} of the values, ` +
      `${products(found.weights[t], column(found.V, j))} = ${value}.`,
  }[matrix]();
};
