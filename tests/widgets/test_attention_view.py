"""The attention view without a browser: what it takes, what it refuses, its numbers, words and exports."""

import base64
import math
import re
from xml.etree import ElementTree

import numpy as np
import pytest
import torch

from parity import B, D, F, H, K, S, T, V, randomise, tokens
from tx_helpers.nn.attention import MultiHeadAttention, eager_attention
from tx_helpers.nn.capture import capture
from tx_helpers.nn.config import AttentionConfig, FeedForwardConfig, PositionConfig, TransformerConfig
from tx_helpers.nn.masks import causal_mask
from tx_helpers.nn.models import DecoderOnly, EncoderDecoder
from tx_helpers.show.pixels import strongest
from tx_helpers.widgets import attention_data as data
from tx_helpers.widgets.attention_view import ESM, NOT_PRODUCTS, AttentionView
from wrong_arguments import faults

CONFIG = dict(pad_id=0, attention=AttentionConfig(H), feed_forward=FeedForwardConfig(F))
SOURCE, TARGET = tokens(B, S), tokens(B, T, seed=1)
QUERIES, KEYS = [f"q{i}" for i in range(T)], [f"k{i}" for i in range(S)]
HOSTILE = [
    "<img src=x onerror=\"window.hurt='img'\">", "</script><script>window.hurt='script'</script>", "'\"`", "$$ $x^{$",
    "\0", "a\nb\tc", "\u202egnp\u200f", "x" * 10_000, "-->", "]]>", "&amp;", "\ud800", "漢字", "🙂", "",
]  # fmt: skip


def random_weights(*shape: int, seed: int = 0) -> torch.Tensor:
    return torch.randn(*shape, generator=torch.Generator().manual_seed(seed)).mul(3).softmax(-1)


def square(n: int = 3) -> AttentionView:
    return AttentionView.from_tensor(random_weights(2, 2, n, n), [f"t{i}" for i in range(n)])


@pytest.fixture(scope="module")
def seen():
    model = randomise(EncoderDecoder(TransformerConfig(V, D, **CONFIG)).double(), std=0.3).eval()
    source = SOURCE.clone()
    source[0, -1] = 0  # padding, which nobody may look at
    with capture(model) as seen, torch.no_grad():
        model(source, TARGET)
    return seen


# ------------------------------------------------------------------------------------------------------- what it takes


def test_a_capture_gives_every_kind_its_own_tokens_and_exactly_the_recorded_weights(seen):
    view = AttentionView.from_capture(seen, QUERIES, KEYS)
    labels = ["Encoder self-attention", "Decoder self-attention", "Decoder cross-attention"]
    assert [a.label for a in view.attentions] == labels
    q, k = tuple(QUERIES), tuple(KEYS)
    assert [(a.queries, a.keys) for a in view.attentions] == [(k, k), (q, q), (q, k)]
    assert [a.causal for a in view.attentions] == [False, True, False]
    assert all(a.from_scores and a.d_head == K for a in view.attentions)
    names = [
        "encoder.blocks.{}.self_attention",
        "decoder.blocks.{}.self_attention",
        "decoder.blocks.{}.cross_attention",
    ]
    for attention, name in zip(view.attentions, names, strict=True):
        for layer in range(2):
            for head in range(H):
                recorded = seen[name.format(layer) + ".weights"][0, head].numpy()
                np.testing.assert_allclose(attention.weights(layer, head), recorded, atol=2e-6)


def test_a_pattern_and_a_row_choose_what_is_shown(seen):
    view = AttentionView.from_capture(seen, QUERIES, KEYS, "*.1.cross_attention", row=1)
    assert [a.label for a in view.attentions] == ["Decoder cross-attention"]
    recorded = seen["decoder.blocks.1.cross_attention.weights"][1, 2].numpy()
    np.testing.assert_allclose(view.attentions[0].weights(0, 2), recorded, atol=2e-6)


def test_a_decoder_alone_needs_one_list_of_tokens():
    model = randomise(DecoderOnly(TransformerConfig(V, D, **CONFIG)).double(), std=0.3).eval()
    with capture(model, "*.weights") as seen, torch.no_grad():
        model(TARGET)
    view = AttentionView.from_capture(seen, QUERIES)
    assert (view.attention.causal, view.attention.causal_reason) == (True, data.NOTHING_TO_UNMASK)
    assert view.attention.scale_reason == data.WEIGHTS_ONLY


