import pytest
import torch

from parity import B, T, V, normal
from tx_helpers.generation.sampling import filter_logits, pick, repetition_penalty, sampler

P = torch.tensor([0.1, 0.4, 0.05, 0.3, 0.15], dtype=torch.float64)  # in order of likelihood: ids 1, 3, 4, 0, 2


def kept(**options) -> list[int]:
    """The ids that a filter leaves over; their logits must be untouched."""
    filtered = filter_logits(P.log(), **options)
    ids = filtered.isfinite().nonzero().flatten().tolist()
    assert torch.equal(filtered[ids], P.log()[ids])
    assert all(filtered[i] == float("-inf") for i in range(5) if i not in ids)
    return ids


def test_without_a_filter_all_stay():
    assert torch.equal(filter_logits(P.log()), P.log())
    assert kept(top_k=5, top_p=1.0, min_p=0.0) == [0, 1, 2, 3, 4]


@pytest.mark.parametrize(
    ("k", "ids"), [(1, [1]), (2, [1, 3]), (4, [0, 1, 3, 4]), (5, [0, 1, 2, 3, 4]), (9, [0, 1, 2, 3, 4])]
)
def test_top_k(k, ids):
    assert kept(top_k=k) == ids


@pytest.mark.parametrize(
    ("p", "ids"), [(1e-9, [1]), (0.39, [1]), (0.41, [1, 3]), (0.69, [1, 3]), (0.71, [1, 3, 4]), (0.96, [0, 1, 2, 3, 4])]
)
def test_top_p_is_the_smallest_set_that_has_p(p, ids):
    assert kept(top_p=p) == ids


@pytest.mark.parametrize(
    ("m", "ids"), [(1.0, [1]), (0.74, [1, 3]), (0.37, [1, 3, 4]), (0.2, [0, 1, 3, 4]), (0.1, [0, 1, 2, 3, 4])]
)
def test_min_p_is_relative_to_the_likeliest(m, ids):
    assert kept(min_p=m) == ids


def test_the_order_is_temperature_k_p_m():
    assert kept(top_k=2, top_p=0.5) == [1]  # of the two left, the first has 4/7; before top-k both would stay
    assert kept(top_p=0.5, min_p=0.8) == [1]
    hot = filter_logits(P.log(), temperature=2.0, top_p=0.6)
    flat = (P**0.5 / (P**0.5).sum()).tolist()
    assert flat[1] + flat[3] < 0.6 < flat[1] + flat[3] + flat[4]
    assert hot.isfinite().nonzero().flatten().tolist() == [1, 3, 4]
    torch.testing.assert_close(hot[[1, 3, 4]], P.log()[[1, 3, 4]] / 2)


def test_among_equals_the_lower_id_stays():
    assert filter_logits(torch.zeros(5), top_k=2).isfinite().tolist() == [True, True, False, False, False]
    assert filter_logits(torch.zeros(5), top_p=0.3).isfinite().tolist() == [True, True, False, False, False]
    assert filter_logits(torch.zeros(5), min_p=1.0).isfinite().all()


def test_tokens_ruled_out_before_stay_out():
    logits = torch.tensor([0.0, float("-inf"), 1.0])
    assert filter_logits(logits, top_k=3, top_p=0.99, min_p=0.01).isfinite().tolist() == [True, False, True]


@pytest.mark.parametrize(
    "options",
    [{"temperature": 0.6}, {"top_k": 4}, {"top_p": 0.7}, {"min_p": 0.2}, {"top_k": 7, "top_p": 0.8, "min_p": 0.1}],
)
def test_the_filters_are_those_of_transformers(options):
    library = pytest.importorskip("transformers.generation.logits_process")
    logits = normal(B * T, V) * 2
    names = {
        "temperature": library.TemperatureLogitsWarper,
        "top_k": library.TopKLogitsWarper,
        "top_p": library.TopPLogitsWarper,
        "min_p": library.MinPLogitsWarper,
    }
    theirs = logits
    for name, value in options.items():
        theirs = names[name](value)(None, theirs)
    ours = filter_logits(logits.view(B, T, V), **options)
    assert torch.equal(ours.view(B * T, V), theirs)
    if options.keys() != {"temperature"}:
        assert (ours == float("-inf")).any() and ours.isfinite().any()


def test_the_sampler_draws_with_the_filtered_probabilities():
    choose = sampler(2.0, top_k=3, generator=torch.Generator().manual_seed(0))
    counts = torch.bincount(choose(P.log().expand(20_000, 5)), minlength=5) / 20_000
    expected = filter_logits(P.log(), temperature=2.0, top_k=3).softmax(-1)
    torch.testing.assert_close(counts.double(), expected, atol=0.015, rtol=0)
    assert counts[[0, 2]].tolist() == [0, 0]


