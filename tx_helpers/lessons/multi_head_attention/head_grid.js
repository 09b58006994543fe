// A grid of heads: an SVG whose cells are buttons that are pressed (the head is removed) or not. The kernel says what
// stands in each cell (`heads`); the list of the pressed ones is `value`. One button at a time can be reached by Tab;
// the arrow keys, Home and End go on from there, Enter and Space press.

const [LEFT, TOP, WIDE, HIGH, GAP] = [232, 30, 104, 28, 6];
const BROKEN = 0.6; // so much of the orange can still be written on

const percent = (share) => `${Math.round(share * 100)} %`;

const key = (head) => JSON.stringify(head);

const cell = (head) => {
  const [x, y] = [LEFT + head.column * (WIDE + GAP), TOP + head.row * (HIGH + GAP)];
  const node = element("g", { role: "button", tabindex: -1, "aria-label": head.name });
  node.append(
    element("rect", { x, y, width: WIDE, height: HIGH, rx: 6, stroke: "#52606D" }),
    element("text", { x: x + WIDE / 2, y: y + HIGH / 2 + 4, "font-size": 12, "text-anchor": "middle" }),
  );
  return node;
};

const paint = (node, head, removed) => {
  const [rect, text] = node.children;
  node.setAttribute("aria-pressed", removed);
  rect.setAttribute("fill", removed ? "#1F2933" : "#D55E00");
  rect.setAttribute("fill-opacity", removed ? 1 : BROKEN * (1 - head.share));
  text.setAttribute("fill", removed ? "#FCFCFA" : "#1F2933");
  text.textContent = removed ? "✗ removed" : `without: ${percent(head.share)}`;
};

/** The table with the names of its rows and columns, without buttons. */
const frame = (heads, description) => {
  const rows = 1 + Math.max(...heads.map((head) => head.row));
  const columns = 1 + Math.max(...heads.map((head) => head.column));
  const [width, height] = [LEFT + columns * (WIDE + GAP) + 8, TOP + rows * (HIGH + GAP) + 8];
  const svg = drawing(width, height, description, { class: "tx-heads" });
  const label = { "font-size": 12, fill: "#1F2933" };
  for (let n = 0; n < columns; n++) {
    const x = LEFT + n * (WIDE + GAP) + WIDE / 2;
    svg.append(element("text", { ...label, x, y: 20, "text-anchor": "middle" }, `head ${n + 1}`));
  }
  for (const head of heads.filter((head) => head.column === 0)) {
    svg.append(element("text", { ...label, x: 14, y: TOP + head.row * (HIGH + GAP) + HIGH / 2 + 4 }, head.layer));
  }
  return svg;
};

const render = ({ model, el }) => {
  const heads = model.get("heads"), buttons = heads.map(cell), svg = frame(heads, model.get("description"));
  svg.append(...buttons);

  const show = () => {
    const removed = new Set(model.get("value").map(key));
    buttons.forEach((node, n) => paint(node, heads[n], removed.has(key(heads[n].value))));
  };
  const toggle = (index) => {
    if (isDisconnected(el)) return;
    const pressed = heads[index].value;
    const others = model.get("value").filter((head) => key(head) !== key(pressed));
    model.set("value", others.length < model.get("value").length ? others : [...others, pressed]);
    model.save_changes();
    reachByTab(buttons, index);
    buttons[index].focus();
  };
  const press = (event, index) => {
    const { row, column } = heads[index];
    const steps = { ArrowRight: [0, 1], ArrowLeft: [0, -1], ArrowDown: [1, 0], ArrowUp: [-1, 0] };
    const ends = { Home: 0, End: heads.length - 1 };
    if (event.key === "Enter" || event.key === " ") toggle(index);
    else if (event.key in steps || event.key in ends) {
      const [down, right] = steps[event.key] ?? [0, 0];
      const there = heads.findIndex((head) => head.row === row + down && head.column === column + right);
      const next = ends[event.key] ?? (there < 0 ? index : there);
      reachByTab(buttons, next);
      buttons[next].focus();
    } else return;
    handled(event);
  };
  buttons.forEach((node, index) => {
    node.addEventListener("click", () => toggle(index));
    node.addEventListener("keydown", (event) => press(event, index));
  });
  show();
  reachByTab(buttons, 0);
  model.on("change:value", show);
  el.append(svg);
  return () => model.off("change:value", show);
};

export default { render };
