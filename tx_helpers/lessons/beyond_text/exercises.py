"""Exercises on tokens that are no words."""

import math

import torch
import torch.nn.functional as F

from tx_helpers.exercises.exercise import Exercise, random_tensors
from tx_helpers.exercises.quizzes import questions

# --- pictures --------------------------------------------------------------------------------------------------------

patches = Exercise(
    "picture_of",
    title="Pictures and patches, step 2 of 2",
    goal="A vision Transformer cuts pictures (B, H, W) into squares of P × P pixels, from left to right and from top "
    "to bottom, and writes the pixels of each square, row by row, as one token: tokens (B, N, P²), N = H/P · W/P. Go "
    "back: return the pictures (B, H, W). H and W need not be equal.",
    difficulty=3,
    minutes=12,
    source="Dosovitskiy et al. 2021, section 3.1",
    cases=lambda: [
        (torch.tensor([[[0.0, 1.0, 6.0, 7.0], [2.0, 3.0, 8.0, 9.0], [4.0, 5.0, 10.0, 11.0]]]), 2, 6),
        (random_tensors((3, 16, 4), seed=51)[0], 8, 8),
        (random_tensors((2, 6, 9), seed=52)[0], 9, 6),
    ],
    picture=True,
    hints=(
        "P is the root of P². Give the tokens five axes: the picture, two for the square, two for the pixel.",
        "(B, H/P, W/P, P, P): row of squares, column of squares, row within, column within. Which axes make up H?",
        "H is (row of squares, row within): exchange axes 2 and 3, then reshape to (B, H, W).",
    ),
)