def test_temperature_0_is_greedy_and_draws_nothing():
    state = torch.get_rng_state()
    logits = normal(B, V)
    assert torch.equal(sampler()(logits), logits.argmax(-1))
    assert torch.equal(torch.get_rng_state(), state)
    assert torch.equal(sampler(1.0, top_k=1)(logits), logits.argmax(-1))


@pytest.mark.parametrize(
    ("options", "message"),
    [
        ({"temperature": -0.5}, "sampler: temperature=-0.5, expected at least 0"),
        ({"temperature": float("nan")}, "sampler: temperature=nan, expected at least 0"),
        ({"temperature": 1.0, "top_k": 0}, "filter_logits: top_k=0, expected at least 1"),
        ({"temperature": 1.0, "top_p": 0.0}, "filter_logits: top_p=0.0, expected more than 0 and at most 1"),
        ({"temperature": 1.0, "top_p": 1.5}, "filter_logits: top_p=1.5, expected more than 0 and at most 1"),
        ({"temperature": 1.0, "min_p": -0.1}, "filter_logits: min_p=-0.1, expected at least 0 and at most 1"),
        ({"temperature": 1.0, "min_p": 1.1}, "filter_logits: min_p=1.1, expected at least 0 and at most 1"),
        (
            {"temperature": 0.0, "top_k": 5},
            "sampler: temperature=0 takes the likeliest token, but {'top_k': 5} is given for drawing one",
        ),
    ],
)
def test_bad_settings_are_refused_before_the_first_token(options, message):
    with pytest.raises(ValueError) as error:
        sampler(**options)
    assert str(error.value) == message
    if options["temperature"] != 0:
        with pytest.raises(ValueError) as error:
            filter_logits(torch.zeros(5), **options)
        refused_by_both = message.replace("sampler", "filter_logits").replace("at least 0", "more than 0")
        assert str(error.value) in (message, refused_by_both)


@pytest.mark.parametrize("temperature", [1e-6, 1e-40, 1e-300])
@pytest.mark.parametrize("dtype", [torch.bfloat16, torch.float16, torch.float32, torch.float64])
def test_the_lower_the_temperature_the_nearer_to_greedy(temperature, dtype):
    logits = (3 * normal(B, T, V)).to(dtype)
    p = filter_logits(logits, temperature=temperature, top_p=0.9).softmax(-1)
    assert p.isfinite().all() and torch.equal(p.argmax(-1), logits.argmax(-1))
    assert torch.equal(sampler(temperature)(logits[0]), sampler()(logits[0]))


def test_top_p_of_one_keeps_everything():
    logits = torch.tensor([30.0, 20.0, *[0.0] * 50])  # in float32 the first two add up to 1
    assert filter_logits(logits, top_p=1.0).isfinite().all()


# ---- repetition


def test_a_token_that_occurs_is_less_likely_whatever_its_sign():
    logits = torch.tensor([[2.0, -1.0, 0.5, -4.0], [2.0, -1.0, 0.5, -4.0]], dtype=torch.float64)
    ids = torch.tensor([[0, 0, 3], [1, 2, 2]])
    expected = [[1.6, -1.0, 0.5, -5.0], [2.0, -1.25, 0.4, -4.0]]
    assert repetition_penalty(logits, ids, 1.25).tolist() == expected
    assert logits.tolist()[0] == [2.0, -1.0, 0.5, -4.0], "the logits given are untouched"
    assert torch.equal(repetition_penalty(logits, ids, 1.0), logits)


def test_a_penalty_names_ids_that_are_not_in_the_vocabulary():
    with pytest.raises(ValueError, match=r"^repetition_penalty: ids 1 … 4, but the vocabulary has 4$"):
        repetition_penalty(torch.zeros(1, 4), torch.tensor([[1, 4]]), 1.2)


def test_pick_finds_where_the_sum_of_the_probabilities_exceeds_the_number():
    drawn = [pick(P.log(), u) for u in (0.0, 0.099, 0.101, 0.499, 0.501, 0.549, 0.551, 0.849, 0.851, 1 - 2**-53)]
    assert drawn == [0, 0, 1, 1, 2, 2, 3, 3, 4, 4]


@pytest.mark.parametrize("dtype", [torch.bfloat16, torch.float32, torch.float64])
def test_pick_never_draws_what_is_ruled_out_nor_a_token_beyond_the_last(dtype):
    for seed in range(200):
        logits = normal(50, seed=seed).to(dtype)
        logits[[0, 7, 49]] = float("-inf")
        first, last = pick(logits, 0.0), pick(logits, 1 - 2**-53)
        assert first == 1 and last == 48


@pytest.mark.parametrize("u", [1.0, 1.5])
def test_pick_takes_numbers_below_one(u):
    with pytest.raises(ValueError, match=rf"pick: uniform={u}, expected a number from 0 up to, but not including, 1"):
        pick(P.log(), u)
