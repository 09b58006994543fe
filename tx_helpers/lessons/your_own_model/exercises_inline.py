"""The exercises that stand where the notebook needs them: a split without leaks, a loss that compares, a reward."""

import torch

from tx_helpers.exercises.exercise import Exercise

# --- a split without leaks --------------------------------------------------------------------------------------------

TALE = "a fox\n\nan owl\n\na fox\n\na hen\n\n\n\nan owl\n\na cat\nand a dog\n\na fox\n\na bee\n\nan ant"

splitting = Exercise(
    "split_texts",
    inline=True,
    title="A split without leaks",
    goal="`text` has paragraphs with an empty line ('\\n\\n') between two; some come again, and some are empty. "
    "Leave out the empty ones. Of the different paragraphs, in the order in which they first come, hold out every "
    "`every`-th one (the second, fourth, … for every=2), with all its copies. Return two lists of paragraphs, training "
    "and held-out part, both in the order of the text and with their copies.",
    difficulty=2,
    minutes=8,
    cases=lambda: [
        ("a fox\n\na hen\n\na fox\n\nan owl", 2),
        (TALE, 2),
        (TALE, 3),
        ("b\n\na\n\nb\n\nb\n\n \n\nc\n\na\n\nd\n\ne\n\nb\n\nf", 4),
    ],
    run=lambda answer, text, every: answer(text, every),
    hints=(
        "Decide for each different paragraph, not for each place: then a copy cannot land on the other side.",
        "list(dict.fromkeys(paragraphs)) are the different ones in their order; [every - 1 :: every] takes every n-th.",
        "held = set(different[every - 1 :: every]); training: those not in held, held-out part: those in it.",
    ),
)


@splitting.solution
def split_texts(text, every):
    """(training, held-out): the paragraphs; every `every`-th different one is held out, with its copies."""
    paragraphs = [one for one in text.split("\n\n") if one.strip()]
    different = list(dict.fromkeys(paragraphs))
    held = set(different[every - 1 :: every])
    train = [one for one in paragraphs if one not in held]
    return train, [one for one in paragraphs if one in held]


splitting.slips(r"""
copies_on_both_sides    return ([one for place, one in enumerate(_paragraphs(text)) if (place + 1) % every],
      [one for place, one in enumerate(_paragraphs(text)) if not (place + 1) % every])
  You split by place, so copies of a paragraph stand on both sides: the model has read what it is tested on.
counted_with_copies    list(dict.fromkeys(paragraphs)) → paragraphs
  You count copies as paragraphs of their own, so frequent ones are held out more often. Count the different ones.
from_the_first    every - 1 :: every → ::every
  You begin with the first paragraph. For every=2 the second is held out, then the fourth.
one_too_late    every - 1 :: every → every::every
  You begin one too late: a list counts from 0, so the second one has the place 1.
sides_exchanged    return split_texts(text, every)[::-1]
  Your two lists are exchanged: the training part, which is the larger one, comes first.
copies_dropped    return tuple(list(dict.fromkeys(part)) for part in split_texts(text, every))
  You dropped the copies. Here they stay, all on the side of their paragraph; only the choice looks at one of each.
empty_ones_kept    if one.strip() →
  You kept empty paragraphs. Two empty lines in a row make one; they are no text to learn from.
in_alphabetical_order    list(dict.fromkeys(paragraphs)) → sorted(set(paragraphs))
  You put the different paragraphs in alphabetical order. A set has none of its own; dict.fromkeys keeps the text's.
the_end_held_out    different[every - 1 :: every] → different[len(different) - len(different) // every :]
  You held out the end of the text. It may be about something else: take every n-th of the different paragraphs.
lines_for_paragraphs    text.split("\n\n") → text.split("\n")
  You split at every line end. A paragraph may have several lines; an empty line, '\n\n', stands between two.
""")


def _paragraphs(text):
    return [one for one in text.split("\n\n") if one.strip()]


# --- a loss that compares --------------------------------------------------------------------------------------------

comparing = Exercise(
    "nats_per_character",
    inline=True,
    title="A loss that compares",
    goal="One model reads characters, another one words; a mean over tokens says nothing about which is better, for a "
    "word is more to guess. `losses` (T,) are the nats of T tokens, and `pieces` the T texts that they stand for, "
    "together the whole text. A special token such as `<end>` stands for '', but its nats count, too. Return the nats "
    "a character.",
    difficulty=1,
    minutes=5,
    cases=lambda: [
        (torch.tensor([2.0, 4.0]), ["the", " cat"]),
        (torch.tensor([1.5, 0.5, 3.0, 2.0]), ["a", "n owl", " sö", ""]),
        (torch.tensor([0.2, 5.0, 1.0, 0.7, 2.5]), ["", "grüne", " ", "Apfel", ""]),
        (torch.tensor([3.0, 1.0, 1.0]), ["extraordinary", "!", "!"]),
    ],
    hints=(
        "What is the same for every tokenizer: the number of tokens of a text, or that of its characters?",
        "All nats together are the surprise at the whole text. Divide them by its characters.",
        "losses.sum() / sum(len(piece) for piece in pieces)",
    ),
)


