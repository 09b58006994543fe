// The weights: float16, all low bytes before all high ones, deflated. Then the stage is drawn.
const told = JSON.parse(document.getElementById("model").textContent);
const packed = Uint8Array.from(atob(told.weights), (sign) => sign.charCodeAt(0));
const inflated = new Blob([packed]).stream().pipeThrough(new DecompressionStream("deflate"));
new Response(inflated).arrayBuffer().then((buffer) => {
  const halves = new Uint8Array(buffer), count = halves.length / 2, data = new Uint8Array(2 * count);
  for (let i = 0; i < count; i++) [data[2 * i], data[2 * i + 1]] = [halves[i], halves[count + i]];
  const state = { spec: told.spec, data: new DataView(data.buffer), keeps: true };
  stage.render({ model: { get: (name) => state[name] }, el: document.getElementById("stage") });
});
