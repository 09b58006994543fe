// The first page: the translator at work, small enough to be seen whole on a phone. It moves by itself through one
// guided minute, marks the heads whose removal changes the text, and explains what is pointed at. All numbers are
// computed here, by transformer.js. What is shown hangs on one object, `stage`: text, removed heads, step.

const SLOW = 2600, WORD = 1300, FIRST = 900; // milliseconds that a step stays: a sentence to read, a word, the first one
const EVERY = 18; // parts of a head's map that the page draws at most, for each side
const PARTS = { self_attention: "self-attention", cross_attention: "cross-attention" };
const UNITS = ["", "one", "two", "three", "four", "five", "six", "seven", "eight", "nine", "ten", "eleven", "twelve", "thirteen",
  "fourteen", "fifteen", "sixteen", "seventeen", "eighteen", "nineteen"];
const TENS = ["", "", "twenty", "thirty", "forty", "fifty", "sixty", "seventy", "eighty", "ninety"];

/** A whole number below a million in English, as the model read it in training: 421 is "four hundred twenty-one". */
function english(n) {
  if (n === 0) return "zero";
  if (n >= 1000) return `${english(Math.floor(n / 1000))} thousand ${n % 1000 ? english(n % 1000) : ""}`.trim();
  if (n >= 100) return `${UNITS[Math.floor(n / 100)]} hundred ${n % 100 ? english(n % 100) : ""}`.trim();
  return n < 20 ? UNITS[n] : [TENS[Math.floor(n / 10)], UNITS[n % 10]].filter(Boolean).join("-");
}

const asWords = (text) => (/^\s*\d[\d,.\s]*$/.test(text) ? english(Number(text.replace(/\D/g, "").slice(0, 6))) : text.trim().toLowerCase());

// ------------------------------------------------------------------------------------------------------------- compute

/** All heads, from the encoder to the decoder: { id, side, block, part, head, code }, the code is for the address. */
function headsOf(seen) {
  const found = [];
  for (const [name, { shape }] of seen) {
    const [, side, block, part] = name.match(/^(encoder|decoder)\.blocks\.(\d+)\.(\w+_attention)\.weights$/) ?? [];
    for (let head = 0; part && head < shape[0]; head++)
      found.push({ id: `${side}.blocks.${block}.${part}`, side, block: Number(block), part, head,
        code: `${side[0]}${Number(block) + 1}${part[0]}${head + 1}` });
  }
  return found;
}

const editsOf = (heads) => {
  const edits = { heads: {} };
  for (const { id, head } of heads) (edits.heads[id] ??= []).push(head);
  return edits;
};

/** What the machine writes without these heads, and one pass over all of it: { ids, seen, odds: row -> Float32Array }. */
function writing({ machine, source }, heads) {
  const { bos, eos, limit } = machine.target, edits = editsOf(heads);
  const ids = greedy(machine, { source, prompt: [bos] }, Math.min(limit - 1, 20), edits);
  const seen = run(machine, { source, target: [bos, ...ids.slice(0, -1)] }, edits), logits = seen.get("logits");
  return { ids, seen, ended: ids.at(-1) === eos, odds: (t) => probabilities(rowOf(logits, t)) };
}

/** What one head is worth here: does the text change without it, and which word of the intact text loses most? */
function worthOf(stage, head) {
  const { machine, source, intact } = stage, other = writing(stage, [head]);
  const target = [machine.target.bos, ...intact.ids.slice(0, -1)];
  const logits = run(machine, { source, target }, editsOf([head])).get("logits");
  const drops = intact.ids.map((id, t) => ({ id, from: intact.odds(t)[id], to: probabilities(rowOf(logits, t))[id] }));
  const most = drops.reduce((a, b) => (b.from - b.to > a.from - a.to ? b : a));
  return { changes: other.ids.join() !== intact.ids.join(), writes: other.ids, ...most };
}

