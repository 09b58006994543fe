// The controls of a recorded explorer, plain ones of the page. Each makes { node, put(place, stops) } and calls
// moved(place) when it is turned: a place is that of a value among the recorded ones. Python joins this file and
// player.js, and puts lines before both that define DRAWN, the scripts of those controls that draw themselves, and COMPUTE,
// which takes the place of recorded frames in some explorers; else it is null.

const element = (tag, attributes = {}, ...content) => {
  const node = document.createElement(tag);
  for (const [name, value] of Object.entries(attributes)) node.setAttribute(name, value);
  node.append(...content); // strings become text, never markup
  return node;
};

/** The control with its name; a box to tick stands before its name, all else behind. */
const labelled = (about, control, ...nodes) => {
  const named = [element("span", { class: "tx-name" }, about.label), control];
  const label = element("label", {}, ...(about.kind === "tick" ? named.reverse() : named));
  return element("div", { class: `tx-control tx-${about.kind}` }, label, ...nodes);
};

/** One step for each of the stops that there are now, evenly spaced, whatever lies between their values. */
const slider = (about, moved) => {
  const input = element("input", { type: "range", min: 0, step: 1 }), said = element("output");
  let stops = [];
  const write = () => {
    said.textContent = about.texts[stops[input.valueAsNumber]];
    input.setAttribute("aria-valuetext", said.textContent);
  };
  input.addEventListener("input", () => {
    write();
    moved(stops[input.valueAsNumber]);
  });
  const put = (place, recorded) => {
    stops = recorded;
    input.max = stops.length - 1;
    input.value = stops.indexOf(place);
    write();
  };
  return { node: labelled(about, input, said), put };
};

const choice = (about, moved) => {
  const select = element("select", {}, ...about.texts.map((text) => element("option", {}, text)));
  select.addEventListener("change", () => moved(select.selectedIndex));
  const node = labelled(about, select);
  node.classList.toggle("tx-long", about.texts.some((text) => text.length > 24));
  return { node, put: (place) => { select.selectedIndex = place; } };
};

const buttons = (about, moved) => {
  const all = about.texts.map((text, place) => {
    const button = element("button", { type: "button" }, text);
    button.addEventListener("click", () => moved(place));
    return button;
  });
  const name = element("span", { class: "tx-name" }, about.label);
  const node = element("div", { class: "tx-control tx-buttons", role: "group", "aria-label": about.label }, name, ...all);
  return { node, put: (place) => all.forEach((button, n) => button.setAttribute("aria-pressed", n === place)) };
};

const tick = (about, moved) => {
  const input = element("input", { type: "checkbox" }), place = (value) => about.values.indexOf(value);
  input.addEventListener("change", () => moved(place(input.checked)));
  return { node: labelled(about, input), put: (now) => { input.checked = about.values[now]; } };
};

let lists = 0;

/** A line to type into, with the recorded texts as suggestions; of numbers, the arrow keys go from one to the next. */
const field = (about, moved) => {
  const id = `tx-recorded-${(lists += 1)}`, options = about.texts.map((text) => element("option", { value: text }));
  const input = element("input", { type: "text", list: id, autocomplete: "off" });
  const spaced = (text) => text.trim().replace(/\s+/g, " ");
  const typed = () => moved(about.texts.findIndex((text) => spaced(text) === spaced(input.value)), input.value);
  input.addEventListener("change", typed);
  if (about.kind === "number") {
    input.type = "number";
    const sorted = [...about.values].sort((a, b) => a - b);
    input.addEventListener("keydown", (event) => {
      const step = { ArrowUp: 1, ArrowDown: -1 }[event.key];
      if (!step) return;
      event.preventDefault();
      const beyond = sorted.filter((value) => (value - input.valueAsNumber) * step > 0);
      const next = step > 0 ? beyond[0] : beyond.at(-1);
      if (next !== undefined) moved(about.values.indexOf(next));
    });
  }
  const put = (place) => { if (place >= 0) input.value = about.texts[place]; };
  return { node: labelled(about, input, element("datalist", { id }, ...options)), put };
};

