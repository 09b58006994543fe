"""Make the API page: the package's public functions and classes with their docstrings, in the order of the tiers.

    python tools/make_api.py            # or: make api

One page that needs no network, build/api.html. The sources are parsed and not imported. Left out: what begins with an
underscore, and the notebooks' exercises, whose functions are solutions and mistakes.
"""

import argparse
import ast
import html
import re
import sys
from collections.abc import Iterator
from pathlib import Path

from notebook_frame import ROOT
from tiers import TIERS

PACKAGE = ROOT / "tx_helpers"
LEGEND = (
    "B batch, T query positions, S key positions, D model width, H heads, K head width, F hidden width, V vocabulary."
)
PAGE = """<!DOCTYPE html>
<html lang="en"><head><meta charset="utf-8"><meta name="viewport" content="width=device-width">
<title>tx_helpers: API</title>
<style>
:root {{ color-scheme: light dark; font-family: sans-serif; line-height: 1.5 }}
body {{ max-width: 62rem; margin: auto; padding: 1rem }}
pre, code {{ font-family: monospace; font-size: 0.9rem }}
pre {{ white-space: pre-wrap; margin: 0.3rem 0 1rem 1.5rem }}
pre.signature {{ margin-left: 0; font-weight: bold }}
h4 {{ margin-bottom: 0 }}
</style></head><body>
<h1>tx_helpers: API</h1>
<p>{legend}</p>
<nav aria-label="Modules">{contents}</nav>
<main>{body}</main>
</body></html>
"""
Definition = ast.FunctionDef | ast.ClassDef


def modules() -> Iterator[tuple[str, list[tuple[str, Path]]]]:
    """Each tier's title and its modules, as dotted name and file."""
    for title, names in TIERS.items():
        files = []
        for name in names:
            folder = PACKAGE / name.replace(".", "/")
            files += sorted(folder.rglob("*.py")) if folder.is_dir() else [folder.with_suffix(".py")]
        yield title, [(dotted(file), file) for file in files if not re.fullmatch(r"exercises\w*\.py", file.name)]


def dotted(file: Path) -> str:
    """The name under which a file is imported."""
    parts = file.relative_to(ROOT).with_suffix("").parts
    return ".".join(parts[:-1] if parts[-1] == "__init__" else parts)


def public(body: list[ast.stmt]) -> list[Definition]:
    """The functions and classes of a module or class that others may use."""
    return [node for node in body if isinstance(node, Definition) and not node.name.startswith("_")]


def signature(node: Definition) -> str:
    """`def name(arguments) -> result`, or `class Name(bases)` with its fields and the arguments of `__init__`."""
    if isinstance(node, ast.FunctionDef):
        result = f" -> {ast.unparse(node.returns)}" if node.returns else ""
        return f"def {node.name}({ast.unparse(node.args)}){result}"
    bases = ", ".join(map(ast.unparse, node.bases))
    lines = [f"class {node.name}({bases})" if bases else f"class {node.name}"]
    lines += [f"    {ast.unparse(part)}" for part in node.body if isinstance(part, ast.AnnAssign)]
    lines += [f"    {signature(part)}" for part in node.body if getattr(part, "name", "") == "__init__"]
    return "\n".join(lines)


def described(node: Definition, module: str, level: int = 3) -> str:
    """Heading, signature and docstring of a definition; of a class its public methods, too."""
    name = f"{module}.{node.name}"
    text = f'<h{level} id="{name}">{node.name}</h{level}>\n'
    text += f'<pre class="signature">{html.escape(signature(node))}</pre>\n'
    if docstring := ast.get_docstring(node):
        text += f'<pre class="docstring">{html.escape(docstring)}</pre>\n'
    inner = public(node.body) if isinstance(node, ast.ClassDef) else []
    return text + "".join(described(part, name, level + 1) for part in inner)


def parts() -> tuple[str, str]:
    """The list of modules with links, and the entries of all functions and classes."""
    contents, body = "", ""
    for title, files in modules():
        links = ", ".join(f'<a href="#{name}">{name.removeprefix("tx_helpers.")}</a>' for name, _ in files)
        contents += f"<p><b>{title}</b>: {links}</p>\n"
        for name, file in files:
            tree = ast.parse(file.read_text(encoding="utf-8"))
            about = html.escape(ast.get_docstring(tree) or "")
            body += f'<h2 id="{name}">{name}</h2>\n<pre class="docstring">{about}</pre>\n'
            body += "".join(described(node, name) for node in public(tree.body))
    return contents, with_links(body)


def page() -> str:
    """The whole page."""
    contents, body = parts()
    return PAGE.format(legend=LEGEND, contents=contents, body=body)


def with_links(body: str) -> str:
    """Turns what stands in backticks into code, and a name into a link to its entry; one of two modules gets none."""
    anchors: dict[str, list[str]] = {}
    for anchor in re.findall(r'id="([\w.]+)"', body):
        for name in {anchor.rsplit(".", 1)[-1], anchor, anchor.removeprefix("tx_helpers.")}:
            anchors.setdefault(name, []).append(anchor)

    def link(match: re.Match) -> str:
        found = anchors.get(match[1], [])
        code = f"<code>{match[1]}</code>"
        return f'<a href="#{found[0]}">{code}</a>' if len(found) == 1 else code

    return re.sub(r"`([^`\n]+)`", link, body)


def main(arguments: list[str] | None = None) -> int:
    """Command line; returns the exit code."""
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--to", type=Path, default=ROOT / "build" / "api.html", help="the file to write")
    file = parser.parse_args(arguments).to
    file.parent.mkdir(parents=True, exist_ok=True)
    file.write_text(page(), encoding="utf-8")
    print(f"{file.name}: {file.stat().st_size / 1000:.0f} kB")
    return 0


if __name__ == "__main__":
    sys.exit(main())