/** Found one after the other, so that the page goes on moving; then the marks are drawn. */
function findWorth(stage, index = 0) {
  if (index === stage.heads.length) {
    const by = stage.heads.filter((head) => head.worth.changes).sort((a, b) => b.worth.from - b.worth.to - (a.worth.from - a.worth.to));
    // the guided minute takes a head of the decoder that looks at the source, where one changes the text
    stage.needed = by.find(({ part }) => part === "cross_attention") ?? by[0]
      ?? stage.heads.reduce((a, b) => (b.worth.from - b.worth.to > a.worth.from - a.worth.to ? b : a));
    stage.steps = stepsOf(stage);
    stage.found = true;
    if (stage.free) showAll(stage);
    else goTo(stage, stage.wanted ?? stage.step, stage.wanted === undefined);
    stage.wanted = undefined;
    return;
  }
  stage.heads[index].worth = worthOf(stage, stage.heads[index]);
  stage.finding = setTimeout(() => findWorth(stage, index + 1));
}

/** Another sentence. An unknown word leaves all as it is. */
function readText(stage, text) {
  const { machine } = stage, words = asWords(text), { ids, error } = encode(machine.source, words);
  stage.parts.error.textContent = error && `${error} Try a number up to 999,999, in words or digits.`;
  if (error) return false;
  clearTimeout(stage.finding);
  Object.assign(stage, { text: words, source: ids, removed: [], found: false, free: false, step: 0, needed: undefined, pointed: undefined });
  stage.intact = writing(stage, []);
  stage.heads = headsOf(stage.intact.seen);
  stage.now = stage.intact;
  stage.steps = stepsOf(stage);
  stage.parts.text.value = words;
  buildHeads(stage);
  findWorth(stage);
  return true;
}

// ---------------------------------------------------------------------------------------------------- one guided minute

const tokenOf = ({ machine }, side, id) => visibleToken(machine[side].tokens[id]);
const textOfIds = ({ machine }, ids) => decode(machine.target, ids);
const nameOf = ({ side, block, part, head }) => `head ${head + 1} of the ${PARTS[part]} in ${side} block ${block + 1}`;

/** The steps: the encoder reads, the words come one by one; then a head is taken away, and they come again. */
function stepsOf(stage) {
  const { intact, needed } = stage, words = intact.ids.length - (intact.ended ? 1 : 0), count = stage.source.length;
  const steps = [
    { shown: 0, lit: "encoder.blocks.0", says: `It reads. ${count} English words become ${count} vectors, and each looks at the others.` },
    { shown: 0, lit: "encoder.blocks.1", says: "It reads once more. Each small map is a head: a row for each word, bright where it looks." },
  ];
  for (let t = 0; t < words; t++) steps.push({ shown: t + 1, lit: "decoder", says: chosen(stage, intact, t) });
  if (!needed) return steps;
  const { worth } = needed, before = `Now we take one head away, ${nameOf(needed)}.`;
  steps.push({ shown: words, without: needed, lit: needed.id, slow: true,
    says: worth.changes ? `${before} Will it write the same?` : `${before} For this number no single head is needed.` });
  const other = worth.changes ? worth.writes : intact.ids, ended = other.at(-1) === stage.machine.target.eos;
  for (let t = 0; t < other.length - (ended ? 1 : 0); t++) steps.push({ shown: t + 1, without: needed, lit: "decoder" });
  steps.push({ shown: other.length, without: needed, end: true, slow: true, says: worth.changes
    ? `Without it: “${textOfIds(stage, other)}”. Marked heads change this text. Your turn:`
    : `The text stays; “${tokenOf(stage, "target", worth.id)}” falls from ${share(worth.from)} to ${share(worth.to)}. Your turn:` });
  return steps;
}

/** "It looks most at 'one' (0.98) and writes 'ein', with probability 1.00." */
function chosen(stage, { ids, seen, odds }, t) {
  const looks = looksOf(stage, seen, t), s = largest(looks);
  return `It looks most at “${tokenOf(stage, "source", stage.source[s])}” (${share(looks[s])}) and writes `
    + `“${tokenOf(stage, "target", ids[t])}” (probability ${share(odds(t)[ids[t]])}).`;
}

