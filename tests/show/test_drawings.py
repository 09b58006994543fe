"""The drawings: made again to the byte, safe to show anywhere, in words too, nothing cut off, and found by name."""

import base64
import importlib.util
import itertools
import re
import shutil
from pathlib import Path
from xml.etree import ElementTree

import pytest
from matplotlib.font_manager import FontProperties, findfont, get_font

import draw_figures
import tx_helpers.show.drawings
from drawn import contrast
from notebook_guards import MIN_ALT, svg_alt
from tx_helpers.show.drawings import drawing, names
from tx_helpers.show.shapes import DARK, WHITE, rgb, theme
from tx_helpers.text.number_words import english, german

NAMES = [
    *("added_or_joined", "architecture", "arm_row", "attention_by_hand", "attention_cost", "bent_waves"),
    *("bottleneck", "caption_table", "chat_scored", "cluster_levels", "course_map", "decoder_only", "encode_once"),
    *("ffn_memory", "five_objectives", "gates", "lora_path", "masks", "one_hot", "one_sentence"),
    *("output_pieces", "patch_row", "picture_before_words", "ppo_and_grpo", "pre_post_norm"),
    *("qkv_projection", "reward_loop", "rotary_rotation", "shared_heads", "shifted_target"),
    *(
        "sinusoid_wavelengths",
        "six_layouts",
        "split_heads",
        "three_shapes",
        "tokens_to_vectors",
        "translator_attention",
        "unrolled_rnn",
    ),
    *("visual_grammar", "what_is_kept"),
]
MEASURED = "translator_attention"  # holds a trained model's weights, so it is not made again here
ENGLISH, GERMAN = ["one", "hundred", "two"], ["ein", "hundert", "zwei", "<eos>"]
SWAPPED = [[0.02, 0.08, 0.9], [0.0, 1.0, 0.0], [0.97, 0.01, 0.02], [0.4, 0.3, 0.3]]
TAGS = {"svg", "style", "title", "desc", "rect", "text", "polyline", "polygon", "path", "circle"}
SVG = "{http://www.w3.org/2000/svg}"


def made_up() -> str:
    return draw_figures.script(MEASURED).picture(ENGLISH, GERMAN, SWAPPED).svg()


def committed(name: str) -> str:
    return (draw_figures.FIGURES / f"{name}.svg").read_bytes().decode()


DRAWN = {name: committed(name) for name in NAMES} | {"made up": made_up()}


def test_every_script_has_its_drawing_and_every_drawing_its_script():
    assert draw_figures.names() == names() == NAMES


def test_every_script_draws_its_committed_drawing_again(tmp_path, capsys):
    again = [name for name in NAMES if name != MEASURED]
    assert draw_figures.main([*again, "--to", str(tmp_path)]) == 0
    changed = [name for name in again if (tmp_path / f"{name}.svg").read_bytes().decode() != DRAWN[name]]
    assert changed == []
    assert re.findall(r"^(\w+)\.svg  ", capsys.readouterr().out, re.MULTILINE) == again


def test_an_unknown_script_is_refused(capsys):
    with pytest.raises(SystemExit):
        draw_figures.main(["no_such_one"])
    assert f"no script draws no_such_one; there is: {', '.join(NAMES)}" in capsys.readouterr().err


# --- what a drawing may be -------------------------------------------------------------------------------------------


def expected_style(svg: str) -> str:
    """The one style sheet that a drawing may have."""
    return theme(re.sub("<style>.*?</style>", "", svg)).removeprefix("<style>").removesuffix("</style>")


def faults(svg: str) -> list[str]:
    """What keeps an SVG from being shown anywhere, alone or beside others on a page."""
    root = ElementTree.fromstring(svg)
    elements = list(root.iter())
    found = [f"a <{e.tag}>" for e in elements if e.tag.removeprefix(SVG) not in TAGS]
    attributes = [(e, key) for e in elements for key in e.attrib if (e, key) != (root, "class")]
    found += [f"an attribute {key}" for _, key in attributes if re.search(r"href|^on|style|class", key)]
    if root.get("class") != "tx-card" or [e.text for e in root.iter(SVG + "style")] != [expected_style(svg)]:
        found.append("without the style sheet of its colours")
    found += [
        f"a reference {text}" for text in re.findall(r"url\([^)]*\)|\bdata:|https?://(?!www\.w3\.org/2000/svg)", svg)
    ]
    labels = [root.find(SVG + tag) for tag in ("title", "desc")]
    ids = [e.get("id") for e in elements if e.get("id")]
    if root.get("role") != "img" or None in labels or root.get("aria-labelledby", "").split() != ids or len(ids) != 2:
        found.append("not an image labelled by its title and description")
    if len(svg_alt(svg)) < MIN_ALT or any(label is None or len(label.text or "") < MIN_ALT for label in labels):
        found.append("too few words")
    if root.get("font-family") != "sans-serif" or any(float(e.get("font-size", 14)) < 12.5 for e in elements):
        found.append("text that is too small, or in an unexpected font")
    if root.get("viewBox", "").split()[:3] != ["0", "0", "800"] or root.get("width") != "800":
        found.append("not 800 wide")
    return found + (["30 kB or more"] if len(svg.encode()) >= 30_000 else [])