@patches.solution
def picture_of(tokens, H, W):
    """Pictures (B, H, W) of tokens (B, N, P²), each of which holds P × P pixels row by row."""
    P = math.isqrt(tokens.shape[-1])
    squares = tokens.view(-1, H // P, W // P, P, P)  # row and column of the square, row and column in it
    rows = squares.transpose(2, 3)  # (B, H/P, P, W/P, P)
    return rows.reshape(-1, H, W)


patches.slips("""
reshaped_alone    return tokens.reshape(-1, H, W)
  You only reshaped. The first P² numbers of a picture are its first row, not its first square: two axes have to change
  places before.
squares_down_first    return _squares(tokens, W, H).permute(0, 2, 3, 1, 4).reshape(-1, H, W)
  You laid the squares from top to bottom first. They come like words: from left to right, row after row.
pixels_down_first    return _squares(tokens, H, W).permute(0, 1, 4, 2, 3).reshape(-1, H, W)
  Your squares stand where they should, but each of them is transposed: its pixels come row by row.
both_down_first    return _squares(tokens, W, H).permute(0, 2, 4, 1, 3).reshape(-1, H, W)
  You laid the squares from top to bottom, and the pixels in them, too. Both come row by row.
axes_exchanged    return _squares(tokens, H, W).transpose(1, 2).reshape(-1, H, W)
  You exchanged the two axes of the squares. The rows of squares go with the rows in them: exchange axes 2 and 3.
squares_interleaved    return _squares(tokens, H, W).permute(0, 3, 1, 4, 2).reshape(-1, H, W)
  Your picture shows P × P small copies of itself: you put the place within a square before the square. Neighbours in a
  square must stay neighbours.
height_for_width    return _squares(tokens, W, H).transpose(2, 3).reshape(-1, H, W)
  You exchanged H and W: you cut the row of tokens after H/P squares. A row of squares has W/P of them.
mirrored    return _squares(tokens, H, W).transpose(2, 3).reshape(-1, H, W).flip(2)
  Your picture is mirrored. Columns are counted from the left.
upside_down    return _squares(tokens, H, W).transpose(2, 3).reshape(-1, H, W).flip(1)
  Your picture is upside down. Rows are counted from the top.
""")


def _squares(tokens, H, W):
    P = math.isqrt(tokens.shape[-1])
    return tokens.reshape(-1, H // P, W // P, P, P)


# --- a graph as a mask -----------------------------------------------------------------------------------------------

edges_mask = Exercise(
    "neighbour_mask",
    title="A mask from edges",
    goal="A graph has N nodes, numbered from 0. edges is a list of pairs of numbers; an edge joins its two nodes in "
    "both directions. Return a mask (N, N) of truth values: True where the node of the row may look at the node of the "
    "column. A node may look at its neighbours and at itself.",
    difficulty=1,
    minutes=6,
    source="Dwivedi and Bresson 2021",
    cases=lambda: [
        ([(0, 1), (1, 2)], 4),
        ([(3, 0), (4, 2), (1, 4), (2, 0)], 5),
        ([(0, 5), (2, 2), (4, 1)], 6),
    ],
    picture=True,
    hints=(
        "Begin with torch.zeros(N, N, dtype=torch.bool). Which entries does one edge (a, b) switch on?",
        "mask[a, b] and mask[b, a]. The diagonal is on for every node, also for one without an edge.",
        "mask = torch.eye(N, dtype=torch.bool), then a loop over the edges.",
    ),
)


@edges_mask.solution
def neighbour_mask(edges, N):
    """(N, N), True where a node may look: at itself and at its neighbours."""
    mask = torch.eye(N, dtype=torch.bool)  # a node sees itself
    for a, b in edges:
        mask[a, b] = True
        mask[b, a] = True
    return mask


edges_mask.slips("""
one_direction    return _edges(edges, N, back=False)
  Your edges run one way: the first node looks at the second, but not back. Switch on mask[b, a], too.
other_direction    return _edges(edges, N, there=False)
  Your edges run one way: the second node looks at the first, but not back. Switch on mask[a, b], too.
not_itself    return _edges(edges, N, itself=False)
  Your nodes cannot look at themselves. A node without an edge would then have nothing to look at.
forbidden_for_allowed    return ~_edges(edges, N)
  Your mask is the opposite: True where a node must not look. Here True means that it may.
causal_too    return _edges(edges, N).tril()
  You left only columns up to the row's number. A graph has no order: a node may look at a later one.
nodes_from_one    return _edges([(a - 1, b - 1) for a, b in edges], N)
  You took 1 away from the numbers of the nodes. They begin with 0.
two_steps    return (_edges(edges, N).float() @ _edges(edges, N).float()) > 0
  Your nodes look at their neighbours' neighbours. One block reaches one edge; the next does the rest.
""")


def _edges(edges, N, *, itself=True, back=True, there=True):
    mask = torch.eye(N, dtype=torch.bool) if itself else torch.zeros(N, N, dtype=torch.bool)
    for a, b in edges:
        mask[a, b] |= there
        mask[b, a] |= back
    return mask


# --- a classifier made of captions -----------------------------------------------------------------------------------

by_captions = Exercise(
    "class_chances",
    title="A classifier made of captions",
    goal="pictures (P, E) all have length 1. captions (C, M, E) hold M captions for each of C classes, also of length "
    "1. The vector of a class is the mean of its captions, scaled to length 1. Return the chances (P, C) of the "
    "classes for each picture: the softmax of the cosines divided by the temperature.",
    difficulty=2,
    minutes=8,
    source="Radford et al. 2021, section 3.1.4",
    cases=lambda: [
        (torch.eye(2), F.normalize(torch.tensor([[[1.0, 0.0], [1.0, 1.0]], [[0.0, 1.0], [-1.0, 1.0]]]), dim=-1), 0.5),
        (*(F.normalize(x, dim=-1) for x in random_tensors((4, 5), (3, 6, 5), seed=57)), 0.2),
        (*(F.normalize(x, dim=-1) for x in random_tensors((3, 4), (3, 3, 4), seed=58)), 1.0),
    ],
    hints=(
        "The mean over M gives (C, E). A mean of vectors that point in different directions is shorter than 1.",
        "F.normalize(captions.mean(1), dim=-1) is the vector of each class. Then come the scores, as before.",
        "return (pictures @ classes.T / temperature).softmax(-1)",
    ),
)


@by_captions.solution
def class_chances(pictures, captions, temperature):
    """Chances (P, C) of C classes, each with M captions (C, M, E), for pictures (P, E)."""
    classes = captions.mean(1)  # (C, E)
    classes = classes / classes.norm(dim=-1, keepdim=True)
    return (pictures @ classes.T / temperature).softmax(-1)


by_captions.slips("""
not_one_long_again    return (pictures @ captions.mean(1).T / temperature).softmax(-1)
  You left the means as they are. A class whose captions differ has a short mean, and would always lose.
over_the_pictures    return (pictures @ _classes(captions).T / temperature).softmax(0)
  Your softmax runs over the pictures. Each picture chooses among the classes: softmax(-1).
multiplied    return (pictures @ _classes(captions).T * temperature).softmax(-1)
  You multiplied by the temperature. Divide by it.
first_caption_alone    return (pictures @ captions[:, 0].T / temperature).softmax(-1)
  You used only the first caption of each class. All M of them make the class's vector.
best_caption    return (torch.einsum("pe,cme->pcm", pictures, captions).amax(-1) / temperature).softmax(-1)
  You took each class's best caption. The class has one vector here, the mean of all of them.
no_softmax    return pictures @ _classes(captions).T / temperature
  Your numbers are scores. Chances are between 0 and 1 and add up to 1: softmax.
chances_averaged    return (torch.einsum("pe,cme->mpc", pictures, captions) / temperature).softmax(-1).mean(0)
  You made chances for each caption and averaged them. Average the captions' vectors first.
""")


def _classes(captions):
    return F.normalize(captions.mean(1), dim=-1)


# --- codes -----------------------------------------------------------------------------------------------------------

codes = Exercise(
    "nearest_codes",
    title="Patches as words of a codebook",
    goal="x (B, N, D) are the vectors of N patches. codebook (K, D) holds K learned vectors. Return ids (B, N): the "
    "number of the codebook's vector that is nearest to each patch. Nearest means the smallest distance (root of the "
    "sum of squared differences). After this step a picture is a text of ids, which a decoder can write.",
    formula=r"\mathrm{id}_n = \arg\min_k \lVert x_n - e_k \rVert",
    difficulty=2,
    minutes=8,
    source="van den Oord et al. 2017, equation 1",
    cases=lambda: [
        (torch.tensor([[[1.0, 1.0], [3.0, 0.0], [-1.0, 2.0]]]), torch.tensor([[1.0, 0.5], [9.0, 9.0], [-1.0, 1.0]])),
        (*(random_tensors((2, 30, 4), (8, 4), seed=59)),),
        (
            2 * random_tensors((3, 40, 3), seed=60)[0],
            random_tensors((6, 3), seed=61)[0] * torch.arange(1.0, 7)[:, None],
        ),
    ],
    hints=(
        "Each patch needs K distances: (B, N, K). Give x and the codebook axes so that they can be subtracted.",
        "x[:, :, None] − codebook is (B, N, K, D). Square, add up over D.",
        "return distances.argmin(-1). The root does not change which is smallest.",
    ),
)


@codes.solution
def nearest_codes(x, codebook):
    """ids (B, N): the number of the nearest vector of the codebook (K, D) for each patch of x (B, N, D)."""
    differences = x[:, :, None] - codebook  # (B, N, K, D)
    distances = differences.square().sum(-1)  # (B, N, K)
    return distances.argmin(-1)


codes.slips("""
largest_product    return (x @ codebook.T).argmax(-1)
  You took the largest product. A long vector of the codebook then wins although it is far away.
largest_cosine    return (F.normalize(x, dim=-1) @ F.normalize(codebook, dim=-1).T).argmax(-1)
  You compared directions, by the cosine. The distance also counts how long a vector is.
farthest    return _away(x, codebook).square().sum(-1).argmax(-1)
  You took the largest distance. The nearest has the smallest: argmin.
not_squared    return _away(x, codebook).sum(-1).argmin(-1)
  You added the differences as they are, so that + and − cancel. Square them first.
absolute    return _away(x, codebook).abs().sum(-1).argmin(-1)
  You added absolute differences. That is another distance; here the differences are squared.
largest_difference    return _away(x, codebook).abs().amax(-1).argmin(-1)
  You compared the largest of the D differences. All of them count: add up their squares.
counted_from_one    return _away(x, codebook).square().sum(-1).argmin(-1) + 1
  Your ids begin with 1. The first vector of the codebook has the number 0.
""")


def _away(x, codebook):
    return x[:, :, None] - codebook


# --- sound -----------------------------------------------------------------------------------------------------------

sound = Exercise(
    "sound_tokens",
    title="A sound as tokens",
    goal="wave (S,) holds the samples of a sound. Cut it into frames of `width` samples; each frame begins `hop` "
    "samples after the one before, and what is left over at the end is dropped. Multiply each frame by window (width,)."
    " Return how strong each frequency is in each frame, the absolute values of torch.fft.rfft: (frames, width/2 + 1).",
    difficulty=2,
    minutes=8,
    source="Radford et al. 2022 (Whisper), section 2.2",
    cases=lambda: [
        (torch.tensor([0.0, 1, 0, -1, 0, 1, 0, -1, 5, 5]), 4, 2, torch.tensor([0.0, 0.5, 1.0, 0.5])),
        (random_tensors((50,), seed=62)[0], 8, 3, torch.hann_window(8)),
        (random_tensors((33,), seed=63)[0], 6, 6, torch.hann_window(6)),
    ],
    hints=(
        "How many frames fit? The last one begins at S − width or before: 1 + (S − width) // hop.",
        "wave.unfold(0, width, hop) gives the frames (frames, width). The window multiplies each row.",
        "return torch.fft.rfft(frames * window).abs()",
    ),
)


@sound.solution
def sound_tokens(wave, width, hop, window):
    """(frames, width/2 + 1): the strength of each frequency in each frame of wave (S,)."""
    frames = wave.unfold(0, width, hop)  # (frames, width)
    return torch.fft.rfft(frames * window).abs()


sound.slips("""
no_window    return torch.fft.rfft(_frames(wave, width, hop)).abs()
  You left out the window. A frame's hard edges look like frequencies that the sound does not have.
squared    return torch.fft.rfft(_frames(wave, width, hop) * window).abs().square()
  Your numbers are squared: that is the power. Here the absolute value is asked for.
real_part    return torch.fft.rfft(_frames(wave, width, hop) * window).real
  You kept only the real part. A sine and a cosine of one pitch must look alike: take the absolute value.
window_after    return torch.fft.rfft(_frames(wave, width, hop)).abs() * window[: width // 2 + 1]
  You put the window on the frequencies. It belongs on the samples, before the transform.
logarithm_too    return (torch.fft.rfft(_frames(wave, width, hop) * window).abs() + 1e-6).log()
  You took a logarithm as well. Whisper does so, but only after this step.
divided_by_the_width    return torch.fft.rfft(_frames(wave, width, hop) * window).abs() / width
  You divided by the frame's width. The transform is asked for as torch.fft.rfft gives it.
backwards    return torch.fft.rfft(_frames(wave, width, hop) * window).abs().flip(0)
  Your frames come from the end of the sound to its beginning.
""")


def _frames(wave, width, hop):
    return wave.unfold(0, width, hop)


# --- the quiz --------------------------------------------------------------------------------------------------------

QUIZ = questions("""
What is a token of a vision Transformer?
  - A pixel | Attention over all pixels would be far too much work for a photo.
  - A word that describes a part of the picture | No words are needed to read a picture.
  * A square of pixels | Its numbers, times a matrix, are its embedding.
All pictures have their patches in another order, always the same. Whom can it cost anything?
  - Nobody | The convolution's windows then hold pixels that were never neighbours.
  * The convolution | To the ViT it is a new numbering of positions it has yet to learn.
  - The ViT, because its positions are wrong | Its positions start random and mean nothing yet.
With few digits the convolution leads. Does it lead because it knows what is near?
  - Yes, without neighbours it has no lead | With all pixels shuffled, most of its lead remained.
  * Mostly not: a single matrix does as well | It knows nothing of neighbours either.
  - No, it does more multiplications for each picture | The rival of equal cost won, too.
In a contrastive batch of 32 pairs, how many wrong captions does each picture meet?
  - 32 | One of the 32 captions is its own.
  * 31 | All others of the batch are wrong answers for it.
  - 1 | Each picture is compared with every caption of the batch, not with one rival.
Why could our model not tell a caption from the one with the shapes exchanged?
  - It had no positions for its words | It has learned positions for each word.
  - Its pictures did not show which shape is left | They show it: with opposites in the batch it learned it.
  * Random batches never asked for the order | The right words were enough to win.
A graph is a chain: 0 – 1 – 2 – 3. How many blocks with its mask until node 0 knows of node 3?
  - 1 | The mask lets node 0 look only at itself and node 1.
  * 3 | Each block carries information over one edge.
  - 4 | There are four nodes, but only three edges between 0 and 3.
What does a Transformer need before it can write a robot's actions?
  * A number for each action, as for a word | The decoder then writes it like any other token.
  - A new kind of block for movements | The blocks stay the same: only the tokens are new.
  - A camera that looks at the arm from above | Any tokens that say where things are will do.
""")
