"""One widget's script in a bare page of Chromium, without Jupyter; the fixture `bare_page` makes the page."""

from tx_helpers.show.stored import as_json

HOSTILE = "<img src=x onerror=alert(1)></script><script>alert(2)</script>\"' $$"
# What a notebook does for the script: `tell(key, value)` is the kernel, `saved` what it was sent last.
MOUNT = """async ({ esm, stored, sent }) => {
  const heard = {};
  for (const [key, value] of Object.entries(stored))
    if (value?.base64) stored[key] = new DataView(Uint8Array.from(atob(value.base64), (c) => c.charCodeAt(0)).buffer);
  const model = {
    get: (key) => stored[key], set: (key, value) => { stored[key] = value; heard["change:" + key]?.(); },
    on: (events, call) => { for (const event of events.split(" ")) heard[event] = call; },
    off: (events) => { for (const event of events.split(" ")) delete heard[event]; },
    save_changes: () => { window.saved = structuredClone(stored[sent]); },
  };
  window.module = await import(URL.createObjectURL(new Blob([esm], { type: "text/javascript" })));
  window.tell = (key, value) => model.set(key, value);
  window.heard = heard;
  window.close_ = module.default.render({ model, el: window.place ?? document.getElementById("place") });
}"""


def mount(page, esm: object, stored: dict, sent: str = "value") -> None:
    """Render the script with these traits, bytes among them; `sent` is the trait that it changes."""
    page.evaluate(MOUNT, {"esm": str(esm), "stored": as_json(stored), "sent": sent})


def focused(page) -> str:
    """The accessible name of what has the focus."""
    return page.evaluate("() => document.activeElement.getAttribute('aria-label')")
