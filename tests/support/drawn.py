"""What an SVG shows: its texts, its elements, and whether a colour stands out from another."""

from xml.etree import ElementTree

SVG = "{http://www.w3.org/2000/svg}"


def elements(svg: str, tag: str) -> list[ElementTree.Element]:
    """All elements of a tag, such as "rect", in the order of the drawing."""
    return list(ElementTree.fromstring(svg).iter(SVG + tag))


def texts(svg: str) -> list[str]:
    """All words of a drawing, in order."""
    return [element.text for element in elements(svg, "text")]


def points(svg: str) -> list[list[tuple[float, float]]]:
    """The points of each line of a chart."""
    lines = [line.get("points").split() for line in elements(svg, "polyline")]
    return [[tuple(map(float, spot.split(","))) for spot in line] for line in lines]


def contrast(a: str, b: str) -> float:
    """The ratio of WCAG 2.2 between two colours like #1F2933."""

    def light(colour: str) -> float:
        parts = [int(colour[i : i + 2], 16) / 255 for i in (1, 3, 5)]
        linear = [c / 12.92 if c <= 0.04045 else ((c + 0.055) / 1.055) ** 2.4 for c in parts]
        return 0.2126 * linear[0] + 0.7152 * linear[1] + 0.0722 * linear[2]

    high, low = sorted((light(a), light(b)), reverse=True)
    return (high + 0.05) / (low + 0.05)
