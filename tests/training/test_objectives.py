"""Each objective against a slow one made by hand, on texts of any length; and batches of them."""

import math
from itertools import pairwise

import pytest
import torch
from hypothesis import given
from hypothesis import strategies as st

from parity import properties
from tx_helpers.nn.config import TransformerConfig
from tx_helpers.nn.masks import causal_mask
from tx_helpers.nn.models import DecoderOnly, EncoderDecoder, EncoderOnly
from tx_helpers.text.data import IGNORE
from tx_helpers.text.world import little_world
from tx_helpers.text.world_vocabulary import SENTINELS, word_ids, world_id, world_tokenizer
from tx_helpers.training.objectives import (
    OBJECTIVES,
    ObjectiveBatches,
    causal,
    encoded_texts,
    guess_loss,
    masked,
    next_sentence,
    objective_loss,
    prefix,
    prefix_mask,
    span_corruption,
)

MASK_ID, WORDS, MARKS = 99, range(50, 90), [91, 92, 93, 94]
texts = st.lists(st.integers(10, 40), min_size=2, max_size=60)
seeds = st.integers(0, 10**6)


def generator(seed: int = 0) -> torch.Generator:
    return torch.Generator().manual_seed(seed)


@properties
@given(texts)
def test_causal_by_hand(text):
    shown, target = causal(torch.tensor(text))
    assert [(a, b) for a, b in zip(shown.tolist(), target.tolist(), strict=True)] == [
        (text[place], text[place + 1]) for place in range(len(text) - 1)
    ]


@properties
@given(texts, seeds, st.floats(0, 1), st.floats(0, 0.5), st.floats(0, 0.5))
def test_masked_by_hand(text, seed, rate, as_mask, as_random):
    options = dict(mask_id=MASK_ID, words=WORDS, rate=rate, as_mask=as_mask, as_random=as_random, keep=(10, 11))
    shown, target = masked(torch.tensor(text), **options, generator=generator(seed))
    draw = generator(seed)
    chances, kinds = torch.rand(len(text), generator=draw), torch.rand(len(text), generator=draw)
    others = torch.randint(50, 90, (len(text),), generator=draw)
    expected = []
    for place, token in enumerate(text):
        if token in (10, 11) or chances[place] >= rate:
            expected.append((token, IGNORE))
        elif kinds[place] < as_mask:
            expected.append((MASK_ID, token))
        elif kinds[place] < as_mask + as_random:
            expected.append((int(others[place]), token))
        else:
            expected.append((token, token))
    assert list(zip(shown.tolist(), target.tolist(), strict=True)) == expected


def test_of_what_is_chosen_eight_tenths_are_masks_one_tenth_other_words_one_tenth_as_they_were():
    ids = torch.full((200, 500), 20)
    shown, target = masked(ids, mask_id=MASK_ID, words=WORDS, generator=generator())
    chosen = target != IGNORE
    assert chosen.float().mean().item() == pytest.approx(0.15, abs=0.005)
    assert torch.equal(shown[~chosen], ids[~chosen]) and torch.equal(target[chosen], ids[chosen])
    kinds = [shown[chosen] == MASK_ID, shown[chosen] >= WORDS.start, shown[chosen] == 20]
    kinds[1] &= ~kinds[0]
    assert [kind.float().mean().item() for kind in kinds] == pytest.approx([0.8, 0.1, 0.1], abs=0.01)
    assert shown[chosen][kinds[1]].unique().tolist() == list(WORDS)


def test_next_sentence_by_hand():
    signs = dict(cls_id=1, sep_id=2, yes_id=3, no_id=4)
    for follows, said in ((True, 3), (False, 4)):
        shown, target = next_sentence(torch.tensor([10, 11, 12]), torch.tensor([13, 14]), follows, **signs)
        assert shown.tolist() == [1, 10, 11, 12, 2, 13, 14, 2]
        assert target.tolist() == [said] + [IGNORE] * 7


