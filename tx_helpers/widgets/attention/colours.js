// The colours of a weight, pictures of weights, and whether the page is dark.

/** A weight is gold, as opaque as it is large (256 levels), on the paper of whatever theme: the one look of attention,
 * WEIGHT.full of tx_helpers/show/shapes.py. Packed as a canvas keeps them: alpha, blue, green, red. */
const GOLD = Uint32Array.from({ length: 256 }, (_, level) => ((level << 24) | (0x00 << 16) | (0x9f << 8) | 0xe6) >>> 0);

/** A picture of the weights, at most `size` cells a side: a cell is the strongest of those it stands for. */
function paint(canvas, weights, T, S, size) {
  const rows = Math.min(T, size), columns = Math.min(S, size), strongest = new Float32Array(rows * columns);
  for (let t = 0; t < T; t++) {
    for (let s = 0; s < S; s++) {
      const cell = Math.floor(t * rows / T) * columns + Math.floor(s * columns / S), w = weights[t * S + s];
      if (w > strongest[cell]) strongest[cell] = w;
    }
  }
  const image = new ImageData(columns, rows), cells = new Uint32Array(image.data.buffer);
  for (let i = 0; i < cells.length; i++) cells[i] = GOLD[Math.min(255, Math.round(strongest[i] * 255))];
  canvas.width = columns;
  canvas.height = rows;
  canvas.getContext("2d").putImageData(image, 0, 0);
}

/** Light or dark? What the page behind the view looks like; where it is transparent, what the page says of itself. */
function isDark(element) {
  for (let e = element; e; e = e.parentElement) {
    const [r, g, b, alpha = 1] = (getComputedStyle(e).backgroundColor.match(/[\d.]+/g) ?? [0, 0, 0, 0]).map(Number);
    if (alpha > 0.5) return 0.3 * r + 0.59 * g + 0.11 * b < 128;
  }
  return document.documentElement.getAttribute("theme") === "dark"; // Colab's frames are transparent
}
