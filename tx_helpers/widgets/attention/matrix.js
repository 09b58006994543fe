// The matrix of weights, a row for each query, and the frame around the picked row or column.

const NAMED = 32; // tokens that still have room for their names beside the matrix

function drawMatrix(view) {
  const { attention: { queries, keys }, weights, geometry, parts: { matrix, root } } = view;
  const T = queries.length, S = keys.length, n = Math.max(T, S), named = n <= NAMED;
  const cell = Math.max(n > 1000 ? 1 : 3, Math.min(22, Math.floor(384 / n)));
  const pen = matrix.getContext("2d"), font = `${Math.min(12, cell)}px system-ui, sans-serif`;
  pen.font = font;
  const longest = (tokens) => named ? 8 + Math.max(...tokens.map(([, text]) => pen.measureText(text).width)) : 0;
  const left = Math.ceil(longest(queries)), top = Math.ceil(longest(keys) * 0.87 + (named ? 6 : 0)); // sin 60° = 0.87
  const slant = named ? Math.ceil(longest(keys) * 0.5) : 0;
  Object.assign(geometry, { left, top, cell });
  const width = left + S * cell + slant, height = top + T * cell, scale = window.devicePixelRatio || 1;
  matrix.width = width * scale;
  matrix.height = height * scale;
  matrix.style.width = `${width}px`;
  matrix.style.height = `${height}px`;
  pen.scale(scale, scale);
  pen.imageSmoothingEnabled = false;
  const small = make("canvas"); // a pixel a cell
  paint(small, weights, T, S, 4096);
  pen.drawImage(small, left, top, S * cell, T * cell);
  drawGrid(pen, T, S, geometry, getComputedStyle(root).getPropertyValue("--tx-grid"), named);
  if (!named) return;
  pen.font = font;
  pen.fillStyle = getComputedStyle(root).color;
  pen.textBaseline = "middle";
  writeNames(pen, queries, keys, geometry);
}

/** The edge of the matrix and, where there is room, of its cells: without it a row of zeros could not be seen. */
function drawGrid(pen, T, S, { left, top, cell }, colour, cells) {
  pen.strokeStyle = colour;
  pen.lineWidth = 1;
  pen.beginPath();
  for (let t = 0; t <= T; t += cells ? 1 : T) {
    pen.moveTo(left, top + t * cell);
    pen.lineTo(left + S * cell, top + t * cell);
  }
  for (let s = 0; s <= S; s += cells ? 1 : S) {
    pen.moveTo(left + s * cell, top);
    pen.lineTo(left + s * cell, top + T * cell);
  }
  pen.stroke();
}

function writeNames(pen, queries, keys, { left, top, cell }) {
  pen.textAlign = "right";
  queries.forEach(([, text], t) => pen.fillText(text, left - 5, top + (t + 0.5) * cell));
  pen.textAlign = "left";
  keys.forEach(([, text], s) => {
    pen.save();
    pen.translate(left + (s + 0.5) * cell, top - 5);
    pen.rotate(-Math.PI / 3);
    pen.fillText(text, 0, 0);
    pen.restore();
  });
}

function drawBand({ attention: { queries, keys }, state: { side, token }, geometry: { left, top, cell }, parts: { band } }) {
  band.style.display = token < 0 ? "none" : "";
  band.style.borderColor = `var(--tx-${side})`; // a query's row orange, a key's column blue
  const box = side === "query" ? [left, top + token * cell, keys.length * cell, cell]
    : [left + token * cell, top, cell, queries.length * cell];
  ["left", "top", "width", "height"].forEach((edge, i) => { band.style[edge] = `${box[i]}px`; });
}

/** A matrix that scrolls must be reached by keyboard; one that does not must not stand in the way. */
function letMatrixScroll({ parts: { matrixPanel: panel } }) {
  const scrolls = panel.scrollHeight > panel.clientHeight || panel.scrollWidth > panel.clientWidth;
  const attributes = { tabindex: 0, role: "group", "aria-label": "Matrix of weights" };
  if (scrolls) setAll(panel, attributes);
  else for (const name of Object.keys(attributes)) panel.removeAttribute(name);
}

function listenToMatrix(view) {
  const { matrix } = view.parts;
  matrix.addEventListener("pointermove", (event) => {
    const t = Math.floor((event.offsetY - view.geometry.top) / view.geometry.cell);
    if (t >= 0 && t < view.attention.queries.length) hover(view, "query", t);
  });
  matrix.addEventListener("click", () => {
    const { side, token, locked } = view.state;
    if (token >= 0) pick(view, side, token, !locked);
  });
  matrix.addEventListener("pointerleave", () => endHover(view));
}
