// What the files of the view share: elements, numbers as words, and the sizes in the legend's letters.

/** An element; its children are elements or texts, and a text is never markup. */
function make(tag, attributes = {}, ...children) {
  const node = document.createElement(tag);
  for (const [name, value] of Object.entries(attributes)) if (value !== undefined) node.setAttribute(name, value);
  node.append(...children);
  return node;
}

/** A formula as elements: "e^{3.2}" has its power raised, and "W_{1}" its index lowered. */
function formula(text) {
  const line = make("p", { class: "tx-formula" });
  for (const piece of text.split(/([_^]\{[^}]*\})/)) {
    if (/^[_^]\{/.test(piece)) line.append(make(piece[0] === "^" ? "sup" : "sub", {}, piece.slice(2, -1)));
    else line.append(piece);
  }
  return line;
}

/** Two decimals with a true minus sign. */
function decimal(value) {
  if (!Number.isFinite(value)) return value > 0 ? "∞" : value < 0 ? "−∞" : "not a number";
  const text = Math.abs(value).toFixed(2);
  return (value < 0 && Number(text) > 0 ? "−" : "") + text;
}

/** A probability, a weight: 0.80; a tiny one is "under 0.01". */
const share = (p) => (p > 0 && p < 0.005 ? "under 0.01" : decimal(p));

/** The same where there is little room. */
const brief = (p) => (p > 0 && p < 0.005 ? "<0.01" : decimal(p));

const whole = (count) => count.toLocaleString("en-US");
const quoted = (word) => `'${word}'`;

/** A token as it is shown: spaces and line breaks can be seen, a long one is cut. */
function visibleToken(token) {
  const signs = { " ": "␣", "\n": "↵", "\t": "⇥", "\r": "␍" };
  const shown = String(token).replace(/[ \n\t\r]/g, (sign) => signs[sign])
    .replace(/[\u0000-\u001f\u007f\u200b-\u200f\u202a-\u202e\u2060-\u2069\ufeff]/g,
      (sign) => `⟨${sign.codePointAt(0).toString(16).toUpperCase()}⟩`);
  return [...shown].length <= 16 ? shown : `${[...shown].slice(0, 15).join("")}…`;
}

const sizeOf = (vector) => Math.hypot(...vector);

function largest(values) {
  let best = 0;
  for (let i = 1; i < values.length; i++) if (values[i] > values[best]) best = i;
  return best;
}

/** Row `index` of a tensor, from its second last axis on; `head` chooses on the first of three. */
function rowOf({ shape, data }, index, head = 0) {
  const width = shape[shape.length - 1], rows = shape[shape.length - 2];
  const start = (head * rows + index) * width;
  return data.subarray(start, start + width);
}

const lengthOf = ({ shape }) => shape[shape.length - 2];

/** The places of the `count` largest values, the largest first. */
const strongest = (values, count) =>
  Array.from(values.keys()).sort((a, b) => values[b] - values[a]).slice(0, count);