@comparing.solution
def nats_per_character(losses, pieces):
    """Nats a character, from losses (T,) in nats a token and the T texts of the tokens."""
    characters = len("".join(pieces))
    return losses.sum() / characters


comparing.slips("""
per_token    return losses.mean()
  You return nats a token. A tokenizer with long tokens has few of them, and each costs more: divide by characters.
times_the_length    return losses.mean() * len("".join(pieces)) / len(pieces)
  You multiplied by the characters of a token. A token's nats are shared among its characters: divide.
mean_of_the_quotients    return sum(loss / max(1, len(piece)) for loss, piece in zip(losses, pieces)) / len(pieces)
  You divided token by token and took the mean, so a sign counts as much as a long word. Add up first, then divide.
bytes_counted    len("".join(pieces)) → len("".join(pieces).encode())
  You divided by bytes: 'ö' has two in UTF-8. Asked for are characters.
special_tokens_left_out    losses.sum() → sum(loss for loss, piece in zip(losses, pieces) if piece)
  You left out the nats of special tokens. To know where a text ends is a part of the task, and a model pays for it.
in_bits    return nats_per_character(losses, pieces) / torch.tensor(2.0).log()
  You divided by ln 2: these are bits a character. Asked for are nats.
spaces_not_counted    "".join(pieces) → "".join(pieces).replace(" ", "")
  You did not count the spaces. They are characters of the text, and the model had to predict them.
special_tokens_counted    len("".join(pieces)) → sum(max(1, len(piece)) for piece in pieces)
  You counted a special token as a character. It stands for none: its nats are shared among the text's own.
""")


# --- a reward --------------------------------------------------------------------------------------------------------

paying = Exercise(
    "reward_of",
    inline=True,
    title="What is paid",
    goal="`words` is the list of all words that the model wrote, the sign `<end>` among them if it wrote it, and "
    "`answer` the right answer, words with one space between. Return 1.0 if the model wrote the answer, then `<end>`, "
    "and nothing else; otherwise 0.0. An empty answer is never paid, not even where `answer` is ''.",
    difficulty=1,
    minutes=5,
    cases=lambda: [
        (["mia", "<end>"], "mia"),
        *((words.split(), "to the forest") for words in (
            "to the forest <end>", "to the forest", "the forest to <end>", "to the forest <end> mia",
            "to the forest mia <end>", "to the lake <end>", "mia to the forest <end>", "<end> to the forest <end>", "",
            "<end>", "to the <end>", "to the forest <end> <end>", "to <end>",
        )),
        (["<end>"], ""),
        ([], ""),
        (["tom"], ""),
    ],
    hints=(
        "Three things must hold: what stands last, what stands before it, and that it is not empty.",
        "words[-1:] == ['<end>'] asks for the end without an error where nothing was written.",
        "said = ' '.join(words[:-1]); return float(words[-1:] == ['<end>'] and said == answer and said != '')",
    ),
)  # fmt: skip


@paying.solution
def reward_of(words, answer):
    """1.0 for the right answer with <end> behind it, else 0.0."""
    said = " ".join(words[:-1])
    ends = words[-1:] == ["<end>"]
    return float(ends and said == answer and said != "")


paying.slips("""
endless_ones_paid    return float(bool(answer) and " ".join(words).removesuffix(" <end>") == answer)
  You pay for the right words without an <end>, too. Then nothing tells the model to stop, and it soon writes on.
empty_ones_paid    and said != "" →
  You pay for an empty answer where the right one is ''. A hole like this is found: to say nothing is the easiest.
contained    said == answer → answer in said
  You pay where the answer stands somewhere in it. The model will learn to write every name that it knows.
begun    said == answer → said.startswith(answer)
  You pay for whatever begins with the answer. What comes behind it is not asked for.
ended    said == answer → said.endswith(answer)
  You pay for whatever ends in the answer. What comes before it is not asked for.
order_ignored    said == answer → sorted(said.split()) == sorted(answer.split())
  You pay for the right words in any order.
part_of_it_paid    said == answer → answer.startswith(said)
  You pay for the beginning of the answer alone: the model will stop after its first word.
cut_at_the_end    = _cut_at_the_end
  You cut at the first <end> and look at what stands before it. What was written behind it is paid along.
wrong_ones_cost    return 2 * reward_of(words, answer) - 1
  You take 1 away for a wrong answer. Asked for is 0: GRPO compares with the group anyway.
""")


def _cut_at_the_end(words, answer):
    return float("<end>" in words and bool(answer) and " ".join(words[: words.index("<end>")]) == answer)
