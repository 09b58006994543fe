// What is seen of the machine.

export default {
  render({ model, el }) {
    const machine = load(model.get("spec"), model.get("data")), { text } = model.get("state");
    const { ids, error } = encode(machine.source ?? machine.target, text);
    const prompt = machine.source ? [machine.target.bos] : ids;
    const written = error || decode(machine.target, greedy(machine, { source: ids, prompt }, 16));
    el.append(Object.assign(document.createElement("p"), { className: "tx-machine", textContent: `${text} → ${written}` }));
  },
};
