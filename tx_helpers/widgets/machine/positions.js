// How the machine's attention knows where a word stands; positions.py has the same methods in the same order.

/** position / base^(2i/dim): the angle of pair i. */
const angle = (position, i, dim, base) => position * base ** ((-2 * i) / dim);

/** Sines in the even dimensions, cosines in the odd ones. (T) -> (T, D) */
const sinusoidal = (positions, D, base) => {
  const x = tensor([positions.length, D]);
  positions.forEach((position, t) => {
    for (let i = 0; i < D / 2; i++) {
      x.data[t * D + 2 * i] = Math.sin(angle(position, i, D, base));
      x.data[t * D + 2 * i + 1] = Math.cos(angle(position, i, D, base));
    }
  });
  return x;
};

/** The function that turns each pair (a, b) of features of queries or keys: a cos − b sin, b cos + a sin.
 *  Pair i are the features i and i + K/2 (layout "half"), or 2i and 2i + 1 ("interleaved"). (H, T, K) -> (H, T, K) */
const rotary = (positions, { base, layout, interpolation }) => (x) => {
  const [H, T, K] = x.shape, y = tensor(x.shape);
  for (let t = 0; t < T; t++)
    for (let i = 0; i < K / 2; i++) {
      const turn = angle(positions[t] / interpolation, i, K, base), cos = Math.cos(turn), sin = Math.sin(turn);
      const [first, second] = layout === "half" ? [i, i + K / 2] : [2 * i, 2 * i + 1];
      for (let h = 0; h < H; h++) {
        const row = (h * T + t) * K, a = x.data[row + first], b = x.data[row + second];
        y.data[row + first] = a * cos - b * sin;
        y.data[row + second] = b * cos + a * sin;
      }
    }
  return y;
};

/** A number for each head, query and key, added to the scores: of (head, key − query). The queries are the last T. */
const positionBias = (H, T, S, number) => {
  const bias = tensor([H, T, S]);
  for (let h = 0; h < H; h++)
    for (let t = 0; t < T; t++) for (let s = 0; s < S; s++) bias.data[(h * T + t) * S + s] = number(h, s - (t + S - T));
  return bias;
};

/** The learned number of a distance's bucket, of each head: table (buckets, H). -> (H, T, S) */
const t5Bias = (table, T, S, { buckets, max_distance }, bidirectional) => {
  const H = table.shape[1];
  return positionBias(H, T, S, (h, distance) => table.data[bucket(distance, buckets, max_distance, bidirectional) * H + h]);
};

/** Near distances have a bucket each; far ones share buckets, which widen logarithmically up to `farthest`.
 *  Rounded to single precision at each step, as PyTorch does: a distance on a bucket's edge falls on the same side. */
const bucket = (distance, buckets, farthest, bidirectional) => {
  const near = bidirectional ? buckets / 2 : buckets, offset = bidirectional && distance > 0 ? near : 0;
  const away = bidirectional ? Math.abs(distance) : Math.max(0, -distance), exact = near / 2, single = Math.fround;
  if (away < exact) return offset + away;
  const ratio = single(single(Math.log(single(away / exact))) / single(Math.log(farthest / exact)));
  return offset + Math.min(near - 1, exact + Math.floor(single(ratio * (near - exact))));
};

/** −slope_h · |key − query|. -> (H, T, S) */
const alibi = (H, T, S) => {
  const slopes = alibiSlopes(H);
  return positionBias(H, T, S, (h, distance) => -slopes[h] * Math.abs(distance));
};

/** 2^(−8/H), 2^(−16/H) …; if H is no power of two, those of the next smaller one, then every second of the next larger. */
const alibiSlopes = (H) => {
  const power = 2 ** Math.floor(Math.log2(H));
  const slopes = Array.from({ length: power }, (_, h) => 2 ** ((-8 * (h + 1)) / power));
  const between = Array.from({ length: power }, (_, h) => 2 ** ((-4 * (2 * h + 1)) / power));
  return [...slopes, ...between.slice(0, H - power)];
};
