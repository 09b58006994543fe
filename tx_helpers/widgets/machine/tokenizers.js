// Text to ids and back, as tokenizers.py and subwords.py have it. A side is a vocabulary as machine_data.py writes it:
// { kind: "words", "characters" or "pieces", tokens, specials, unknown, limit, merges }; byte pairs alone have merges.

const BLANKS = /[\t-\r\x1c-\x20\x85\xa0\u1680\u2000-\u200a\u2028\u2029\u202f\u205f\u3000]+/; // Python's white space
const BYTE_PAIR_WORD = / ?[A-Za-z\x80-\u{10ffff}]+| ?[0-9]+| ?[!-/:-@[-`{-~]+|[\x00-\x20\x7f]/gu;
const WORD_PIECE_WORD = /[A-Za-z\x80-\u{10ffff}0-9]+|[!-/:-@[-`{-~]/gu;

/** Is a byte a character that can be seen by itself? */
const printable = (byte) => (byte > 32 && byte < 127) || (byte > 160 && byte !== 173);

/** A letter for each byte, as GPT-2 has it: printable ones are themselves, the others follow from U+0100 on. */
const LETTERS = [];
for (let byte = 0, others = 256; byte < 256; byte++) LETTERS.push(String.fromCharCode(printable(byte) ? byte : others++));

const tables = new WeakMap(); // side -> what is looked up in it, made once

const tableOf = (side) => {
  if (!tables.has(side)) {
    let pieces = side.tokens.slice(side.specials);
    const merges = (side.merges ?? []).map(([left, right], rank) => [`${left} ${right}`, rank]);
    if (side.merges) pieces = [...new Set([...lettersInOrder(), ...side.merges.map((pair) => pair.join(""))])];
    tables.set(side, {
      pieces, ids: new Map(pieces.map((piece, i) => [piece, i + side.specials])), ranks: new Map(merges),
      longest: pieces.reduce((most, piece) => Math.max(most, [...piece].length), 0),
    });
  }
  return tables.get(side);
};

/** The letters in the order of their ids: the printable bytes first. */
const lettersInOrder = () => [...LETTERS].sort((a, b) => a.charCodeAt(0) - b.charCodeAt(0));

/** The bytes of a text in letters, joined as in training: the pair that was learned first, from the left. */
const bytePairs = (side, word) => {
  const { ranks } = tableOf(side), pieces = [...new TextEncoder().encode(word)].map((byte) => LETTERS[byte]);
  for (;;) {
    let best = -1, least = Infinity;
    for (let i = 0; i + 1 < pieces.length; i++) {
      const rank = ranks.get(`${pieces[i]} ${pieces[i + 1]}`);
      if (rank < least) [best, least] = [i, rank];
    }
    if (best < 0) return pieces;
    pieces.splice(best, 2, pieces[best] + pieces[best + 1]);
  }
};

/** The longest pieces from the left, "##" before all but the first; the word itself if no piece fits somewhere. */
const wordPieces = (side, word) => {
  const { ids, longest } = tableOf(side), letters = [...word], pieces = [];
  for (let start = 0; start < letters.length; ) {
    const prefix = start ? "##" : "", pieceTo = (end) => prefix + letters.slice(start, end).join("");
    let end = Math.min(letters.length, start + longest);
    while (end > start && !ids.has(pieceTo(end))) end--;
    if (end === start) return [word];
    pieces.push(pieceTo(end));
    start = end;
  }
  return pieces;
};

const piecesOf = (side, text) => {
  if (side.kind === "characters") return [...text];
  if (side.kind === "words") return text.replaceAll("-", " ").split(BLANKS).filter(Boolean);
  const words = text.match(side.merges ? BYTE_PAIR_WORD : WORD_PIECE_WORD) ?? [];
  return words.flatMap((word) => (side.merges ? bytePairs : wordPieces)(side, word));
};

/** Text -> { ids, error }: one of the two is empty. `side` is spec.source or spec.target. No piece of a text gets the
 *  id of a special token; one that the model lacks gets `unknown`, where the model has an id for it. */
export const encode = (side, text, limit = side.limit) => {
  if (side.merges && /\p{Surrogate}/u.test(text)) return { ids: [], error: "The text holds half a character." };
  const pieces = piecesOf(side, text), kind = side.kind.slice(0, -1), { ids: known } = tableOf(side);
  const ids = pieces.map((piece) => known.get(piece) ?? side.unknown ?? undefined), missing = ids.indexOf(undefined);
  if (!pieces.length) return { ids: [], error: `Write at least one ${kind}.` };
  if (missing >= 0) {
    const piece = pieces[missing], shown = piece.length > 20 ? `${piece.slice(0, 20)}…` : piece;
    return { ids: [], error: `The model does not know the ${kind} “${shown}”.` };
  }
  if (ids.length > limit) return { ids: [], error: `${ids.length} ${side.kind}, but at most ${limit} fit.` };
  return { ids, error: "" };
};

/** A function id -> its text behind the ids before it; without an id, what is left of a character that is cut off. */
export const speller = (side) => {
  const { pieces } = tableOf(side), utf8 = new TextDecoder("utf-8", { ignoreBOM: true });
  let first = true;
  return (id) => {
    if (id === undefined) return utf8.decode();
    if (id < side.specials) return "";
    const piece = pieces[id - side.specials], begins = first;
    first = false;
    if (side.merges) return utf8.decode(Uint8Array.from(piece, (letter) => LETTERS.indexOf(letter)), { stream: true });
    if (begins || side.kind === "characters") return piece;
    return side.kind === "pieces" && piece.startsWith("##") ? piece.slice(2) : ` ${piece}`;
  };
};

/** Ids -> text, without the special tokens. */
export const decode = (side, ids) => {
  const spell = speller(side);
  return ids.map((id) => spell(id)).join("") + spell();
};
