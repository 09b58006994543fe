// A quiz: a group of radio buttons for each question; the chosen one's reason appears below it and is announced. All
// text goes through textContent. The answers are handed to the kernel, which need not run for the quiz to work. A silent
// one has been given no reasons, and counts the answers.

const element = (tag, attributes = {}, text = "") => {
  const node = document.createElement(tag);
  for (const [name, value] of Object.entries(attributes)) node.setAttribute(name, value);
  node.textContent = text;
  return node;
};

const render = ({ model, el }) => {
  const questions = model.get("questions");
  const silent = model.get("silent");
  // Radio buttons of one question share a name, which no other on the page may have; each quiz loads this module anew.
  const prefix = `tx-quiz-${Math.random()}`;
  const root = element("div", { class: "tx-quiz", role: "group", "aria-label": model.get("title") });
  const score = element("p", { class: "tx-score", role: "status" });

  const shown = questions.map((question, index) => {
    const field = element("fieldset");
    const reason = element("div", { role: "status", "aria-live": "polite" });
    const inputs = question.choices.map((choice, place) => {
      const input = element("input", { type: "radio", name: `${prefix}-${index}`, "data-lm-suppress-shortcuts": "true" });
      input.addEventListener("change", () => {
        model.set("answers", model.get("answers").map((answer, n) => (n === index ? place : answer)));
        model.save_changes();
        show();
      });
      return input;
    });
    field.append(element("legend", {}, `${index + 1}. ${question.text}`));
    question.choices.forEach((choice, place) => {
      const label = element("label");
      label.append(inputs[place], element("span", {}, choice.text));
      field.append(label);
    });
    field.append(reason);
    root.append(field);
    return { inputs, reason };
  });

  const show = () => {
    const answers = model.get("answers");
    let count = 0;
    shown.forEach(({ inputs, reason }, index) => {
      inputs.forEach((input, place) => (input.checked = answers[index] === place));
      const choice = questions[index].choices[answers[index]];
      count += choice && (silent || choice.right) ? 1 : 0;
      const said = choice && !silent ? `${choice.right ? "✓ Right." : "✗ No."} ${choice.why}` : "";
      if (reason.textContent !== said) reason.textContent = said; // an unchanged one is not announced again
      reason.className = said ? (choice.right ? "tx-right" : "tx-wrong") : "";
    });
    score.textContent = silent ? `${count} of ${questions.length} answered` : `${count} of ${questions.length} right`;
  };

  root.append(score);
  show();
  model.on("change:answers", show);
  el.append(root);
  return () => model.off("change:answers", show);
};

export default { render };