def test_edited_weights_are_shown_as_weights():
    layer = randomise(MultiHeadAttention(D, H), std=0.5).eval()
    x = torch.randn(1, T, D, generator=torch.Generator().manual_seed(2))
    uniform = {"weights": lambda w: torch.full_like(w, 1 / T)}
    with capture(layer, edit=uniform) as seen, torch.no_grad():
        layer(x)
    view = AttentionView.from_capture(seen, QUERIES, pattern="*")
    assert (view.attention.from_scores, view.attention.scale_reason) == (False, data.EDITED)
    np.testing.assert_allclose(view.weights, np.full((T, T), 1 / T), atol=1e-7)


def test_scores_with_a_bias_in_them_cannot_be_unscaled():
    config = TransformerConfig(V, D, positions=PositionConfig("alibi"), **CONFIG)
    model = randomise(DecoderOnly(config).double(), std=0.3).eval()
    with capture(model) as seen, torch.no_grad():
        model(TARGET)
    view = AttentionView.from_capture(seen, QUERIES)
    assert (view.attention.d_head, view.attention.scale_reason) == (None, NOT_PRODUCTS)


def test_the_attentions_of_hugging_face_are_layers_with_a_batch():
    layers = tuple(random_weights(2, 3, T, T, seed=i) for i in range(4))
    view = AttentionView.from_attentions(layers, QUERIES, row=1)
    np.testing.assert_array_equal(view.attention.values, torch.stack(layers)[:, 1].numpy())


@pytest.mark.parametrize("make", [torch.Tensor.numpy, torch.Tensor.tolist, torch.Tensor.bfloat16])
def test_arrays_lists_and_halves_are_taken_as_tensors_are(make):
    weights = random_weights(T, S)
    view = AttentionView.from_tensor(make(weights), QUERIES, KEYS)
    assert view.attention.values.shape == (1, 1, T, S)
    np.testing.assert_allclose(view.weights, weights.numpy(), atol=3e-3)


# ------------------------------------------------------------------------------------------------------ its arithmetic


@pytest.mark.parametrize("temperature", [0.1, 1.0, 3.7])
@pytest.mark.parametrize("scaled", [True, False])
@pytest.mark.parametrize("causal", [True, False])
def test_the_numbers_are_those_of_the_course_s_own_attention(temperature, scaled, causal):
    q, k = torch.randn(2, 1, 1, 5, 4, dtype=torch.float64, generator=torch.Generator().manual_seed(0))
    padding = torch.tensor([True, True, False, True, True])
    recorded = padding & causal_mask(5)
    scores = q @ k.mT / 2
    weights = eager_attention(q, k, torch.eye(5, dtype=torch.float64)[None, None], mask=recorded)
    made = data.attention_from_scores("a", scores, list("vwxyz"), list("vwxyz"), weights=weights, d_head=4)
    mask = recorded if causal else padding.expand(5, 5)
    scale = (1.0 if not scaled else 0.5) / temperature
    expected = eager_attention(q, k, torch.eye(5, dtype=torch.float64)[None, None], mask=mask, scale=scale)
    got = made.weights(0, 0, temperature=temperature, causal=causal, scaled=scaled)
    np.testing.assert_allclose(got, expected[0, 0], atol=1e-5)


def test_of_weights_the_logarithms_are_tempered():
    weights = random_weights(T, S)
    expected = weights.log().div(0.5).softmax(-1)
    got = AttentionView.from_tensor(weights, QUERIES, KEYS).set(temperature=0.5).weights
    np.testing.assert_allclose(got, expected, atol=1e-6)


def test_a_query_that_may_look_at_nothing_gets_zeros_and_says_so():
    scores = torch.zeros(2, 3)
    scores[0] = -math.inf
    view = AttentionView.from_tensor(scores, ["a", "b"], ["x", "y", "z"], scores=True)
    np.testing.assert_allclose(view.weights, [[0, 0, 0], [1 / 3] * 3])
    assert view.summary == "layer 1, head 1: 'a' may look at nothing; 'b' looks most at 'x' (0.33)"


def test_what_underflowed_was_not_masked():
    scores = torch.tensor([[0.0, -200.0, -1.0]])
    weights = scores.float().softmax(-1)
    assert weights[0, 1] == 0
    made = data.attention_from_scores("a", scores, ["q"], ["x", "y", "z"], weights=weights)
    assert made.allowed.tolist() == [[True, True, True]]


