// Search over all pages, without a server: the index is a script of its own, loaded when the search is first opened.
// window.txSearch = [[file, title, [[anchor, heading, text], …]], …]; a word and its meaning are a section, too

const dialog = document.getElementById("search");
const query = document.getElementById("query");
const results = document.getElementById("results");
const said = document.getElementById("found");
const MOST = 30;

const IDLE = /\b(?:an?|and|are|by|does?|for|how|in|is|of|on|or|the|to|versus|vs|what|why|with)(?:['’]s)?\b/giu;
const WORD = /[\p{L}\p{N}]+/gu;

let sections = null; // [{ href, page, heading, text, first: is it the page's, and name and low: plain words }]
let all = ""; // the plain words of all of them

/** Small letters, a space around each word; LayerNorm is two words; no plural; one spelling of -ise and -ize. */
const plain = (text) => {
  const apart = text.replace(/(\p{Ll}{3}|\p{Lu}{3})(\p{Lu}\p{Ll}{2})/gu, "$1 $2").toLowerCase();
  const words = apart.replace(/\bkv\b/gu, "key value").match(WORD) ?? [];
  return ` ${words.map((word) => word.replace(/(?<=...[^su])s$/u, "").replace(/is(?=[aei])/gu, "iz")).join(" ")} `;
};

const load = () =>
  new Promise((done) => {
    if (sections) return done();
    const script = document.createElement("script");
    script.src = "search_index.js";
    script.addEventListener("load", () => {
      sections = window.txSearch.flatMap(([file, page, parts]) =>
        parts.map(([anchor, heading, text]) => ({
          href: anchor ? `${file}#${anchor}` : file,
          ...{ page, heading, text, first: !anchor, low: plain(`${heading} ${text}`) },
          name: plain(heading.replace(/^(\d+ |Explorer: |Optional: |Your turn: |Exercise.*)/, "")),
        })),
      );
      all = sections.map(({ low }) => low).join("");
      done();
    });
    document.head.append(script);
  });

/** How often the text has words that begin so; whole words count twice, and a single letter has to be one. */
const count = (text, word) =>
  text.split(` ${word} `).length - 1 + (word.length > 1 ? text.split(` ${word}`).length - 1 : 0);

/** [the plain words to look for, those that no page has]: "selfattention" becomes two words, "the" is left out. */
const understood = (typed) => {
  const [words, missing] = [[], []];
  for (const word of typed.replace(IDLE, " ").match(WORD) ?? typed.match(WORD) ?? []) {
    const whole = plain(word).trim();
    const halves = [...whole].map((_, n) => `${whole.slice(0, n)} ${whole.slice(n)}`).slice(2, -1);
    const known = [...halves.map((two) => `${two} `), whole, ...halves].find((each) => all.includes(` ${each}`));
    if (known) words.push(...known.match(WORD));
    else missing.push(word);
  }
  return [words, missing];
};

/** [how many of the words a section has, points, how often it has all]; a title and a short heading bring most. */
const score = ({ first, name, low }, words) => {
  const named = words.filter((word) => count(name, word)).length / (name.split(" ").length - 2);
  let points = 0;
  const has = (word) => {
    points += (count(name, word) && 20 + 20 * (first ? 1.5 : named)) + 2 * Math.log1p(count(low, word));
    return count(low, word);
  };
  const hits = words.map(has);
  const together = has(words.join(" ")) + has(words.join(""));
  return [together ? words.length : hits.filter(Boolean).length, points, Math.min(...hits)];
};

/** Some words around the first place that has them together, else around the first of them, with the hits marked. */
const excerpt = ({ text }, words) => {
  const loose = words.map((word) => word.replaceAll("iz", "i[sz]") + (word.length > 1 ? "\\p{L}*" : "(?!\\p{L})"));
  const patterns = ["[^\\p{L}\\p{N}]*", "|"].map((between) => new RegExp(`(?<!\\p{L})(${loose.join(between)})`, "giu"));
  const hit = patterns.map((pattern) => text.search(pattern)).find((at) => at >= 0) ?? 0;
  const begin = Math.max(0, text.lastIndexOf(" ", Math.max(0, hit - 50)));
  const whole = text.length <= begin + 160;
  const piece = whole ? text.slice(begin) : `${text.slice(begin, begin + 160).replace(/\s\S*$/, "")} …`;
  const place = document.createElement("span");
  piece.split(patterns[1]).forEach((part, n) => {
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
  page.textContent = section.first ? "" : section.page;
  link.append(name, " ", page, excerpt(section, words));
  const row = document.createElement("li");
  row.append(link);
  return row;
};

/** Sections with all words first; of these, those with most points, and of a page that has the words often. */
const search = async () => {
  await load();
  const [words, missing] = understood(query.value);
  const found = sections.map((section) => [...score(section, words), section]).filter(([have]) => have);
  const often = {}; // page -> hits
  for (const [, , hits, { page }] of found) often[page] = (often[page] ?? 0) + hits;
  const rank = ([have, points, , { page }]) => 1e4 * have + points + 10 * Math.log1p(often[page]);
  found.sort((a, b) => rank(b) - rank(a));
  results.replaceChildren(...found.slice(0, MOST).map(([, , , section]) => item(section, words)));
  const full = found.filter(([have]) => have === words.length).length;
  const some = found.length - full;
  const named = words[1] ? "words" : "word";
  const one = (number, single, several) => (number === 1 ? single : several);
  said.textContent = [
    missing[0] && `“${missing.join("”, “")}” ${one(missing.length, "occurs", "occur")} on no page`,
    words[0] && `${full} ${one(full, "section has", "sections have")} the ${missing[0] ? "other " : ""}${named}`,
    some && `${some} ${one(some, "has", "have")} some of them`,
    found.length > MOST && `the best ${MOST} are shown`,
  ]
    .filter(Boolean)
    .join("; ");
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
