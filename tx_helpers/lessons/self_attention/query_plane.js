// A plane with a square for each key, a disc as large as its weight, and a line to the query. The circle at its end is
// moved by the mouse or a finger, or by the arrow keys (Shift: larger steps); its place becomes `value`. The weights and
// the output are computed here, so that they follow the hand at once, and also where anywidget lets no message of the kernel
// through: it does so for good if a busy page needs more than two seconds to load this module.

const SIZE = 380, EDGE = 18, ROOM = 1.25; // pixels; and how far the plane goes beyond where the query may go
const QUERY = "#D55E00", KEY = "#0072B2", VALUE = "#009E73", WEIGHT = "#E69F00"; // as in tx_helpers/show/shapes.py
const INK = "#1F2933", MUTED = "#52606D", PAPER = "#FCFCFA";
const STEP = { ArrowRight: [1, 0], ArrowLeft: [-1, 0], ArrowUp: [0, 1], ArrowDown: [0, -1] };

/** softmax(q · k / τ) over the keys, and the weighted mean of the keys, which are the values, too. */
export const attend = ([x, y], keys, temperature) => {
  const scores = keys.map(([a, b]) => (x * a + y * b) / temperature);
  const powers = scores.map((score) => Math.exp(score - Math.max(...scores)));
  const sum = powers.reduce((total, power) => total + power, 0);
  const weights = powers.map((power) => power / sum);
  const mean = (axis) => keys.reduce((total, key, s) => total + weights[s] * key[axis], 0);
  return { weights, output: [mean(0), mean(1)] };
};

/** Where numbers lie on the screen: pixels a unit, and the pixels of an x and of a y. */
const scaleOf = (limit) => {
  const unit = SIZE / 2 / (limit * ROOM);
  return { unit, across: (x) => SIZE / 2 + x * unit, down: (y) => SIZE / 2 - y * unit };
};

/** The drawing, and those of its parts that will move. */
const build = (model, { across, down }) => {
  const limit = model.get("limit"), points = model.get("points"), [xName, yName] = model.get("axes");
  const svg = drawing(SIZE, SIZE, "Plane of keys and query", { class: "tx-plane", "font-size": 13 });
  svg.append(
    element("path", { d: `M${EDGE},${down(0)}H${SIZE - EDGE}M${across(0)},${EDGE}V${SIZE - EDGE}`, stroke: MUTED }),
    element("text", { x: SIZE - 10, y: down(0) + 18, fill: MUTED, "text-anchor": "end" }, xName),
    element("text", { x: across(0) - 8, y: 28, fill: MUTED, "text-anchor": "end" }, yName),
  );
  const discs = points.map(([x, y]) =>
    element("circle", { cx: across(x), cy: down(y), r: 2, fill: WEIGHT, "fill-opacity": 0.28, stroke: WEIGHT }));
  const squares = points.map(([x, y]) =>
    element("rect", { x: across(x) - 5, y: down(y) - 5, width: 10, height: 10, fill: KEY }));
  const labels = points.map(([x, y], n) =>
    element("text", {
      x: across(x), y: down(y) + 20, fill: INK, "text-anchor": "middle",
      stroke: PAPER, "stroke-width": 3, "paint-order": "stroke", // a rim, so that a word reads on an axis, too
    }, model.get("names")[n]));
  const output = element("path", { fill: VALUE, stroke: INK, "stroke-width": 2 });
  const arrow = element("line", { x1: across(0), y1: down(0), stroke: QUERY, "stroke-width": 3 });
  const handle = element("circle", {
    r: 13, fill: QUERY, stroke: "#FFFFFF", "stroke-width": 2, role: "slider", tabindex: 0,
    "aria-label": model.get("description"), "aria-valuemin": -limit, "aria-valuemax": limit,
  });
  svg.append(...discs, ...squares, arrow, output, ...labels, handle);
  return { plane: svg, discs, output, arrow, handle };
};

const draw = (model, { discs, output, arrow, handle }, { across, down }) => {
  const [x, y] = model.get("value");
  set(arrow, { x2: across(x), y2: down(y) });
  set(handle, { cx: across(x), cy: down(y), "aria-valuenow": x, "aria-valuetext": `x ${x}, y ${y}` });
  const answer = attend([x, y], model.get("points"), model.get("temperature"));
  discs.forEach((disc, n) => disc.setAttribute("r", 2 + 34 * Math.sqrt(answer.weights[n])));
  output.setAttribute("d", `M${across(answer.output[0])},${down(answer.output[1]) - 8}l8,8l-8,8l-8,-8z`);
};

const listen = (model, { plane, handle }, { unit }) => {
  const limit = model.get("limit");
  const within = (part) => Math.round(10 * Math.min(limit, Math.max(-limit, part))) / 10;
  const move = (x, y) => {
    if (isDisconnected(plane)) return;
    model.set("value", [within(x), within(y)]);
    model.save_changes();
  };
  handle.addEventListener("pointerdown", (event) => {
    handle.setPointerCapture(event.pointerId);
    handle.focus();
    event.preventDefault();
  });
  handle.addEventListener("pointermove", (event) => {
    if (!handle.hasPointerCapture(event.pointerId)) return;
    const place = plane.getBoundingClientRect(), scale = SIZE / place.width;
    const [x, y] = [(event.clientX - place.left) * scale, (event.clientY - place.top) * scale];
    move((x - SIZE / 2) / unit, (SIZE / 2 - y) / unit);
  });
  handle.addEventListener("keydown", (event) => {
    const step = STEP[event.key], [x, y] = model.get("value"), size = event.shiftKey ? 0.5 : 0.1;
    if (!step) return;
    move(x + size * step[0], y + size * step[1]);
    handled(event);
  });
};

const render = ({ model, el }) => {
  const scale = scaleOf(model.get("limit")), parts = build(model, scale);
  const show = () => draw(model, parts, scale);
  listen(model, parts, scale);
  show();
  const events = ["change:value", "change:temperature"];
  events.forEach((event) => model.on(event, show));
  el.append(parts.plane);
  return () => events.forEach((event) => model.off(event, show));
};

export default { render };
