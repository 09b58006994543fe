// One slide at a time, and the address names it. Without this script all slides stand one below the other.

const slides = [...document.querySelectorAll(".slide")];
const STEPS = { ArrowRight: 1, ArrowDown: 1, PageDown: 1, ArrowLeft: -1, ArrowUp: -1, PageUp: -1 };
const OF_ITS_OWN = ".living, a, button, input, select, textarea, summary"; // these use keys and clicks themselves
let now = 0;
let typed = ""; // digits so far of a slide's number

/** What lives, or a formula, becomes as large as it can be; then all becomes smaller, as far as it needs to be. */
const fit = () => {
  const slide = slides[now];
  const boxes = [slide, ...slide.querySelectorAll(".content, .shown, .formula, .living div:not(.tx-unseen)")];
  const isOver = (box) => box.scrollHeight > box.clientHeight + 1 || box.scrollWidth > box.clientWidth + 1;
  slide.style.setProperty("--size", 1);
  for (let zoom = slide.querySelector(".living, .formula") ? 2.4 : 1; zoom > 0.4; zoom -= 0.1) {
    slide.style.setProperty("--zoom", zoom);
    if (!boxes.some(isOver)) return;
  }
  for (let size = 1; size > 0.4 && boxes.some(isOver); size -= 0.05) slide.style.setProperty("--size", size);
};

const show = (place) => {
  document.body.classList.remove("black");
  slides[now].classList.remove("now");
  now = Math.max(0, Math.min(place, slides.length - 1));
  slides[now].classList.add("now");
  slides[now].focus({ preventScroll: true });
  scrollTo(0, 0);
  if (location.hash !== `#${now + 1}`) location.replace(`#${now + 1}`);
  fit();
};

addEventListener("keydown", (event) => {
  if (event.ctrlKey || event.metaKey || event.altKey) return;
  if (event.key === "Escape") slides[now].focus();
  if (event.target.closest?.(OF_ITS_OWN)) return;
  if (event.key === "b") document.body.classList.toggle("black");
  typed = /^\d$/.test(event.key) ? typed + event.key : event.key === "Enter" ? typed : "";
  if (event.key === "Enter" && typed) {
    show(typed - 1);
    typed = "";
  }
  if (event.key === "f") document.documentElement.requestFullscreen?.();
  const ends = { Home: 0, End: slides.length - 1 };
  const step = event.key === " " ? (event.shiftKey ? -1 : 1) : STEPS[event.key];
  if (step === undefined && ends[event.key] === undefined) return;
  event.preventDefault();
  show(ends[event.key] ?? now + step);
});
addEventListener("click", ({ target, clientX }) => {
  if (target.closest(OF_ITS_OWN) || !getSelection().isCollapsed) return;
  show(now + (clientX < innerWidth / 4 ? -1 : 1));
});
const follow = () => show((parseInt(location.hash.slice(1)) || 1) - 1);
addEventListener("hashchange", follow);
addEventListener("resize", fit);
const grown = new ResizeObserver(fit);
addEventListener("tx-lives", () => document.querySelectorAll(".living").forEach((part) => grown.observe(part)));
follow();