def test_a_drawing_can_be_shown_anywhere():
    assert {name: found for name, svg in DRAWN.items() if (found := faults(svg))} == {}


def test_no_two_drawings_share_an_id():
    ids = [i for name in NAMES for i in re.findall(r' id="([^"]*)"', DRAWN[name])]
    assert len(ids) == len(set(ids)) == 2 * len(NAMES)


@pytest.mark.parametrize(
    ("old", "new", "finding"),
    [
        ("</svg>", "<script/></svg>", f"a <{SVG}script>"),
        ("<rect ", '<rect onclick="x()" ', "an attribute onclick"),
        ("<rect ", '<rect style="fill:red" ', "an attribute style"),
        ("<style>", "<style>svg{fill:red}", "without the style sheet of its colours"),
        ('fill="#1F2933"', 'fill="#8A3B66"', "without the style sheet of its colours"),
        ("<rect ", '<rect filter="url(#a)" ', "a reference url(#a)"),
        ("<rect ", '<rect id="x" ', "not an image labelled by its title and description"),
        ('role="img"', 'role="group"', "not an image labelled by its title and description"),
        ("<desc ", "<desc/><desc ", "too few words"),
        ('font-size="14"', 'font-size="12"', "text that is too small, or in an unexpected font"),
        ('width="800"', 'width="640"', "not 800 wide"),
        ("<desc ", "<!--" + 30_000 * "x" + "--><desc ", "30 kB or more"),
    ],
)
def test_the_check_sees(old, new, finding):
    assert finding in faults(made_up().replace(old, new, 1))


# --- nothing cut off, nothing over anything --------------------------------------------------------------------------


def number(element, key: str) -> float:
    return float(element.get(key, 0))


def text_width(words: str, weight: str) -> float:
    """Of a line of words, for a font size of 1."""
    font = get_font(findfont(FontProperties(family="DejaVu Sans", weight=weight)))
    font.set_size(100, 72)
    font.set_text(words)
    return font.get_width_height()[0] / 64 / 100


def text_places(svg: str) -> list[tuple[str, tuple[float, float, float, float]]]:
    """Every text and the box it takes (left, top, right, bottom) in DejaVu Sans, the widest of the usual fonts."""
    found = []
    for text in ElementTree.fromstring(svg).iter(SVG + "text"):
        size = number(text, "font-size")
        width = text_width(text.text, text.get("font-weight", "normal")) * size
        left = number(text, "x") - width * {"middle": 0.5, "end": 1.0}.get(text.get("text-anchor"), 0.0)
        found.append(
            (text.text, (left, number(text, "y") - 0.76 * size, left + width, number(text, "y") + 0.24 * size))
        )
    return found


def boxes(svg: str) -> list[tuple[tuple[float, float, float, float], str]]:
    """Every rectangle, with its filling."""
    return [
        (
            (number(r, "x"), number(r, "y"), number(r, "x") + number(r, "width"), number(r, "y") + number(r, "height")),
            r.get("fill"),
        )
        for r in ElementTree.fromstring(svg).iter(SVG + "rect")
    ]


def segments(svg: str):
    for line in ElementTree.fromstring(svg).iter(SVG + "polyline"):
        points = [tuple(map(float, point.split(","))) for point in line.get("points").split()]
        yield from itertools.pairwise(points)


def overlap(a, b, slack: float = 0.0) -> bool:
    return a[0] < b[2] - slack and b[0] < a[2] - slack and a[1] < b[3] - slack and b[1] < a[3] - slack


