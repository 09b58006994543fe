"""What lives on a page without a kernel: its scripts, its styles and its state, as files and as text in the page.

Each living part is a *form*: an ES module whose default export is {render}, a style sheet, and a state (name -> value,
bytes as {"base64": …}). A page that was opened as a file may load no module, and the Content-Security-Policy runs no
script that stands in a page. So each module becomes a classic script of its own, which puts its default export into
`txModules`; the state is text in the page; and site.js brings the two together.
"""

from tx_helpers.show.stored import default_export


def classic(module: str, key: str) -> str:
    """An ES module as a classic script; ValueError if it imports something, or exports no default."""
    return f'(window.txModules ??= {{}})["{key}"] = {default_export(module)};\n'


def files(forms: list[dict], scripts: dict[str, dict]) -> dict[str, bytes]:
    """Path on the site -> content, of all that these forms need; `scripts` are modules and styles by their key."""
    found = {}
    for key in sorted({form["script"] for form in forms}):
        found[f"widgets/{key}.js"] = classic(scripts[key]["esm"], key).encode()
        if scripts[key].get("css"):
            found[f"widgets/{key}.css"] = scripts[key]["css"].encode()
    return found
