// The elements of the view. Those of a text are made anew for each text, and afterwards only painted and written on.

const MOST_LANES = 16; // positions that have room beside each other; of more, the last are shown

/** What stands around the picture, made once. */
function makeFrame(name, labels) {
  const text = make("input", { type: "text", "aria-label": labels.text, autocomplete: "off", spellcheck: "false" });
  const button = (label, sign, title) => make("button", { type: "button", "aria-label": label, title }, `${sign} ${label}`.trim());
  const buttons = {
    back: button("Back", "◂", "one step back"), play: button("Play", "▶", "step after step"),
    forward: button("Forward", "▸", "one step on"),
    end: button("End", "▸▸", "the whole machine, at its last word"), reset: button("Reset", "", "all changes taken back"),
  };
  const where = make("span", { class: "tx-where" });
  const check = (label) => make("input", { type: "checkbox", "aria-label": label });
  const checks = { positions: check("Positions"), residuals: check("All residuals"), norms: check("All norms") };
  const temperature = make("input", { type: "range", min: 0.1, max: 4, step: 0.1, value: 1, "aria-label": "Temperature" });
  const degrees = make("output", { "aria-hidden": "true" });
  const error = make("p", { class: "tx-error", role: "alert" });
  const summary = make("p", { class: "tx-summary tx-unseen", role: "status", "aria-live": "polite" });
  const headline = make("p", { class: "tx-headline" }), writes = make("p", { class: "tx-writes" });
  const said = make("div", { class: "tx-said" }, headline, writes);
  const panel = make("div", { class: "tx-panel", role: "region", "aria-label": "What you point at" });
  const flow = make("div", { class: "tx-flow" });
  const labelled = (label, control, ...more) => make("label", {}, label, control, ...more);
  const root = make("div", { class: `tx-explorer tx-explorer-${name} tx-machine tx-card`, role: "group", "aria-label": `The machine ${name}`,
    "data-lm-suppress-shortcuts": "true" },
    make("div", { class: "tx-bar" }, make("label", { class: "tx-text" }, labels.text, text), ...Object.values(buttons), where),
    error,
    make("div", { class: "tx-bar tx-what-if" }, make("strong", {}, "What if?"),
      labelled("", checks.positions, "positions"), labelled("", checks.residuals, "residuals"),
      labelled("", checks.norms, "norms"), labelled("temperature ", temperature, degrees)),
    flow, summary);
  return { root, text, ...buttons, where, checks, temperature, degrees, error, headline, summary, writes, said, panel, flow };
}

/** All rows of this text, by stack and block; the probabilities stand above, beside the headline. Fills view.drawn: { row, body, canvas or maps, parts, changes }. */
function buildFlow(view) {
  const { rows, frame: { flow, panel, said } } = view, sides = [...new Set(rows.map((row) => row.side))];
  let next;
  view.drawn = [];
  const stacks = sides.map((side) => {
    const title = side === "encoder" ? "Encoder: reads" : "Decoder: writes";
    const node = make("div", { class: `tx-stack tx-${side}`, role: "group", "aria-label": title }, make("div", { class: "tx-title" }, title));
    let frame, block = -1;
    for (const row of rows.filter((row) => row.side === side)) {
      if (row.block !== block && row.block >= 0) {
        frame = make("div", { class: "tx-block", role: "group", "aria-label": `${side} block ${row.block + 1}` },
          make("div", { class: "tx-block-title" }, `block ${row.block + 1}`));
        node.append(frame);
      }
      block = row.block;
      const built = buildRow(view, row);
      if (row.kind === "logits") next = make("div", { class: "tx-next-word" }, built);
      else (block >= 0 ? frame : node).append(built);
    }
    node.prepend(make("div", { class: "tx-lines", "aria-hidden": "true" }));
    return node;
  });
  const wires = document.createElementNS("http://www.w3.org/2000/svg", "svg");
  wires.setAttribute("class", "tx-wires");
  wires.setAttribute("aria-hidden", "true");
  view.wires = wires;
  flow.classList.toggle("tx-alone", sides.length === 1);
  flow.classList.toggle("tx-no-stream", !hasResiduals(view));
  flow.replaceChildren(wires, said, next, ...stacks, panel);
}

function buildRow(view, row) {
  const body = make("div", { class: `tx-body tx-${row.kind}` }), drawn = { row, body, parts: [], changes: [] };
  const change = (part) => {
    const meter = make("i", { class: "tx-change" });
    drawn.changes.push(meter);
    part.append(meter);
    drawn.parts.push(part);
    return part;
  };
  if (row.kind === "maps") {
    const heads = view.intact.get(row.name).shape[0];
    drawn.maps = Array.from({ length: heads }, () => make("canvas", { class: "tx-picture" }));
    body.append(...drawn.maps.map((canvas, h) => change(makePart(row, h, "tx-map", canvas))));
  } else if (row.kind === "logits") {
    body.append(change(makePart(row, 0, "tx-words-out")));
  } else {
    const lanes = view.lanes[row.side];
    body.style.gridTemplateColumns = `repeat(${lanes}, minmax(0, 1fr))`;
    if (row.kind === "strip") body.append(drawn.canvas = make("canvas", { class: "tx-picture", "aria-hidden": "true" }));
    for (let lane = 0; lane < lanes; lane++) body.append(change(makePart(row, lane, row.kind === "words" ? "tx-chip" : "tx-lane")));
  }
  drawn.node = make("div", { class: `tx-row tx-row-${row.what ?? row.kind}${row.kind === "logits" ? " tx-picture" : ""}` }, buildGutter(view, row, drawn), body);
  view.drawn.push(drawn);
  return drawn.node;
}

const makePart = (row, index, kind, ...children) =>
  make("button", { type: "button", class: `tx-part ${kind}`, "data-row": row.id, "data-index": index, tabindex: -1 }, ...children);

/** The row's name, and what can be switched beside it: mask, norm and residual. */
function buildGutter(view, row, drawn) {
  const gutter = make("div", { class: "tx-gutter" }, make("span", { class: "tx-caption" }, row.caption));
  if (!row.part) return gutter;
  const place = placeOf(row, view.alone), switches = [
    ["norms", "norm", `norm of the ${place}`],
    ...(hasResiduals(view) ? [["residuals", "+ x", `residual of the ${place}`]] : []),
    ...(row.part === "self_attention" ? [["masks", "mask", `causal mask of the ${place}`]] : []),
  ];
  drawn.switches = switches.filter(([kind]) => kind !== "norms" || view.intact.has(`${row.norm}.output`)).map(([kind, label, name]) =>
    make("button", { type: "button", class: "tx-part tx-switch", "data-row": row.id, "data-switch": kind, tabindex: -1, "aria-label": name }, label));
  gutter.append(make("span", { class: "tx-switches" }, ...drawn.switches));
  return gutter;
}
