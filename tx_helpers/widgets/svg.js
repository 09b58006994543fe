// What the drawn controls share. Python joins this file and a control's own file into one module.

const SVG = "http://www.w3.org/2000/svg";

const set = (node, attributes) => {
  for (const [name, value] of Object.entries(attributes)) node.setAttribute(name, value);
};

const element = (tag, attributes, text = "") => {
  const node = document.createElementNS(SVG, tag);
  set(node, attributes);
  node.textContent = text; // never markup
  return node;
};

/** An empty drawing on the explorers' card, named by its label; on a dark page it is dark (`sheet` in shapes.py). */
const drawing = (width, height, label, { class: name, ...attributes }) => {
  const svg = element("svg", {
    viewBox: `0 0 ${width} ${height}`, role: "group", "aria-label": label, "font-family": "sans-serif", class: `tx-card ${name}`,
    style: `width: 100%; min-width: var(--least); max-width: ${width}px; height: auto; display: block`, ...attributes,
  });
  svg.append(element("rect", {
    x: 0.5, y: 0.5, width: width - 1, height: height - 1, rx: 12, fill: "#FCFCFA", stroke: "#CBD2D9",
  }));
  legible(svg);
  return svg;
};

/** Tab reaches the node at this index, and no other. */
const reachByTab = (nodes, index) => nodes.forEach((node, n) => node.setAttribute("tabindex", n === index ? 0 : -1));

/** After a restart no kernel would answer. */
const isDisconnected = (el) => Boolean(el.closest(".jupyter-widgets-disconnected"));

const handled = (event) => {
  event.preventDefault();
  event.stopPropagation();
};
