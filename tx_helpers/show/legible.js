// Where the window is narrow a drawing does not shrink with it for ever: its letters keep 11 pixels, its buttons 24, and
// the box around it can be moved sideways. Style sheets ask for the width that this takes by the name --least.

/** As soon as the drawing is seen, its box learns its least width. */
const legible = (svg) => new ResizeObserver((_, observer) => {
  observer.disconnect();
  const box = svg.parentElement;
  if (!box) return; // it has been drawn anew
  const letters = [...svg.querySelectorAll("text")].map((node) => parseFloat(getComputedStyle(node).fontSize));
  const buttons = [...svg.querySelectorAll("[role=button], [role=checkbox]")].map((node) => node.getBBox());
  const shrunk = Math.max(11 / Math.min(...letters), 24 / Math.min(...buttons.flatMap(({ width, height }) => [width, height])));
  box.style.overflowX = "auto";
  box.style.setProperty("--least", `${Math.ceil(shrunk * svg.viewBox.baseVal.width)}px`);
}).observe(svg);
