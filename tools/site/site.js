// What a page does once it is there: the switch of the theme, folded parts that a link leads into, wide parts for the
// keyboard.

// --- the theme: the system's, until the reader chooses

const root = document.documentElement;
const systemIsDark = matchMedia("(prefers-color-scheme: dark)");
const themeButton = document.getElementById("theme");

const isDark = () => (root.dataset.theme ? root.dataset.theme === "dark" : systemIsDark.matches);
const nameTheme = () => {
  themeButton.textContent = isDark() ? "Light" : "Dark";
  themeButton.setAttribute("aria-label", `Use the ${isDark() ? "light" : "dark"} theme`);
};

themeButton.addEventListener("click", () => {
  root.dataset.theme = isDark() ? "light" : "dark";
  try {
    localStorage.setItem("tx-theme", root.dataset.theme);
  } catch {
    // It then holds for this page only.
  }
  nameTheme();
});
systemIsDark.addEventListener("change", nameTheme);
nameTheme();

// --- what is folded: opened where a link leads into it, and for printing

const openAround = (node) => {
  for (let at = node; at; at = at.parentElement) if (at.tagName === "DETAILS") at.open = true;
};

const follow = () => {
  const node = document.getElementById(decodeURIComponent(location.hash.slice(1)));
  if (!node) return;
  openAround(node);
  node.scrollIntoView();
};

addEventListener("hashchange", follow);
if (location.hash) follow();

// --- what answers a prediction: opened once it is made, or asked for

const openAnswers = ({ detail }) => {
  for (const part of document.querySelectorAll(`details.waits[data-key="${detail}"]`)) part.open = true;
};
["tx-guess", "tx-pass"].forEach((event) => addEventListener(event, openAnswers));

const closed = new Set();
addEventListener("beforeprint", () => {
  for (const part of document.querySelectorAll("main details:not([open])")) {
    closed.add(part);
    part.open = true;
  }
});
addEventListener("afterprint", () => {
  closed.forEach((part) => (part.open = false));
  closed.clear();
});

// On a narrow page the outline stands above the text: folded, it leaves room.
const outline = document.querySelector(".outline details");
if (outline && !matchMedia("(min-width: 1100px)").matches) outline.open = false;

// --- wide code, tables and formulas: Tab reaches those that can be scrolled

const wide = new ResizeObserver((entries) => {
  for (const { target } of entries) {
    if (target.scrollWidth > target.clientWidth + 1) target.tabIndex = 0;
    else target.removeAttribute("tabindex");
  }
});
document.querySelectorAll("pre, .table, .formula, .long, .shown").forEach((part) => wide.observe(part));