/** Where the decoder's last block looks for word t, mean over its heads: a weight for each source word. */
function looksOf(stage, seen, t) {
  const last = stage.heads.filter(({ part }) => part === "cross_attention").at(-1);
  const weights = seen.get(`${last.id}.weights`), [H, , S] = weights.shape, mean = new Float32Array(S);
  for (let h = 0; h < H; h++) rowOf(weights, t, h).forEach((w, s) => { mean[s] += w / H; });
  return mean;
}

function goTo(stage, step, silent = false) {
  stage.step = Math.max(0, Math.min(stage.steps.length - 1, step));
  const { without } = stage.steps[stage.step], removed = without ? [without] : [];
  if (codes(removed) !== codes(stage.removed)) setRemoved(stage, removed);
  stage.free = false;
  stage.pointed = undefined;
  showAll(stage);
  if (!silent) tellAddress(stage);
}

const codes = (heads) => heads.map(({ code }) => code).join();

function setRemoved(stage, heads) {
  stage.removed = heads;
  stage.now = heads.length ? writing(stage, heads) : stage.intact;
}

/** A head is taken away or put back by hand: the guided minute ends, all that is written is shown. */
function toggle(stage, head) {
  halt(stage);
  const own = stage.free ? stage.removed : stage.removed.filter(({ code }) => code === head.code); // not what the minute removed
  setRemoved(stage, own.includes(head) ? own.filter((one) => one !== head) : [...own, head]);
  stage.free = true;
  stage.pointed = { head };
  showAll(stage);
  tellAddress(stage);
}

/** A new text is played; where motion is not wanted, it stands there as it is written. */
function begin(stage) {
  const { ids, ended } = stage.intact;
  if (matchMedia("(prefers-reduced-motion: reduce)").matches) goTo(stage, 1 + ids.length - (ended ? 1 : 0));
  else playOn(stage);
}

function playOn(stage) {
  stage.playing = true;
  showButtons(stage);
  const next = () => {
    if (!stage.el.isConnected || (stage.found && stage.step === stage.steps.length - 1)) return halt(stage);
    if (stage.found || stage.step < stage.steps.length - 1) goTo(stage, stage.step + 1);
    stage.timer = setTimeout(next, stay());
  };
  const stay = () => { const { slow, shown } = stage.steps[stage.step]; return slow || !shown ? SLOW : WORD; };
  stage.timer = setTimeout(next, stage.step ? stay() : FIRST);
}

function halt(stage) {
  clearTimeout(stage.timer);
  stage.playing = false;
  showButtons(stage);
}

/** The address holds text, removed heads and step, so that it can be sent. */
function tellAddress({ keeps, text, removed, step, free }) {
  if (!keeps) return;
  const said = new URLSearchParams({ text });
  if (free && removed.length) said.set("without", codes(removed));
  if (!free) said.set("step", step + 1);
  const hash = `#${said}`;
  keeps.hash = hash;
  location.replace(hash);
}

/** What an address asks for is shown, and nothing moves by itself then. */
function readAddress(stage) {
  const said = new URLSearchParams(location.hash.slice(1));
  if (!said.get("text") || !readText(stage, said.get("text"))) return false;
  const without = (said.get("without") ?? "").split(",");
  const heads = stage.heads.filter(({ code }) => without.includes(code));
  if (heads.length) {
    setRemoved(stage, heads);
    stage.free = true;
  }
  const step = Number(said.get("step"));
  if (!heads.length) stage.wanted = Number.isInteger(step) && step > 0 ? step - 1 : Infinity;
  return true;
}

// ---------------------------------------------------------------------------------------------------------------- draw

