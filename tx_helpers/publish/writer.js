// A published writer: one types, the model goes on; what it thought of each token is there to be pointed at.
// All that its functions share is one object, `view`, made in `render`; decode.js and tokenizers.js compute.

const AT_ONCE = 40; // milliseconds of computing before the page may draw and listen
const CHUNK = 16; // ids of a text that are read at once

// ------------------------------------------------------------------------------------------------------------ compute

/** Numbers from [0, 1) that depend on the seed alone. Source: mulberry32, T. Ettinger 2017, public domain. */
const random = (seed) => () => {
  let t = (seed = (seed + 0x6d2b79f5) | 0);
  t = Math.imul(t ^ (t >>> 15), t | 1);
  t ^= t + Math.imul(t ^ (t >>> 7), t | 61);
  return ((t ^ (t >>> 14)) >>> 0) / 4294967296;
};

/** A token of these probabilities, from the likeliest ones that together have at least the share `most`. */
const drawn = (odds, most, uniform) => {
  const order = Array.from(odds.keys());
  if (most < 1) order.sort((a, b) => odds[b] - odds[a]);
  let sum = 0, count = 0;
  while (count < order.length && (count === 0 || sum < most)) sum += odds[order[count++]];
  let left = uniform * sum;
  return order.slice(0, count).find((id) => (left -= odds[id]) < 0) ?? order[0];
};

/** The last row of logits (T, V). */
const lastOf = ({ shape: [T, V], data }) => data.subarray((T - 1) * V, T * V);

/** The likeliest ids of a row of probabilities with their share, the likeliest first. */
const likeliestOf = (odds, count = 5) => {
  const found = [];
  for (let id = 0; id < odds.length; id++)
    if (found.length < count || odds[id] > found.at(-1).share) {
      found.push({ id, share: odds[id] });
      found.sort((a, b) => b.share - a.share);
      found.length = Math.min(found.length, count);
    }
  return found;
};

/** Read tokens, chunk after chunk: each gets its `look`, the attention of all layers (H, T, S) and its row there. */
async function take(view, writing, tokens) {
  for (let from = 0; from < tokens.length; from += CHUNK) {
    const part = tokens.slice(from, from + CHUNK), seen = step(writing.state, ...part.map(({ id }) => id));
    const layers = view.layers.map((name) => seen.get(name));
    part.forEach((token, row) => { token.look ??= { layers, row, first: writing.first }; });
    writing.logits = lastOf(seen.get("logits"));
    if (tokens.length > CHUNK) await pause();
  }
}

const pause = () => new Promise((go) => setTimeout(go));

/** One more token. Where the context is full, the model goes on from its second half alone, as `Writer.write` does. */
async function next(view, writing) {
  const { temperature, share } = view.settings(), odds = probabilities(writing.logits);
  const tempered = temperature === 1 ? odds : probabilities(writing.logits, temperature);
  const id = drawn(tempered, share, writing.uniform()), token = { id, share: odds[id], best: likeliestOf(odds) };
  writing.tokens.push(token);
  if (writing.state.ids.length + 1 < view.limit) await take(view, writing, [token]);
  else await begin(view, writing);
  return token;
}

/** Read the end of the text, half a context of it, with an empty cache. */
async function begin(view, writing) {
  const read = writing.tokens.slice(-Math.ceil(view.limit / 2));
  Object.assign(writing, { state: start(view.machine), first: writing.tokens.length - read.length });
  await take(view, writing, read);
}

/** Text -> { ids, error }; a text without a token begins with a new line, or with the token for a beginning. */
const idsOf = (side, text) => {
  const read = encode(side, text, Infinity);
  if (read.ids.length || text.trim()) return read;
  const { ids } = encode(side, "\n", Infinity);
  return ids.length || side.bos === null ? { ids, error: ids.length ? "" : read.error } : { ids: [side.bos], error: "" };
};

