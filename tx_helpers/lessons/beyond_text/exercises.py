"""Exercises on tokens that are no words."""

import math

import torch
import torch.nn.functional as F

from tx_helpers.exercises.exercise import Exercise, random_tensors
from tx_helpers.exercises.quizzes import Choice, Question

# --- pictures --------------------------------------------------------------------------------------------------------

patches = Exercise(
    "picture_of",
    title="From patches back to the picture",
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


def _squares(tokens, H, W):
    P = math.isqrt(tokens.shape[-1])
    return tokens.reshape(-1, H // P, W // P, P, P)


patches.add_mistakes(
    {
        "reshaped_alone": (
            "You only reshaped. The first P² numbers of a picture are its first row, not its first square: two axes "
            "have to change places before.",
            lambda tokens, H, W: tokens.reshape(-1, H, W),
        ),
        "squares_down_first": (
            "You laid the squares from top to bottom first. They come like words: from left to right, row after row.",
            lambda tokens, H, W: _squares(tokens, W, H).permute(0, 2, 3, 1, 4).reshape(-1, H, W),
        ),
        "pixels_down_first": (
            "Your squares stand where they should, but each of them is transposed: its pixels come row by row.",
            lambda tokens, H, W: _squares(tokens, H, W).permute(0, 1, 4, 2, 3).reshape(-1, H, W),
        ),
        "both_down_first": (
            "You laid the squares from top to bottom, and the pixels in them, too. Both come row by row.",
            lambda tokens, H, W: _squares(tokens, W, H).permute(0, 2, 4, 1, 3).reshape(-1, H, W),
        ),
        "axes_exchanged": (
            "You exchanged the two axes of the squares. The rows of squares go with the rows in them: exchange axes 2 "
            "and 3.",
            lambda tokens, H, W: _squares(tokens, H, W).transpose(1, 2).reshape(-1, H, W),
        ),
        "squares_interleaved": (
            "Your picture shows P × P small copies of itself: you put the place within a square before the square. "
            "Neighbours in a square must stay neighbours.",
            lambda tokens, H, W: _squares(tokens, H, W).permute(0, 3, 1, 4, 2).reshape(-1, H, W),
        ),
        "height_for_width": (
            "You exchanged H and W: you cut the row of tokens after H/P squares. A row of squares has W/P of them.",
            lambda tokens, H, W: _squares(tokens, W, H).transpose(2, 3).reshape(-1, H, W),
        ),
        "upside_down": (
            "Your picture is upside down. Rows are counted from the top.",
            lambda tokens, H, W: _squares(tokens, H, W).transpose(2, 3).reshape(-1, H, W).flip(1),
        ),
    }
)

# --- the quiz --------------------------------------------------------------------------------------------------------

QUIZ = [
    Question(
        "What is a token of a vision Transformer?",
        (
            Choice("A pixel", "Attention over all pixels would be far too much work for a photo."),
            Choice("A word that describes a part of the picture", "No words are needed to read a picture."),
            Choice("A square of pixels", "Its numbers, times a matrix, are its embedding.", right=True),
        ),
    ),
]
