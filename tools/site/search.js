// Search over all pages, without a server: the index is a script of its own, loaded when the search is first opened.
// window.txSearch = [[file, title, [[anchor, heading, text], …]], …]

const dialog = document.getElementById("search");
const query = document.getElementById("query");
const results = document.getElementById("results");
const said = document.getElementById("found");
const MOST = 30;

let sections = null; // [{ href, page, heading, text, …in small letters }]

const load = () =>
  new Promise((done) => {
    if (sections) return done();
    const script = document.createElement("script");
    script.src = "search_index.js";
    script.addEventListener("load", () => {
      sections = window.txSearch.flatMap(([file, page, parts]) =>
        parts.map(([anchor, heading, text]) => ({
          href: anchor ? `${file}#${anchor}` : file,
          ...{ page, heading, text, headingLow: heading.toLowerCase(), low: text.toLowerCase() },
        })),
      );
      done();
    });
    document.head.append(script);
  });

const wordsOf = (text) => text.toLowerCase().match(/[\p{L}\p{N}_]+/gu) ?? [];
const isLetter = (text, at) => at >= 0 && at < text.length && /[\p{L}\p{N}_]/u.test(text[at]);

/** How often the text has words that begin with this one; whole words count twice. */
const count = (text, word) => {
  let hits = 0;
  for (let at = text.indexOf(word); at >= 0; at = text.indexOf(word, at + word.length)) {
    if (!isLetter(text, at - 1)) hits += isLetter(text, at + word.length) ? 1 : 2;
  }
  return hits;
};

/** 0 where a word is missing; a word in the heading counts more than any number in the text. */
const score = (section, words) => {
  let sum = 0;
  for (const word of words) {
    const inHeading = count(section.headingLow, word);
    const inText = count(section.low, word);
    if (!inHeading && !inText) return 0;
    sum += 20 * inHeading + 4 * Math.log1p(inText);
  }
  return sum;
};

/** Some words around the first hit, with the hits marked. */
const excerpt = (section, words) => {
  const first = Math.max(0, Math.min(...words.map((word) => section.low.indexOf(word)).filter((at) => at >= 0)));
  const begin = Number.isFinite(first) ? Math.max(0, section.text.lastIndexOf(" ", Math.max(0, first - 50))) : 0;
  const whole = section.text.length <= begin + 160;
  const piece = whole ? section.text.slice(begin) : `${section.text.slice(begin, begin + 160).replace(/\s\S*$/, "")} …`;
  const place = document.createElement("span");
  const pattern = new RegExp(`(${words.join("|")})`, "giu");
  piece.split(pattern).forEach((part, n) => {
    const node = n % 2 ? document.createElement("mark") : document.createTextNode(part);
    if (n % 2) node.textContent = part;
    place.append(node);
  });
  return place;
};

const item = (section, words) => {
  const link = document.createElement("a");
  link.href = section.href;
  link.addEventListener("click", () => dialog.close());
  const name = document.createElement("b");
  name.textContent = section.heading;
  const page = document.createElement("small");
  page.textContent = section.page;
  link.append(name, " ", page, excerpt(section, words));
  const row = document.createElement("li");
  row.append(link);
  return row;
};

const search = async () => {
  await load();
  const words = wordsOf(query.value);
  const ranked = sections
    .map((section) => [words.length ? score(section, words) : 0, section])
    .filter(([points]) => points > 0)
    .sort(([a], [b]) => b - a);
  results.replaceChildren(...ranked.slice(0, MOST).map(([, section]) => item(section, words)));
  const shown = ranked.length > MOST ? `, the best ${MOST} are shown` : "";
  said.textContent = words.length ? `${ranked.length} ${ranked.length === 1 ? "section" : "sections"}${shown}` : "";
};

const openSearch = () => {
  dialog.showModal();
  query.select();
  load();
};

document.getElementById("open-search").addEventListener("click", openSearch);
query.addEventListener("input", search);
addEventListener("keydown", (event) => {
  const typing = event.target.closest?.("input, textarea, select, [contenteditable], .living");
  if (event.key === "/" && !typing && !event.ctrlKey && !event.metaKey && !event.altKey && !dialog.open) {
    event.preventDefault();
    openSearch();
  }
});
// Arrow keys go through the results, Enter in the field opens the first.
dialog.addEventListener("keydown", (event) => {
  const stops = [query, ...results.querySelectorAll("a")];
  const at = stops.indexOf(document.activeElement);
  const step = { ArrowDown: 1, ArrowUp: -1 }[event.key];
  if (step && at >= 0) {
    event.preventDefault();
    stops[Math.min(stops.length - 1, Math.max(0, at + step))].focus();
  } else if (event.key === "Enter" && at === 0) {
    event.preventDefault();
    stops[1]?.click();
  }
});
