"""Exercises on packing: several texts in one row, in two steps that are checked one by one; and the prefix mask."""

import torch
from torch import Tensor

from tx_helpers.exercises.compare import as_mask, as_tensor
from tx_helpers.exercises.exercise import Exercise

# --- step 1: the mask ------------------------------------------------------------------------------------------------

documents_apart = Exercise(
    "packed_mask",
    title="Several texts in one row, step 1 of 2",
    goal="`documents` (T,) holds the number of the text that each token of a row belongs to, such as [0, 0, 1, 1, 1]. "
    "Write the boolean mask (T, T): query t (a row) may look at key s (a column) if both belong to the same text and s "
    "is not ahead of t.",
    difficulty=1,
    minutes=5,
    inline=True,
    cases=lambda: [
        (torch.tensor([0, 0, 1]),),
        (torch.tensor([0, 0, 1, 1, 1, 2]),),
        (torch.tensor([4, 4, 4, 2, 2, 4, 4]),),
        (torch.tensor([3]),),
    ],
    run=lambda make, documents: as_mask(make(documents)),
    hints=(
        "Two conditions must hold at once. One of them you have written already.",
        "documents[:, None] == documents[None, :] is a table (T, T): True where two tokens belong to the same text.",
        "(documents[:, None] == documents[None, :]) & a lower triangle of True",
    ),
)


@documents_apart.solution
def packed_mask(documents):
    """Mask (T, T), True where s ≤ t and both tokens are of the same text; documents (T,)."""
    same = documents[:, None] == documents[None, :]
    return same & torch.ones_like(same).tril()


documents_apart.slips("""
texts_not_apart    return _parts(documents)[1]
  Your mask is causal, but it does not keep the texts apart: each text reads all texts before it.
texts_look_ahead    return _parts(documents)[0]
  Your mask keeps the texts apart, but within a text every word sees the words ahead of it.
texts_joined_by_or    return _parts(documents)[0] | _parts(documents)[1]
  You joined the two conditions with “or”. Both must hold: use &.
other_texts_alone    return ~_parts(documents)[0] & _parts(documents)[1]
  Your mask shows each word the texts before its own and hides its own: you need ==, not !=.
texts_back_to_front    return packed_mask(documents).T
  Rows and columns are swapped: in your mask a word sees what comes after it in its text.
text_without_itself    return _parts(documents)[0] & _parts(documents)[1].tril(-1)
  Your mask hides the diagonal, so the first word of each text has nothing to look at.
texts_up_to_mine    return (documents[None, :] <= documents[:, None]) & _parts(documents)[1]
  You compared the numbers of the texts with ≤ or ≥. A text with a smaller number is another text, too: use ==.
texts_up_to_mine_and_ahead    return documents[None, :] <= documents[:, None]
  You compared the numbers of the texts with ≤, and nothing else: a word sees all texts before its own, and its own text
  ahead of it. Use ==, and let the causal mask hide what comes later.
""")


def _parts(documents: Tensor) -> tuple[Tensor, Tensor]:
    """Of the same text, (T, T), and not ahead, (T, T)."""
    same = documents[:, None] == documents[None, :]
    return same, torch.ones_like(same).tril()


# --- step 2: a row that is ready for training ------------------------------------------------------------------------


def _row(make, texts):
    """What a learner's row holds, each part as it is compared. The mask is made by the solution of step 1."""
    row = make([text.clone() for text in texts], packed_mask)
    if not isinstance(row, dict):
        return row
    return {name: as_mask(part) if name == "mask" else as_tensor(part) for name, part in row.items()}


pack = Exercise(
    "pack_row",
    title="Several texts in one row, step 2 of 2",
    goal="Turn a list of texts, each a tensor of ids, into a row that is ready for training: a dict of four tensors. "
    "`ids` (T,): all texts, one after the other. `positions` (T,): they begin with 0 in each text. `targets` (T,): for "
    "each token the next one of its text, and −100 at the end of each text, which PyTorch's loss leaves out. `mask` "
    "(T, T): what `mask_of(documents)`, your function of step 1, returns.",
    difficulty=2,
    minutes=10,
    inline=True,
    cases=lambda: [
        ([torch.tensor([5, 6]), torch.tensor([7])],),
        ([torch.tensor([3, 4, 1]), torch.tensor([8, 9, 6, 1]), torch.tensor([5, 1])],),
        ([torch.tensor([2, 7, 2, 7, 4])],),
        ([torch.tensor([6]), torch.tensor([4, 5, 3]), torch.tensor([9])],),
    ],
    run=_row,
    hints=(
        "All four are lists of pieces, one piece for each text, joined by torch.cat.",
        "The pieces of one text with n ids: torch.arange(n) for the positions, text[1:] and then −100 for the targets, "
        "n times the text's number for the documents.",
        "torch.cat([torch.cat([text[1:], torch.tensor([-100])]) for text in texts]) are the targets; "
        "torch.cat([torch.full_like(text, d) for d, text in enumerate(texts)]) are the documents.",
    ),
)


@pack.solution
def pack_row(texts, mask_of):
    """The dict of ids (T,), positions (T,), targets (T,) and mask (T, T) of a list of texts, each (length,)."""
    end = torch.tensor([-100])
    documents = torch.cat([torch.full_like(text, d) for d, text in enumerate(texts)])
    return {
        "ids": torch.cat(texts),
        "positions": torch.cat([torch.arange(len(text)) for text in texts]),
        "targets": torch.cat([torch.cat([text[1:], end]) for text in texts]),
        "mask": mask_of(documents),
    }


