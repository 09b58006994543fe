// Colours, and pictures of numbers. A canvas has one pixel for a number (or for a few); the style sheet enlarges it.

const LEVELS = 128;

/** The palettes of the theme: for weights from paper to gold, for vectors from dark through paper to pink.
 * Outside the document there are no colours: all is black until `watchPage` sees the view attached. */
function palettesOf(root) {
  const probe = make("i", { hidden: "" });
  root.append(probe);
  const rgb = (name) => {
    probe.style.color = `var(--tx-${name})`;
    return (getComputedStyle(probe).color.match(/[\d.]+/g) ?? [0, 0, 0]).slice(0, 3).map(Number);
  };
  const [paper, gold, deep, pink, ink, grey, closed] =
    ["paper", "gold", "gold-deep", "pink", "ink", "unit", "closed"].map(rgb);
  probe.remove();
  return {
    weights: ramp([paper, gold, deep]), units: ramp([paper, grey]), vectors: ramp([ink, paper, pink]),
    closed: packed(closed),
  };
}

const packed = ([red, green, blue]) => ((255 << 24) | (blue << 16) | (green << 8) | red) >>> 0;

function ramp(stops) {
  return Uint32Array.from({ length: 2 * LEVELS + 1 }, (_, level) => {
    const at = level / (2 * LEVELS) * (stops.length - 1), low = Math.min(Math.floor(at), stops.length - 2);
    return packed(stops[low].map((c, i) => Math.round(c + (at - low) * (stops[low + 1][i] - c))));
  });
}

/** Weights (T, S) of one head; a cell that the mask closes has a colour of its own. */
function paintMap(canvas, { shape: [, T, S], data }, mask, head, [rows, columns], palettes) {
  const image = new ImageData(columns, rows), cells = new Uint32Array(image.data.buffer);
  const t0 = Math.max(0, T - rows), s0 = Math.max(0, S - columns);
  for (let t = t0; t < T; t++) {
    for (let s = s0; s < S; s++) {
      const w = data[(head * T + t) * S + s];
      cells[(t - t0) * columns + s - s0] = !mask.data[t * S + s] ? palettes.closed : palettes.weights[Math.round(Math.sqrt(w) * 2 * LEVELS)];
    }
  }
  put(canvas, image);
}

/** Vectors (T, D), one beside the other, each `width` pixels wide. A pixel that stands for several numbers has
 *  the colour of the strongest; of units and positions, the colour of their mean (a cosine near 1 would hide every sine). */
function paintStrip(canvas, { shape, data }, lanes, width, gap, scale, palette) {
  const [T, D] = shape, step = width + gap, image = new ImageData(Math.max(1, lanes * step), 1);
  const cells = new Uint32Array(image.data.buffer), first = Math.max(0, T - lanes);
  for (let t = first; t < T; t++) {
    for (let x = 0; x < width; x++) {
      let value = 0, sum = 0;
      const begin = Math.floor(x * D / width), end = Math.max(begin + 1, Math.floor((x + 1) * D / width));
      for (let d = begin; d < end; d++) {
        const v = data[t * D + d];
        sum += v;
        if (Math.abs(v) > Math.abs(value)) value = v;
      }
      if (palette.mean) value = palette.mean * sum / (end - begin);
      const level = Math.max(-1, Math.min(1, value / scale));
      cells[(t - first) * step + (gap >> 1) + x] = palette.positive
        ? palette.colours[Math.round(Math.max(0, level) * 2 * LEVELS)] : palette.colours[Math.round((level + 1) * LEVELS)];
    }
  }
  put(canvas, image);
}

function put(canvas, image) {
  if (canvas.width !== image.width) canvas.width = image.width;
  if (canvas.height !== image.height) canvas.height = image.height;
  canvas.getContext("2d").putImageData(image, 0, 0);
}

/** 2.5 times the usual size of the numbers: what is drawn in full colour. */
function scaleOf({ data }) {
  let sum = 0;
  for (const v of data) sum += v * v;
  return 2.5 * Math.sqrt(sum / data.length) || 1;
}