@properties
@given(texts, seeds, st.floats(0.01, 0.9), st.floats(1, 6))
def test_span_corruption_can_be_undone_and_has_as_many_spans_as_it_says(text, seed, rate, mean_span):
    shown, target = span_corruption(
        torch.tensor(text), sentinels=MARKS, rate=rate, mean_span=mean_span, generator=generator(seed)
    )
    cut = min(max(round(len(text) * rate), 1), len(text) - 1)
    spans = min(max(round(cut / mean_span), 1), cut, len(text) - cut, len(MARKS) - 1)
    cuts, span = {}, None
    for token in target.tolist():
        if token in MARKS:
            span = cuts.setdefault(token, [])
        else:
            span.append(token)
    assert list(cuts) == MARKS[: spans + 1] and cuts[MARKS[spans]] == []
    assert all(cuts[mark] for mark in MARKS[:spans]) and sum(map(len, cuts.values())) == cut
    assert [token for token in shown.tolist() if token in MARKS] == MARKS[:spans]
    assert shown[0] not in MARKS and not any(a in MARKS and b in MARKS for a, b in pairwise(shown.tolist()))
    assert [t for token in shown.tolist() for t in cuts.get(token, [token])] == text


def test_span_corruption_by_hand():
    text = torch.arange(10, 30)
    shown, target = span_corruption(text, sentinels=MARKS, rate=0.2, mean_span=2, generator=generator(3))
    draw = generator(3)
    cut = int(torch.randperm(3, generator=draw)[0]) + 1  # 4 tokens in two spans: the first has so many
    stay = int(torch.randperm(15, generator=draw)[0]) + 1  # 16 that stay
    whole = text.tolist()
    first, second = whole[stay : stay + cut], whole[-(4 - cut) :]
    assert shown.tolist() == [*whole[:stay], 91, *whole[stay + cut : -(4 - cut)], 92]
    assert target.tolist() == [91, *first, 92, *second, 93]


def test_every_way_to_divide_is_equally_likely():
    counts, draw = {}, generator()
    for _ in range(3000):
        _, target = span_corruption(torch.arange(10, 30), sentinels=MARKS, rate=0.2, mean_span=2, generator=draw)
        length = target.tolist().index(92) - 1
        counts[length] = counts.get(length, 0) + 1
    assert sorted(counts) == [1, 2, 3] and all(count == pytest.approx(1000, rel=0.1) for count in counts.values())


@properties
@given(texts, st.data())
def test_prefix_by_hand(text, data):
    length = data.draw(st.integers(1, len(text) - 1))
    shown, target = prefix(torch.tensor(text), length)
    assert shown.tolist() == text[:-1]
    assert target.tolist() == [text[n] if n >= length else IGNORE for n in range(1, len(text))]
    mask = prefix_mask(len(text) - 1, length)
    for query in range(len(text) - 1):
        for key in range(len(text) - 1):
            assert mask[query, key] == (key <= query or key < length)


def test_without_a_prefix_the_mask_is_causal_and_with_all_of_it_everything_is_seen():
    assert torch.equal(prefix_mask(5, 0), causal_mask(5)) and prefix_mask(5, 5).all()


ONES = torch.ones(4, dtype=torch.long)
SIGNS = dict(cls_id=1, sep_id=2, yes_id=3, no_id=4)