/** The value as text, whatever the order of what it lists: heads and cells are sets, a place in the plane is not. */
const canonical = (value) => {
  const isSet = Array.isArray(value) && value.some((part) => typeof part !== "number");
  return JSON.stringify(isSet ? value.map((part) => JSON.stringify(part)).sort() : value);
};

/** A control with a script of its own, which believes that a kernel answers. */
const drawn = (about, moved) => {
  const node = element("div", { class: "tx-drawn" }), known = about.values.map(canonical), heard = new Map();
  const stored = { ...about.state, value: about.values[about.at] };
  const model = {
    get: (name) => stored[name],
    set: (name, value) => {
      stored[name] = value;
      heard.get(`change:${name}`)?.forEach((call) => call());
    },
    on: (event, call) => heard.set(event, (heard.get(event) ?? new Set()).add(call)),
    off: (event, call) => heard.get(event)?.delete(call),
    save_changes: () => {
      let place = known.indexOf(canonical(stored.value));
      if (place < 0 && COMPUTE) {  // nothing needs to be recorded
        place = known.push(canonical(stored.value)) - 1;
        about.values.push(structuredClone(stored.value));
      }
      moved(place);
    },
  };
  DRAWN[about.key].render({ model, el: node });
  const put = (place) => place >= 0 && known[place] !== canonical(stored.value) && model.set("value", about.values[place]);
  const tell = (traits) => {
    for (const [name, value] of Object.entries({ ...about.state, ...traits }))
      if (JSON.stringify(value) !== JSON.stringify(stored[name])) model.set(name, value);
  };
  return { node, put, tell };
};

const KINDS = { slider, choice, buttons, tick, text: field, number: field, drawn };

// --- buttons ----------------------------------------------------------------------------------------------------------

/** Sets controls to the values that it names. */
const press = (about, hands) => {
  const button = element("button", { type: "button" }, about.label);
  button.addEventListener("click", () => Object.entries(about.sets).forEach(([key, value]) => hands.choose(key, value)));
  return { node: element("div", { class: "tx-control" }, button) };
};

/** Moves a slider to its end, a stop at a time; from its start if it is at its end. */
const play = (about, hands) => {
  const button = element("button", { type: "button" }, about.label);
  let timer = null;
  const stop = () => {
    clearInterval(timer);
    timer = null;
    button.textContent = about.label;
  };
  const step = () => {
    const next = hands.beyond(about.slider);
    if (next === undefined) stop();
    else hands.move(about.slider, next);
    if (hands.beyond(about.slider) === undefined) stop();
  };
  button.addEventListener("click", () => {
    if (timer) return stop();
    if (hands.beyond(about.slider) === undefined) hands.move(about.slider, hands.stops(about.slider)[0]);
    button.textContent = "Pause";
    timer = setInterval(step, 1000 * about.pause);
  });
  return { node: element("div", { class: "tx-control" }, button), stop };
};

/** Starts, stops and continues the recorded run of the present setting. */
const run = (about, hands) => {
  const [start, stop, on] = about.labels, button = element("button", { type: "button" }, start);
  const reached = new Map(); // setting -> the place in its run
  let timer = null;
  const now = () => [hands.setting(), hands.run() ?? []];
  const standing = () => {
    const [setting, shots] = now();
    const place = reached.get(setting);
    button.textContent = timer ? stop : place !== undefined && place < shots.length - 1 ? on : start;
    return shots[place]?.[1];
  };
  const halt = () => {
    clearInterval(timer);
    timer = null;
    standing();
  };
  const next = () => {
    const [setting, shots] = now(), place = (reached.get(setting) ?? -1) + 1;
    reached.set(setting, place);
    if (place === shots.length - 1) halt();
    hands.show(shots[place][0]);
  };
  button.addEventListener("click", () => {
    const [setting, shots] = now();
    if (timer) {
      halt();
      return hands.show(standing());
    }
    if (!shots.length) return;
    if (reached.get(setting) === shots.length - 1) reached.delete(setting);
    timer = setInterval(next, (1000 * about.seconds) / shots.length);
    button.textContent = stop;
    next();
  });
  return { node: element("div", { class: "tx-control" }, button), stop: halt, standing };
};

const PRESSED = { press, play, run };