# ----------------------------------------------------------------------------------------------------- words and state


def test_the_summary_has_the_numbers_and_the_settings():
    view = AttentionView.from_tensor([[0.93, 0.07], [0.125, 0.875]], ["ein", "und"], ["one", "and"], name="x")
    assert view.summary == "layer 1, head 1: 'ein' looks most at 'one' (0.93); 'und' looks most at 'and' (0.88)"
    assert repr(view) == f"AttentionView 'x': {view.summary}"
    assert view.set(token=0).summary == "layer 1, head 1: 'ein' looks most at 'one' (0.93)"
    assert view.set(side="key", token=1).summary == "layer 1, head 1: 'and' is looked at most by 'und' (0.88)"
    view.set(token=-1, temperature=0.5)
    assert view.summary.startswith("layer 1, head 1, temperature 0.50: 'ein' looks most at 'one' (0.99)")


def test_another_attention_begins_as_recorded(seen):
    view = AttentionView.from_capture(seen, QUERIES, KEYS).set(layer=1, head=2, token=3)
    view.set(attention=1)
    assert view.state == view.state | {"layer": 0, "head": 0, "token": -1, "causal": True}
    assert view.summary.startswith("Decoder self-attention, layer 1, head 1: 'q0' looks most at 'q0' (1.00)")
    assert view.set(causal=False).summary.startswith("Decoder self-attention, layer 1, head 1, causal mask off:")


