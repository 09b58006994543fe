// The panel and the bars as elements.

/** Bars with a name and a number each; a tick shows the intact machine's value where it is another. */
function makeBars(bars, colour = "var(--tx-gold)") {
  const node = make("span", { class: "tx-bars", style: `--bar: ${colour}` });
  for (const { label, value, before, best, text } of bars) {
    const track = make("span", { class: "tx-track" }, make("i", { style: `width: ${100 * Math.max(0, Math.min(1, value))}%` }));
    const differs = before !== undefined && Math.abs(before - value) > 0.005;
    if (differs) track.append(make("u", { style: `left: calc(${100 * Math.max(0, Math.min(1, before))}% - 1px)` }));
    node.append(make("b", best ? { class: "tx-best" } : {}, make("bdi", {}, label)), track, make("span", {}, text));
  }
  return node;
}

function fillPanel(view, about) {
  const { panel } = view.frame, line = (name, ...children) => make("p", { class: name }, ...children);
  const pieces = [make("div", { class: "tx-head" }, about.title)];
  if (about.note) pieces.push(line("tx-note", about.note));
  if (about.text) pieces.push(line("", about.text));
  for (const text of about.formulas ?? []) pieces.push(formula(text));
  if (about.strip !== undefined) pieces.push(makeZoom(view, about.strip));
  if (about.says) pieces.push(line("", about.says));
  if (about.bars?.length) pieces.push(makeBars(about.bars, about.colour));
  if (about.choice) pieces.push(makeChoice(view, about.choice));
  if (about.shape) pieces.push(line("tx-shape", about.shape));
  if (about.from) pieces.push(line("tx-from", `From: ${about.from}.`));
  if (about.notebook) pieces.push(line("tx-from", "Built in ", linkTo(about.notebook), ...(about.tested ? ["; tested in ", linkTo(about.tested)] : [])));
  panel.replaceChildren(...pieces);
}

/** On a page of the course, and beside a notebook that is open in Jupyter, a link; else the notebook's plain name. */
function linkTo(notebook) {
  const pages = document.documentElement.dataset.notebooks, name = `notebook ${notebook.replaceAll("_", " ")}`;
  if (pages !== undefined) return make("a", { href: `${pages}${notebook}.html` }, name);
  const [, folder] = location.pathname.match(/^(.*\/)[^/]+\.ipynb$/) ?? [];
  return folder === undefined ? make("span", {}, name)
    : make("a", { href: `${folder}${notebook}.ipynb`, target: "_blank", rel: "noopener" }, name);
}

/** The vector of one position, enlarged. */
function makeZoom(view, position) {
  const { row } = view.pointed, tensor = view.now.get(row.name), canvas = make("canvas", { class: "tx-zoom", "aria-hidden": "true" });
  const one = { shape: [1, tensor.shape[1]], data: rowOf(tensor, position) };
  paintStrip(canvas, one, 1, Math.min(256, tensor.shape[1]), 0, view.scales.get(row.name), paletteOf(view, row));
  return canvas;
}

/** A list of the vocabulary: whose vector this position gets. `own` is the id that it has by itself, `now` the chosen one. */
function makeChoice(view, { side, label, name, own, now = own, choose }) {
  const { tokens } = view.machine[side], id = `${view.id}-choice`, select = make("select", { id, "aria-label": name });
  tokens.forEach((token, i) => select.append(make("option", { value: i }, i === own ? `${visibleToken(token)} (its own)` : visibleToken(token))));
  select.value = now;
  select.addEventListener("change", () => {
    choose(Number(select.value) === own ? undefined : Number(select.value));
    changed(view);
    view.frame.panel.querySelector("select")?.focus();
  });
  return make("p", {}, make("label", { for: id }, label), select);
}

const paletteOf = (view, row) =>
  row.what === "units" ? { positive: true, mean: 1.5, colours: view.palettes.units }
    : { mean: row.what === "positions" ? 1 : 0, colours: view.palettes.vectors };