def inside(a, b, margin: float) -> bool:
    return a[0] >= b[0] + margin and a[1] >= b[1] and a[2] <= b[2] - margin and a[3] <= b[3]


def crossings(svg: str) -> list[str]:
    """Texts over each other, over the border of a box, or crossed by a line that is not behind a filled box."""
    texts, frames = text_places(svg), boxes(svg)
    found = [f"{a!r} over {b!r}" for (a, p), (b, q) in itertools.combinations(texts, 2) if overlap(p, q, 0.5)]
    for words, place in texts:
        found += [f"{words!r} leaves its box" for box, _ in frames if overlap(place, box) and not inside(place, box, 2)]
        held = any(
            box for box, fill in frames[1:] if fill != "none" and inside(place, box, 2) and box[2] - box[0] < 340
        )
        for (x0, y0), (x1, y1) in segments(svg):
            line = (min(x0, x1) - 0.1, min(y0, y1) - 0.1, max(x0, x1) + 0.1, max(y0, y1) + 0.1)
            straight = x0 == x1 or y0 == y1
            if straight and not held and overlap(place, line):
                found.append(f"{words!r} is crossed by a line")
    return found


def test_no_text_is_cut_off_or_crossed():
    assert {name: found for name, svg in DRAWN.items() if (found := crossings(svg))} == {}


def test_the_crossing_check_sees():
    def of(x, words):
        canvas = draw_figures.script("canvas").Canvas("a", 100, title="t", description="d")
        canvas.box(100, 20, 60, 30)
        canvas.text(300, 80, "there")
        canvas.line((200, 0), (200, 100), arrow=False)
        canvas.text(x, 40, words)
        return crossings(canvas.svg())

    assert of(110, "short") == []
    assert of(110, "much too long") == ["'much too long' leaves its box", "'much too long' is crossed by a line"]
    assert of(175, "words") == ["'words' is crossed by a line"]
    assert of(780, "words") == ["'words' leaves its box"]


def in_dark(colour: str, *, words: bool = False) -> str:
    return colour if words and colour == WHITE else DARK.get(colour, colour)


def pale(svg: str, dark: bool) -> list[str]:
    """Texts that do not stand out from what is behind them."""
    found = []
    root = ElementTree.fromstring(svg)
    colours = [text.get("fill") for text in root.iter(SVG + "text")]
    opacities = [float(rect.get("fill-opacity", 1)) for rect in root.iter(SVG + "rect")]
    behind = [(*box, o) for box, o in zip(boxes(svg), opacities, strict=True) if box[1] != "none"]
    discs = [(number(c, "cx"), number(c, "cy"), number(c, "r"), c.get("fill")) for c in root.iter(SVG + "circle")]
    for (words, place), colour in zip(text_places(svg), colours, strict=True):
        x, y = (place[0] + place[2]) / 2, (place[1] + place[3]) / 2
        grounds = [
            (fill, o) for (left, top, right, bottom), fill, o in behind if left <= x <= right and top <= y <= bottom
        ]
        grounds += [(fill, 1.0) for cx, cy, radius, fill in discs if abs(x - cx) < radius and abs(y - cy) < radius]
        if dark:
            colour, grounds = in_dark(colour, words=True), [(in_dark(fill), o) for fill, o in grounds]
        colour = "#000000" if colour == "#000" else colour  # the black that stays black in the dark
        ground, opacity = grounds[-1]
        if opacity < 1:  # what is behind it shines through
            parts = zip(rgb(ground), rgb(grounds[-2][0]), strict=True)
            ground = "#" + "".join(f"{round(opacity * over + (1 - opacity) * under):02X}" for over, under in parts)
        found += [f"{words!r} in {colour} on {ground}"] if contrast(colour, ground) < 4.5 else []
    return found


def test_every_text_stands_out_from_what_is_behind_it_in_both_themes():
    seen = {(name, dark): pale(svg, dark) for name, svg in DRAWN.items() for dark in (False, True)}
    assert {where: found for where, found in seen.items() if found} == {}
    faint = made_up().replace('fill="#1F2933"', 'fill="#DDDDDD"')
    assert pale(faint, False) and contrast("#000000", "#FFFFFF") == pytest.approx(21)


# --- the picture of the translator -----------------------------------------------------------------------------------


