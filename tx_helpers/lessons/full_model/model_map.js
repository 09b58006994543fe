// The map of a model: an SVG whose parts are buttons. The kernel says where each part stands (`parts`); here they are
// drawn, and the path of the one that was clicked, or chosen by Enter or Space, becomes `value`. One part at a time can
// be reached by Tab; the arrow keys, Home and End go on from there.

const COLOURS = { encoder: ["#0072B2", "#DCECF7", "#00527F"], decoder: ["#D55E00", "#FCE6D6", "#9A4400"] };
const STEP = { ArrowRight: 1, ArrowDown: 1, ArrowLeft: -1, ArrowUp: -1 };

const button = (part) => {
  const [stroke, fill, ink] = COLOURS[part.side];
  const frame = part.height > 30;
  const node = element("g", { role: "button", "aria-label": part.name, tabindex: -1 });
  const { x, y, width, height } = part;
  node.append(
    element("rect", { x, y, width, height, rx: frame ? 10 : 6, fill: frame ? "#FFFFFF" : fill, stroke }),
    frame
      ? element("text", { x: x + 12, y: y + 16, "font-size": 12, fill: ink }, part.label)
      : element("text", { x: x + width / 2, y: y + height / 2 + 4, "font-size": 12, fill: ink, "text-anchor": "middle" }, part.label),
  );
  return node;
};

const render = ({ model, el }) => {
  const parts = model.get("parts");
  const [width, height] = model.get("size");
  const svg = drawing(width, height, model.get("description"), { class: "tx-map" });
  const buttons = parts.map(button);
  svg.append(...buttons);

  const show = () => {
    const chosen = parts.findIndex((part) => part.value === model.get("value"));
    buttons.forEach((node, n) => node.setAttribute("aria-pressed", n === chosen));
    reachByTab(buttons, Math.max(0, chosen));
  };
  const choose = (index) => {
    if (isDisconnected(el)) return;
    model.set("value", parts[index].value);
    model.save_changes();
    buttons[index].focus();
  };
  const press = (event, index) => {
    const last = buttons.length - 1;
    let next = { Home: 0, End: last }[event.key] ?? index + (STEP[event.key] ?? 0);
    if (event.key === "Enter" || event.key === " ") choose(index);
    else if (next === index) return;
    else {
      next = Math.min(last, Math.max(0, next));
      reachByTab(buttons, next);
      buttons[next].focus();
    }
    handled(event);
  };
  buttons.forEach((node, index) => {
    node.addEventListener("click", () => choose(index));
    node.addEventListener("keydown", (event) => press(event, index));
  });
  show();
  model.on("change:value", show);
  el.append(svg);
  return () => model.off("change:value", show);
};

export default { render };