function buildStage(stage) {
  const button = (label, sign, title = label) => make("button", { type: "button", "aria-label": label, title }, sign);
  const parts = {
    text: make("input", { type: "text", "aria-label": "A number, in English words or digits", autocomplete: "off", spellcheck: "false" }),
    random: button("Another number", make("span", {}, "⚄", make("em", {}, " Another number"))), error: make("p", { class: "st-error", role: "alert" }),
    words: make("div", { class: "st-words" }), odds: make("div", { class: "st-odds" }), heads: make("div", { class: "st-heads" }),
    said: make("p", { class: "st-said", role: "status", "aria-live": "polite" }), tries: make("p", { class: "st-tries" }),
    back: button("Back", "◂"), play: button("Pause", "❚❚"), forward: button("Forward", "▸"), again: button("From the beginning", "↺"),
    where: make("span", { class: "st-where" }),
  };
  const { text, random, error, words, odds, heads, said, tries, back, play, forward, again, where } = parts;
  const tell = make("div", { class: "st-tell" }, said, tries, make("div", { class: "st-controls" }, back, play, forward, again, where));
  stage.el.replaceChildren(make("section", { class: "st-stage", "aria-label": "A Transformer at work" },
    make("form", { class: "st-ask" }, make("label", {}, "Translate", text), random), error,
    make("div", { class: "st-body" }, make("div", { class: "st-left" }, words, odds), heads, tell)));
  stage.parts = parts;
}

/** The heads as small maps, a row of them for each attention. Which of them change the text is marked as it is found. */
function buildHeads(stage) {
  const rows = new Map();
  for (const head of stage.heads) {
    const { id, side, block, part } = head;
    if (!rows.has(id)) rows.set(id, make("div", { class: "st-row", "data-row": id },
      make("span", { class: "st-label" }, `${side} ${block + 1}`, make("small", {}, PARTS[part]))));
    head.canvas = make("canvas", { "aria-hidden": "true" });
    head.button = make("button", { type: "button", class: "st-head", "data-code": head.code }, head.canvas);
    rows.get(id).append(head.button);
  }
  stage.parts.heads.replaceChildren(...rows.values());
}

function showAll(stage) {
  const { parts, now, intact, steps, step, free, removed } = stage, at = steps[step];
  const words = now.ids.length - (now.ended ? 1 : 0), shown = free ? words : Math.min(at.shown, words);
  stage.shown = shown;
  drawWords(stage, shown);
  drawOdds(stage, shown);
  for (const head of stage.heads) drawHead(stage, head, shown);
  for (const row of parts.heads.children) row.classList.toggle("st-lit", !free && row.dataset.row.startsWith(at.lit ?? "none"));
  const told = stage.pointed ? aboutPointed(stage) : free ? aboutRemoved(stage) : at.says ?? chosen(stage, now, shown - 1);
  if (parts.said.textContent !== told) parts.said.textContent = told;
  parts.tries.hidden = !(free || at.end);
  parts.tries.replaceChildren(...(free || at.end ? triesOf(stage) : []));
  stage.el.firstChild.classList.toggle("st-changed", removed.length > 0 && now.ids.join() !== intact.ids.join());
  showButtons(stage);
}

function showButtons({ parts, playing, step, steps, free, found }) {
  parts.play.textContent = playing ? "❚❚" : "▶";
  parts.play.setAttribute("aria-label", playing ? "Pause" : "Play");
  parts.back.disabled = step === 0;
  parts.forward.disabled = found && step === steps.length - 1;
  parts.where.textContent = free ? "your own change" : `step ${step + 1} of ${found ? steps.length : "…"}`;
}

/** The width of a word in the letters of the chips. */
function widthOf(word, size) {
  widthOf.pen ??= document.createElement("canvas").getContext("2d");
  widthOf.pen.font = `600 ${size}px system-ui, sans-serif`;
  return widthOf.pen.measureText(word).width;
}

/** Chips of words in lines, centred; returns for each its box: { x, y, width }. */
function flowOf(words, room, top, height, size) {
  const boxes = [], lines = [[]];
  let width = 0;
  for (const word of words) {
    const own = widthOf(word, size) + 2 * size - 12;
    if (width + own > room && lines.at(-1).length) { lines.push([]); width = 0; }
    lines.at(-1).push(own);
    width += own + 4;
  }
  lines.forEach((line, n) => {
    const gap = Math.min(26, (room - line.reduce((a, b) => a + b, 0)) / (line.length + 1)), all = line.reduce((a, b) => a + b + gap, -gap);
    let x = (room - all) / 2;
    for (const own of line) { boxes.push({ x, y: top + n * (height + 4), width: own }); x += own + gap; }
  });
  return { boxes, bottom: top + lines.length * (height + 4) };
}

