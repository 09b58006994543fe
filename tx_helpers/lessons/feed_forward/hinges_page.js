// The explorer of hinges on a page without a kernel: what hinges.py computes, draws and says. The pictures come from
// Python, cut where the lines of the units and of their sum stand; f comes as a table, since JavaScript has no GELU.

/** vₖ f(x − pₖ) over the grid of x. */
const unitOf = (values, unit, { table, first, step, xs }) => {
  const bent = table[values.function], offset = Math.round((xs[0] - values[`p${unit}`] - first) / step);
  return xs.map((_, n) => values[`v${unit}`] * bent[n + offset]);
};

const pointsOf = (ys, [low, high], { left, right, top, bottom }) =>
  ys.map((y, n) => {
    const share = (Math.min(Math.max(y, low), high) - low) / (high - low);
    const across = left + (n / (ys.length - 1)) * (right - left);
    return `${across.toFixed(1)},${(bottom - share * (bottom - top)).toFixed(1)}`;
  }).join(" ");

const shapeOf = (values, { straight }) => {
  const all = [1, 2, 3].map((unit) => [values[`p${unit}`], values[`v${unit}`]]);
  const bends = all.filter(([, slope]) => slope).sort(([p, v], [q, w]) => p - q || v - w);
  if (values.function === straight) return "a straight line, whatever the slopes";
  if (!bends.length) return "no unit writes anything";
  const said = bends.map(([place, slope]) => `${slope > 0 ? "+" : ""}${slope} at x = ${place}`).join(", ");
  return `the slope changes by ${said.replaceAll("-", "−")}${values.function === "ReLU" ? "" : ", softly"}`;
};

const compute = (values, given) => {
  const units = [1, 2, 3].map((unit) => unitOf(values, unit, given)), goal = given.targets[values.target];
  const total = given.xs.map((_, n) => units.reduce((sum, ys) => sum + ys[n], 0));
  const error = total.reduce((sum, y, n) => sum + Math.abs(y - goal[n]), 0) / total.length;
  const hit = error < given.solved ? "met" : "not met";
  const alt =
    `${values.function}: ${shapeOf(values, given)}. Mean distance from the target, ${values.target}: ` +
    `${error.toFixed(2)} (${hit}).`;
  const { left, right } = given.limits, pieces = given.pictures[values.target];
  const lines = [...units.map((ys) => pointsOf(ys, left, given.frame)), pointsOf(total, right, given.frame), ""];
  const markup = pieces.map((piece, n) => piece + lines[n]).join("").replace("ALT", () => alt);
  return { alt, markup };
};

export default compute;
