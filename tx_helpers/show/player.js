// A recorded explorer, alive without a kernel: the controls that it has in Jupyter (controls.js), and for each of their
// settings the picture, the alt text and the error that Python drew there. recording.py says how the frames are stored.
// `at[axis]` is the place of a control's value among its recorded ones, -1 for one that was not recorded.

const unpacked = async (data) => {
  const stream = new Blob([data]).stream().pipeThrough(new DecompressionStream("deflate"));
  return JSON.parse(await new Response(stream).text());
};

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
  const { name, told, controls } = model.get("recording");
  const values = controls.filter((about) => about.values), at = [];
  for (const about of values) at[about.axis] = about.at;
  const alarm = element("div", { class: "tx-error", role: "alert" });
  alarm.hidden = true;
  return {
    name, controls, values, at, alarm, given: model.get("given"), made: new Map(), film: { settings: {}, frames: [], pieces: [], runs: {} },
    picture: element("div", { class: "tx-view" }),
    summary: element("div", { class: told ? "tx-summary" : "tx-summary tx-unseen", role: "status", "aria-live": "polite" }),
  };
};

/** What the page computes for itself, where the explorer has a script for that: see `computed` in explore.py. */
const computed = ({ values, given }, places) => {
  const now = values.map((about) => [about.key, about.values[places[about.axis]]]);
  return { markup: "", error: "", traits: {}, ...COMPUTE(Object.fromEntries(now), given) };
};

const recorded = (film, number) => {
  if (number === undefined) return undefined;
  const [places, alt, error, traits] = film.frames[number];
  const joined = (places, mark) => places.map((place) => film.pieces[place]).join(mark);
  return { markup: joined(places, ""), alt, error, traits: traits.length ? JSON.parse(joined(traits, ",")) : {} };
};

const frameAt = (here, places) =>
  COMPUTE ? computed(here, places) : recorded(here.film, here.film.settings[places.join(",")]);

/** The places at which a control can stand now; the slider that another control leads has not always all. */
const stopsOf = (here, about) => {
  const all = about.texts.map((_, place) => place);
  return about.led ? all.filter((place) => here.at.with(about.axis, place).join(",") in here.film.settings) : all;
};

const report = ({ alarm }, error) => {
  alarm.textContent = error;
  alarm.hidden = !error;
};

const show = (here, { markup, alt, error, traits }) => {
  report(here, error);
  if (error) return; // the last good picture stays
  here.picture.innerHTML = markup; // drawn by Python, which has escaped every text
  here.picture.querySelectorAll("svg").forEach(legible);
  here.summary.textContent = alt;
  for (const about of here.values) here.made.get(about.key).tell?.(traits[about.key] ?? {});
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
  const standing = [...here.made.values()].map((control) => control.standing?.()).find((frame) => frame !== undefined);
  const frame = recorded(here.film, standing) ?? frameAt(here, here.at);
  if (frame) show(here, frame);
  else report(here, missing(about, here.values, here.at, here.film.settings, typed));
  put(here);
};

/** What the buttons may do. */
const handsOf = (here) => {
  const named = (key) => here.values.find((about) => about.key === key);
  let taken = []; // the places when a part of the picture was last taken to be dragged
  const choose = (key, isIt) => move(here, named(key), named(key).values.findIndex(isIt));
  return {
    stops: (key) => stopsOf(here, named(key)),
    beyond: (key) => stopsOf(here, named(key)).find((place) => place > here.at[named(key).axis]),
    move: (key, place) => move(here, named(key), place),
    setting: () => here.at.join(","),
    run: () => here.film.runs[here.at.join(",")],
    show: (frame) => show(here, recorded(here.film, frame)),
    choose: (key, value) => choose(key, (one) => canonical(one) === canonical(value)),
    click: ({ target }) => {
      const [key, value] = target.closest("[data-sets]")?.dataset.sets.split("=") ?? [];
      if (key) choose(key, (one) => String(one) === value);
    },
    take: () => { taken = [...here.at]; },
    drag: (added) => { // to the nearest setting that was recorded, a slider at a time
      for (const [key, more] of Object.entries(added)) {
        const about = named(key), goal = about.values[taken[about.axis]] + more;
        const way = (place) => Math.abs(about.values[place] - goal);
        const there = about.texts.map((_, place) => place).filter((place) => frameAt(here, here.at.with(about.axis, place)));
        const best = there.reduce((one, other) => (way(other) < way(one) ? other : one), here.at[about.axis]);
        if (best !== here.at[about.axis]) move(here, about, best);
      }
    },
  };
};

/** Where the window is narrow a wide picture can be scrolled, by the arrow keys too. */
const scrolled = (picture) => {
  if (picture.scrollWidth > picture.clientWidth) picture.tabIndex = 0;
  else picture.removeAttribute("tabindex");
};

/** The controls' nodes; four boxes to tick or more, one behind the other, stand in a group of their own, in columns. */
const grouped = (nodes) => {
  const runs = [];
  for (const node of nodes) {
    const ticks = node.classList.contains("tx-tick");
    if (ticks && runs.at(-1)?.ticks) runs.at(-1).nodes.push(node);
    else runs.push({ ticks, nodes: [node] });
  }
  return runs.flatMap(({ ticks, nodes }) =>
    ticks && nodes.length >= 4 ? [element("div", { class: "tx-ticks" }, ...nodes)] : nodes);
};

const render = ({ model, el }) => {
  const here = opened(model), hands = handsOf(here), { name, made, picture } = here;
  for (const about of here.controls) {
    const moved = (place, typed) => {
      for (const control of made.values()) if (control.standing) control.stop(); // another setting has another run
      move(here, about, place, typed);
    };
    made.set(about.key, about.values ? KINDS[about.kind](about, moved) : PRESSED[about.kind](about, hands));
  }
  picture.addEventListener("click", hands.click);
  dragging(picture, hands.take, hands.drag);
  const sized = new ResizeObserver(() => scrolled(picture));
  sized.observe(picture);
  const controls = element("div", { class: "tx-controls" }, ...grouped([...made.values()].map(({ node }) => node)));
  el.append(element("div", { class: `tx-explorer tx-explorer-${name} tx-recorded` }, controls, here.alarm, picture, here.summary));
  const ready = (film) => {
    here.film = film;
    show(here, frameAt(here, here.at));
    put(here);
  };
  if (COMPUTE) ready(here.film);
  else unpacked(model.get("frames")).then(ready);
  return () => {
    sized.disconnect();
    made.forEach((control) => control.stop?.());
  };
};

export default { render };
