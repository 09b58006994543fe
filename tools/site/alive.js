// What lives on a page without a kernel: each part takes its picture's place when it comes near.

/** What a widget's script calls its model; here nobody else reads or writes the state. */
const modelOf = (state) => {
  const heard = new Map();
  return {
    get: (name) => state[name],
    set: (name, value) => {
      state[name] = value;
      for (const call of [...(heard.get(`change:${name}`) ?? []), ...(heard.get("change") ?? [])]) call();
    },
    on: (event, call) => heard.set(event, [...(heard.get(event) ?? []), call]),
    off: (event, call) => heard.set(event, call ? (heard.get(event) ?? []).filter((one) => one !== call) : []),
    save_changes: () => {},
    send: () => {},
  };
};

/** A value of the state; bytes become a DataView, as in Jupyter. */
const revived = (_, value) => {
  if (typeof value?.base64 !== "string") return value;
  const text = atob(value.base64);
  const bytes = new Uint8Array(text.length);
  for (let at = 0; at < text.length; at++) bytes[at] = text.charCodeAt(at);
  return new DataView(bytes.buffer);
};

/** Put the living part in place of the stored picture, which stays if the script fails. */
const mount = async (place) => {
  const { script, state } = JSON.parse(document.getElementById(`form-${place.dataset.form}`).textContent, revived);
  const el = document.createElement("div");
  el.className = "living";
  const picture = [...place.childNodes];
  place.append(el);
  try {
    await window.txModules[script].render({ model: modelOf(state), el });
    picture.forEach((node) => node.remove());
    place.dataset.lives = "yes";
    dispatchEvent(new Event("tx-lives"));
  } catch (error) {
    el.remove();
    place.dataset.lives = "no";
    console.error(error);
  }
};

const near = new IntersectionObserver(
  (entries) => {
    for (const { isIntersecting, target } of entries) {
      if (!isIntersecting) continue;
      near.unobserve(target);
      mount(target);
    }
  },
  { rootMargin: "800px" },
);
addEventListener("DOMContentLoaded", () => document.querySelectorAll("[data-form]").forEach((part) => near.observe(part)));
