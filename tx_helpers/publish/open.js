// What opens a page that holds a model: the weights are unpacked, then `stage` is drawn with all that the page was told.
const told = JSON.parse(document.getElementById("model").textContent);

/** Base 64, deflated, the first bytes of all numbers before the second ones -> the bytes of the numbers in their order. */
const unpack = async (text, width) => {
  const piece = 1 << 20; // letters that are read at once, a multiple of 4: a whole long text would need too much memory
  let from = 0;
  const pieces = new ReadableStream({
    pull(control) {
      if (from >= text.length) return control.close();
      control.enqueue(Uint8Array.from(atob(text.slice(from, (from += piece))), (sign) => sign.charCodeAt(0)));
    },
  });
  const inflated = pieces.pipeThrough(new DecompressionStream("deflate"));
  const planes = new Uint8Array(await new Response(inflated).arrayBuffer());
  const count = planes.length / width, data = new Uint8Array(planes.length);
  for (let plane = 0; plane < width; plane++)
    for (let i = 0; i < count; i++) data[width * i + plane] = planes[plane * count + i];
  return data;
};

/** Whole numbers from −127 to 127, times the scale of their row; `rest` has scales and vectors, in order. */
const scaled = ({ tensors }, whole, rest) => {
  const shapes = [...new Map(Object.values(tensors).map(({ offset, shape }) => [offset, shape]))].sort(([a], [b]) => a - b);
  const parts = shapes.map(([, shape]) => shape.reduce((n, m) => n * m, 1));
  const data = new Float32Array(parts.reduce((n, m) => n + m, 0));
  let from = 0, at = 0;
  shapes.forEach(([offset, shape], n) => {
    if (shape.length === 1) return data.set(rest.subarray(at, (at += parts[n])), offset);
    const width = parts[n] / shape[0];
    for (let i = 0; i < parts[n]; i++) data[offset + i] = rest[at + Math.floor(i / width)] * whole[from++];
    at += shape[0];
  });
  return data;
};

(async () => {
  const { spec } = told;
  let data = await unpack(told.weights, spec.dtype === "float16" ? 2 : 4);
  if (told.whole) data = scaled(spec, new Int8Array((await unpack(told.whole, 1)).buffer), new Float32Array(data.buffer));
  const state = { keeps: true, ...told, data: new DataView(data.buffer) };
  const model = { get: (name) => state[name], set: () => {}, save_changes: () => {} }; // nobody listens
  stage.render({ model, el: document.getElementById("stage") });
})();
