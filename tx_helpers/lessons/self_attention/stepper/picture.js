// The drawing: built anew for another number of words, else only painted. Words enter it as text, never as markup.

const MOVES = { ArrowRight: [1, 0], ArrowLeft: [-1, 0], ArrowDown: [0, 1], ArrowUp: [0, -1] };

/** A mark in the shape of its kind: query circle, key square, value diamond; the others are small squares. */
const mark = (kind, [x, y], size = 6) => {
  const common = { class: `tx-mark tx-${kind}`, transform: `translate(${x},${y})` };
  if (kind === "query") return element("circle", { ...common, r: size });
  const d = kind === "value" ? `M0,${-size * 1.3}L${size * 1.3},0L0,${size * 1.3}L${-size * 1.3},0Z`
    : `M${-size},${-size}h${2 * size}v${2 * size}h${-2 * size}Z`;
  return element("path", { ...common, d });
};

const shortened = (word) => (word.length > 9 ? `${word.slice(0, 8)}…` : word);

const makeCell = (view, matrix, row, column) => {
  const [left, top] = view.layout.at[matrix], x = left + CELL * column, y = top + LINE * row;
  const node = element("g", { class: `tx-cell tx-${KINDS_OF[matrix]}`, role: "button", tabindex: -1 });
  node.append(
    element("rect", { x: x + 1, y: y + 1, width: CELL - 2, height: LINE - 2, rx: 4 }),
    element("text", { x: x + CELL / 2, y: y + 16.5, "text-anchor": "middle", "aria-hidden": "true" }),
  );
  const cell = { matrix, row, column, node, number: node.lastChild, place: [x + CELL / 2, y + LINE / 2] };
  node.addEventListener("focus", () => reach(view, cell));
  node.addEventListener("click", () => { reach(view, cell); choose(view, cell); });
  node.addEventListener("keydown", (event) => press(view, cell, event));
  return cell;
};

/** The title of a matrix, with its mark, and the words beside its rows or above its columns. */
const frameOf = (view, matrix) => {
  const [x, y] = view.layout.at[matrix], square = ["scores", "scaled", "weights"].includes(matrix), parts = [];
  const kind = KINDS_OF[matrix], marked = matrix in SHAPES;
  if (marked) parts.push(mark(kind, [x + 7, y - 10], 5));
  const title = element("text", { x: x + (marked ? 18 : 2), y: y - 6 - (square ? NAMES : 0), class: `tx-title tx-${kind}` });
  parts.push(title);
  view.titles[matrix] = title;
  const { words } = view.state;
  if (matrix === "x" || matrix === "scores") words.forEach((word, t) => parts.push(
    element("text", { x: x - 8, y: y + LINE * t + 16.5, "text-anchor": "end", class: "tx-word" }, shortened(word))));
  if (square) words.forEach((word, s) => parts.push(element("text",
    { transform: `translate(${x + CELL * (s + 0.4)},${y - 5}) rotate(-35)`, class: "tx-name" }, shortened(word))));
  return parts;
};

/** Everything anew: for other words. */
const build = (view) => {
  const { found } = view, layout = view.layout = layoutOf(found), { picture } = view.parts;
  view.cells = [];
  view.titles = {};
  const frames = Object.keys(layout.at).flatMap((matrix) => frameOf(view, matrix));
  for (const matrix of Object.keys(layout.at)) {
    found[matrix].forEach((numbers, row) => numbers.forEach((_, column) =>
      view.cells.push(makeCell(view, matrix, row, column))));
  }
  view.flows = element("g", { class: "tx-flows", "aria-hidden": "true" });
  view.travellers = element("g", { "aria-hidden": "true" });
  set(picture, { viewBox: `0 0 ${layout.width} ${layout.height}`, style: `max-width: ${1.2 * layout.width}px` });
  picture.replaceChildren(view.flows, ...frames, ...view.cells.map(({ node }) => node), view.travellers);
  legible(picture);
  view.cells[0].node.setAttribute("tabindex", 0);
  view.reached = view.cells[0];
};

