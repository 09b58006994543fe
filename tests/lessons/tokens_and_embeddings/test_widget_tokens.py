"""The numbers and the pictures of the lesson's explorers, without a kernel."""

import re
from itertools import pairwise

import pytest
import torch

from drawn import texts
from tx_helpers.lessons.tokens_and_embeddings import tokens
from tx_helpers.lessons.tokens_and_embeddings.embeddings import (
    cosines,
    draw,
    embedding_explorer,
    principal_axes,
    same_group,
)
from tx_helpers.lessons.tokens_and_embeddings.tokens import (
    cut,
    draw_cuts,
    draw_merges,
    merges_explorer,
    pieces_after,
    stops,
    token_counts,
    tokens_after,
    tokens_explorer,
)
from tx_helpers.text.subwords import BytePairTokenizer, WordPieceTokenizer
from tx_helpers.text.tokenizers import CharTokenizer, WordTokenizer
from wrong_arguments import faults

TEXT = "ten hens, ten men"
PAIRS = BytePairTokenizer([("e", "n"), ("t", "en"), ("Ġ", "ten")])
KINDS = {
    "character": CharTokenizer.train(TEXT),
    "word": WordTokenizer(["ten", "men"], unknown=True),
    "byte-pair": PAIRS,
    "WordPiece": WordPieceTokenizer(["ten", "h", "##en", "##s", "men"], unknown=True),
}


def test_a_cut_tells_pieces_ids_and_what_is_unknown():
    assert cut("word", KINDS["word"], TEXT) == tokens.Cut(
        "word", ["ten", "hens,", "ten", "men"], [4, 3, 4, 5], [False, True, False, False]
    )
    found = cut("byte-pair", PAIRS, "ten ten\n")
    assert found.pieces == ["ten", "␣ten", "↵"]
    assert found.ids == [PAIRS.tokens.index(piece) for piece in ("ten", "Ġten", "Ċ")]
    assert cut("byte-pair", PAIRS, "漢").pieces == [r"\xe6", r"\xbc", r"\xa2"]


def test_a_text_too_long_for_the_picture_is_refused():
    with pytest.raises(ValueError, match="cut: a text of 201 characters, expected a text of at most 200 characters"):
        cut("word", KINDS["word"], "x" * 201)


def test_what_is_drawn_and_said(as_stored):
    """Every piece and its id; in the first steps only the chosen word and its neighbours have names."""
    crowd = torch.randn(12, 2, generator=torch.Generator().manual_seed(0)).double()
    crowd[6:, 0] = torch.linspace(0.9, 1.0, 6)  # labels cover neither each other nor a circle
    axes, names = (torch.zeros(2).double(), torch.eye(2).double()), [f"word{n:02}" for n in range(12)]
    as_stored(
        cuts=draw_cuts([cut(name, tokenizer, TEXT) for name, tokenizer in KINDS.items()], TEXT),
        merges=draw_merges(PAIRS, "ten ten", 3, token_counts(PAIRS, "ten ten")),
        early=draw(crowd, axes, names, ["a"] * 12, step=10, word="word05", limits=(-3.0, 3.0, -3.0, 3.0)),
        late=draw(crowd, axes, names, ["a"] * 12, step=20, word="word05", limits=(-3.0, 3.0, -3.0, 3.0)),
    )


def test_a_tokens_markup_stays_text():
    hostile = '</text><script>x()</script>"&\0'
    picture = draw_cuts([cut("byte-pair", PAIRS, hostile)], hostile)
    assert "<script" not in picture.svg
    assert "<" in texts(picture.svg)


def test_the_tokens_explorer_answers_and_survives_errors():
    explorer = tokens_explorer(KINDS, TEXT)
    before = explorer.summary
    explorer.set(text="hen")
    assert explorer.summary == "3 characters: character 3 tokens; word 1 token, 1 unknown; byte-pair 2 tokens; " + (
        "WordPiece 2 tokens."
    )
    explorer.set(text="hex")  # the character tokenizer has no unknown token
    assert "'x' is not among" in explorer.error
    explorer.set(text="x" * 201)
    assert explorer.error == "The text has 201 characters, and the picture has room for 200: shorten it."
    explorer.set(text=TEXT)
    assert (explorer.summary, explorer.error) == (before, "")
    explorer.set(text="")
    assert (
        explorer.summary == "0 characters: character 0 tokens; word 0 tokens; byte-pair 0 tokens; WordPiece 0 tokens."
    )


def test_pieces_after_some_merges():
    assert pieces_after(PAIRS, "ten ten", 0) == list("tenĠten")
    assert pieces_after(PAIRS, "ten ten", 1) == ["t", "en", "Ġ", "t", "en"]
    assert pieces_after(PAIRS, "ten ten", 3) == PAIRS.split("ten ten") == ["ten", "Ġten"]
    assert token_counts(PAIRS, "ten ten") == [(0, 7), (1, 5), (2, 3), (3, 2)]
    longer = BytePairTokenizer.train("then the hen and the ten men went, often", vocab_size=280)
    text = "the tent then"
    plain = [len(pieces_after(longer, text, merges)) for merges in range(len(longer.merges) + 1)]
    counts = token_counts(longer, text)
    assert [tokens_after(counts, merges) for merges in range(len(longer.merges) + 1)] == plain