const svgNode = (tag, attributes, ...children) => {
  const node = document.createElementNS("http://www.w3.org/2000/svg", tag);
  for (const [name, value] of Object.entries(attributes)) node.setAttribute(name, value);
  node.append(...children);
  return node;
};

/** English above, German below, and a line from each English word to the German one that looks at it; smaller where many. */
function drawWords(stage, shown) {
  const { parts, source, now, intact, pointed, removed } = stage, room = Math.max(260, parts.words.clientWidth);
  const words = now.ids.length - (now.ended ? 1 : 0), row = pointed?.word ?? shown - 1;
  const english = source.map((id) => tokenOf(stage, "source", id)), german = now.ids.slice(0, words).map((id) => tokenOf(stage, "target", id));
  const laid = (size) => {
    const height = 2 * size + 2, above = flowOf(english, room, 2, height, size);
    const gap = Math.max(40, (room > 600 ? 226 : 146) - 2 * above.bottom);
    return { size, height, above, below: flowOf(german, room, above.bottom + gap, height, size) };
  };
  const large = laid(room > 600 ? 18 : 14), { size, height, above, below } = large.below.bottom > (room > 600 ? 300 : 190) ? laid(11) : large;
  const looks = row >= 0 ? looksOf(stage, now.seen, row) : [];
  const svg = svgNode("svg", { viewBox: `0 0 ${room} ${below.bottom}`, width: room, height: below.bottom, role: "img",
    "aria-label": `“${stage.text}” becomes “${german.slice(0, shown).join(" ")}${shown < words ? " …" : ""}”` });
  looks.forEach((w, s) => {
    const from = above.boxes[s], to = below.boxes[row], [x0, y0, x1, y1] = [from.x + from.width / 2, from.y + height, to.x + to.width / 2, to.y];
    if (w > 0.03) svg.append(svgNode("path", { class: "st-line", d: `M${x0},${y0}C${x0},${(y0 + y1) / 2} ${x1},${(y0 + y1) / 2} ${x1},${y1}`,
      "stroke-width": 1 + 7 * w, opacity: 0.25 + 0.75 * w }));
  });
  const chip = (box, word, kind, index, state) => {
    const group = svgNode("g", { class: `st-chip st-${kind} ${state}`, "data-kind": kind, "data-index": index, tabindex: 0, role: "img", "aria-label": word },
      svgNode("rect", { x: box.x, y: box.y, width: box.width, height, rx: 8 }),
      svgNode("text", { x: box.x + box.width / 2, y: box.y + height / 2 + size / 3, "text-anchor": "middle", "font-size": size }, word));
    svg.append(group);
  };
  above.boxes.forEach((box, s) => chip(box, english[s], "source", s, looks[s] > 0.3 ? "st-on" : ""));
  below.boxes.slice(0, shown).forEach((box, t) => chip(box, german[t], "target", t,
    `${t === row ? "st-on" : ""} ${removed.length && now.ids[t] !== intact.ids[t] ? "st-other" : ""}`));
  parts.words.replaceChildren(svg);
}

/** The likeliest words at the place of the last word that is shown, the chosen one first. */
function drawOdds(stage, shown) {
  const { parts, now, intact, pointed } = stage, t = pointed?.word ?? shown - 1;
  if (t < 0) { parts.odds.replaceChildren(make("span", { class: "st-wait" }, "The next word is chosen here.")); return; }
  const odds = now.odds(t), same = now.ids.slice(0, t).join() === intact.ids.slice(0, t).join();
  parts.odds.replaceChildren(...strongest(odds, 3).flatMap((id, n) => {
    const bar = make("i", { style: `width: ${(100 * odds[id]).toFixed(1)}%` }), was = same && now !== intact && intact.ids[t] === id ? " st-was" : "";
    return [make("b", { class: (n ? "" : "st-best") + was }, tokenOf(stage, "target", id)), make("span", { class: "st-track" }, bar),
      make("span", {}, brief(odds[id]))];
  }));
}

