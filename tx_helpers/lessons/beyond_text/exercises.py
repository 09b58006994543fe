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
A decoder answers questions about a picture. How does the picture get in?
  - By cross-attention of its own alone | Some models do that; ours has no such layer.
  * One matrix turns patches into vectors, which stand before the words | To the blocks they are tokens like others.
  - As a caption that another model writes | Then all is lost that the caption does not name.
What does a Transformer need before it can write a robot's actions?
  * A number for each action, as for a word | The decoder then writes it like any other token.
  - A new kind of block for movements | The blocks stay the same: only the tokens are new.
  - A camera that looks at the arm from above | Any tokens that say where things are will do.
""")
