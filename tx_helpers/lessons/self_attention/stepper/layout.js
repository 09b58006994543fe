// Where everything is: W above, x to the left, each product where its row and its column meet; below, q · k to output.

const CELL = 36, LINE = 24, GAP = 26, LEFT = 84, TITLE = 20, NAMES = 40, ARC = 84; // pixels; NAMES: slanted words
const SHAPES = { Q: "circle", K: "square", V: "diamond" };
const KINDS_OF = { // the class that gives a matrix its colour
  x: "stream", W_Q: "query", W_K: "key", W_V: "value", Q: "query", K: "key", V: "value",
  scores: "score", scaled: "score", weights: "weight", out: "value",
};
const GIVEN = ["x", "W_Q", "W_K", "W_V"]; // the numbers that a learner may change

const sizeOf = (found, matrix) => [found[matrix].length, found[matrix][0].length];

/** The upper left corner of each matrix, and the size of the picture. */
const layoutOf = (found) => {
  const wide = (matrix) => CELL * sizeOf(found, matrix)[1], n = found.x.length;
  const top = TITLE + 8, first = top + LINE * found.W_Q.length + 34, second = first + LINE * n + TITLE + NAMES + 22;
  const at = { x: [LEFT, first] };
  let x = LEFT + wide("x") + GAP;
  for (const letter of "QKV") {
    at[`W_${letter}`] = [x, top];
    at[letter] = [x, first];
    x += Math.max(wide(letter), 72) + GAP;
  }
  let y = LEFT;
  for (const matrix of ["scores", "scaled", "weights"]) {
    at[matrix] = [y, second];
    y += Math.max(wide(matrix), 92) + GAP;
  }
  at.out = [Math.max(y, at.V[0]), second];
  return { at, width: Math.max(x, at.out[0] + wide("out") + GAP) + ARC / 2, height: second + LINE * n + 14 };
};

/** The middle of a part: of a cell, a row, a column or a matrix. */
const middleOf = (layout, found, { matrix, row, column }) => {
  const [x, y] = layout.at[matrix], [rows, columns] = sizeOf(found, matrix);
  return [x + CELL * (column === undefined ? columns / 2 : column + 0.5), y + LINE * (row === undefined ? rows / 2 : row + 0.5)];
};

/** The way from one part to another; from the values to the output in an arc on the right, one beside the other. */
const pathOf = (layout, found, from, to) => {
  const [[x1, y1], [x2, y2]] = [from, to].map((part) => middleOf(layout, found, part));
  if (from.matrix !== "V" || to.matrix !== "out") return `M${x1},${y1}L${x2},${y2}`;
  const [right, end] = [from, to].map(({ matrix }) => layout.at[matrix][0] + CELL * sizeOf(found, matrix)[1]);
  const bulge = Math.max(right, end) + ARC - 10 * from.row;
  return `M${right},${y1}C${bulge},${y1},${bulge},${y2},${end},${y2}`;
};

const titlesOf = (state) => ({
  x: "x", W_Q: "W_Q", W_K: "W_K", W_V: "W_V", Q: "q = x W_Q", K: "k = x W_K", V: "v = x W_V",
  scores: "scores q · k", scaled: `÷ ${divisorName(state)}`, weights: "softmax: weights", out: "output",
});
