// The lines of weight between the two lists of tokens.

const FAINTEST = 0.02, MOST_LINES = 200;

/** Notes which rows are in sight: asked for only when they change, since asking at each drawing is slow. */
function lookAtRows({ parts: { linesPanel }, rows }) {
  rows.first = Math.floor(linesPanel.scrollTop / ROW) - 2;
  rows.last = Math.ceil((linesPanel.scrollTop + linesPanel.clientHeight) / ROW) || Infinity;
}

/** Indices t · S + s of the weights worth a line: those of the picked token, else all that cross the rows in sight. */
function pairsToDraw({ attention, weights, state, rows: { first, last } }) {
  const T = attention.queries.length, S = attention.keys.length, { side, token } = state;
  const pairs = [];
  const add = (t, s) => { if (weights[t * S + s] >= FAINTEST) pairs.push(t * S + s); };
  if (token >= 0 && side === "query") for (let s = 0; s < S; s++) add(token, s);
  else if (token >= 0) for (let t = 0; t < T; t++) add(t, token);
  else for (let t = 0; t < T; t++) {
    const from = t < first ? Math.max(0, first) : 0, to = t > last ? Math.min(S, last + 1) : S;
    for (let s = from; s < to; s++) add(t, s);
  }
  if (pairs.length <= MOST_LINES) return pairs;
  const least = Float32Array.from(pairs, (i) => weights[i]).sort().at(-MOST_LINES); // typed arrays sort by value, fast
  return pairs.filter((i) => weights[i] >= least).slice(0, MOST_LINES);
}

function drawLines(view) {
  const { weights, lines, parts: { picture } } = view, S = view.attention.keys.length;
  const pairs = pairsToDraw(view);
  while (lines.length < pairs.length) lines.push(picture.appendChild(makeSvg("line", { x1: 0, x2: 100 })));
  lines.forEach((line, n) => { // lines are used again: making one costs more than moving it
    const i = pairs[n], hidden = n >= pairs.length;
    if (line.hidden_ !== hidden) line.style.display = (line.hidden_ = hidden) ? "none" : "";
    if (hidden) return;
    line.setAttribute("y1", (Math.floor(i / S) + 0.5) * ROW);
    line.setAttribute("y2", (i % S + 0.5) * ROW);
    line.setAttribute("stroke-opacity", weights[i].toFixed(3));
    line.setAttribute("stroke-width", (0.5 + 3.5 * weights[i]).toFixed(2));
  });
}
