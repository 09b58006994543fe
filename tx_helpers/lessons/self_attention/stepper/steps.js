// The steps: what is known at each, what lights up, what flows where, and the sentence that says it.
//
// A part of the picture is { matrix, row, column }; without a row it means all rows, without a column all columns.

const KINDS = ["x", "q", "k", "v"], LAST = ["scale", "softmax", "mix", "all"];
const FIRST = { x: 0, W_Q: 0, W_K: 0, W_V: 0, Q: 1, K: 2, V: 3 }; // the step from which on a matrix is known
const PROJECTED = { q: "Q", k: "K", v: "V" };

const countSteps = ({ words }) => words.length + KINDS.length + LAST.length;

/** Which step this is, and for a score with which key. */
export const kindOf = ({ words, step }) => {
  const key = step - KINDS.length;
  if (key < 0) return { kind: KINDS[step] };
  return key < words.length ? { kind: "score", key } : { kind: LAST[key - words.length] };
};

/** Has this number been computed at the present step? */
const isKnown = ({ words, step, query }, matrix, row, column) => {
  if (matrix in FIRST) return step >= FIRST[matrix];
  const n = words.length, from = { scores: 4 + column, scaled: n + 4, weights: n + 5, out: n + 6 }[matrix];
  return step === n + 7 || (row === query && step >= from);
};

const covers = (part, matrix, row, column) =>
  part.matrix === matrix && (part.row ?? row) === row && (part.column ?? column) === column;

/** The parts that light up. */
const litParts = (state) => {
  const { kind, key } = kindOf(state), row = state.query, P = PROJECTED[kind];
  return {
    x: () => [{ matrix: "x", row }],
    q: () => [{ matrix: "x", row }, { matrix: "W_Q" }, { matrix: "Q", row }],
    k: () => [{ matrix: "x" }, { matrix: "W_K" }, { matrix: P }],
    v: () => [{ matrix: "x" }, { matrix: "W_V" }, { matrix: P }],
    score: () => [{ matrix: "Q", row }, { matrix: "K", row: key }, { matrix: "scores", row, column: key }],
    scale: () => [{ matrix: "scores", row }, { matrix: "scaled", row }],
    softmax: () => [{ matrix: "scaled", row }, { matrix: "weights", row }],
    mix: () => [{ matrix: "weights", row }, { matrix: "V" }, { matrix: "out", row }],
    all: () => [{ matrix: "weights" }, { matrix: "out" }],
  }[kind]();
};

/** What goes from where to where: [from, to, how much of it]. */
const flowsOf = (state, found) => {
  const { kind, key } = kindOf(state), row = state.query, rows = state.words.map((_, t) => t);
  const along = (from, to, which) => which.map((t) => [{ matrix: from, row: t }, { matrix: to, row: t }, 1]);
  const output = { matrix: "out", row }, score = { matrix: "scores", row, column: key };
  return {
    x: () => [],
    q: () => along("x", "Q", [row]), k: () => along("x", "K", rows), v: () => along("x", "V", rows),
    score: () => [[{ matrix: "Q", row }, score, 1], [{ matrix: "K", row: key }, score, 1]],
    scale: () => along("scores", "scaled", [row]), softmax: () => along("scaled", "weights", [row]),
    mix: () => rows.map((s) => [{ matrix: "V", row: s }, output, found.weights[row][s]]),
    all: () => [],
  }[kind]();
};

/** The parts from which a number is computed. */
const operandsOf = (matrix, row, column) => ({
  Q: [{ matrix: "x", row }, { matrix: "W_Q", column }],
  K: [{ matrix: "x", row }, { matrix: "W_K", column }],
  V: [{ matrix: "x", row }, { matrix: "W_V", column }],
  scores: [{ matrix: "Q", row }, { matrix: "K", row: column }],
  scaled: [{ matrix: "scores", row, column }],
  weights: [{ matrix: "scaled", row }],
  out: [{ matrix: "weights", row }, { matrix: "V", column }],
}[matrix] ?? []);

const best = (row) => row.reduce((top, value, s) => (value > row[top] + 1e-9 ? s : top), 0);

/** The step in words, with its numbers. */
export const describe = (state, found) => {
  const { kind, key } = kindOf(state), t = state.query, words = state.words.map((word) => `'${word}'`), own = words[t];
  const list = (row) => row.map(short).join(", ");
  const powers = found.scaled[t].map(Math.exp), sum = powers.reduce((total, power) => total + power, 0);
  const terms = found.weights[t].map((weight, s) => `${short(weight)} · ${vector(found.V[s])}`).join(" + ");
  const looks = found.weights.map((row, q) => `${words[q]} looks most at ${words[best(row)]} (${short(row[best(row)])})`);
  const said = {
    x: () => `Every word is a row of x. ${own}, which is ${vector(found.x[t])}, will ask.`,
    q: () => `The query of ${own}, what it looks for: its row of x times W_Q is ${vector(found.Q[t])}.`,
    k: () => `The keys, what each word can be found by: x times W_K. The key of ${own} is ${vector(found.K[t])}.`,
    v: () => `The values, what each word passes on: x times W_V. The value of ${own} is ${vector(found.V[t])}.`,
    score: () => `The query of ${own} times the key of ${words[key]}: ${products(found.Q[t], found.K[key])} = ` +
      `${short(found.scores[t][key])}.`,
    scale: () => `The scores ${list(found.scores[t])} divided by ${divisorName(state)} are ${list(found.scaled[t])}.`,
    softmax: () => `The softmax: e to each power, ${list(powers)}, divided by their sum ${short(sum)}. The weights are ` +
      `${list(found.weights[t])}.`,
    mix: () => `The output of ${own} is the weighted sum of the values: ${terms} = ${vector(found.out[t])}.`,
    all: () => `Every word has asked: ${looks.join("; ")}.`,
  }[kind]();
  return `Step ${state.step + 1} of ${countSteps(state)}. ${said}`;
};
