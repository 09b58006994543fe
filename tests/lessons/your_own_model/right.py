"""Right answers to the lesson's exercises by other algorithms: all must pass."""

from itertools import groupby

import torch

from answer_tables import named


# --- split_texts
def split_by_numbers(text, every):
    number, parts = {}, ([], [])
    for one in text.split("\n\n"):
        if not one or one.isspace():
            continue
        n = number.setdefault(one, len(number) + 1)
        parts[n % every == 0].append(one)
    return parts


def split_by_lines(text, every):
    groups = (
        "\n".join(lines) for filled, lines in groupby(text.split("\n"), lambda line: line.strip() != "") if filled
    )
    paragraphs = [*groups]
    first = sorted(set(paragraphs), key=paragraphs.index)
    held = [one for n, one in enumerate(first, 1) if n % every == 0]
    return [one for one in paragraphs if first.index(one) % every != every - 1], [p for p in paragraphs if p in held]


# --- nats_per_character
def per_character_by_a_loop(losses, pieces):
    nats = characters = 0
    for loss, piece in zip(losses, pieces, strict=True):
        nats, characters = nats + float(loss), characters + len(piece)
    return nats / characters


def per_character_from_the_means(losses, pieces):
    return losses.mean() / (sum(map(len, pieces)) / len(pieces))


# --- reward_of
def reward_by_lists(words, answer):
    return 1.0 if answer and words == [*answer.split(" "), "<end>"] else 0.0


def reward_by_text(words, answer):
    return float(" ".join(words) == answer + " <end>")


# --- interpolated
def interpolated_row_by_row(counts, weight):
    overall = counts.sum(0) / counts.sum()
    rows = [row / row.sum() if row.sum() else overall for row in counts]
    return torch.stack([weight * row + (1 - weight) * overall for row in rows])


def interpolated_by_a_product(counts, weight):
    overall = counts.mean(0) / counts.mean(0).sum()
    behind = torch.nan_to_num(counts / counts.sum(1)[:, None], nan=-1.0)
    return overall + weight * (behind.where(behind >= 0, overall) - overall)


RIGHT = {
    "split_texts": named(split_by_numbers, split_by_lines),
    "nats_per_character": named(per_character_by_a_loop, per_character_from_the_means),
    "reward_of": named(reward_by_lists, reward_by_text),
    "interpolated": named(interpolated_row_by_row, interpolated_by_a_product),
}
