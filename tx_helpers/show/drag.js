// Parts of a picture that turn sliders when they are dragged (`shapes.dragging`). The picture is drawn anew on the way, so
// the page is listened to, not the part.

/** begin() is called when a part is taken, turn({ slider: what has been added to its value since }) at each move. */
const dragging = (node, begin, turn) => node.addEventListener("pointerdown", (taken) => {
  const part = taken.target.closest?.("[data-drags]");
  if (!part || taken.button) return;
  taken.preventDefault();
  const rates = part.dataset.drags.split(" ").map((one) => one.split(":")), pixels = part.getScreenCTM().a;
  const move = (now) => {
    const across = (now.clientX - taken.clientX) / pixels, down = (now.clientY - taken.clientY) / pixels;
    turn(Object.fromEntries(rates.map(([slider, x, y]) => [slider, x * across + y * down])));
  };
  const end = () => {
    removeEventListener("pointermove", move);
    for (const name of ["pointerup", "pointercancel"]) removeEventListener(name, end);
  };
  begin();
  addEventListener("pointermove", move);
  for (const name of ["pointerup", "pointercancel"]) addEventListener(name, end);
});