pack.slips("""
next_texts_first_word    = _changed(targets=lambda ids, lengths, mask_of: torch.cat([ids[1:], torch.tensor([-100])]))
  At the end of a text your target is the first token of the next one. No text tells how another one begins, so −100
  belongs there.
last_target_wraps    = _changed(targets=lambda ids, lengths, mask_of: ids.roll(-1))
  You rolled the ids, so the last token's target is the first token of the row, and each text's last target is the first
  token of the next text. Put −100 at the last token of each text.
targets_not_shifted    = _changed(targets=lambda ids, lengths, mask_of: ids.clone())
  Your targets are the ids themselves: each token would have to predict what it reads. The target is the next token.
end_filled_with_zero    = _changed(targets=lambda ids, lengths, mask_of: _ids_or(0, ids, lengths))
  At the ends of the texts your target is 0. That is an ordinary id, so the model learns to predict it. The loss leaves
  only −100 out.
targets_from_before    = _changed(targets=lambda ids,
      lengths, mask_of: ids.roll(1).index_fill(0, torch.tensor([0, *(_ends(lengths)[:-1] + 1).tolist()]), -100))
  You shifted the targets the wrong way: yours are the tokens before, which the model has just read.
positions_run_on    = _changed(positions=lambda ids, lengths, mask_of: torch.arange(len(ids)))
  Your positions run on through the whole row, but each text is a text of its own and begins at position 0.
positions_from_one    = _changed(positions=lambda ids,
      lengths, mask_of: torch.cat([torch.arange(n) + 1 for n in lengths]))
  Your positions begin with 1 in each text; they should begin with 0, as for a text that stands alone.
one_document_for_all    = _changed(mask=lambda ids, lengths, mask_of: mask_of(torch.zeros_like(ids)))
  You gave mask_of the same number for all tokens, so all texts count as one, and each reads those before.
mask_of_ids    = _changed(mask=lambda ids, lengths, mask_of: mask_of(ids))
  You gave mask_of the ids. It wants the number of the text that each token belongs to: [0, 0, 1, …].
mask_of_positions    = _changed(mask=lambda ids,
      lengths, mask_of: mask_of(torch.cat([torch.arange(n) for n in lengths])))
  You gave mask_of the positions. It wants the number of the text that each token belongs to: [0, 0, 1, …].
order_turned_round    return pack_row(texts[::-1], mask_of)
  Your texts stand in the reverse order. Keep the order of the list.
""")


def _changed(**parts):
    """A mistake: the right row, in which some parts are made by other functions of (ids, lengths, mask_of)."""

    def row(texts, mask_of):
        ids, lengths = torch.cat(texts), [len(text) for text in texts]
        return pack_row(texts, mask_of) | {name: make(ids, lengths, mask_of) for name, make in parts.items()}

    return row


def _ends(lengths):
    """The place of each text's last token."""
    return torch.tensor(lengths).cumsum(0) - 1


def _ids_or(fill, ids, lengths):
    """The next id of the row, and `fill` at the last token of each text."""
    targets = ids.roll(-1)
    targets[_ends(lengths)] = fill
    return targets


# --- the prefix mask -------------------------------------------------------------------------------------------------

prefix = Exercise(
    "prefix_mask",
    title="A prefix that is read both ways",
    goal="The first p tokens of a text are given (a question, say), and the model writes the rest. Write the prefix "
    "mask (T, T) in booleans: every query may look at itself and at what came before it, and also at all of the first "
    "p positions. So the tokens of the prefix see each other in both directions. 0 ≤ p ≤ T.",
    difficulty=1,
    minutes=5,
    source="Raffel et al. 2020 (T5), section 3.2.1",
    cases=lambda: [(3, 2), (5, 3), (4, 0), (6, 6), (7, 1)],
    run=lambda make, T, p: as_mask(make(T, p)),
    hints=(
        "Begin with the causal mask. Which cells must be opened in addition?",
        "The first p columns are open for every query: torch.arange(T) < p, as a row.",
        "torch.ones(T, T, dtype=torch.bool).tril() | (torch.arange(T) < p)",
    ),
)


@prefix.solution
def prefix_mask(T, p):
    """Mask (T, T), True where s ≤ t or s < p."""
    return torch.ones(T, T, dtype=torch.bool).tril() | (torch.arange(T) < p)


prefix.slips("""
prefix_forgotten    return _triangle(T)
  Your mask is causal: the tokens of the prefix do not see what follows them in the prefix.
prefix_as_rows    return _triangle(T) | (torch.arange(T) < p)[:, None]
  You opened the first p rows, not the first p columns: the prefix now reads the text that the model is to write.
prefix_one_longer    return _triangle(T) | (torch.arange(T) <= p)
  Your prefix has p + 1 tokens: positions are counted from 0, so you need <, not ≤.
prefix_alone    return (torch.arange(T) < p).expand(T, T)
  Your mask shows the prefix and nothing else: a word must also see itself and the words written so far.
prefix_joined_by_and    return _triangle(T) & (torch.arange(T) < p)
  You joined the two conditions with “and”. One of them is enough: use |.
prefix_open_everywhere    return torch.ones(T, T, dtype=torch.bool)
  Your mask hides nothing, so each word of the answer sees the words after it.
prefix_inverted    return ~prefix_mask(T, p)
  Your mask is inverted: True where a query may not look.
""")


def _triangle(T: int) -> Tensor:
    return torch.ones(T, T, dtype=torch.bool).tril()
