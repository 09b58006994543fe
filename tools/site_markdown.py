"""A notebook's markdown as HTML: nbconvert's parser, which knows Jupyter's formulas, with the site's own output.

Formulas become MathML, links to notebooks become links to pages, and headings get the anchors that Jupyter gives them.
"""

import re
from html import escape, unescape

from nbconvert.filters.markdown_mistune import IPythonRenderer, MarkdownWithMath
from pygments import highlight
from pygments.formatters import HtmlFormatter
from pygments.lexers import get_lexer_by_name

from site_formulas import mathml

NOTEBOOK = re.compile(r"(?:notebooks/)?(\d\d_\w+)\.ipynb(#.*)?")
HREF = re.compile(r'(?<=href=")[^"]+(?=")')
LONG = 25  # letters of a formula in the text, which a browser cannot break; on a narrow page a long one is scrolled
FORMATTER = HtmlFormatter(nowrap=True)


def code(text: str, language: str = "python", kind: str = "code") -> str:
    """A block of code in colours; a wide one can be scrolled (site.js puts it into the order of Tab where it is)."""
    inner = highlight(text, get_lexer_by_name(language, stripnl=False), FORMATTER).rstrip("\n")
    return f'<pre class="{kind}"><code>{inner}</code></pre>\n'


def page_of(link: str) -> str:
    """Where a link to a notebook leads on the site; all other links stay as they are."""
    found = NOTEBOOK.fullmatch(link)
    return f"{found[1]}.html{found[2] or ''}" if found else link


class Renderer(IPythonRenderer):
    """Markdown to HTML. `taken` holds the anchors of the page so far, since each may stand there only once."""

    def __init__(self, taken: set[str]):
        super().__init__(escape=False)
        self.taken = taken

    def block_html(self, html: str) -> str:
        return super().block_html(HREF.sub(lambda link: page_of(link[0]), html))

    def inline_html(self, html: str) -> str:
        return super().inline_html(HREF.sub(lambda link: page_of(link[0]), html))

    def heading(self, text: str, level: int, **_) -> str:
        anchor = name = unescape(re.sub(r"<[^>]+>", "", text)).replace(" ", "-")
        while anchor in self.taken:
            anchor += "-"
        self.taken.add(anchor)
        mark = f'<a class="anchor" href="#{escape(name)}" aria-hidden="true" tabindex="-1">#</a>' if level > 1 else ""
        return f'<h{level} id="{escape(anchor)}">{text}{mark}</h{level}>\n'

    def link(self, text: str, url: str, title: str | None = None) -> str:
        said = f' title="{escape(title)}"' if title else ""
        return f'<a href="{escape(page_of(url))}"{said}>{text}</a>'

    def inline_math(self, body: str) -> str:
        return f'<span class="long">{mathml(body)}</span>' if len(body) > LONG else mathml(body)

    def block_math(self, body: str) -> str:
        return f'<span class="formula">{mathml(body, display=True)}</span>'

    def block_code(self, code_: str, info: str | None = None) -> str:
        return code(code_, info or "text")


def html_of(source: str, taken: set[str] | None = None) -> str:
    """A markdown text as HTML; a table is wrapped, so that a wide one can be scrolled."""
    html = MarkdownWithMath(renderer=Renderer(set() if taken is None else taken)).render(source)
    return html.replace("<table>", '<div class="table"><table>').replace("</table>", "</table></div>")