def test_the_translator_is_drawn_from_its_weights_and_said_in_words():
    title, description = (ElementTree.fromstring(made_up()).findtext(SVG + tag) for tag in ("title", "desc"))
    assert title == "What each German word looked at when the translator wrote 'ein hundert zwei'"
    assert "ein at two (0.90), hundert at hundred (1.00), zwei at one (0.97), <eos> at one (0.40)" in description
    assert description.endswith(
        "Unit and ten swap places: the lines of ein and hundert cross, the lines of ein and zwei cross, "
        "the lines of hundert and zwei cross."
    )
    widths = [float(path.get("stroke-width")) for path in ElementTree.fromstring(made_up()).iter(SVG + "path")]
    drawn = sorted(weight for row in SWAPPED for weight in row if weight >= 0.05)
    assert widths == pytest.approx([1.5 + 6 * weight for weight in drawn], abs=0.01)


def test_straight_lines_are_not_said_to_cross():
    diagonal = [[1.0, 0.0, 0.0], [0.0, 1.0, 0.0], [0.0, 0.0, 1.0], [0.4, 0.3, 0.3]]
    assert "cross" not in draw_figures.script(MEASURED).picture(ENGLISH, GERMAN, diagonal).description


def test_the_committed_picture_shows_unit_and_ten_swapped():
    shown = drawing(MEASURED)
    assert shown.title.endswith("wrote 'vier hundert ein und zwanzig'")
    looked = dict(re.findall(r"(\S+) at (\S+) \(", shown.description))
    assert {word: looked[word] for word in ("vier", "hundert", "ein", "zwanzig")} == {
        **{"vier": "four", "hundert": "hundred", "ein": "one", "zwanzig": "twenty"}
    }
    assert "the lines of ein and zwanzig cross" in shown.description


def test_the_words_of_the_drawings_are_the_course_s_own():
    """The sentence that is followed through the course, as tokenizers and data split it."""
    source, target = english(421).replace("-", " ").split(), german(421).split()
    for name in ("architecture", "encode_once", "shifted_target"):
        texts = [words for words, _ in text_places(DRAWN[name])]
        assert {"<bos>", *target, "<eos>"} <= set(texts)
        assert english(421) in texts or set(source) <= set(texts)


# --- shown in a notebook ---------------------------------------------------------------------------------------------


def test_a_drawing_shows_itself_with_its_words():
    shown = drawing("encode_once")
    data, metadata = shown._repr_mimebundle_()
    svg = committed("encode_once")
    source = base64.b64encode(svg.encode()).decode()
    assert data["image/svg+xml"] == svg
    assert data["text/plain"] == repr(shown)
    assert metadata == {"image/svg+xml": {"alt": repr(shown)}}
    assert repr(shown).startswith("Encode once, decode step by step. At the top the four words")
    image, _, words = data["text/html"].partition(">")
    assert image.startswith('<img alt="Encode once, decode step by step" style="max-width: 100%; height: auto" ')
    assert image.endswith(f'src="data:image/svg+xml;base64,{source}"')
    assert words.startswith("<details><summary>The drawing in words</summary>At the top the four words")
    assert "it is fed &lt;bos&gt; and" in words


def test_an_unknown_drawing_is_refused():
    with pytest.raises(ValueError) as error:
        drawing("../architecture")
    assert str(error.value) == f"drawing: none is named '../architecture'; there is: {', '.join(NAMES)}"


def installed(folder: Path):
    """The module as it stands in another folder."""
    package = folder / "tx_helpers" / "show"
    package.mkdir(parents=True)
    shutil.copy(tx_helpers.show.drawings.__file__, package)
    spec = importlib.util.spec_from_file_location("copy_of_drawings", package / "drawings.py")
    module = importlib.util.module_from_spec(spec)
    spec.loader.exec_module(module)
    return module


def test_an_installed_package_has_its_own_drawings(tmp_path, monkeypatch):
    module = installed(tmp_path)
    monkeypatch.setitem(__import__("sys").modules, "copy_of_drawings", module)
    with pytest.raises(ValueError, match=r"^drawing: none is named 'course_map'; there is: none at all$"):
        module.drawing("course_map")
    own, neighbour = tmp_path / "tx_helpers" / "figures", tmp_path / "figures"
    for folder, name in ((neighbour, "encode_once"), (own, "course_map")):
        folder.mkdir()
        shutil.copy(draw_figures.FIGURES / f"{name}.svg", folder)
    assert module.names() == ["course_map"]  # what another package has put beside ours does not count
    assert module.drawing("course_map").svg == committed("course_map")
    shutil.rmtree(own)
    assert module.names() == ["encode_once"]
