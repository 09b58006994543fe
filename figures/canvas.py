"""The drawing board of the course: it makes one small SVG of boxes, words and arrows, the same bytes every time.

A drawing is a card with rounded corners, light or dark as the page is (`shapes.theme`). It consists of plain shapes at
absolute places, with no script and no other file. Its title and description say in words what can be seen. All sizes
are pixels at a width of 800.
"""

from collections.abc import Callable, Iterable, Sequence
from html import escape
from pathlib import Path

from tx_helpers.show import shapes
from tx_helpers.show.shapes import number

WIDTH = 800
SMALL, NORMAL, LARGE = 14, 15, 18

# The course's palette: a colour with a tint to fill and a shade to write in. What each is for: `shapes`.
BLUE, ORANGE, GREEN = shapes.BLUE, shapes.ORANGE, shapes.GREEN
PINK, GOLD, GREY, INK = shapes.PINK, shapes.GOLD, shapes.GREY, shapes.INK
MUTED, PAPER, EDGE, FAINT = shapes.MUTED, shapes.PAPER, shapes.EDGE, GREY.full

Point = tuple[float, float]


class Canvas:
    """One drawing: add to it from back to front, then take `svg()`."""

    def __init__(self, name: str, height: float, *, title: str, description: str):
        self.name, self.height, self.title, self.description = name, height, title, description
        self.parts: list[str] = []
        self.box(0.5, 0.5, WIDTH - 1, height - 1, fill=PAPER, stroke=EDGE, radius=14)

    def box(
        self,
        x: float,
        y: float,
        width: float,
        height: float,
        lines: str | Sequence[str] = (),
        *,
        fill: str = "none",
        stroke: str = "none",
        colour: str = INK,
        radius: float = 6,
        thickness: float = 1.3,
        dash: str = "",
        size: float = NORMAL,
        bold: bool = True,
        fill_opacity: float | None = None,
    ) -> None:
        """A rectangle with lines of words in its middle: the first as size and bold say, the others small and plain."""
        self._add(
            "rect",
            x=x,
            y=y,
            width=width,
            height=height,
            rx=radius,
            fill=fill,
            fill_opacity=fill_opacity,
            stroke=stroke,
            stroke_width=thickness if stroke != "none" else "",
            stroke_dasharray=dash,
        )
        lines = [lines] if isinstance(lines, str) else list(lines)
        baseline = y + height / 2 + 0.36 * size - (len(lines) - 1) * 8
        for row, line in enumerate(lines):
            first = row == 0
            font = dict(size=size if first else SMALL, bold=first and bold)
            self.text(x + width / 2, baseline + 17 * row, line, colour=colour, anchor="middle", **font)

    def text(
        self,
        x: float,
        y: float,
        words: str,
        *,
        size: float = NORMAL,
        colour: str = INK,
        anchor: str = "start",
        bold: bool = False,
        italic: bool = False,
    ) -> None:
        """One line of words; y is its baseline, x its "start", "middle" or "end"."""
        self._add(
            "text",
            words,
            x=x,
            y=y,
            font_size=size,
            fill=colour,
            text_anchor=anchor if anchor != "start" else "",
            font_weight="bold" if bold else "",
            font_style="italic" if italic else "",
        )

    def line(
        self,
        *points: Point,
        colour: str = MUTED,
        thickness: float = 1.6,
        dash: str = "",
        arrow: bool = True,
        opacity: float = 1.0,
    ) -> None:
        """Straight pieces from point to point, with an arrowhead whose tip is the last point."""
        points = list(points)
        if arrow:
            (x0, y0), (x1, y1) = points[-2:]
            length = ((x1 - x0) ** 2 + (y1 - y0) ** 2) ** 0.5
            u, v = (x1 - x0) / length, (y1 - y0) / length
            size = 4.5 + 1.5 * thickness
            back = (x1 - size * u, y1 - size * v)
            side = 0.48 * size
            head = [(x1, y1), (back[0] - side * v, back[1] + side * u), (back[0] + side * v, back[1] - side * u)]
            points[-1] = back
        shade = number(opacity) if opacity < 1 else ""
        self._add(
            "polyline",
            points=_places(points),
            fill="none",
            stroke=colour,
            stroke_width=thickness,
            stroke_dasharray=dash,
            stroke_opacity=shade,
        )
        if arrow:
            self._add("polygon", points=_places(head), fill=colour, fill_opacity=shade)

    def curve(self, start: Point, end: Point, *, colour: str, thickness: float, opacity: float = 1.0) -> None:
        """A soft S from top to bottom."""
        (x0, y0), (x1, y1) = start, end
        middle = (y0 + y1) / 2
        path = f"M{_places([start])} C{_places([(x0, middle), (x1, middle), (x1, y1)])}"
        self._add("path", d=path, fill="none", stroke=colour, stroke_width=thickness, stroke_opacity=number(opacity))

    def circle(self, x: float, y: float, radius: float, *, fill: str, stroke: str = "none", thickness=1.6) -> None:
        self._add("circle", cx=x, cy=y, r=radius, fill=fill, stroke=stroke, stroke_width=thickness)

    def mark(self, of: Callable[..., str], x: float, y: float, size: float = 7) -> None:
        """The mark of a query, a key or a value: of=shapes.query_mark …"""
        self.parts.append(of(x, y, size))

    def plus(self, x: float, y: float, colour: str) -> None:
        """The ⊕ of a residual connection."""
        self.circle(x, y, 8, fill="#FFFFFF", stroke=colour)
        self.line((x - 4.5, y), (x + 4.5, y), colour=colour, arrow=False)
        self.line((x, y - 4.5), (x, y + 4.5), colour=colour, arrow=False)

    def heading(self, words: str, *below: str) -> None:
        """The drawing's title and what to know before reading it, at the top."""
        self.text(28, 36, words, size=LARGE, bold=True)
        for row, line in enumerate(below):
            self.text(28, 58 + 18 * row, line, colour=MUTED)

    def svg(self) -> str:
        """The whole drawing as text."""
        name = self.name
        opening = (
            f'<svg xmlns="http://www.w3.org/2000/svg" class="tx-card" viewBox="0 0 {WIDTH} {number(self.height)}" '
            f'width="{WIDTH}" height="{number(self.height)}" font-family="sans-serif" role="img" '
            f'aria-labelledby="{name}-title {name}-desc">'
        )
        words = [
            f'<title id="{name}-title">{escape(self.title)}</title>',
            f'<desc id="{name}-desc">{escape(self.description)}</desc>',
        ]
        style = shapes.theme("".join(self.parts))
        return "\n".join([opening, *words, style, *self.parts, "</svg>"]) + "\n"

    def _add(self, tag: str, words: str = "", **attributes) -> None:
        said = {name: value for name, value in attributes.items() if value != ""}
        self.parts.append(shapes.shape(tag, words, **said))


def save(canvas: Canvas, folder: Path = Path(__file__).parent) -> Path:
    """Write the drawing as <name>.svg, beside its script unless another folder is named."""
    path = folder / f"{canvas.name}.svg"
    path.write_text(canvas.svg(), encoding="utf-8", newline="\n")
    return path


def _places(points: Iterable[Point]) -> str:
    return " ".join(f"{number(x)},{number(y)}" for x, y in points)
