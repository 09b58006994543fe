// Scores, + mask, weights: three tables in a row. The mask is a table of checkboxes. The kernel says what the rules
// allow and what it computed (`table`); what is set by hand is kept in `value` as "query,key:1" or "query,key:0", and is
// dropped again where it says what the rules say. One cell at a time can be reached by Tab; the arrow keys, Home and End
// go on from there, and Space, Enter or a click changes the cell. The cell under the mouse or the focus is framed in all
// three tables. The functions share one object, `grid`, made in `render`. masks.py draws the same for stored notebooks.

const [CELL, LEFT, TOP, RIGHT, BOTTOM] = [32, 66, 92, 40, 44];
const STEP = { ArrowRight: [0, 1], ArrowLeft: [0, -1], ArrowDown: [1, 0], ArrowUp: [-1, 0] };
const [INK, MUTED, PAPER, WHITE, PALE, GREY, GOLD, ORANGE, ORANGE_INK] =
  ["#1F2933", "#52606D", "#FCFCFA", "#FFFFFF", "#ECEFF2", "#9AA5B1", "#E69F00", "#D55E00", "#9A4400"];
const TITLES = ["Scores", "+ mask", "→ softmax → weights"];
const DARKEST = 0.6; // of a score's grey: on it black can be read, and white on dark pages
const NUMBERS = "#000000"; // white on dark pages

const byHand = (model) => new Map(model.get("value").map((cell) => cell.split(":")));

const allowedByRules = (model, t, s) => Boolean(model.get("table").base[t][s]);

const allowed = (model, t, s) => {
  const set = byHand(model).get(`${t},${s}`);
  return set === undefined ? allowedByRules(model, t, s) : set === "1";
};

const toggle = ({ model, el }, t, s) => {
  if (isDisconnected(el)) return;
  const cells = byHand(model), next = !allowed(model, t, s);
  if (next === allowedByRules(model, t, s)) cells.delete(`${t},${s}`);
  else cells.set(`${t},${s}`, next ? "1" : "0");
  model.set("value", [...cells].map((pair) => pair.join(":")));
  model.save_changes();
};

/** From now on Tab reaches this cell. */
const reach = (grid, t, s) => {
  const [row, column] = grid.place;
  grid.cells[row]?.[column]?.setAttribute("tabindex", -1);
  grid.place = [t, s];
  grid.cells[t][s].setAttribute("tabindex", 0);
  frame(grid, t, s);
};

const go = (grid, t, s) => {
  reach(grid, t, s);
  grid.cells[t][s].focus();
};

const press = (event, grid, t, s) => {
  const last = { row: grid.cells.length - 1, column: grid.cells[t].length - 1 };
  if (event.key === "Enter" || event.key === " ") toggle(grid, t, s);
  else if (event.key in STEP || event.key === "Home" || event.key === "End") {
    const [down, right] = STEP[event.key] ?? [0, event.key === "Home" ? -s : last.column - s];
    go(grid, Math.min(last.row, Math.max(0, t + down)), Math.min(last.column, Math.max(0, s + right)));
  } else return;
  handled(event);
};

const minus = (number, digits) => number.toFixed(digits).replace("-", "−");
const weightText = (weight) => (weight === null ? "NaN" : weight.toFixed(2));

/** The frame around the same cell of the scores and the weights, and what happens there in words. */
const frame = (grid, t, s) => {
  const { queries, keys, scores, weights, fill } = grid.model.get("table");
  for (const node of grid.frames) set(node, { x: LEFT + CELL * s, y: TOP + CELL * t });
  const term = allowed(grid.model, t, s) ? "0" : fill;
  const said = `score ${minus(scores[t][s], 2)}, mask ${term}, weight ${weightText(weights[t][s])}`;
  grid.line.textContent = `Query ${queries[t]}, key ${keys[s]}: ${said}`;
  grid.cells[t][s].setAttribute("aria-description", said);
};