def test_the_merges_explorer_names_the_newest_piece_and_the_count():
    explorer = merges_explorer(PAIRS, "ten ten")
    assert explorer.summary == "No merge yet: every byte is a token. The text takes 7 tokens, 7 without a merge."
    explorer.set(merges=3)
    assert explorer.summary == "Merge 3 joins '␣' and 'ten' to '␣ten'. The text takes 2 tokens, 7 without a merge."
    newest = draw_merges(PAIRS, "ten ten", 3, token_counts(PAIRS, "ten ten")).svg
    assert newest.count(f'fill="{tokens.SPECIAL.tint}" ') == 1
    explorer.set(text="men")
    assert explorer.summary == "Merge 3 joins '␣' and 'ten' to '␣ten'. The text takes 2 tokens, 3 without a merge."
    explorer.set(text="x" * 201)
    assert explorer.error.startswith("The text has 201 characters")
    with pytest.raises(ValueError, match="a text of 300 characters"):
        merges_explorer(PAIRS, "ten" * 100)


def test_the_stops_of_the_slider_grow():
    assert stops(3) == [0, 1, 2, 3] and stops(60) == list(range(61))
    real = stops(50_000)
    assert real[:4] == [0, 1, 2, 3] and real[-1] == 50_000 and len(real) < 65
    assert all(later > earlier for earlier, later in pairwise(real))


def test_principal_axes_are_those_of_the_covariance():
    points = torch.randn(30, 5, dtype=torch.float64, generator=torch.Generator().manual_seed(0))
    points = points * torch.tensor([1.0, 4.0, 0.5, 2.0, 0.1])
    mean, axes = principal_axes(points)
    torch.testing.assert_close(mean, points.mean(0))
    torch.testing.assert_close(axes.T @ axes, torch.eye(2, dtype=torch.float64))
    values = torch.linalg.eigvalsh(torch.cov(points.T))
    torch.testing.assert_close(((points - mean) @ axes).var(dim=0), values[[-1, -2]])
    assert all(column[column.abs().argmax()] > 0 for column in axes.T)
    with pytest.raises(ValueError, match=r"principal_axes: points \(1, 5\)"):
        principal_axes(points[:1])


def test_nearest_neighbours_in_their_group():
    table = torch.tensor([[1.0, 0.0], [2.0, 0.1], [0.0, 1.0], [0.1, 3.0], [1.0, 0.9]])
    torch.testing.assert_close(cosines(table)[0, :3], torch.tensor([1.0, 2 / 4.01**0.5, 0.0]))
    assert same_group(table, "aabbb") == 4 + (cosines(table)[4, 3] > cosines(table)[4, 1]).item()
    assert same_group(table, "ababa") < same_group(table, "aabbb")
    assert faults(same_group, {"table": table, "groups": "aabbb"}) == []


START = torch.tensor([[9.0, 9.0], [1.0, 0.0], [0.0, 1.0], [-1.0, 0.2], [0.3, -1.0]])
END = torch.tensor([[9.0, 9.0], [1.0, 0.0], [-1.0, 0.2], [1.0, 0.1], [-1.0, 0.3]])
GROUPS = {"small": ["one", "two"], "large": ["ten", "six"]}
IDS = {"one": 1, "ten": 2, "two": 3, "six": 4}


def test_the_embedding_explorer_shows_neighbours_gather():
    explorer = embedding_explorer({0: START, 10: (START + END) / 2, 20: END}, GROUPS, IDS)
    assert explorer.summary.startswith("Step 0: nearest to 'one' are 'six' (0.29), 'ten' (0.00), 'two' (-0.98).")
    explorer.set(step=20)
    assert explorer.summary == (
        "Step 20: nearest to 'one' are 'two' (1.00), 'six' (-0.96), 'ten' (-0.98). "
        "4 of 4 words have their nearest neighbour in their own group."
    )
    explorer.set(word="ten")
    assert "nearest to 'ten' are 'six' (1.00)" in explorer.summary


def test_steps_must_suit_a_slider():
    with pytest.raises(ValueError, match=r"steps \[0, 1, 5\], expected evenly spaced"):
        embedding_explorer({0: START, 5: END, 1: END}, GROUPS, IDS)


def test_labels_cover_neither_each_other_nor_a_circle():
    crowd = torch.zeros(30, 2, dtype=torch.float64)
    crowd[:, 0] = torch.linspace(0.9, 1.0, 30)
    names = [f"word{n:02}" for n in range(30)]
    axes = (torch.zeros(2, dtype=torch.float64), torch.eye(2, dtype=torch.float64))
    picture = draw(crowd, axes, names, ["a"] * 30, step=30, word="word29", limits=(0.0, 1.0, -1.0, 1.0)).svg
    labels = re.findall(r'<text x="([\d.]+)" y="([\d.]+)" font-size="(1[23])"[^>]*>(word\d\d)<', picture)
    circles = re.findall(r'<circle cx="([\d.]+)" cy="([\d.]+)" r="([\d.]+)"', picture)[:-1]  # the last is the legend's
    bold = {"word29", *(name for *_, size, name in labels if size == "13")}
    assert len(circles) == 30 and len(bold) == 4  # the chosen word and its three neighbours are always named
    assert 10 < len(labels) < 30  # as many as there is room for
    rooms = []
    for x, y, size, name in labels:
        half = len(name) * (4.0 if size == "13" else 3.5)
        rooms.append((float(x) - half, float(y) - 11, float(x) + half, float(y) + 3))
    rooms += [
        (float(x) - float(r), float(y) - float(r), float(x) + float(r), float(y) + float(r)) for x, y, r in circles
    ]
    apart = 0.11  # numbers are written to a tenth
    for n, (left, top, right, bottom) in enumerate(rooms[: len(labels)]):
        assert left > 0 and right < 780 and top > 34 and bottom < 424
        others = rooms[:n] + rooms[n + 1 :]
        assert all(
            a + apart > right or c < left + apart or b + apart > bottom or d < top + apart for a, b, c, d in others
        )
