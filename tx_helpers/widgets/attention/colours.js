// The colours of a weight, pictures of weights, and whether the page is dark.

const STOPS = ["00224e", "123570", "3b496c", "575d6d", "707173", "8a8678", "a59c74", "c3b369", "e1cc55", "fee838"]
  .map((hex) => [0, 2, 4].map((i) => parseInt(hex.slice(i, i + 2), 16)));
const CIVIDIS = Uint32Array.from({ length: 256 }, (_, level) => { // as a canvas keeps them: alpha, blue, green, red
  const at = level / 255 * (STOPS.length - 1), low = Math.min(Math.floor(at), STOPS.length - 2);
  const [red, green, blue] = STOPS[low].map((c, i) => Math.round(c + (at - low) * (STOPS[low + 1][i] - c)));
  return ((255 << 24) | (blue << 16) | (green << 8) | red) >>> 0;
});

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
  for (let i = 0; i < cells.length; i++) cells[i] = CIVIDIS[Math.min(255, Math.round(strongest[i] * 255))];
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
