// The thumbnails of all heads, a row for each layer. They are painted when they come into sight, a few milliseconds at a
// time, and again when a setting has changed.

const THUMB = 48; // cells a side

function makeHeads(view) {
  const { parts: { heads, headsPanel }, painting } = view, [L, H] = view.attention.shape;
  painting.sight.disconnect();
  painting.queue.clear();
  const size = Math.max(26, Math.min(64, Math.floor(560 / H)));
  const number = (i) => make("span", { "aria-hidden": "true" }, `${i + 1}`);
  heads.style.gridTemplateColumns = `auto repeat(${H}, ${size}px)`;
  heads.replaceChildren(make("span"), ...Array.from({ length: H }, (_, head) => number(head)));
  view.thumbs = [];
  for (let layer = 0; layer < L; layer++) {
    heads.append(number(layer));
    for (let head = 0; head < H; head++) {
      const canvas = make("canvas"), name = `layer ${layer + 1}, head ${head + 1}`;
      const button = make("button",
        { type: "button", "aria-label": name, title: name, style: `height: ${size}px` }, canvas);
      view.thumbs.push(canvas.thumb_ = { layer, head, canvas, button, stale: true, inSight: false });
      heads.append(button);
      painting.sight.observe(canvas);
    }
  }
  headsPanel.style.display = L * H > 1 ? "" : "none";
}

/** Marks the head that is shown; Tab reaches this one, arrow keys go on from it. */
function markHead({ thumbs, state }) {
  thumbs.forEach((thumb) => {
    const here = thumb.layer === state.layer && thumb.head === state.head;
    if (thumb.here === here) return;
    thumb.button.setAttribute("aria-pressed", thumb.here = here);
    thumb.button.tabIndex = here ? 0 : -1;
  });
}

function watchHeads(view) {
  const sight = new IntersectionObserver((entries) => entries.forEach(({ target, isIntersecting }) => {
    target.thumb_.inSight = isIntersecting;
    if (isIntersecting && target.thumb_.stale) paintLater(view, target.thumb_);
  }));
  return { sight, queue: new Set(), timer: 0 };
}

function paintLater(view, thumb) {
  const { painting, parts: { error } } = view;
  painting.queue.add(thumb);
  painting.timer ||= setTimeout(function work() {
    const end = performance.now() + 6, { queries, keys } = view.attention;
    if (error.textContent) painting.queue.clear();
    for (const next of painting.queue) {
      painting.queue.delete(next);
      paint(next.canvas, weightsOf(view, next.layer, next.head), queries.length, keys.length, THUMB);
      next.stale = false;
      if (performance.now() > end) break;
    }
    painting.timer = painting.queue.size ? setTimeout(work, 12) : 0;
  }, 120);
}

function repaintHeads(view) {
  clearTimeout(view.painting.timer); // the hand is still moving: wait until it rests
  view.painting.timer = 0;
  view.thumbs.forEach((thumb) => {
    thumb.stale = true;
    if (thumb.inSight) paintLater(view, thumb);
  });
}

function listenToHeads(view) {
  const { heads } = view.parts;
  const steps = { ArrowLeft: [0, -1], ArrowRight: [0, 1], ArrowUp: [-1, 0], ArrowDown: [1, 0] };
  heads.addEventListener("click", (event) => {
    const thumb = view.thumbs.find(({ button }) => button.contains(event.target));
    if (thumb) change(view, { layer: thumb.layer, head: thumb.head });
  });
  heads.addEventListener("keydown", (event) => {
    const [L, H] = view.attention.shape, step = steps[event.key];
    if (!step) return;
    event.preventDefault();
    const layer = Math.max(0, Math.min(L - 1, view.state.layer + step[0]));
    const head = Math.max(0, Math.min(H - 1, view.state.head + step[1]));
    change(view, { layer, head });
    view.thumbs[layer * H + head].button.focus();
  });
}