/** Write until the end token, the wanted length, the chat's stop, or Stop. */
async function write(view) {
  const { parts, chat, machine: { target } } = view, asked = parts.text.value;
  const { ids, error } = idsOf(target, chat ? chat.before + asked + chat.after : asked);
  parts.error.textContent = error;
  if (error || view.busy) return;
  view.busy = true;
  parts.stop.disabled = false;
  parts.write.disabled = true;
  const { seed, length } = view.settings(), old = view.writing;
  if (!chat) parts.page.replaceChildren();
  if (chat) parts.text.value = "";
  const writing = view.writing = { tokens: chat?.turns && old ? old.tokens : [], uniform: random(seed), spell: speller(target) };
  for (const id of ids) writing.tokens.push({ id, given: true });
  const given = writing.tokens.slice(-ids.length), turn = parts.page.appendChild(make("div", { class: "pw-turn" }));
  for (const token of given) show(view, writing, turn, token);
  await begin(view, writing);
  let text = "", count = 0, spent = 0, last = performance.now(), end = "Stopped";
  while (view.busy) {
    const token = await next(view, writing);
    if (token.id === target.eos) { end = "The model wrote its end token"; break; }
    text += show(view, writing, turn, token);
    count += 1;
    if (chat?.stop && text.includes(chat.stop)) { end = "Answered"; break; }
    if (count >= length) { end = "Done"; break; }
    const now = performance.now();
    if (now - last < AT_ONCE) continue;
    spent += now - last;
    say(view, "Writing", count, spent);
    await pause();
    last = performance.now();
  }
  say(view, end, count, spent + performance.now() - last);
  Object.assign(view, { busy: false });
  parts.stop.disabled = true;
  parts.write.disabled = false;
  if (chat) parts.text.focus();
}

const say = ({ parts }, what, count, spent) => {
  const pace = spent > 0 && count > 1 ? `, ${Math.round((1000 * count) / spent)} a second` : "";
  parts.said.textContent = `${what}: ${count} ${count === 1 ? "token" : "tokens"}${pace}.`;
};

// --------------------------------------------------------------------------------------------------------------- show

/** A token behind the text; returns what it spells. */
function show(view, writing, turn, token) {
  const text = writing.spell(token.id);
  token.name = visibleToken(view.machine.target.tokens[token.id]);
  token.node = make("span", { class: token.given ? "pw-given" : "pw-token", tabindex: "-1" }, text);
  if (text === "\n") token.node.classList.add("pw-line");
  if (!token.given) shade(token.node, token.share);
  view.of.set(token.node, { token, writing });
  turn.append(token.node);
  return text;
}

const shade = (node, share) => node.style.setProperty("--share", share.toFixed(3));

/** What is known of a token: its likeliest rivals, and in the text what it looks at. */
function point(view, node) {
  const { parts } = view, found = view.of.get(node);
  if (!found || view.pointed === node) return;
  leave(view);
  view.pointed = node;
  view.seen = found;
  const { token, writing } = found;
  node.classList.add("pw-on");
  parts.name.textContent = token.given ? `“${token.name}” was given` : `“${token.name}”: ${percentOf(token.share)}`;
  parts.best.replaceChildren(...(token.best ?? []).map(({ id, share }) => make("li", id === token.id ? { class: "pw-it" } : {},
    make("bdi", {}, visibleToken(view.machine.target.tokens[id])), meter(share), make("b", {}, percentOf(share)))));
  const weights = attentionOf(view, token);
  parts.about.textContent = weights ? `Gold: what “${token.name}” looks at.` : `“${token.name}” has not been read yet.`;
  if (!weights) return;
  const most = Math.max(...weights), of = writing.tokens;
  of.forEach((other, i) => { if (other.node) shade(other.node, (weights[i - token.look.first] ?? 0) / most); });
}

/** The weights of a token on the tokens before it and itself: of a head, or the mean over heads, over layers. */
function attentionOf({ parts, layers }, { look }) {
  if (!look) return null;
  const chosen = (select, count) => (select.value === "mean" ? Array.from({ length: count }, (_, i) => i) : [Number(select.value)]);
  const which = chosen(parts.layer, layers.length), sum = new Float64Array(look.row + look.layers[0].shape[2] - look.layers[0].shape[1] + 1);
  for (const layer of which) {
    const { shape: [H, T, S], data } = look.layers[layer], heads = chosen(parts.head, H);
    for (const head of heads)
      for (let s = 0; s < sum.length; s++) sum[s] += data[(head * T + look.row) * S + s] / heads.length / which.length;
  }
  return sum;
}

function leave(view) {
  view.pointed?.classList.remove("pw-on");
  for (const token of view.seen?.writing.tokens ?? []) if (token.node) shade(token.node, token.share ?? 0);
  view.pointed = view.seen = null;
  view.parts.about.textContent = "Gold: how likely the model found each token. Point at one, or walk with the arrow keys.";
}

const percentOf = (share) => (share > 0 && share < 0.0005 ? "under 0.1%" : `${(100 * share).toFixed(1)}%`);
const meter = (share) => make("i", { style: `--share: ${share.toFixed(3)}` });

