// A mask as a table of checkboxes. The kernel says what the rules allow (`table`); what is set by hand is kept in
// `value` as "query,key:1" or "query,key:0", and is dropped again where it says what the rules say. One cell at a time
// can be reached by Tab; the arrow keys, Home and End go on from there, and Space, Enter or a click changes the cell.
// The functions share one object, `grid`, made in `render`.

const [CELL, LEFT, TOP] = [32, 76, 66];
const STEP = { ArrowRight: [0, 1], ArrowLeft: [0, -1], ArrowDown: [1, 0], ArrowUp: [-1, 0] };
const INK = "#1F2933";

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

const paint = ({ model, cells }) => {
  const set = byHand(model);
  cells.forEach((row, t) =>
    row.forEach((node, s) => {
      const may = allowed(model, t, s), own = set.has(`${t},${s}`);
      const [box, sign] = node.children;
      node.setAttribute("aria-checked", may);
      box.setAttribute("fill", may ? "#DCECF7" : "#ECEFF2");
      box.setAttribute("stroke", own ? "#D55E00" : may ? "#0072B2" : "#9AA5B1");
      box.setAttribute("stroke-width", own ? 3 : 1);
      sign.setAttribute("fill", may ? "#00527F" : "#52606D");
      sign.textContent = may ? "✓" : "–";
    }),
  );
};

const cell = (grid, t, s, name) => {
  const node = element("g", { role: "checkbox", "aria-label": name, tabindex: -1 });
  const [x, y] = [LEFT + CELL * s, TOP + CELL * t];
  node.append(
    element("rect", { x, y, width: CELL - 4, height: CELL - 4, rx: 5 }),
    element("text", { x: x + CELL / 2 - 2, y: y + CELL / 2 + 3, "text-anchor": "middle", "aria-hidden": "true" }),
  );
  node.addEventListener("click", () => {
    toggle(grid, t, s);
    go(grid, t, s);
  });
  node.addEventListener("keydown", (event) => press(event, grid, t, s));
  return node;
};

/** The table anew: other rules, or another number of tokens. */
const build = (grid) => {
  const { model, el } = grid, { base, queries, keys } = model.get("table");
  const focused = el.contains(document.activeElement);
  const [width, height] = [LEFT + CELL * keys.length + 32, TOP + CELL * queries.length + 12];
  const svg = drawing(width, height, model.get("description"), { class: "tx-mask", "font-size": 13 });
  keys.forEach((key, s) => {
    const place = `translate(${LEFT + CELL * (s + 0.5) + 2},${TOP - 8}) rotate(-45)`;
    svg.append(element("text", { transform: place, fill: INK }, key));
  });
  grid.cells = queries.map((query, t) => {
    svg.append(element("text", { x: LEFT - 8, y: TOP + CELL * (t + 0.5) + 4, fill: INK, "text-anchor": "end" }, query));
    const row = keys.map((key, s) => cell(grid, t, s, `query ${t} ${query}, key ${s} ${key}`));
    svg.append(...row);
    return row;
  });
  el.replaceChildren(svg);
  if (base.length === 0) return;
  const [t, s] = grid.place = [Math.min(grid.place[0], queries.length - 1), Math.min(grid.place[1], keys.length - 1)];
  reach(grid, t, s);
  paint(grid);
  if (focused) grid.cells[t][s].focus();
};

const render = ({ model, el }) => {
  const grid = { model, el, cells: [], place: [0, 0] }; // cells: rows of nodes; place: the one that Tab reaches
  const rebuild = () => build(grid), repaint = () => paint(grid);
  rebuild();
  model.on("change:table", rebuild);
  model.on("change:value", repaint);
  return () => {
    model.off("change:table", rebuild);
    model.off("change:value", repaint);
  };
};

export default { render };