const nameOf = ({ state: { words } }, { matrix, row, column }, value) => {
  const columnName = ["scores", "scaled", "weights"].includes(matrix) ? words[column] : `column ${column + 1}`;
  return `${matrix}, ${matrix[1] === "_" ? `row ${row + 1}` : words[row]}, ${columnName}: ${value}`;
};

const paintCell = (view, cell, lit, operands) => {
  const { state, found, chosen } = view, { matrix, row, column, node, number } = cell;
  const known = isKnown(state, matrix, row, column), value = known ? short(found[matrix][row][column]) : "";
  if (number.textContent !== value) number.textContent = value;
  const on = (parts) => known && parts.some((part) => covers(part, matrix, row, column));
  node.classList.toggle("tx-known", known);
  node.classList.toggle("tx-lit", on(lit));
  node.classList.toggle("tx-operand", on(operands));
  node.classList.toggle("tx-chosen", cell === chosen);
  node.setAttribute("aria-label", nameOf(view, cell, known ? value : "not yet computed"));
};

const paint = (view) => {
  const { state, found, chosen } = view, lit = litParts(state);
  const operands = chosen ? operandsOf(chosen.matrix, chosen.row, chosen.column) : [];
  view.cells.forEach((cell) => paintCell(view, cell, lit, operands));
  Object.entries(titlesOf(state)).forEach(([matrix, title]) => { view.titles[matrix].textContent = title; });
  view.flows.replaceChildren(...flowsOf(state, found).map(([from, to, share]) => element("path", {
    d: pathOf(view.layout, found, from, to), class: `tx-flow tx-${KINDS_OF[from.matrix]}`,
    "stroke-width": from.matrix === "V" ? 1 + 7 * share : 1.5,
  })));
};

/** Where the picture is wider than its box, the box moves to what is lit, as far as all of it has room. */
const follow = ({ parts: { picture } }) => {
  const box = picture.parentElement, [left, right] = sides([...picture.querySelectorAll(".tx-lit")]), room = sides([box]);
  box.scrollLeft += Math.min(0, left - 8 - room[0]) || Math.max(0, Math.min(right + 8 - room[1], left - 8 - room[0]));
};

const sides = (nodes) => {
  const boxes = nodes.map((node) => node.getBoundingClientRect());
  return [Math.min(...boxes.map(({ left }) => left)), Math.max(...boxes.map(({ right }) => right))];
};

/** Marks travel along the flows of this step; not for those who asked for less motion. */
const travel = (view) => {
  view.travellers.replaceChildren();
  if (matchMedia("(prefers-reduced-motion: reduce)").matches) return;
  for (const [from, to, share] of flowsOf(view.state, view.found)) {
    const traveller = mark(KINDS_OF[from.matrix], [0, 0], 4 + 5 * Math.sqrt(share));
    traveller.style.offsetPath = `path("${pathOf(view.layout, view.found, from, to)}")`;
    traveller.style.offsetRotate = "0deg";
    view.travellers.append(traveller);
    const moves = [{ offsetDistance: "0%" }, { offsetDistance: "100%" }];
    traveller.animate(moves, { duration: 900, easing: "ease-in-out" }).finished.then(() => traveller.remove(), () => {});
  }
};

const reach = (view, cell) => {
  view.reached.node.setAttribute("tabindex", -1);
  view.reached = cell;
  cell.node.setAttribute("tabindex", 0);
};

/** The nearest cell in this direction, in this matrix or the next. */
const neighbour = (view, { place: [x, y] }, [right, down]) => {
  const ahead = ({ place }) => right * (place[0] - x) + down * (place[1] - y);
  const aside = ({ place }) => Math.abs(down * (place[0] - x)) + Math.abs(right * (place[1] - y));
  const cost = (cell) => ahead(cell) + 4 * aside(cell);
  return view.cells.filter((cell) => ahead(cell) > 1).reduce((a, b) => (a && cost(a) <= cost(b) ? a : b), undefined);
};

const press = (view, cell, event) => {
  if (event.key === "Enter" || event.key === " ") choose(view, cell);
  else if (event.key === "Escape") choose(view, undefined);
  else if (event.key in MOVES) {
    const next = neighbour(view, cell, MOVES[event.key]);
    next?.node.focus();
  } else return;
  handled(event);
};