@pytest.mark.parametrize(
    ("call", "message"),
    [
        (lambda: causal(ONES[:1]), "causal: a text of 1 ids, expected at least 2"),
        (lambda: causal(ONES.float()), "causal: ids .*float32"),
        (lambda: masked(ONES, mask_id=9, words=WORDS, rate=1.5), "masked: rate=1.5, expected at least 0 and at most 1"),
        (lambda: masked(ONES, mask_id=9, words=range(3, 3)), "masked: words is empty, expected a range that is not"),
        (lambda: masked(ONES, mask_id=9, words=[3, 4]), "masked: words is a list, expected a range"),
        (lambda: masked(ONES, mask_id=9, words=WORDS, as_random=0.3), "as_mask=0.8 and as_random=0.3 add up to more"),
        (
            lambda: next_sentence(ONES, ONES[None], True, **SIGNS),
            r"next_sentence: second of shape \(1, 4\), expected int \(T\)",
        ),
        (lambda: span_corruption(ONES[:1], sentinels=MARKS), "1 ids and 4 sentinels, expected at least 2 of each"),
        (lambda: span_corruption(ONES, sentinels=[9]), "4 ids and 1 sentinels, expected at least 2 of each"),
        (lambda: span_corruption(ONES, sentinels=MARKS, rate=0), "rate=0, expected more than 0 and less than 1"),
        (lambda: span_corruption(ONES, sentinels=MARKS, mean_span=0.5), "mean_span=0.5, expected at least 1"),
        (lambda: prefix(ONES, 4), "prefix: length=4, expected at least 1 and less than 4"),
        (lambda: prefix_mask(3, 4), "prefix_mask: length=4, expected at least 0 and at most 3"),
        (lambda: ObjectiveBatches("electra"), "objective='electra', expected one of causal, masked, next_sentence"),
        (
            lambda: ObjectiveBatches("causal", 2, texts_in_a_row=(3,)),
            "texts_in_a_row=3, expected at least 1 and at most 2",
        ),
        (
            lambda: ObjectiveBatches("next_sentence", 1, texts=1),
            "next_sentence with texts=1 .*expected at least 2 texts",
        ),
        (lambda: ObjectiveBatches("causal", rate=0.3), "rate is no option of causal, which has none"),
        (
            lambda: ObjectiveBatches("masked", mean_span=2),
            "mean_span is no option of masked, which has rate",
        ),
        (lambda: ObjectiveBatches("causal", texts=5)(-1), "step=-1, expected at least 0"),
    ],
)
def test_what_does_not_fit_is_named(call, message):
    with pytest.raises(ValueError, match=message):
        call()


def words(ids) -> list[str]:
    return [world_tokenizer().tokens[i] for i in ids.tolist() if i > 0]


def test_all_objectives_read_the_same_texts():
    batches = {name: ObjectiveBatches(name, 6, texts=50, seed=3) for name in OBJECTIVES}
    for step in range(3):
        whole = [" ".join(words(row)[1:]) for row in batches["causal"](step).inputs[0]]
        assert all(text in set(little_world("train").texts(50, seed=3)) for text in whole)
        for name in ("masked", "span_corruption", "prefix"):
            batch = batches[name](step)
            for text, row, target in zip(whole, batch.inputs[0], batch.target, strict=True):
                if name == "masked":
                    row = torch.where(target >= 0, target, row)[1:]
                restored = [word for word in words(row) if word not in ("<bos>", "<sep>")]
                missing = [word for word in text.split() if word not in restored]
                assert missing == [] or (name == "span_corruption" and set(missing) <= set(words(target)))


@pytest.mark.parametrize("name", OBJECTIVES)
def test_a_batch_is_a_function_of_its_step_and_seed(name):
    one, same, other = (ObjectiveBatches(name, 6, texts=50, seed=seed)(4) for seed in (3, 3, 4))
    assert all(torch.equal(a, b) for a, b in zip((*one.inputs, one.target), (*same.inputs, same.target), strict=True))
    assert one.inputs[0].shape != other.inputs[0].shape or not torch.equal(one.inputs[0], other.inputs[0])


def test_rows_of_one_two_and_three_texts_take_turns():
    batches = ObjectiveBatches("causal", 12, texts=50, texts_in_a_row=(1, 2, 3))
    for step, texts_in_a_row in enumerate((1, 2, 3, 1)):
        target = batches(step).target
        assert target.shape[0] == 12 // texts_in_a_row
        assert ((target == world_id("<eos>")).sum(-1) == texts_in_a_row).all()