// -------------------------------------------------------------------------------------------------------------- build

const field = (name, input) => make("label", {}, make("span", {}, name), input);
const numberField = (value, min, max, by) => make("input", { type: "number", value, min, max, step: by });
const choice = (name, count) =>
  make("select", {}, make("option", { value: "mean" }, `mean of ${name}`), ...Array.from({ length: count }, (_, i) =>
    make("option", { value: String(i) }, String(i + 1))));

function build(view, prompt) {
  const { chat, machine, layers } = view, number = (input, otherwise) => {
    const value = input.valueAsNumber;
    return Number.isFinite(value) ? Math.min(Number(input.max), Math.max(Number(input.min), value)) : otherwise;
  };
  const parts = view.parts = {
    text: make("textarea", { rows: chat ? "2" : "3", spellcheck: "false", maxlength: "20000" }),
    write: make("button", { type: "button", class: "pw-first" }, chat ? "Ask" : "Write"),
    stop: make("button", { type: "button", disabled: "" }, "Stop"),
    temperature: numberField("1", "0", "3", "0.1"), share: numberField("1", "0.05", "1", "0.05"),
    seed: numberField("0", "0", "999999", "1"), length: numberField("200", "1", "5000", "1"),
    error: make("p", { class: "pw-error", role: "alert" }), said: make("p", { class: "pw-said", role: "status" }),
    page: make("div", { class: "pw-page", tabindex: "0", role: "group", "aria-label": "What the model wrote" }),
    name: make("h2", {}, "The five likeliest tokens"), best: make("ol", {}), about: make("p", { class: "pw-about" }),
    layer: choice("layers", layers.length), head: choice("heads", machine.config.n_heads),
  };
  view.settings = () => ({
    temperature: number(parts.temperature, 1), share: number(parts.share, 1), seed: Math.floor(number(parts.seed, 0)),
    length: Math.floor(number(parts.length, 200)),
  });
  parts.text.value = prompt;
  view.el.replaceChildren(
    make("div", { class: "pw" },
      make("form", { class: "pw-ask" }, field(chat ? "Your question" : "How it begins", parts.text), parts.error,
        make("div", { class: "pw-row" }, parts.write, parts.stop, field("Temperature", parts.temperature), field("Top-p", parts.share),
          field("Seed", parts.seed), field("Tokens", parts.length))),
      parts.said, parts.page, parts.about,
      make("section", { class: "pw-tell", "aria-live": "polite" }, parts.name, parts.best,
        make("div", { class: "pw-row" }, field("Layer", parts.layer), field("Head", parts.head)))));
}

function listen(view) {
  const { parts } = view, go = () => write(view), move = { ArrowRight: 1, ArrowDown: 1, ArrowLeft: -1, ArrowUp: -1 };
  parts.write.addEventListener("click", go);
  parts.stop.addEventListener("click", () => { view.busy = false; });
  parts.text.addEventListener("keydown", (event) => {
    if (event.key !== "Enter" || event.isComposing || !(view.chat ? !event.shiftKey : event.ctrlKey || event.metaKey)) return;
    event.preventDefault();
    go();
  });
  view.el.querySelector("form").addEventListener("submit", (event) => event.preventDefault());
  parts.page.addEventListener("pointerover", (event) => point(view, event.target));
  parts.page.addEventListener("focusin", (event) => point(view, event.target));
  for (const leaving of ["pointerleave", "focusout"]) parts.page.addEventListener(leaving, () => leave(view));
  parts.page.addEventListener("keydown", (event) => {
    const by = move[event.key], tokens = [...parts.page.querySelectorAll("span")];
    if (!by || !tokens.length) return;
    event.preventDefault();
    const at = tokens.indexOf(document.activeElement);
    tokens[at < 0 ? (by > 0 ? 0 : tokens.length - 1) : Math.max(0, Math.min(tokens.length - 1, at + by))].focus();
  });
}

function render({ model, el }) {
  const machine = load(model.get("spec"), model.get("data")), layers = [];
  const name = (i) => `decoder.blocks.${i}.self_attention`;
  while (machine.has(`${name(layers.length)}.query.weight`)) layers.push(`${name(layers.length)}.weights`);
  const view = { machine, el, layers, limit: machine.target.limit, chat: model.get("chat"), of: new WeakMap(), busy: false };
  build(view, model.get("state").text);
  listen(view);
  leave(view);
}

export default { render };
