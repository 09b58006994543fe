// A question to answer before the course does, and the finding, which unfolds after the answer. All text goes through
// textContent. An answer goes to the kernel and, as an event of the page, straight to the finding: the kernel may still
// be busy with the cells below.

const element = (tag, attributes = {}, text = "") => {
  const node = document.createElement(tag);
  for (const [name, value] of Object.entries(attributes)) node.setAttribute(name, value);
  // Every second piece between backticks is code.
  text.split("`").forEach((piece, n) => node.append(n % 2 ? element("code", {}, piece) : piece));
  return node;
};

const button = (text, press) => {
  const node = element("button", { type: "button", "data-lm-suppress-shortcuts": "true" }, text);
  node.addEventListener("click", press);
  return node;
};

const inWords = (answer, unit) => (typeof answer === "number" ? `${answer} ${unit}`.trim() : `“${answer}”`);

const answers = (window.txGuesses ??= new Map()); // key -> answer, for a finding that is shown after the answer

/** A button for each choice; returns the function that marks one of them. */
const choiceButtons = (place, choices, choose) => {
  const buttons = choices.map((choice) => button(choice, () => choose(choice)));
  place.append(...buttons);
  return (answer) => buttons.forEach((node, n) => node.setAttribute("aria-pressed", `${choices[n] === answer}`));
};

/** A field for a number; returns the function that writes a number into it. */
const numberField = (place, unit, choose) => {
  const field = element("input", { type: "number", step: "any", "data-lm-suppress-shortcuts": "true" });
  const label = element("label", {}, "Your guess ");
  label.append(field, ` ${unit}`);
  const give = () => (Number.isFinite(field.valueAsNumber) ? choose(field.valueAsNumber) : field.focus());
  field.addEventListener("keydown", (event) => event.key === "Enter" && give());
  const row = element("div");
  row.append(label, button("That is my guess", give));
  place.append(row);
  return (answer) => answer !== null && (field.value = answer);
};

/** The question. The first answer is the one that is kept. */
const ask = ({ model, el }) => {
  const [choices, unit] = [model.get("choices"), model.get("unit")];
  if (model.get("answer") === null) answers.delete(model.get("key")); // one from before the kernel's restart
  const root = element("fieldset", { class: "tx-predict" });
  const status = element("div", { role: "status" });

  const choose = (answer) => {
    if (model.get("answer") === null) {
      model.set("answer", answer);
      model.save_changes();
      answers.set(model.get("key"), answer);
      window.dispatchEvent(new CustomEvent("tx-guess", { detail: model.get("key") }));
    }
    show(answer);
  };
  const show = (answer) => {
    const first = model.get("answer");
    mark(answer);
    const kept = answer === first ? "Your answer is noted." : `Noted is your first answer, ${inWords(first, unit)}.`;
    status.textContent = first === null ? "" : kept;
  };
  const follow = () => show(model.get("answer"));

  root.append(element("legend", {}, `Predict: ${model.get("question")}`));
  const mark = choices.length ? choiceButtons(root, choices, choose) : numberField(root, unit, choose);
  root.append(status);
  follow();
  model.on("change:answer", follow);
  el.append(root);
  return () => model.off("change:answer", follow);
};

/** What the finding begins with: the answer that was given, and the right one. */
const beginning = (model, answer) => {
  if (answer === null) return model.get("finding");
  const said = `You said ${inWords(answer, model.get("unit"))}.`;
  const right = model.get("right");
  const hit = Array.isArray(right) ? right[0] <= answer && answer <= right[1] : right === answer;
  return hit ? `✓ ${said} ${Array.isArray(right) ? model.get("finding") : "That is right."}` : `${said} ${model.get("finding")}`;
};

/** The finding, folded until the question has an answer or the learner asks for it. */
const tell = ({ model, el }) => {
  const root = element("div", { class: "tx-finding" });
  const content = element("div", { role: "status", tabindex: "-1" });
  const unfold = (answer) => {
    folded.remove();
    content.replaceChildren(element("p", {}, beginning(model, answer)), element("p", {}, model.get("text")));
    content.firstChild.className = "tx-beginning";
  };
  const folded = element("p", {}, "The finding appears here once you have made your prediction above. ");
  folded.append(
    button("Show it", () => {
      unfold(null);
      content.focus();
    }),
  );
  const answer = () => model.get("answer") ?? answers.get(model.get("key")) ?? null;
  const follow = () => answer() !== null && unfold(answer());
  const hear = (event) => event.detail === model.get("key") && follow();

  root.append(folded, content);
  follow();
  model.on("change:answer", follow);
  window.addEventListener("tx-guess", hear);
  el.append(root);
  return () => {
    model.off("change:answer", follow);
    window.removeEventListener("tx-guess", hear);
  };
};

const render = (view) => (view.model.get("finding") === undefined ? ask(view) : tell(view));

export default { render };
