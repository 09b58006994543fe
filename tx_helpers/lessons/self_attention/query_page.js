// The explorer of a query in the plane on a page without a kernel: what query_plane.py computes and says. The discs of
// query_plane.js show the weights.

const inWords = (number, digits) => number.toFixed(digits);

const compute = ({ query: [x, y], temperature }, { names, keys }) => {
  const scores = keys.map(([across, up]) => (x * across + y * up) / temperature), largest = Math.max(...scores);
  const powers = scores.map((score) => Math.exp(score - largest)), sum = powers.reduce((a, b) => a + b, 0);
  const weights = powers.map((power) => power / sum);
  const [best, worst] = [Math.max(...weights), Math.min(...weights)].map((weight) => weights.indexOf(weight));
  const output = [0, 1].map((axis) => keys.reduce((total, key, s) => total + weights[s] * key[axis], 0));
  const named = (s) => `${names[s]} (${inWords(weights[s], 2)})`;
  const alt =
    `Query (${inWords(x, 1)}, ${inWords(y, 1)}), length ${inWords(Math.hypot(x, y), 2)}, temperature ${temperature}: it ` +
    `looks most at ${named(best)}, least at ${named(worst)}. Output (${output.map((part) => inWords(part, 2)).join(", ")}).`;
  return { alt, traits: { query: { temperature } } };
};

export default compute;
