"""Questions about pictures: what is drawn and asked, the row of the decoder, and the stored model."""

import pytest
import torch

from tx_helpers.exercises.catalogue import find
from tx_helpers.lessons.beyond_text import picture_questions as pq
from tx_helpers.lessons.beyond_text.drawn_shapes import COLOURS, HELD_OUT, SHAPES, stamped
from tx_helpers.lessons.beyond_text.picture_answers import album, ask_model, draw
from tx_helpers.lessons.beyond_text.stored_weights import load_small


def shapes_of(pixels):
    """Colour, shape and quarter of all that is drawn in a picture, found again from its pixels."""
    found = []
    for quarter in range(4):
        top, left = 8 * (quarter // 2), 8 * (quarter % 2)
        piece = pixels[top : top + 8, left : left + 8]
        inked = (piece.sum(-1) > 0).nonzero()
        if not len(inked):
            continue
        ink = piece[tuple(inked[0])]
        for colour in range(4):
            for form in range(4):
                drawn = stamped(
                    *(torch.tensor([n]) for n in (colour, form, *inked.amin(0).tolist())), torch.Generator()
                )
                level = drawn[0].flatten(0, 1).amax(0)
                same_ink = torch.allclose(level / level.sum(), ink / ink.sum(), atol=1e-4)
                if same_ink and torch.equal(drawn[0, :8, :8].sum(-1) > 0, piece.sum(-1) > 0):
                    found.append((colour, form, quarter))
    return found


@pytest.mark.parametrize("pairs", [pq.SEEN, HELD_OUT])
def test_every_answer_is_true_of_its_picture(pairs):
    asked = pq.questions(60, generator=torch.Generator().manual_seed(3), pairs=pairs)
    for pixels, question, answer, kind in zip(*asked, strict=True):
        there, slot = shapes_of(pixels), pq.VOCABULARY[question[pq.SLOT]]
        assert len(there) in (2, 3)
        said = pq.VOCABULARY[answer[0]]
        if kind == 2:
            assert said == pq.COUNTS[sum(list(COLOURS)[colour] == slot for colour, _, _ in there)]
            continue
        (own,) = [thing for thing in there if list(SHAPES)[thing[1]] == slot]
        assert ((list(COLOURS)[own[0]], slot) in HELD_OUT) == (pairs is HELD_OUT)
        beside = [list(SHAPES)[form] for _, form, quarter in there if quarter == own[2] - 1 and own[2] % 2]
        assert said == (list(COLOURS)[own[0]] if kind == 0 else beside[0])


def test_the_row_is_that_of_the_exercise_and_later_words_change_nothing_before():
    model, asked = pq.PictureDecoder().eval(), pq.fresh_questions(count=4)
    row, targets = model.row(asked)
    matrices = model.project.weight.T, model.embedding.weight
    own = find("picture_row").answer(model.pieces(asked.pixels), asked.question, asked.answer, *matrices)
    torch.testing.assert_close(row, own[0])
    assert torch.equal(targets, own[1])
    other = asked._replace(answer=asked.answer.flip(1))
    torch.testing.assert_close(pq.answer_chances(model, asked), pq.answer_chances(model, other))
    assert pq.question_looks(model, asked).sum(-1).allclose(torch.ones(4, 3))


def test_the_stored_model_gives_the_recorded_figures():
    model = load_small(pq.PictureDecoder(), "picture_questions")
    for pairs, shares in pq.answer_scores(model).items():
        for kind, share in shares.items():
            assert abs(share - pq.recorded_answers()["patches"][0][pairs][kind]) < 0.03
    assert pq.RECORDED.file.with_suffix(".safetensors").stat().st_size < 300_000


def test_an_answer_is_drawn_and_told():
    model = load_small(pq.PictureDecoder(), "picture_questions")
    question = "how many shapes are red ?"
    shown = draw(album()[0], question, *ask_model(model, album()[0], question, 5, 1), "layer 1, the question mark")
    assert shown.alt.startswith("“how many shapes are red ?” Its answer: ")


def test_a_wrong_argument_is_named():
    for call, error in (
        (lambda: pq.ids("red ball"), "ids: word='ball', expected one of red, green"),
        (lambda: pq.PictureDecoder(way="pixels"), "PictureDecoder: way='pixels', expected one of patches, one vector"),
        (
            lambda: pq.learn_answers("deaf", 0),
            "learn_answers: rival='deaf', expected one of patches, one vector, blind",
        ),
    ):
        with pytest.raises(ValueError) as raised:
            call()
        assert str(raised.value).startswith(error)