function drawHead(stage, head, shown) {
  const { now, removed, palettes } = stage, gone = removed.some(({ code }) => code === head.code), { canvas, button, worth } = head;
  const weights = now.seen.get(`${head.id}.weights`), [, T, S] = weights.shape;
  const seenRows = head.side === "decoder" ? Math.max(0, shown) : T, mask = now.seen.get(`${head.id}.mask`);
  const data = weights.data.slice(0);
  for (let t = seenRows; t < T; t++) data.fill(0, (head.head * T + t) * S, (head.head * T + t + 1) * S);
  paintMap(canvas, { shape: weights.shape, data }, mask, head.head, [Math.min(T, EVERY), Math.min(S, EVERY)], palettes);
  button.classList.toggle("st-gone", gone);
  button.classList.toggle("st-needed", Boolean(worth?.changes));
  button.setAttribute("aria-pressed", gone);
  button.setAttribute("aria-label", `${nameOf(head)}${gone ? ", removed" : ""}${worth?.changes ? ": it changes the text" : ""}`);
}

// ---------------------------------------------------------------------------------------------------------------- tell

/** What the removed heads do: the text that comes, or the word that loses most. */
function aboutRemoved(stage) {
  const { removed, now, intact } = stage;
  if (!removed.length) return `The whole machine writes “${textOfIds(stage, intact.ids)}”.`;
  const what = removed.length === 1 ? nameOf(removed[0]) : `${removed.length} heads`;
  if (now.ids.join() !== intact.ids.join()) return `Without ${what} it writes “${textOfIds(stage, now.ids)}” in place of “${textOfIds(stage, intact.ids)}”.`;
  if (removed.length > 1) return `Without these ${removed.length} heads it still writes the same.`;
  const { worth } = removed[0];
  return worth ? `The text stays without ${what}; of its words “${tokenOf(stage, "target", worth.id)}” loses most: `
    + `${share(worth.from)} to ${share(worth.to)}. Marked heads change the text.` : `Without ${what} it writes the same.`;
}

function aboutPointed(stage) {
  const { pointed: { head, word, source, odds }, now, shown, removed, machine } = stage;
  if (head) {
    if (removed.some(({ code }) => code === head.code)) return aboutRemoved(stage);
    const weights = now.seen.get(`${head.id}.weights`), [H, T, S] = weights.shape, K = now.seen.get(`${head.id}.queries`).shape[2];
    const t = Math.max(0, head.side === "decoder" ? Math.min(T, shown) - 1 : T - 1), row = rowOf(weights, t, head.head), s = largest(row);
    const keys = head.part === "cross_attention" || head.side === "encoder" ? stage.source.map((id) => tokenOf(stage, "source", id))
      : [machine.target.bos, ...now.ids].map((id) => tokenOf(stage, "target", id));
    const named = nameOf(head);
    return `${named[0].toUpperCase()}${named.slice(1)}: softmax(QKᵀ/√${K}), (H, T, S) = (${H}, ${T}, ${S}). The last row looks most at `
      + `“${keys[s]}” (${share(row[s])}). ${head.worth?.changes ? "Without it the text changes." : "Click to remove it."}`;
  }
  if (word !== undefined) return `${chosen(stage, now, word)} Lines: the last block’s cross-attention, mean over its heads.`;
  if (odds) return `softmax over ${machine.target.tokens.length} words: the likeliest is written, and read again for the next one.`;
  const D = machine.config.d_model;
  return `“${tokenOf(stage, "source", stage.source[source])}” is number ${stage.source[source]} of ${machine.source.tokens.length} words, `
    + `then a vector of D = ${D} numbers: its row of the table, times √${D}, plus its position.`;
}

