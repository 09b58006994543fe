import pytest
import torch
import torch.nn.functional as F
from torch import nn

from tx_helpers.generation.search import beam_search, generate
from tx_helpers.lessons.limits_of_recurrence.recurrent import (
    Alignment,
    Recaller,
    RecurrentTranslator,
    gradient_by_distance,
    new_layer,
    recall_batch,
    set_forget_bias,
)
from tx_helpers.nn.capture import capture
from tx_helpers.text.data import BOS, EOS, PAD, sequence_batch, word_pairs
from tx_helpers.text.number_words import number_pairs
from tx_helpers.training.loop import fit
from tx_helpers.training.losses import translation_loss
from tx_helpers.training.optimizers import adamw

B, S, T, D, V, W = 3, 7, 5, 6, 11, 13  # W: the source's vocabulary
KINDS = ("rnn", "lstm", "gru")


def translator(kind="gru", attention=False, pad_id=PAD) -> RecurrentTranslator:
    with torch.random.fork_rng():
        torch.manual_seed(0)
        return RecurrentTranslator(W, V, D, kind=kind, attention=attention, pad_id=pad_id).double()


def ids(rows: int, length: int, vocabulary: int, seed: int = 0):
    return torch.randint(3, vocabulary, (rows, length), generator=torch.Generator().manual_seed(seed))


every_model = pytest.mark.parametrize(
    ("kind", "attention"), [(kind, attention) for kind in KINDS for attention in (False, True)]
)


@pytest.mark.parametrize("kind", KINDS)
def test_without_attention_it_is_two_layers_and_an_output(kind):
    model, source, target = translator(kind), ids(B, S, W), ids(B, T, V)
    _, state = model.encoder(model.source_tokens(source))
    hidden, _ = model.decoder(model.target_tokens(target), state)
    torch.testing.assert_close(model(source, target), model.output(hidden), rtol=0, atol=1e-12)


@pytest.mark.parametrize("kind", KINDS)
def test_attention_step_by_step_by_the_formula(kind):
    model, source, target = translator(kind, attention=True), ids(B, S, W), ids(B, T, V)
    memory, state = model.encode(source)
    expected = []
    for t in range(T):
        before = (state[0] if kind == "lstm" else state)[0]  # (B, D)
        energy = (
            torch.tanh(model.alignment.query(before)[:, None] + model.alignment.key(memory)) @ model.alignment.weight
        )
        context = (energy.softmax(-1)[..., None] * memory).sum(1)
        word = model.target_tokens(target[:, t])
        new, state = model.decoder(torch.cat([word, context], -1)[:, None], state)
        expected.append(model.output(torch.cat([new[:, 0], context], -1)))
    torch.testing.assert_close(model(source, target), torch.stack(expected, 1), rtol=0, atol=1e-12)


@every_model
def test_padding_changes_nothing(kind, attention):
    model, source, target = translator(kind, attention), ids(B, S, W), ids(B, T, V)
    source[1, 4:] = PAD
    longer = F.pad(source, (0, 3), value=PAD)
    torch.testing.assert_close(model(longer, target), model(source, target), rtol=0, atol=1e-12)
    alone = model(source[1:2, :4], target[1:2])
    torch.testing.assert_close(model(source, target)[1:2], alone, rtol=0, atol=1e-12)


@every_model
def test_fed_piece_by_piece_it_gives_the_same_logits(kind, attention):
    model, source, target = translator(kind, attention), ids(B, S, W), ids(B, T, V)
    state = model.start(source)
    pieces = torch.cat([state.step(target[:, :2]), state.step(target[:, 2:3]), state.step(target[:, 3:])], dim=1)
    torch.testing.assert_close(pieces, model(source, target), rtol=0, atol=1e-12)


@every_model
def test_rows_can_be_rearranged_while_decoding(kind, attention):
    model, source, target = translator(kind, attention), ids(B, S, W), ids(B, T, V)
    source[0, 5:] = PAD
    rows = torch.tensor([2, 0, 0])
    state = model.start(source)
    state.step(target[:, :2])
    state.select(rows)
    torch.testing.assert_close(state.step(target[rows][:, 2:]), model(source, target)[rows][:, 2:], rtol=0, atol=1e-12)


@every_model
def test_it_writes_like_any_model(kind, attention):
    model, source = translator(kind, attention), ids(B, S, W)
    written = generate(model, BOS, source=source, max_new_tokens=6)
    read = torch.cat([torch.full((B, 1), BOS), written[:, :-1]], dim=1)
    assert torch.equal(model(source, read).argmax(-1), written)
    (best, *_), *_ = beam_search(model, BOS, source=source, beams=1, max_new_tokens=6, end_id=EOS)
    greedy = generate(model, BOS, source=source[:1], max_new_tokens=6, end_id=EOS)
    assert best.ids == greedy[0].tolist()


def test_capture_sees_the_alignment_and_no_weight_on_padding():
    model, source, target = translator(attention=True), ids(B, S, W), ids(B, T, V)
    source[1, 4:] = PAD
    with capture(model, "*.weights") as seen:
        model(source, target)
    weights = torch.cat(seen.history("alignment.weights"), dim=1)
    assert weights.shape == (B, T, S)
    torch.testing.assert_close(weights.sum(-1), torch.ones(B, T, dtype=torch.float64))
    assert (weights[1, :, 4:] == 0).all() and (weights[0] > 0).all()