const paintMask = ({ model, cells }, changed, fill) =>
  cells.forEach((row, t) =>
    row.forEach((node, s) => {
      const may = allowed(model, t, s), own = changed.has(`${t},${s}`);
      const [box, sign] = node.children;
      node.setAttribute("aria-checked", may);
      set(box, { fill: may ? WHITE : MUTED, stroke: own ? ORANGE : MUTED, "stroke-width": own ? 3 : 1 });
      sign.setAttribute("fill", may ? INK : PAPER);
      sign.textContent = may ? "0" : fill;
    }),
  );

const paintWeights = ({ model, weightCells, sums }, weights) =>
  weightCells.forEach((row, t) => {
    row.forEach(([box, text], s) => {
      const weight = weights[t][s], may = allowed(model, t, s);
      const closed = !may && weight === 0;
      set(box, {
        fill: closed ? PALE : GOLD, "fill-opacity": closed ? 1 : weight ?? 0, stroke: may || closed ? "#DDDDDD" : ORANGE,
      });
      text.textContent = closed ? "" : weightText(weight);
      text.setAttribute("fill", weight > 0.62 ? "#000" : NUMBERS);
    });
    const sum = weights[t].includes(null) ? null : weights[t].reduce((a, b) => a + b, 0);
    sums[t].textContent = weightText(sum);
    sums[t].setAttribute("fill", row.some((_, s) => allowed(model, t, s)) ? INK : ORANGE_INK);
  });

const paint = (grid) => {
  const { weights, fill } = grid.model.get("table");
  if (!grid.cells.length) return;
  paintMask(grid, byHand(grid.model), fill);
  paintWeights(grid, weights);
  frame(grid, ...grid.place);
};

/** A square of a table with its text, at (t, s); the mouse on it frames the cell in all tables. */
const square = (grid, t, s) => {
  const [x, y] = [LEFT + CELL * s, TOP + CELL * t];
  const box = element("rect", { x, y, width: CELL - 3, height: CELL - 3, rx: 3, stroke: "#DDDDDD" });
  box.addEventListener("pointerenter", () => frame(grid, t, s));
  return [
    box,
    element("text", {
      x: x + CELL / 2 - 1.5, y: y + CELL / 2 + 2.5, "text-anchor": "middle", "font-size": 11, "aria-hidden": "true",
      fill: NUMBERS, style: "pointer-events: none",
    }),
  ];
};

const checkbox = (grid, t, s, name) => {
  const node = element("g", { role: "checkbox", "aria-label": name, tabindex: -1 });
  node.append(...square(grid, t, s));
  node.addEventListener("click", () => {
    toggle(grid, t, s);
    go(grid, t, s);
  });
  node.addEventListener("keydown", (event) => press(event, grid, t, s));
  return node;
};

/** One table with its title, the words of keys and queries, and its scale: [shade, opacity, label] for each mark. */
const panel = ({ queries, keys }, title, label, scale) => {
  const [width, height] = [LEFT + CELL * keys.length + RIGHT, TOP + CELL * queries.length + BOTTOM];
  const svg = drawing(width, height, label, { class: "tx-mask", "font-size": 12.5 });
  const put = (text, attributes) => svg.append(element("text", { fill: INK, ...attributes }, text));
  put(title, { x: LEFT + (CELL * keys.length) / 2, y: 22, "text-anchor": "middle", "font-weight": "bold", "font-size": 14 });
  put("key →", { x: LEFT - 8, y: TOP - 26, "text-anchor": "end", "font-size": 11, fill: MUTED });
  put("query ↓", { x: LEFT - 8, y: TOP - 10, "text-anchor": "end", "font-size": 11, fill: MUTED });
  keys.forEach((key, s) => put(key, { transform: `translate(${LEFT + CELL * (s + 0.5) + 2},${TOP - 8}) rotate(-45)` }));
  queries.forEach((query, t) => put(query, { x: LEFT - 8, y: TOP + CELL * (t + 0.5) + 3, "text-anchor": "end" }));
  const room = (width - 24) / scale.length;
  scale.forEach(([fill, opacity, said], n) => {
    const x = 14 + room * n;
    svg.append(element("rect", { x, y: height - 26, width: 14, height: 14, rx: 3, fill, "fill-opacity": opacity, stroke: MUTED }));
    put(said, { x: x + 20, y: height - 14.5, "font-size": 11 });
  });
  return svg;
};

