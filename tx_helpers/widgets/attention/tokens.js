// The two lists of tokens, and how one of them is picked: by hovering, by a click, which locks it, or by the arrow keys.

function makeTokens({ id, attention: { queries, keys }, parts: { lists, picture } }) {
  for (const [side, tokens] of [["query", queries], ["key", keys]]) {
    lists[side].replaceChildren(...tokens.map(([full, shown], i) => {
      const word = make("bdi"); // a token that is written from right to left turns nothing around it
      word.textContent = shown;
      const attributes = { role: "option", id: `${id}-${side}-${i}`, "aria-selected": "false" };
      const item = make("li", attributes, word, make("span", { class: "tx-weight" }));
      if (full !== shown) item.title = full;
      return item;
    }));
  }
  const height = Math.max(queries.length, keys.length) * ROW;
  picture.setAttribute("viewBox", `0 0 100 ${height}`);
  picture.style.height = `${height}px`;
}

/** Marks the picked token; beside each token of the other side stands the weight between the two. */
function markTokens({ id, attention: { keys }, weights, state: { side, token, locked }, parts: { lists } }) {
  const S = keys.length;
  for (const [which, list] of Object.entries(lists)) {
    [...list.children].forEach((item, i) => {
      const own = token >= 0 && side === which, picked = own && i === token;
      const weight = token < 0 || own ? 0 : weights[side === "query" ? token * S + i : i * S + token];
      const text = weight >= 0.005 ? round(weight) : "";
      // the page is touched only where something changed
      if (item.picked_ !== picked) item.setAttribute("aria-selected", item.picked_ = picked);
      if (item.lastChild.data_ !== text) item.lastChild.textContent = item.lastChild.data_ = text;
      if (picked || item.classList.length) item.classList.toggle("tx-locked", picked && locked);
    });
    if (token >= 0 && side === which) list.setAttribute("aria-activedescendant", `${id}-${which}-${token}`);
    else list.removeAttribute("aria-activedescendant");
  }
}

function pick(view, side, token, locked = view.state.locked) {
  view.hovered = false;
  change(view, { side, token, locked }, drawPick);
}

function free(view) {
  pick(view, "query", -1, false);
}

function hover(view, side, token) {
  const { state } = view;
  if (state.locked || (state.side === side && state.token === token)) return;
  Object.assign(state, { side, token });
  view.hovered = true;
  drawPick(view);
}

function endHover(view) {
  if (!view.hovered || view.state.locked) return;
  view.state.token = -1;
  view.hovered = false;
  drawPick(view);
}

/** Scrolls the list, never the notebook. */
function scrollToToken({ parts: { lists, linesPanel } }, side, token) {
  const above = lists[side].offsetTop + token * ROW, room = linesPanel.clientHeight;
  if (above < linesPanel.scrollTop) linesPanel.scrollTop = above;
  else if (above + ROW > linesPanel.scrollTop + room) linesPanel.scrollTop = above + ROW - room;
}

function listenToTokens(view, side) {
  const { lists, linesPanel } = view.parts, list = lists[side], other = lists[side === "query" ? "key" : "query"];
  const tokenOf = (event) => [...list.children].indexOf(event.target.closest("li"));
  list.addEventListener("pointermove", (event) => {
    if (tokenOf(event) >= 0) hover(view, side, tokenOf(event));
  });
  list.addEventListener("pointerleave", () => endHover(view));
  list.addEventListener("click", (event) => {
    const token = tokenOf(event), { state } = view;
    if (token < 0) return;
    if (state.locked && state.side === side && state.token === token) free(view);
    else pick(view, side, token, true);
  });
  list.addEventListener("keydown", (event) => {
    const last = list.children.length - 1, here = view.state.side === side ? view.state.token : -1;
    const up = here < 0 ? last : Math.max(0, here - 1);
    const target = { ArrowDown: Math.min(last, here + 1), ArrowUp: up, Home: 0, End: last }[event.key];
    if (target !== undefined) {
      pick(view, side, target);
      scrollToToken(view, side, target);
    } else if (["Enter", " "].includes(event.key) && here >= 0) pick(view, side, here, !view.state.locked);
    else if (["ArrowLeft", "ArrowRight"].includes(event.key)) other.focus();
    else return;
    event.preventDefault();
  });
}
