"""TeX formulas as MathML, made when a page is built: the reader's browser draws it, without a script or a font of ours.

latex2mathml does the translating. What it does not know is replaced before, and what browsers draw badly is mended
afterwards: MathML Core, which they share, has no space around "sin" and no script letters. A command that is still
unknown raises a ValueError, so that a page never shows a backslash.
"""

import html
import re
from functools import cache
from xml.etree.ElementTree import Element, SubElement, tostring

from latex2mathml.converter import convert_to_element

FUNCTIONS = ("sin", "cos", "tan", "tanh", "ln", "log", "exp", "max", "min")
REPLACED = (  # patterns of TeX that latex2mathml does not know, and what says the same to it
    (r"\\(begin|end)\{aligned\}", r"\\\1{align*}"),
    (r"\\\\\[[^\]]*\]", r"\\\\"),  # the height of a row
    (r"\\operatorname(?![a-z])", r"\\mathrm"),  # as an operator it would have wide spaces
    (r"\\arg\\(max|min)(?![a-z])", r"\\mathrm{arg\\,\1}"),
    (r"(\\[Bb]ig[lr]?)\s*\\lfloor", r"\1⌊"),
    (r"(\\[Bb]ig[lr]?)\s*\\rfloor", r"\1⌋"),
    (r"(\\[Bb]ig[lr]?)\s*\\lceil", r"\1⌈"),
    (r"(\\[Bb]ig[lr]?)\s*\\rceil", r"\1⌉"),
)
LETTERS = {("script", "L"): "ℒ", ("double-struck", "1"): "𝟙"}  # MathML Core writes letters only as characters
ROWS = {"mrow", "mtd", "math", "mstyle", "msqrt"}  # elements whose children stand in a row
THIN = "0.17em"


@cache
def mathml(tex: str, display: bool = False) -> str:
    """The formula as a <math> element that holds its source, too; ValueError for TeX that is not understood."""
    source = re.sub(r"\s+", " ", tex).strip()
    known = source
    for pattern, instead in REPLACED:
        known = re.sub(pattern, instead, known)
    try:
        drawn = convert_to_element(known, display="block" if display else "inline")
    except Exception as error:  # the library's errors have no common class, and no text
        raise ValueError(f"formula {source!r}: latex2mathml cannot read it ({type(error).__name__})") from error
    for node in drawn.iter():
        node.text = html.unescape(node.text or "")  # the library's elements hold "&#x0003D;" as text
    if unknown := [node.text for node in drawn.iter() if node.text.startswith("\\")]:
        raise ValueError(f"formula {source!r}: {unknown[0]} is not known; see REPLACED in tools/site_formulas.py")
    _mend(drawn)
    content = list(drawn)
    for node in content:
        drawn.remove(node)
    semantics = SubElement(drawn, "semantics")
    semantics.extend(content)
    SubElement(semantics, "annotation", encoding="application/x-tex").text = source
    return tostring(drawn, encoding="unicode")


def _mend(parent: Element) -> None:
    """Letters, bars and spaces of an element and of all within it."""
    for node in parent:
        _mend(node)
        letter = LETTERS.get((node.get("mathvariant"), node.text))
        if letter or node.get("mathvariant") not in (None, "normal"):
            node.text = letter or node.text
            node.set("mathvariant", "normal")
        if node.text == "|":
            node.attrib |= {"lspace": "0", "rspace": "0", "stretchy": "false"}
        elif node.text in FUNCTIONS:  # some come as operators, which have spaces of their own
            node.tag = "mi"
        elif node.text == "′":
            node.tag = "mo"
    if parent.tag in ROWS:
        _space(parent)


def _space(row: Element) -> None:
    """A thin space beside the name of a function, where no operator or bracket stands."""
    for index in reversed(range(len(row))):
        if not _is_function(row[index]):
            continue
        if index + 1 < len(row) and row[index + 1].tag not in ("mo", "mspace"):
            row.insert(index + 1, Element("mspace", width=THIN))
        if index and (row[index - 1].tag not in ("mo", "mspace") or row[index - 1].text in (")", "]")):
            row.insert(index, Element("mspace", width=THIN))


def _is_function(node: Element) -> bool:
    """Whether it is the name of a function, perhaps with an index or a power."""
    return node.text in FUNCTIONS or (node.tag in ("msub", "msup", "msubsup", "munder") and _is_function(node[0]))