/** Three things to try. */
function triesOf(stage) {
  const act = (label, go) => { const node = make("button", { type: "button" }, label); node.addEventListener("click", go); return node; };
  const { removed, heads } = stage, others = heads.filter(({ code, worth }) => worth && !codes(removed).includes(code));
  const head = others.sort((a, b) => b.worth.changes - a.worth.changes || b.worth.from - b.worth.to - (a.worth.from - a.worth.to))[0];
  return [
    act("another number", () => anotherNumber(stage)),
    ...(head ? [act(removed.length ? "another head" : "take a head away", () => { setRemoved(stage, []); toggle(stage, head); })] : []),
    act(removed.length ? "put it back" : "watch again", () => {
      if (removed.length) { setRemoved(stage, []); stage.free = true; stage.pointed = undefined; showAll(stage); tellAddress(stage); }
      else { goTo(stage, 0); playOn(stage); }
    }),
  ];
}

function anotherNumber(stage) {
  halt(stage);
  readText(stage, String(Math.floor(10 ** (2 + 4 * Math.random()))));
  begin(stage);
}

// -------------------------------------------------------------------------------------------------------------- listen

function listen(stage) {
  const { parts } = stage, on = (node, event, act) => node.addEventListener(event, act);
  const ask = () => { halt(stage); if (readText(stage, parts.text.value)) begin(stage); };
  on(parts.text.form, "submit", (event) => { event.preventDefault(); ask(); });
  on(parts.text, "change", () => asWords(parts.text.value) !== stage.text && ask());
  on(parts.text, "focus", () => halt(stage));
  on(parts.random, "click", () => anotherNumber(stage));
  on(parts.back, "click", () => { halt(stage); goTo(stage, stage.step - 1); });
  on(parts.forward, "click", () => { halt(stage); goTo(stage, stage.step + 1); });
  on(parts.again, "click", () => { halt(stage); goTo(stage, 0); playOn(stage); });
  on(parts.play, "click", () => {
    if (stage.playing) return halt(stage);
    if (stage.free || stage.step === stage.steps.length - 1) goTo(stage, 0);
    playOn(stage);
  });
  const headAt = (event) => stage.heads.find(({ button }) => button === event.target.closest?.(".st-head"));
  const pointAt = (event) => {
    const chip = event.target.closest?.(".st-chip"), head = headAt(event), odds = event.target.closest?.(".st-odds");
    if (stage.playing || !(chip || head || odds)) return;
    const index = Number(chip?.dataset.index), pointed = head ? { head } : odds ? { odds: true }
      : chip.dataset.kind === "target" ? { word: index } : { source: index };
    if (JSON.stringify(pointed, ["word", "source", "odds", "head", "code"]) === JSON.stringify(stage.pointed ?? {}, ["word", "source", "odds", "head", "code"])) return;
    stage.pointed = pointed;
    parts.said.textContent = aboutPointed(stage);
    if (pointed.word !== undefined) showAll(stage);
  };
  on(stage.el, "pointerover", pointAt);
  on(stage.el, "focusin", pointAt);
  on(parts.heads, "click", (event) => { const head = headAt(event); if (head) toggle(stage, head); });
  if (stage.keeps) on(window, "hashchange", () => {
    if (decodeURI(location.hash) === decodeURI(stage.keeps.hash)) return;
    halt(stage);
    if (readAddress(stage)) showAll(stage);
  });
}

/** `keeps`: the address holds the state. */
function render({ model, el }) {
  const machine = load(model.get("spec"), model.get("data"));
  const stage = { machine, el, removed: [], step: 0, playing: false, keeps: model.get("keeps") ? { hash: location.hash } : null };
  buildStage(stage);
  stage.palettes = palettesOf(el.firstChild);
  listen(stage);
  const asked = stage.keeps && readAddress(stage);
  if (!asked) readText(stage, model.get("text") ?? "four hundred twenty-one");
  if (!asked) begin(stage);
    showAll(stage);
  const again = () => { stage.palettes = palettesOf(el.firstChild); showAll(stage); };
  const sizes = new ResizeObserver(() => showAll(stage)), themes = new MutationObserver(() => setTimeout(again, 50));
  sizes.observe(stage.parts.words);
  themes.observe(document.documentElement, { attributes: true });
  return () => { halt(stage); clearTimeout(stage.finding); sizes.disconnect(); themes.disconnect(); };
}

export default { render };
