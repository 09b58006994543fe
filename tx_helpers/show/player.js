// A recorded explorer, alive without a kernel: the controls that it has in Jupyter, and for each of their settings the
// picture, the alt text and the error that Python drew there. record.py says how the frames are stored; it puts a line
// before this module that defines DRAWN: the scripts of those controls that draw themselves. What a control shows is
// known by its places: `at[axis]` is the place of its value among its recorded ones, -1 for one that was not recorded.

const element = (tag, attributes = {}, ...content) => {
  const node = document.createElement(tag);
  for (const [name, value] of Object.entries(attributes)) node.setAttribute(name, value);
  node.append(...content); // strings become text, never markup
  return node;
};

const labelled = (about, ...nodes) => {
  const label = element("label", { class: "tx-control" }, element("span", {}, about.label), nodes[0]);
  return element("div", { class: "tx-control" }, label, ...nodes.slice(1));
};

const unpacked = async (data) => {
  const stream = new Blob([data]).stream().pipeThrough(new DecompressionStream("deflate"));
  return JSON.parse(await new Response(stream).text());
};

// --- the controls: each makes { node, put(place, stops) }, and calls moved(place) when it is turned -------------------

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
  return { node: labelled(about, select), put: (place) => { select.selectedIndex = place; } };
};

const buttons = (about, moved) => {
  const all = about.texts.map((text, place) => {
    const button = element("button", { type: "button" }, text);
    button.addEventListener("click", () => moved(place));
    return button;
  });
  const node = element("div", { class: "tx-control", role: "group", "aria-label": about.label }, about.label, ...all);
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
  const typed = () => moved(about.texts.indexOf(input.value.trim().replace(/\s+/g, " ")), input.value);
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
    save_changes: () => moved(known.indexOf(canonical(stored.value))),
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
  return { node: button };
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
  return { node: button, stop };
};

const PRESSED = { press, play };

// --- the explorer -----------------------------------------------------------------------------------------------------

const listed = (texts, most = 12) => texts.slice(0, most).join(", ") + (texts.length > most ? ", …" : "");

/** What to say of a setting that was not recorded: which values there are. */
const missing = (about, values, at, settings, typed) => {
  const end = "In the notebook every setting is drawn.";
  if (at[about.axis] < 0) {
    const said = typed === undefined ? `This setting of “${about.label}”` : `${about.label} “${typed}”`;
    const there = typed === undefined ? "" : ` There is: ${listed(about.texts)}.`;
    return `${said} was not recorded for this page.${there} ${end}`;
  }
  const keys = Object.keys(settings).map((key) => key.split(",").map(Number));
  const alike = (key) => key.filter((place, axis) => place === at[axis]).length;
  const with_it = keys.filter((key) => key[about.axis] === at[about.axis]);
  const best = with_it.reduce((one, other) => (alike(other) > alike(one) ? other : one));
  const others = values.filter(({ axis }) => best[axis] !== at[axis]).map((one) => `${one.label} ${one.texts[best[one.axis]]}`);
  return `${about.label} ${about.texts[at[about.axis]]} was recorded for this page only with ${listed(others)}. ${end}`;
};

/** What is on the page: `at`, the places of the values; `film`, what was recorded; the controls and where things stand. */
const opened = (model) => {
  const { name, controls } = model.get("recording");
  const values = controls.filter((about) => about.values), at = [];
  for (const about of values) at[about.axis] = about.at;
  const alarm = element("div", { class: "tx-error", role: "alert" });
  alarm.hidden = true;
  return {
    name, controls, values, at, alarm, made: new Map(), film: { settings: {}, frames: [], pieces: [] },
    picture: element("div", { class: "tx-view" }),
    summary: element("div", { class: "tx-summary", role: "status", "aria-live": "polite" }),
  };
};

const frameAt = ({ film }, places) => film.frames[film.settings[places.join(",")]];

/** The places at which a control can stand now; the slider that another control leads has not always all. */
const stopsOf = (here, about) => {
  const all = about.texts.map((_, place) => place);
  return about.led ? all.filter((place) => frameAt(here, here.at.with(about.axis, place))) : all;
};

const report = ({ alarm }, error) => {
  alarm.textContent = error;
  alarm.hidden = !error;
};

const show = (here, [places, alt, error, traits]) => {
  const joined = (places, mark) => places.map((place) => here.film.pieces[place]).join(mark);
  report(here, error);
  if (error) return; // the last good picture stays
  here.picture.innerHTML = joined(places, ""); // drawn by Python, which has escaped every text
  here.summary.textContent = alt;
  const told = traits.length ? JSON.parse(joined(traits, ",")) : {};
  for (const about of here.values) here.made.get(about.key).tell?.(told[about.key] ?? {});
};

/** A slider that ends sooner than before, since another control has moved, goes back to its new end. */
const follow = (here, moved) => {
  for (const about of here.values.filter((about) => about.led && about.axis !== moved.axis)) {
    if (frameAt(here, here.at)) return;
    const way = (place) => Math.abs(place - here.at[about.axis]);
    const near = stopsOf(here, about).sort((a, b) => way(a) - way(b))[0];
    if (near !== undefined) here.at[about.axis] = near;
  }
};

const put = (here) =>
  here.values.forEach((about) => here.made.get(about.key).put(here.at[about.axis], stopsOf(here, about)));

/** A control was turned to one of its places, or to something that was typed and not recorded. */
const move = (here, about, place, typed) => {
  here.at[about.axis] = place;
  if (place >= 0) follow(here, about);
  const frame = frameAt(here, here.at);
  if (frame) show(here, frame);
  else report(here, missing(about, here.values, here.at, here.film.settings, typed));
  put(here);
};

/** What the buttons may do. */
const handsOf = (here) => {
  const named = (key) => here.values.find((about) => about.key === key);
  const choose = (key, isIt) => move(here, named(key), named(key).values.findIndex(isIt));
  return {
    stops: (key) => stopsOf(here, named(key)),
    beyond: (key) => stopsOf(here, named(key)).find((place) => place > here.at[named(key).axis]),
    move: (key, place) => move(here, named(key), place),
    choose: (key, value) => choose(key, (one) => canonical(one) === canonical(value)),
    click: ({ target }) => {
      const [key, value] = target.closest("[data-sets]")?.dataset.sets.split("=") ?? [];
      if (key) choose(key, (one) => String(one) === value);
    },
  };
};

const render = ({ model, el }) => {
  const here = opened(model), hands = handsOf(here), { name, made, picture } = here;
  for (const about of here.controls) {
    const moved = (place, typed) => move(here, about, place, typed);
    made.set(about.key, about.values ? KINDS[about.kind](about, moved) : PRESSED[about.kind](about, hands));
  }
  picture.addEventListener("click", hands.click);
  const controls = element("div", { class: "tx-controls" }, ...[...made.values()].map(({ node }) => node));
  el.append(element("div", { class: `tx-explorer tx-explorer-${name} tx-recorded` }, controls, here.alarm, picture, here.summary));
  unpacked(model.get("frames")).then((film) => {
    here.film = film;
    show(here, frameAt(here, here.at));
    put(here);
  });
  return () => made.forEach((control) => control.stop?.());
};

export default { render };