const scorePanel = (grid, table) => {
  const every = table.scores.flat(), low = Math.min(...every), high = Math.max(...every);
  const share = (score) => (DARKEST * (score - low)) / (high - low || 1);
  const marks = [low, (low + high) / 2, high].map((score) => [GREY, share(score), minus(score, 1)]);
  const svg = panel(table, TITLES[0], "Scores of each query and key", marks);
  table.scores.forEach((row, t) => row.forEach((score, s) => {
    const [box, text] = square(grid, t, s);
    set(box, { fill: GREY, "fill-opacity": share(score) });
    text.textContent = minus(score, 1);
    svg.append(box, text);
  }));
  return svg;
};

const weightPanel = (grid, table) => {
  const svg = panel(table, TITLES[2], "Weights after the softmax", [0, 0.5, 1].map((share) => [GOLD, share, share.toFixed(1)]));
  const right = LEFT + CELL * table.keys.length + 18;
  svg.append(element("text", { x: right, y: TOP - 8, "text-anchor": "middle", "font-size": 12, fill: INK }, "sum"));
  grid.weightCells = table.queries.map((_, t) => table.keys.map((_, s) => square(grid, t, s)));
  grid.sums = table.queries.map((_, t) =>
    element("text", { x: right, y: TOP + CELL * (t + 0.5) + 3, "text-anchor": "middle", "font-size": 12 }));
  svg.append(...grid.weightCells.flat(2), ...grid.sums);
  return svg;
};

/** The tables anew: other rules, or another number of tokens. */
const build = (grid) => {
  const { model, el } = grid, table = model.get("table"), { queries, keys, fill } = table;
  const focused = el.contains(document.activeElement);
  const mask = panel(table, TITLES[1], model.get("description"), [[WHITE, 1, "0: may look"], [MUTED, 1, `${fill}: may not`]]);
  grid.cells = queries.map((query, t) => keys.map((key, s) => checkbox(grid, t, s, `query ${t} ${query}, key ${s} ${key}`)));
  mask.append(...grid.cells.flat());
  const row = document.createElement("div");
  row.className = "tx-masks";
  row.append(scorePanel(grid, table), mask, weightPanel(grid, table));
  grid.frames = [row.firstChild, row.lastChild].map((svg) => {
    const node = element("rect", { width: CELL - 3, height: CELL - 3, rx: 3, fill: "none", stroke: INK, "stroke-width": 2 });
    svg.append(node);
    return node;
  });
  grid.line = document.createElement("div");
  grid.line.style = "margin: 6px 2px; font-size: 13px";
  el.replaceChildren(row, grid.line);
  if (!queries.length) return;
  const [t, s] = grid.place = [Math.min(grid.place[0], queries.length - 1), Math.min(grid.place[1], keys.length - 1)];
  reach(grid, t, s);
  paint(grid);
  if (focused) grid.cells[t][s].focus();
};

const shape = ({ scores, queries, keys, fill }) => JSON.stringify([scores, queries, keys, fill]);

const render = ({ model, el }) => {
  const grid = { model, el, cells: [], place: [0, 0] }; // cells: rows of nodes; place: the one that Tab reaches
  let drawn = "";
  const refresh = () => {
    const now = shape(model.get("table"));
    if (now === drawn) paint(grid);
    else build(grid);
    drawn = now;
  };
  const repaint = () => paint(grid);
  refresh();
  model.on("change:table", refresh);
  model.on("change:value", repaint);
  return () => {
    model.off("change:table", refresh);
    model.off("change:value", repaint);
  };
};

export default { render };
