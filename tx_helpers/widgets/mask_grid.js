// A mask as a table of checkboxes. The kernel says what the rules allow (`table`); what is set by hand is kept in
// `value` as "query,key:1" or "query,key:0", and is dropped again where it says what the rules say. One cell at a time
// can be reached by Tab; the arrow keys, Home and End go on from there, and Space, Enter or a click changes the cell.

const SVG = "http://www.w3.org/2000/svg";
const [CELL, LEFT, TOP] = [32, 76, 66];
const STEP = { ArrowRight: [0, 1], ArrowLeft: [0, -1], ArrowDown: [1, 0], ArrowUp: [-1, 0] };
const INK = "#1F2933";

const element = (tag, attributes, text = "") => {
  const node = document.createElementNS(SVG, tag);
  for (const [name, value] of Object.entries(attributes)) node.setAttribute(name, value);
  node.textContent = text; // never markup
  return node;
};

const render = ({ model, el }) => {
  let cells = []; // rows of nodes
  let place = [0, 0]; // the cell that Tab reaches
  const hand = () => new Map(model.get("value").map((cell) => cell.split(":")));

  const allowed = (t, s) => {
    const set = hand().get(`${t},${s}`);
    return set === undefined ? Boolean(model.get("table").base[t][s]) : set === "1";
  };
  const toggle = (t, s) => {
    if (el.closest(".jupyter-widgets-disconnected")) return; // after a restart no kernel would answer
    const cells = hand();
    const next = !allowed(t, s);
    if (next === Boolean(model.get("table").base[t][s])) cells.delete(`${t},${s}`);
    else cells.set(`${t},${s}`, next ? "1" : "0");
    model.set("value", [...cells].map((pair) => pair.join(":")));
    model.save_changes();
  };
  const reach = (t, s) => {
    cells[place[0]]?.[place[1]]?.setAttribute("tabindex", -1);
    place = [t, s];
    cells[t][s].setAttribute("tabindex", 0);
  };
  const press = (event, t, s) => {
    if (event.key === "Enter" || event.key === " ") toggle(t, s);
    else if (event.key in STEP || event.key === "Home" || event.key === "End") {
      const [down, right] = STEP[event.key] ?? [0, event.key === "Home" ? -s : cells[t].length - 1 - s];
      const row = Math.min(cells.length - 1, Math.max(0, t + down));
      const column = Math.min(cells[t].length - 1, Math.max(0, s + right));
      reach(row, column);
      cells[row][column].focus();
    } else return;
    event.preventDefault();
    event.stopPropagation();
  };
  const paint = () => {
    const set = hand();
    cells.forEach((row, t) =>
      row.forEach((node, s) => {
        const may = allowed(t, s);
        const own = set.has(`${t},${s}`);
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
  const build = () => {
    const { base, queries, keys } = model.get("table");
    const focused = el.contains(document.activeElement);
    const [width, height] = [LEFT + CELL * keys.length + 32, TOP + CELL * queries.length + 12];
    const svg = element("svg", {
      class: "tx-mask",
      viewBox: `0 0 ${width} ${height}`,
      role: "group",
      "aria-label": model.get("description"),
      "font-family": "sans-serif",
      "font-size": 13,
      style: `width: 100%; max-width: ${width}px; height: auto; display: block`,
    });
    svg.append(element("rect", { x: 0.5, y: 0.5, width: width - 1, height: height - 1, rx: 12, fill: "#FCFCFA", stroke: "#CBD2D9" }));
    keys.forEach((key, s) => {
      const at = `translate(${LEFT + CELL * (s + 0.5) + 2},${TOP - 8}) rotate(-45)`;
      svg.append(element("text", { transform: at, fill: INK }, key));
    });
    cells = queries.map((query, t) => {
      svg.append(element("text", { x: LEFT - 8, y: TOP + CELL * (t + 0.5) + 4, fill: INK, "text-anchor": "end" }, query));
      return keys.map((key, s) => {
        const name = `query ${t} ${query}, key ${s} ${key}`;
        const node = element("g", { role: "checkbox", "aria-label": name, tabindex: -1 });
        const [x, y] = [LEFT + CELL * s, TOP + CELL * t];
        node.append(
          element("rect", { x, y, width: CELL - 4, height: CELL - 4, rx: 5 }),
          element("text", { x: x + CELL / 2 - 2, y: y + CELL / 2 + 3, "text-anchor": "middle", "aria-hidden": "true" }),
        );
        node.addEventListener("click", () => {
          toggle(t, s);
          reach(t, s);
          cells[t][s].focus();
        });
        node.addEventListener("keydown", (event) => press(event, t, s));
        svg.append(node);
        return node;
      });
    });
    el.replaceChildren(svg);
    if (base.length === 0) return;
    place = [Math.min(place[0], queries.length - 1), Math.min(place[1], keys.length - 1)];
    reach(...place);
    paint();
    if (focused) cells[place[0]][place[1]].focus();
  };
  build();
  model.on("change:table", build);
  model.on("change:value", paint);
  return () => {
    model.off("change:table", build);
    model.off("change:value", paint);
  };
};

export default { render };