def test_the_numbers_travel_once_as_bytes():
    view = AttentionView.from_tensor(random_weights(2, 3, T, S), QUERIES, KEYS)
    assert len(view.widget.data) == 4 * 2 * 3 * T * S + -(-T * S // 4) * 4
    np.testing.assert_array_equal(np.frombuffer(view.widget.data, "<f4", 6 * T * S), view.attention.values.ravel())
    before = view.widget.data
    assert view.set(layer=1).widget.data is before


@pytest.mark.parametrize(
    ("make", "message"),
    [
        (lambda: AttentionView.from_tensor(random_weights(2, 3), ["a"], KEYS), r"\(1, 1, 2, 3\), but there are 1 q"),
        (lambda: AttentionView.from_tensor(torch.full((2, 2), math.nan), ["a", "b"]), "4 of 4 weights are NaN"),
        (lambda: AttentionView.from_tensor(torch.full((2, 2), math.nan), ["a", "b"], scores=True), "scores with NaN"),
        (lambda: AttentionView.from_tensor(torch.zeros(0, 0), []), "0 queries and 0 keys, expected at least one"),
        (lambda: AttentionView.from_tensor(torch.randn(3, 3), ["a", "b", "c"]), "for raw scores say scores=True"),
        (lambda: AttentionView.from_tensor(torch.zeros(1, 2, 3, 4, 4), "abcd"), r"\(1, 2, 3, 4, 4\), expected \(l"),
        (lambda: AttentionView.from_tensor(random_weights(2, 2), "ab"), "queries is one string of 2 characters"),
        (lambda: AttentionView.from_tensor(random_weights(2, 2), ["a", "b"], name="<b>"), "name='<b>', expected"),
        (lambda: AttentionView.from_attentions((), ["a"]), "output_attentions=True"),
        (lambda: AttentionView.from_attentions((None,), ["a"]), "output_attentions=True"),
        (lambda: AttentionView.from_attentions((torch.ones(1, 1, 1, 1), None), ["a"]), "layer 2 of 2 has none"),
        (lambda: AttentionView.from_attentions(((torch.ones(1),),) * 2, ["a"]), "those of generate, a tuple"),
        (lambda: AttentionView.from_attentions([random_weights(1, 1, 2, 2)], ["a", "b"], row=1), "row=1 of a tensor"),
        (
            lambda: AttentionView.from_attentions(
                [random_weights(1, 1, 2, 2), random_weights(1, 2, 2, 2)], ["a", "b"]),
            r"layers of the shapes \(1, 2, 2\) and \(2, 2, 2\), expected one shape",
        ),
        (lambda: square().set(layer=2), "layer=2, expected 0 to 1"),
        (lambda: square().set(token=3), "token=3, expected -1 to 2"),
        (lambda: square().set(temperature=0.0), "temperature=0.0, expected 0.1 to 5"),
        (lambda: square().set(side="left"), "side='left', expected 'query' or 'key'"),
        (lambda: square().set(depth=2), "no control named depth"),
        (lambda: square().set(scaled=False), "scaled=False, but only weights were given"),
        (lambda: square(1).set(causal=True), "causal=True, but one query"),
        (lambda: square().save("x.pdf"), r"cannot save 'x.pdf'; expected a name in .html, .svg or .png"),
    ],
)  # fmt: skip
def test_what_does_not_fit_is_refused_and_both_sides_are_named(make, message):
    with pytest.raises(ValueError, match=message):
        make()


def test_wrong_arguments_are_named(seen, tmp_path):
    weights, keys = random_weights(2, 2, T, S), {"queries": QUERIES, "keys": KEYS}
    tensor = dict(values=weights, scores=False, d_head=4, name="x", label="L")
    assert faults(AttentionView.from_tensor, keys | tensor) == []
    layers = dict(attentions=[random_weights(2, 2, T, T)], tokens=QUERIES, keys=QUERIES, row=0, name="x")
    assert faults(AttentionView.from_attentions, layers) == []
    recorded = dict(seen=seen, pattern="*attention", name="x", row=0, d_head=K)
    assert faults(AttentionView.from_capture, keys | recorded) == []
    controls = dict(layer=0, head=1, token=1, temperature=1.0, side="query", causal=False, scaled=True)
    assert faults(square().set, controls) == []
    assert faults(square().save, {"path": str(tmp_path / "x.svg")}) == []


def test_a_capture_that_does_not_fit_is_refused(seen):
    with pytest.raises(ValueError, match=rf"values \(2, {H}, {T}, {S}\), but there are {T} queries and {S + 1} keys"):
        AttentionView.from_capture(seen, QUERIES, [*KEYS, "more"], "*cross_attention")
    with pytest.raises(ValueError, match="no weights match 'nothing'"):
        AttentionView.from_capture(seen, QUERIES, KEYS, "nothing")


# ---------------------------------------------------------------------------------------------------------- the exports


def size(png: bytes) -> tuple[int, int]:
    assert png[:8] == b"\x89PNG\r\n\x1a\n"
    return int.from_bytes(png[16:20], "big"), int.from_bytes(png[20:24], "big")


def test_the_mimebundle_has_the_widget_a_picture_with_its_alt_and_the_words():
    view = square()
    bundle, metadata = view._repr_mimebundle_()
    assert bundle["application/vnd.jupyter.widget-view+json"]["model_id"] == view.widget.model_id
    assert bundle["text/plain"] == repr(view)
    assert metadata["image/png"] == {"alt": view.summary}
    assert size(bundle["image/png"])[0] > 400


def still(view: AttentionView) -> ElementTree.Element:
    """The drawing in the bundle's HTML, and its alt text is the summary."""
    (html,) = ElementTree.fromstring(f"<p>{view._repr_mimebundle_()[0]['text/html'].replace('>', '/>')}</p>")
    kind, _, code = html.get("src").partition(",")
    assert (html.get("alt"), kind) == (view.summary, "data:image/svg+xml;base64")
    return ElementTree.fromstring(base64.b64decode(code))


def test_a_page_made_by_nbconvert_has_the_drawing_and_its_words():
    drawn = still(AttentionView.from_tensor([[0.72, 0.28], [0.01, 0.99]], ["<a>", "b"]))
    tags = [element.tag.partition("}")[2] for element in drawn.iter()]
    assert [tags.count(tag) for tag in ("line", "image")] == [3, 1]
    assert [line.get("stroke-opacity") for line in drawn.iter() if line.get("x2")] == [
        f"{n / 19:.3f}" for n in (14, 5, 19)
    ]
    assert "<a>" in [text.text for text in drawn.iter()]


def test_that_drawing_is_small_and_the_same_where_rounding_differs():
    weights = random_weights(2, 2, 40, 40)
    weights[..., :8, :] = torch.eye(5).repeat_interleave(8, 1)[0] / 8  # an eighth must not lie where rounding turns
    views = [AttentionView.from_tensor(weights * (1 + noise), list("abcdefgh") * 5) for noise in (0, 1e-7, 0)]
    drawings = [view._repr_mimebundle_()[0]["text/html"] for view in views]
    assert drawings[0] == drawings[1] == drawings[2]
    for n, most in ((8, 12_500), (40, 60_000), (41, 10_000), (600, 130_000)):
        weights = torch.eye(n).repeat_interleave(8, 1)[:, :n].roll(3, 1).add(1e-9)
        weights /= weights.sum(1, keepdim=True)  # where it may, a query looks at eight keys alike
        many = AttentionView.from_tensor(weights, [f"t{i}" for i in range(n)])
        assert len(many._repr_mimebundle_()[0]["text/html"]) < most, n


def test_many_cells_are_told_by_the_strongest_of_them():
    values = np.zeros((7, 3))
    values[[0, 4, 6], [0, 1, 2]] = [0.5, 0.25, 1.0]
    np.testing.assert_array_equal(strongest(values, 7), values)
    np.testing.assert_array_equal(strongest(values, 2), [[0.5, 0.0], [0.0, 1.0]])
    assert strongest(np.ones((1000, 2)), 250).shape == (250, 2)


@pytest.mark.parametrize("n", [1, 3, 41, 300])
def test_one_token_and_many_make_a_picture_of_bounded_size(n, tmp_path):
    view = square(n)
    width, height = size(view.save(tmp_path / "x.png").read_bytes())
    assert 400 < width < 1400
    assert 150 < height < 1400
    assert ElementTree.parse(view.save(tmp_path / "x.svg")).getroot().tag == "{http://www.w3.org/2000/svg}svg"


def test_the_svg_draws_the_lines_of_the_picked_token_alone(tmp_path):
    view = AttentionView.from_tensor([[0.7, 0.3], [0.01, 0.99]], ["a", "b"])

    def lines() -> list[tuple[str, str]]:
        found = ElementTree.parse(view.save(tmp_path / "x.svg")).getroot().iter("{http://www.w3.org/2000/svg}line")
        return [(line.get("y1"), line.get("stroke-opacity")) for line in found]

    assert lines() == [("40", "0.700"), ("40", "0.300"), ("60", "0.990")]
    view.set(token=0)
    assert lines() == [("40", "0.700"), ("40", "0.300")]
    view.set(token=1, side="key")
    assert lines() == [("40", "0.300"), ("60", "0.990")]


def test_hostile_tokens_stay_text_in_every_export_and_repr(tmp_path, capsys):
    view = AttentionView.from_tensor(random_weights(len(HOSTILE), len(HOSTILE)), HOSTILE)
    svg = view.save(tmp_path / "x.svg").read_text("utf-8")
    root = ElementTree.fromstring(svg)  # a NUL or an unescaped sign would not parse
    tags = {element.tag.partition("}")[2] for element in root.iter()}
    assert tags == {"svg", "style", "rect", "g", "text", "line", "image"}
    html = view.save(tmp_path / "x.html").read_text("utf-8")
    assert re.findall(r"<(script|/script)\b", html) == ["script", "/script"] * 3
    assert 'onerror="window' not in html
    assert "<img" not in html
    size(view.save(tmp_path / "x.png").read_bytes())
    assert len(repr(view)) < 400
    assert not set(repr(view)) & set("\0\n\u202e")
    assert capsys.readouterr().err == ""


def test_tokens_are_shortened_and_made_visible():
    assert [data.shown(t) for t in ("", "ein", " the", "a\nb", "\0", "\u202e", "x" * 10_000, "y" * 18)] == [
        "(empty)", "ein", "␣the", "a↵b", "⟨0⟩", "⟨202E⟩", "x" * 17 + "…", "y" * 18,
    ]  # fmt: skip


def test_the_module_can_stand_in_a_page():
    assert "</script" not in ESM.lower()
    assert not re.findall(
        r"innerHTML|outerHTML|insertAdjacentHTML|document\.write|\beval\(|https?://(?!www\.w3\.org)", ESM
    )


def test_a_figure_of_many_scripts_is_drawn_without_a_warning(recwarn):
    AttentionView.from_tensor(random_weights(2, 2), ["漢字", "🙂"])._repr_mimebundle_()
    assert [str(w.message) for w in recwarn if "lyph" in str(w.message)] == []


def test_attentions_come_as_tensors_as_arrays_or_stacked():
    layers = [torch.full((1, 2, 3, 3), 1 / 3), torch.eye(3).expand(1, 2, 3, 3)]
    expected = AttentionView.from_attentions(layers, ["a", "b", "c"]).widget.data
    for other in ([layer.numpy() for layer in layers], torch.stack(layers), torch.stack(layers).numpy()):
        assert AttentionView.from_attentions(other, ["a", "b", "c"]).widget.data == expected
