"""The exercises that stand where the notebook needs them: patches, the contrastive loss, a picture before words."""

import torch
import torch.nn.functional as F

from tx_helpers.exercises.exercise import Exercise, random_tensors

# --- patches ---------------------------------------------------------------------------------------------------------

cut = Exercise(
    "patches_of",
    inline=True,
    title="Pictures and patches, step 1 of 2",
    goal="Cut pictures (B, H, W) into squares of P × P pixels, from left to right and from top to bottom. Write the "
    "pixels of each square, row by row, as one token. Return tokens (B, N, P²), N = H/P · W/P. H and W need not be "
    "equal, but both are multiples of P. (Step 2, at the end, goes back.)",
    difficulty=2,
    minutes=8,
    source="Dosovitskiy et al. 2021, section 3.1",
    cases=lambda: [
        (torch.tensor([[[0.0, 1, 2, 3, 4, 5], [6, 7, 8, 9, 10, 11]]]), 2),
        (torch.arange(48.0).view(1, 6, 8), 2),
        (random_tensors((2, 9, 6), seed=53)[0], 3),
    ],
    picture=True,
    hints=(
        "Give each picture four axes: row of squares, row within, column of squares, column within.",
        "pictures.view(B, H // P, P, W // P, P). A token holds the two axes of length P, so they must stand last.",
        "transpose(2, 3) brings them together: (B, H/P, W/P, P, P). Then reshape to (B, N, P²).",
    ),
)


