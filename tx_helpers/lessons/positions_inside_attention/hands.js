// Eight dials, one for each pair of a head's features: the query's hand with a circle, the key's with a square. A hand is
// dragged round its dial; the position that it then stands for becomes part of `value` = [m, n], and all dials follow. The
// arrow keys move the two marks of the first dial. Drawn here, so that the hands follow the mouse at once.

const WIDE = 792, HIGH = 150, RADIUS = 36, GAP = 96, FIRST = 60, MIDDLE = 58;
const QUERY = "#D55E00", KEY = "#0072B2"; // as in tx_helpers/show/shapes.py
const INK = "#1F2933", MUTED = "#52606D", EDGE = "#CBD2D9";
const NAMES = ["Query position m", "Key position n"];
const STEP = { ArrowRight: 1, ArrowUp: 1, ArrowLeft: -1, ArrowDown: -1 };

const omega = (model, i) => (2 * Math.PI) / model.get("waves")[i];

/** The angle of a hand: which = 0 for the query's, 1 for the key's, which begins ahead. */
const angleOf = (model, i, which) =>
  omega(model, i) * (model.get("value")[which] + model.get("both") + (which ? model.get("ahead") : 0));

const build = (model) => {
  const svg = drawing(WIDE, HIGH, "The clocks of the eight pairs", { class: "tx-hands", "font-size": 13 });
  const dials = model.get("waves").map((wave, i) => {
    const x = FIRST + GAP * i;
    const part = element("text", { x, y: MIDDLE + 78, fill: INK, "text-anchor": "middle" });
    svg.append(
      element("circle", { cx: x, cy: MIDDLE, r: RADIUS, fill: "#FFFFFF", stroke: EDGE }),
      element("text", { x, y: MIDDLE + 58, fill: MUTED, "text-anchor": "middle" }, `pair ${i}`),
      part,
    );
    const hands = [QUERY, KEY].map((colour, which) => {
      const hand = element("line", { x1: x, y1: MIDDLE, stroke: colour, "stroke-width": 3 });
      const grip = which
        ? element("rect", { width: 13, height: 13, fill: colour, stroke: "#FFFFFF", "data-hand": which })
        : element("circle", { r: 8, fill: colour, stroke: "#FFFFFF", "data-hand": which });
      if (i === 0)
        set(grip, { role: "slider", tabindex: 0, "aria-label": NAMES[which], "aria-valuemin": 0, "aria-valuemax": model.get("last") });
      svg.append(hand, grip);
      return { hand, grip };
    });
    return { x, part, hands };
  });
  return { plane: svg, dials };
};

const draw = (model, { dials }) => {
  dials.forEach(({ x, part, hands }, i) => {
    hands.forEach(({ hand, grip }, which) => {
      const angle = angleOf(model, i, which), far = which ? 0.66 * RADIUS : RADIUS; // so that no grip hides the other
      const tip = [x + far * Math.cos(angle), MIDDLE - far * Math.sin(angle)];
      set(hand, { x2: tip[0], y2: tip[1] });
      set(grip, which ? { x: tip[0] - 6.5, y: tip[1] - 6.5 } : { cx: tip[0], cy: tip[1] });
      if (i === 0) set(grip, { "aria-valuenow": model.get("value")[which] });
    });
    const share = Math.cos(angleOf(model, i, 0) - angleOf(model, i, 1));
    part.textContent = share.toFixed(2).replace("-0.00", "0.00").replace("-", "−");
  });
};

const listen = (model, { plane, dials }) => {
  const move = (which, position) => {
    if (isDisconnected(plane)) return;
    const value = [...model.get("value")];
    value[which] = Math.round(Math.min(model.get("last"), Math.max(0, position)));
    model.set("value", value);
    model.save_changes();
  };
  dials.forEach(({ x, hands }, i) => hands.forEach(({ grip }, which) => {
    let before = 0, position = 0; // of the drag: the last angle of the mouse, and the position with its fractions
    const pointed = (event) => {
      const place = plane.getBoundingClientRect(), scale = WIDE / place.width;
      return Math.atan2(MIDDLE - (event.clientY - place.top) * scale, (event.clientX - place.left) * scale - x);
    };
    grip.addEventListener("pointerdown", (event) => {
      grip.setPointerCapture(event.pointerId);
      [before, position] = [pointed(event), model.get("value")[which]];
      if (i === 0) grip.focus();
      event.preventDefault();
    });
    grip.addEventListener("pointermove", (event) => {
      if (!grip.hasPointerCapture(event.pointerId)) return;
      const now = pointed(event), turned = Math.atan2(Math.sin(now - before), Math.cos(now - before));
      before = now;
      position = Math.min(model.get("last"), Math.max(0, position + turned / omega(model, i)));
      move(which, position);
    });
    grip.addEventListener("keydown", (event) => {
      const step = STEP[event.key];
      if (!step) return;
      move(which, model.get("value")[which] + step * (event.shiftKey ? 5 : 1));
      handled(event);
    });
  }));
};

const render = ({ model, el }) => {
  const parts = build(model), show = () => draw(model, parts);
  listen(model, parts);
  show();
  const events = ["change:value", "change:both", "change:ahead"];
  events.forEach((event) => model.on(event, show));
  el.append(parts.plane);
  return () => events.forEach((event) => model.off(event, show));
};

export default { render };