def test_it_learns():
    data = word_pairs(number_pairs(below=100, held_out=0).train)
    torch.manual_seed(0)
    model = RecurrentTranslator(len(data.source_tokenizer), len(data.target_tokenizer), 32, attention=True, pad_id=PAD)
    batch = sequence_batch(data.pairs[:16])
    run = fit(model, lambda step: batch, steps=80, loss=translation_loss, optimizer=adamw(model, 1e-2), progress=False)
    assert run.losses[-1] < 0.1 < 3 < run.losses[0]


def test_gradient_of_a_linear_recurrence_by_hand():
    class Decay(nn.Module):  # h_t = 0.5 h_{t−1} + x_t, so ∂ Σ h_T / ∂ x_{T−d} = 0.5^d in each of D features
        input_size = D

        def forward(self, x):
            h, states = torch.zeros_like(x[:, 0]), []
            for t in range(x.shape[1]):
                h = 0.5 * h + x[:, t]
                states.append(h)
            return torch.stack(states, dim=1)

    expected = D**0.5 * 0.5 ** torch.arange(9, dtype=torch.float64)
    torch.testing.assert_close(gradient_by_distance(Decay(), 9), expected)


def test_gradient_vanishes_unless_the_forget_gate_is_open():
    torch.manual_seed(0)
    layer = new_layer("lstm", 32, 32)
    weight = layer.weight_hh_l0.detach().clone()
    closed = gradient_by_distance(layer, 51)[50]
    set_forget_bias(layer, 3.0)
    assert closed < 1e-9 and 0.05 < gradient_by_distance(layer, 51)[50] < 1
    assert layer.weight_hh_l0.dtype == torch.float32 and torch.equal(layer.weight_hh_l0, weight)
    assert layer.weight_hh_l0.grad is None


def test_the_forget_bias_is_the_gate_s():
    layer = new_layer("lstm", 4, 3)
    with torch.no_grad():
        for parameter in layer.parameters():
            parameter.zero_()
    set_forget_bias(layer, 2.0)
    _, (_, c) = layer(torch.zeros(1, 5, 4), (torch.zeros(1, 1, 3), torch.ones(1, 1, 3)))
    torch.testing.assert_close(c, torch.sigmoid(torch.full((1, 1, 3), 2.0)) ** 5)


def test_recall_batch_begins_with_the_answer():
    tokens, answers = recall_batch(9, 50, keys=5, symbols=4, generator=torch.Generator().manual_seed(0))
    assert tokens.shape == (50, 10) and torch.equal(tokens[:, 0], answers)
    assert set(answers.tolist()) == set(range(5)) and set(tokens[:, 1:].flatten().tolist()) == set(range(5, 9))


@pytest.mark.parametrize("kind", [*KINDS, "attention"])
def test_recallers_answer_for_each_row(kind):
    model, (tokens, _) = Recaller(kind, 8).eval(), recall_batch(4, 6)
    together = model(tokens)
    assert together.shape == (6, 8)
    torch.testing.assert_close(together, torch.cat([model(row[None]) for row in tokens]))


@pytest.mark.parametrize(
    ("call", "message"),
    [
        (lambda: new_layer("elman", 3, 4), "kind='elman', expected one of rnn, lstm, gru"),
        (lambda: translator()(ids(B, S, W)[0], ids(B, T, V)), r"source of shape \(7,\), expected int \(B, T\)"),
        (lambda: translator().encode(torch.full((2, 3), PAD)), "nothing but padding"),
        (lambda: translator().start(ids(B, S, W)).step(ids(2, 1, V)), r"\(2, 1\), expected \(3, t\)"),
        (lambda: recall_batch(-1, 3), "noise=-1"),
    ],
)
def test_bad_input(call, message):
    with pytest.raises(ValueError, match=message):
        call()


def recalls(kind: str, noise: int, seed: int) -> bool:
    """Does it know the first token after `noise` others, in at most 500 steps?"""
    generator = torch.Generator().manual_seed(seed)
    with torch.random.fork_rng():
        torch.manual_seed(seed)
        model = Recaller(kind)
    optimizer = adamw(model, 3e-3)

    class Batch(tuple):
        def to(self, device):
            return self

    fit(
        model,
        lambda step: Batch(recall_batch(noise, 64, generator=generator)),
        steps=500,
        loss=lambda model, batch: F.cross_entropy(model(batch[0]), batch[1]),
        optimizer=optimizer,
        progress=False,
    )
    with torch.no_grad():
        tokens, answers = recall_batch(noise, 1000, generator=generator)
        return (model(tokens).argmax(-1) == answers).double().mean().item() > 0.8


@pytest.mark.thorough
@pytest.mark.parametrize(
    ("kind", "noise", "at_least", "at_most"),
    [
        *(("rnn", 5, 5, 5), ("rnn", 20, 0, 0)),
        *(("lstm", 10, 3, 5), ("lstm", 20, 0, 0)),
        *(("gru", 20, 3, 5), ("gru", 40, 0, 0)),
        *(("attention", 40, 5, 5), ("attention", 100, 5, 5)),
    ],
)
def test_how_far_back_each_can_remember(kind, noise, at_least, at_most):
    assert at_least <= sum(recalls(kind, noise, seed) for seed in range(5)) <= at_most


def test_alignment_is_additive_attention_with_its_own_parts():
    torch.manual_seed(0)
    alignment = Alignment(D)
    assert {name: tuple(p.shape) for name, p in alignment.named_parameters()} == {
        "weight": (D,),
        "query.weight": (D, D),
        "key.weight": (D, D),
    }