@cut.solution
def patches_of(pictures, P):
    """Tokens (B, N, P²) of pictures (B, H, W): squares of P × P pixels, row by row."""
    B, H, W = pictures.shape
    squares = pictures.reshape(B, H // P, P, W // P, P)
    squares = squares.transpose(2, 3)  # (B, H/P, W/P, P, P)
    return squares.reshape(B, -1, P * P)


cut.slips("""
view_alone    return pictures.reshape(len(pictures), -1, P * P)
  You only reshaped. P² numbers in a row of memory are a piece of one line of pixels, not a square.
mirrored    return _cut(pictures.flip(2), P)
  You cut the mirrored picture. Columns are counted from the left.
squares_down_first    return _five(pictures, P).permute(0, 3, 1, 2, 4).reshape(len(pictures), -1, P * P)
  Your squares go from top to bottom first. They come like words: from left to right, row after row.
pixels_down_first    return _five(pictures, P).permute(0, 1, 3, 4, 2).reshape(len(pictures), -1, P * P)
  Each of your squares is transposed: its pixels go from top to bottom. They are read row by row.
both_down_first    return _five(pictures, P).permute(0, 3, 1, 4, 2).reshape(len(pictures), -1, P * P)
  Squares and the pixels in them both go from top to bottom in your answer. Both come row by row.
scattered    return pictures.reshape(len(pictures), P, pictures.shape[1] // P, P, pictures.shape[2] // P).permute(0, 2,
      4, 1, 3).reshape(len(pictures), -1, P * P)
  A token of yours holds pixels from all over the picture. Give its two axes of P to the inner places.
last_square_first    return _cut(pictures, P).flip(1)
  Your squares come in the opposite order: the last one stands first.
mean_kept    return _cut(pictures, P).mean(-1, keepdim=True).expand(-1, -1, P * P)
  All pixels of your squares are the same: you averaged. A token keeps each of its P² pixels.
""")


def _five(pictures, P):
    B, H, W = pictures.shape
    return pictures.reshape(B, H // P, P, W // P, P)


def _cut(pictures, P):
    return _five(pictures, P).transpose(2, 3).reshape(len(pictures), -1, P * P)


# --- the contrastive loss --------------------------------------------------------------------------------------------

scores = Exercise(
    "caption_scores",
    inline=True,
    title="Picture meets caption, step 1 of 2",
    goal="pictures (P, E) and captions (C, E) are vectors from the two readers. Make every vector one of length 1. "
    "Then return the table of scores (P, C): the cosine of each picture with each caption, divided by the temperature.",
    formula=r"s_{ij} = \frac{1}{\tau}\,\frac{p_i}{\lVert p_i\rVert}\cdot\frac{c_j}{\lVert c_j\rVert}",
    difficulty=1,
    minutes=5,
    source="Radford et al. 2021, figure 3",
    cases=lambda: [
        (torch.tensor([[3.0, 4.0], [0.0, 2.0]]), torch.tensor([[1.0, 0.0], [0.0, 5.0], [1.0, 1.0]]), 0.5),
        (*(3 * x for x in random_tensors((4, 6), (5, 6), seed=54)), 0.1),
        (*random_tensors((3, 3), (3, 3), seed=55), 2.0),
    ],
    hints=(
        "The length of a vector is the root of the sum of its squares, over the last axis. Keep that axis to divide.",
        "pictures / pictures.norm(dim=-1, keepdim=True), and the same for the captions. A product gives all cosines.",
        "return p @ c.T / temperature, with p and c of length 1.",
    ),
)


@scores.solution
def caption_scores(pictures, captions, temperature):
    """Scores (P, C): cosines of pictures (P, E) and captions (C, E), divided by the temperature."""
    p = pictures / pictures.norm(dim=-1, keepdim=True)
    c = captions / captions.norm(dim=-1, keepdim=True)
    return p @ c.T / temperature


scores.slips("""
not_normalised    return pictures @ captions.T / temperature
  You took plain products. A long vector then wins everywhere; make all of them one long first.
pictures_alone    return _unit(pictures) @ captions.T / temperature
  Only the pictures are of length 1 in your answer. Captions need it, too.
captions_alone    return pictures @ _unit(captions).T / temperature
  Only the captions are of length 1 in your answer. Pictures need it, too.
multiplied    return _unit(pictures) @ _unit(captions).T * temperature
  You multiplied by the temperature. A low temperature must make the scores larger: divide.
without_temperature    return _unit(pictures) @ _unit(captions).T
  Your table holds the cosines. Divide by the temperature: softmax can do little with −1 to 1.
wrong_axis    return _unit(pictures, 0) @ _unit(captions, 0).T / temperature
  You normalised the columns, over the batch. Each vector needs length 1: use dim=-1.
length_of_the_table    return (pictures / pictures.norm()) @ (captions / captions.norm()).T / temperature
  You divided by the length of the whole table: norm() without an axis. Use dim=-1, and keep that axis.
softmax_too    return (_unit(pictures) @ _unit(captions).T / temperature).softmax(-1)
  You took a softmax as well. The table holds the scores; the softmax comes later, with the loss.
squared_length    return (pictures / pictures.square().sum(-1, keepdim=True))
      @ (captions / captions.square().sum(-1, keepdim=True)).T / temperature
  You divided by the squared length. Take its root: the norm.
sum_of_lengths    return _unit_by(pictures, 1) @ _unit_by(captions, 1).T / temperature
  You divided by the sum of the absolute numbers. The length is the root of the sum of the squares.
""")


def _unit(x, dim=-1):
    return F.normalize(x, dim=dim)


def _unit_by(x, power):
    return F.normalize(x, p=power, dim=-1)


pairing = Exercise(
    "contrastive_loss",
    inline=True,
    title="Picture meets caption, step 2 of 2",
    goal="scores (B, B) are what step 1 gives for B pictures and their B captions, in the same order. So the right "
    "caption of picture i is caption i. Treat each row as a choice among B captions, and each column as a choice among "
    "B pictures. Return the mean of the two cross-entropies.",
    formula=r"-\frac{1}{2B}\sum_i\left(\ln\frac{e^{s_{ii}}}{\sum_j e^{s_{ij}}}"
    r"+\ln\frac{e^{s_{ii}}}{\sum_j e^{s_{ji}}}\right)",
    difficulty=2,
    minutes=8,
    source="Radford et al. 2021, figure 3",
    cases=lambda: [
        (torch.tensor([[2.0, 0.0], [1.0, 3.0]]),),
        (5 * random_tensors((6, 6), seed=56)[0],),
        (torch.tensor([[200.0, 0.0, 150.0], [0.0, 90.0, 300.0], [1.0, 2.0, 3.0]]),),
    ],
    hints=(
        "F.cross_entropy(scores, right) takes a row of logits for each choice. Which number is right in row i?",
        "right = torch.arange(B). For the columns, turn the table: scores.T.",
        "return (F.cross_entropy(scores, right) + F.cross_entropy(scores.T, right)) / 2",
    ),
)


@pairing.solution
def contrastive_loss(scores):
    """The mean cross-entropy of rows and columns of scores (B, B), whose pairs are on the diagonal: a scalar."""
    right = torch.arange(len(scores))
    rows = torch.nn.functional.cross_entropy(scores, right)
    columns = torch.nn.functional.cross_entropy(scores.T, right)
    return (rows + columns) / 2


pairing.slips("""
rows_alone    = _rows
  You asked only the pictures. The captions look for their picture, too: add the columns.
columns_alone    return _rows(scores.T)
  You asked only the captions. The pictures look for their caption, too: add the rows.
sum_of_both    return _rows(scores) + _rows(scores.T)
  You added the two losses. Take their mean, so that the loss does not depend on asking twice.
diagonal_alone    return -scores.diagonal().mean()
  You only pull the pairs together. Without the others, all vectors can become one and the same.
softmax_twice    return (_rows(scores.softmax(-1)) + _rows(scores.T.softmax(-1))) / 2
  You gave cross_entropy a softmax. It takes scores, and does the softmax itself.
sums_of_the_batch    return len(scores) * (_rows(scores) + _rows(scores.T)) / 2
  You added up the batch. Take the mean over its pairs.
first_is_right    return (F.cross_entropy(scores, torch.zeros(len(scores), dtype=torch.long))
      + F.cross_entropy(scores.T, torch.zeros(len(scores), dtype=torch.long))) / 2
  You named caption 0 as the right one of every picture. Picture i belongs to caption i: torch.arange.
sign_turned    return -(_rows(scores) + _rows(scores.T)) / 2
  Your sign is turned: this loss falls where the pairs move apart.
""")


def _rows(s):
    return F.cross_entropy(s, torch.arange(len(s)))


# --- a picture before the words --------------------------------------------------------------------------------------

joining = Exercise(
    "picture_row",
    inline=True,
    title="A picture before the words",
    goal="patches (B, N, P) are pictures, question (B, Q) and answer (B, A) are ids of words. W (P, D) projects a "
    "patch; E (words, D) holds the words' vectors. Return the row (B, N + Q + A, D): projected patches, question, "
    "answer. And the targets (B, N + Q + A): at each place the next word if it belongs to the answer, and −100, which "
    "the loss skips, elsewhere.",
    difficulty=2,
    minutes=10,
    source="Liu et al. 2023 (LLaVA), section 4",
    cases=lambda: [
        (*_made(1, 2, 3, 2, 64), *_matrices(2, 2, 65)),
        (*_made(3, 4, 5, 2, 66), *_matrices(6, 3, 67)),
        (*_made(2, 1, 2, 4, 68), *_matrices(3, 5, 69)),
    ],
    hints=(
        "torch.cat([patches @ W, E[question], E[answer]], 1) is the row. Now ask at each place: what comes next?",
        "The last word of the question is followed by the first word of the answer. Before it stand N + Q − 1 places "
        "that ask for nothing; the last place of all asks for nothing, too.",
        "torch.cat of three: torch.full((B, N + Q − 1), -100), answer, torch.full((B, 1), -100), along axis 1.",
    ),
)


def _made(B, N, Q, A, seed):
    generator = torch.Generator().manual_seed(seed)
    P = {64: 2, 66: 6, 68: 3}[seed]
    words = [torch.randint(9, (B, count), generator=generator) for count in (Q, A)]
    return torch.randn(B, N, P, generator=generator), *words


def _matrices(P, D, seed):
    return random_tensors((P, D), (9, D), seed=seed)


@joining.solution
def picture_row(patches, question, answer, W, E):
    """Row (B, N + Q + A, D) and targets (B, N + Q + A) of patches (B, N, P), a question (B, Q), an answer (B, A)."""
    seen = patches @ W  # (B, N, P) -> (B, N, D)
    row = torch.cat([seen, E[question], E[answer]], dim=1)
    targets = torch.full(row.shape[:2], -100)
    start = seen.shape[1] + question.shape[1] - 1  # the place of the question's last word
    targets[:, start:-1] = answer
    return row, targets


joining.slips("""
not_shifted    targets[:, start:-1] = answer → targets[:, start + 1 :] = answer
  Your targets name the word that stands at a place. They must name the one that comes next: begin one place earlier.
question_asked_too    targets[:, start:-1] = answer → targets[:, start:-1] = answer
      ⏎ targets[:, seen.shape[1] : start] = question[:, 1:]
  You ask for the question's words, too. Only the answer counts: −100 at all other places.
nothing_is_zero    -100 → 0
  You wrote 0 where nothing is asked. 0 is the id of a word; the loss skips −100.
picture_last    [seen, E[question], E[answer]] → [E[question], E[answer], seen]
  Your picture stands after the words. Each place looks only to its left, so the answer would never see it.
picture_between    [seen, E[question], E[answer]] → [E[question], seen, E[answer]]
  Your picture stands between question and answer. Put it first: it comes before all words.
shifted_back    targets[:, start:-1] = answer → targets[:, start - 1 : -2] = answer
  Your targets begin one place too early: at the question's last word but one, the next word is none of the answer.
last_answer_alone    targets[:, start:-1] = answer → targets[:, -2] = answer[:, -1]
  You ask for the answer's last word only. Each word of the answer is a target.
""")