def test_signs_and_padding_are_never_hidden_and_words_stand_in_for_words():
    batch = ObjectiveBatches("masked", 8, texts=50, texts_in_a_row=(2,), rate=1.0, as_mask=0.0, as_random=1.0)(0)
    shown, hidden = batch.inputs[0], batch.target >= 0
    signs = {world_id(sign) for sign in ("<pad>", "<cls>", "<sep>")}
    assert set(shown[~hidden].tolist()) == signs and not signs & set(batch.target[hidden].tolist())
    assert all(token in word_ids() for token in shown[hidden].tolist())


def test_half_of_the_second_sentences_follow():
    batches = ObjectiveBatches("next_sentence", 30, texts=200, seed=1)
    world, said = set(little_world("train").texts(200, seed=1)), []
    for step in range(10):
        batch = batches(step)
        assert (batch.target >= 0).sum(-1).eq(1).all()
        for row, target in zip(batch.inputs[0], batch.target, strict=True):
            sign, *rest = words(row)
            follows = " ".join(word for word in rest if word != "<sep>") in world
            said.append(follows)
            assert sign == "<cls>" and rest.count("<sep>") == 2 and rest[-1] == "<sep>"
            assert target[0] == world_id("yes" if follows else "no")
    assert sum(said) / len(said) == pytest.approx(0.5, abs=0.12)


def test_spans_are_written_behind_a_beginning_and_end():
    batch = ObjectiveBatches("span_corruption", 5, texts=50)(0)
    for begun, target in zip(batch.inputs[1], batch.target, strict=True):
        read, scored = words(begun), words(target)
        assert read[0] == "<bos>" and read[1:] == scored[:-1] and scored[-1] == "<eos>" and scored[0] == SENTINELS[0]


def test_the_loss_of_a_guess_by_hand():
    """Of four targets two are 7, one is 3 and one is 9: 1/2 ln 2 + 2 · 1/4 ln 4 = 1.5 ln 2."""
    target = torch.tensor([[7, IGNORE, 3], [IGNORE, 7, 9]])
    assert guess_loss(target) == pytest.approx(1.5 * math.log(2))
    assert guess_loss(torch.tensor([IGNORE, 5, 5])) == 0


@pytest.mark.parametrize("name", OBJECTIVES)
def test_every_objective_trains_its_model_and_ignores_what_is_not_scored(name):
    kind = {"causal": DecoderOnly, "span_corruption": EncoderDecoder}.get(name, EncoderOnly)
    model = kind(TransformerConfig(len(world_tokenizer()), d_model=16, n_layers=1, pad_id=0))
    batch = ObjectiveBatches(name, 4, texts=20)(0)
    loss = objective_loss(model, batch)
    logits = model(*batch.inputs, **({"mask": batch.mask} if name == "prefix" else {}))
    by_hand = [
        -row[token].item()
        for rows, targets in zip(logits.log_softmax(-1), batch.target.tolist(), strict=True)
        for row, token in zip(rows, targets, strict=True)
        if token != IGNORE
    ]
    assert loss.item() == pytest.approx(sum(by_hand) / len(by_hand), rel=1e-4)
    moved = batch.to("cpu")
    assert torch.equal(objective_loss(model, moved), loss) and moved.target is not None


def test_the_prefix_is_seen_both_ways_and_the_rest_only_backwards():
    model = EncoderOnly(TransformerConfig(len(world_tokenizer()), d_model=16, n_layers=2, pad_id=0)).eval()
    ids = torch.tensor([encoded_texts(3)[0][:9]])
    changed, later = ids.clone(), ids.clone()
    changed[0, 3], later[0, 6] = world_id("mud"), world_id("mud")
    mask = prefix_mask(9, 4)[None, None]
    before, inside, behind = (model(row, mask=mask) for row in (ids, changed, later))
    assert not torch.equal(before[0, 0], inside[0, 0])
    assert torch.equal(before[0, :6], behind[0, :6]) and not torch.equal(before[0, 6:], behind[0, 6:])
