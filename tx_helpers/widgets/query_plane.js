// A plane with a disc for each key, as large as its weight, and an arrow for the query. The tip of the arrow is moved by
// the mouse or a finger, or by the arrow keys (Shift: larger steps); its place becomes `value`. The weights and the
// output come from the kernel.

const SVG = "http://www.w3.org/2000/svg";
const SIZE = 380, EDGE = 18, ROOM = 1.25; // pixels; and how far the plane goes beyond where the query may go
const BLUE = "#0072B2", RED = "#D55E00", GREEN = "#009E73", INK = "#1F2933", MUTED = "#52606D", RULE = "#CBD2D9";
const PAPER = "#FCFCFA";
const STEP = { ArrowRight: [1, 0], ArrowLeft: [-1, 0], ArrowUp: [0, 1], ArrowDown: [0, -1] };

const element = (tag, attributes, text = "") => {
  const node = document.createElementNS(SVG, tag);
  set(node, attributes);
  node.textContent = text; // never markup
  return node;
};
const set = (node, attributes) => {
  for (const [name, value] of Object.entries(attributes)) node.setAttribute(name, value);
};

const render = ({ model, el }) => {
  const limit = model.get("limit");
  const unit = SIZE / 2 / (limit * ROOM);
  const across = (x) => SIZE / 2 + x * unit;
  const down = (y) => SIZE / 2 - y * unit;
  const svg = element("svg", {
    class: "tx-plane", viewBox: `0 0 ${SIZE} ${SIZE}`, role: "group", "aria-label": "Plane of keys and query",
    "font-family": "sans-serif", "font-size": 13, style: `width: 100%; max-width: ${SIZE}px; height: auto; display: block`,
  });
  svg.append(
    element("rect", { x: 0.5, y: 0.5, width: SIZE - 1, height: SIZE - 1, rx: 12, fill: PAPER, stroke: RULE }),
    element("path", { d: `M${EDGE},${down(0)}H${SIZE - EDGE}M${across(0)},${EDGE}V${SIZE - EDGE}`, stroke: MUTED }),
    element("text", { x: SIZE - 10, y: down(0) + 18, fill: MUTED, "text-anchor": "end" }, model.get("axes")[0]),
    element("text", { x: across(0) - 8, y: 28, fill: MUTED, "text-anchor": "end" }, model.get("axes")[1]),
  );
  const points = model.get("points");
  const discs = points.map(([x, y]) =>
    element("circle", { cx: across(x), cy: down(y), r: 2, fill: GREEN, "fill-opacity": 0.45, stroke: GREEN }));
  const labels = points.map(([x, y], n) =>
    element("text", {
      x: across(x), y: down(y) + 4, fill: INK, "text-anchor": "middle",
      stroke: PAPER, "stroke-width": 3, "paint-order": "stroke", // a rim, so that a word reads on an axis, too
    }, model.get("names")[n]));
  const output = element("path", { fill: RED, stroke: "#FFFFFF" });
  const arrow = element("line", { x1: across(0), y1: down(0), stroke: BLUE, "stroke-width": 3 });
  const handle = element("circle", {
    r: 10, fill: BLUE, stroke: "#FFFFFF", "stroke-width": 2, role: "slider", tabindex: 0,
    "aria-label": model.get("description"), "aria-valuemin": -limit, "aria-valuemax": limit,
  });
  svg.append(...discs, arrow, output, ...labels, handle);

  const show = () => {
    const [x, y] = model.get("value");
    set(arrow, { x2: across(x), y2: down(y) });
    set(handle, { cx: across(x), cy: down(y), "aria-valuenow": x, "aria-valuetext": `x ${x}, y ${y}` });
  };
  const answer = () => {
    const weights = model.get("weights");
    const [x, y] = model.get("output");
    discs.forEach((disc, n) => disc.setAttribute("r", 2 + 34 * Math.sqrt(weights[n] ?? 0)));
    if (x !== undefined) output.setAttribute("d", `M${across(x)},${down(y) - 8}l8,8l-8,8l-8,-8z`);
  };
  const within = (part) => Math.round(10 * Math.min(limit, Math.max(-limit, part))) / 10;
  const move = (x, y) => {
    if (el.closest(".jupyter-widgets-disconnected")) return; // after a restart no kernel would answer
    model.set("value", [within(x), within(y)]);
    model.save_changes();
  };
  const follow = (event) => {
    const place = svg.getBoundingClientRect();
    const scale = SIZE / place.width;
    const [x, y] = [(event.clientX - place.left) * scale, (event.clientY - place.top) * scale];
    move((x - SIZE / 2) / unit, (SIZE / 2 - y) / unit);
  };
  handle.addEventListener("pointerdown", (event) => {
    handle.setPointerCapture(event.pointerId);
    handle.focus();
    event.preventDefault();
  });
  handle.addEventListener("pointermove", (event) => {
    if (handle.hasPointerCapture(event.pointerId)) follow(event);
  });
  handle.addEventListener("keydown", (event) => {
    const step = STEP[event.key];
    if (!step) return;
    const [x, y] = model.get("value");
    const size = event.shiftKey ? 0.5 : 0.1;
    move(x + size * step[0], y + size * step[1]);
    event.preventDefault();
    event.stopPropagation();
  });
  show();
  answer();
  const heard = [["change:value", show], ["change:weights", answer], ["change:output", answer]];
  heard.forEach(([event, call]) => model.on(event, call));
  el.append(svg);
  return () => heard.forEach(([event, call]) => model.off(event, call));
};

export default { render };
