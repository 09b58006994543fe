"""The pictures of the notebook: the seven stops, and your model against counting."""

from tx_helpers.lessons.your_own_model.route import STOPS, route_picture
from tx_helpers.lessons.your_own_model.runs import ORDERS, RECORDED, describe, overtaken, rivals_picture, train_one


def test_the_seven_stops(as_stored):
    picture = route_picture()
    as_stored(route=picture)
    assert all(f"{number}. {name}: {do}" in picture.alt for number, (name, do, _, _) in enumerate(STOPS, 1))


def test_who_is_ahead():
    run = {"steps": [100, 200, 300], "model": [2.0, 0.7, 0.6], "ngrams": {"1": 3.0, "5": 0.65, "8": 0.9}}
    assert overtaken(run) == (300, "5")
    assert overtaken(run | {"model": [2.0, 0.7, 0.65]}) == (0, "5")
    said = describe([run], floor=0.2)
    assert "After 300 steps the model has 0.60" in said and "n = 5 0.65" in said and "from step 300 on" in said


def test_counting_wins_first_and_loses_later_at_every_seed():
    runs = RECORDED.read()["seeds"].values()
    assert [run["steps"] for run in runs] == [list(range(100, 1401, 100))] * 3
    for run in runs:
        assert run["model"][1] > min(run["ngrams"].values()) > run["model"][-1]
    assert "Three seeds." in rivals_picture().alt


def test_a_short_run_has_what_the_picture_needs():
    run = train_one(0, steps=2, every=1)
    assert run["steps"] == [1, 2] and list(run["ngrams"]) == [str(order) for order in ORDERS]
    assert run["ngrams"]["5"] < run["ngrams"]["1"] < run["model"][0]
