"""What is recorded of adapting: its form, what holds by construction, a slice trained again, the explorers."""

import pytest
import torch

from tx_helpers.lessons.adapting import distil, drift, facts, few_labels, forgetting, scored
from tx_helpers.lessons.adapting.pictures import pair_picture, written
from tx_helpers.lessons.adapting.recorded_explorers import (
    NAMES,
    describe_drift,
    describe_forgetting,
    drift_explorer,
    forgetting_explorer,
    means,
)
from tx_helpers.nn.config import TransformerConfig
from tx_helpers.nn.models import DecoderOnly
from tx_helpers.text.data import BOS, PAD, text_batch
from tx_helpers.text.world_vocabulary import END, world_id, world_tokenizer
from tx_helpers.zoo.world_chat import chats


def small_decoder():
    torch.manual_seed(0)
    return DecoderOnly(TransformerConfig(len(world_tokenizer()), d_model=32, n_layers=1, pad_id=PAD)).eval()


def test_each_run_has_all_its_steps_and_begins_where_the_others_of_its_seed_begin():
    for module, of_each in ((drift, [f"{beta:g}" for beta in drift.BETAS]), (forgetting, list(forgetting.WAYS))):
        table = module.recorded()
        assert list(table["runs"]) == of_each
        steps = list(range(0, module.STEPS + 1, module.EVERY))
        for place in range(len(module.SEEDS)):
            runs = [table["runs"][name][place] for name in of_each]
            assert all([found["step"] for found in run] == steps for run in runs)
            assert all(run[0] == runs[0][0] for run in runs)


def test_the_other_records_have_a_number_for_each_seed():
    table = scored.recorded()
    assert [list(map(len, table[choice].values())) for choice in scored.CHOICES] == [[3, 3, 3, 3]] * 3
    assert min(table["longer"]) > max(table["answers and <end>"]["right"]) - 0.1
    table = distil.recorded()["loss"]
    assert {len(found) for by_texts in table.values() for found in by_texts.values()} == {len(distil.SEEDS)}
    assert list(table) == list(distil.WAYS) and all(
        list(way) == [str(n) for n in distil.TEXTS] for way in table.values()
    )
    table = facts.recorded()
    assert len(table["before"]) == len(table["after"]) == len(table["seeds"]) == len(facts.SEEDS)
    table = few_labels.recorded()
    assert [len(table["prompted"][str(shots)]) for shots in few_labels.SHOTS] == [len(few_labels.SEEDS)] * 2
    assert {*map(len, table["ranks"].values()), len(table["all_maps"]["right"])} == {len(few_labels.SEEDS)}
    assert few_labels.best_rate(table["all_maps"]["rates"]) == few_labels.SLOWER
    assert all(few_labels.best_rate(rates) == few_labels.BEST[way] for way, rates in table["rates"].items())
    assert table["all_maps"]["trained"] == few_labels.learn("lora", 10, steps=2, put=few_labels.beside_all).trained
    assert list(table["ranks"]) == list(table["rank_rates"]) == [str(rank) for rank in few_labels.RANKS]
    assert [float(rate) for rate in table["rates"]["lora"]] == list(few_labels.RATES)
    assert not set(table["seeds"]) & set(table["tuning_seeds"]) and table["made"]


def test_an_untrained_model_knows_no_pet_and_teaching_leaves_it_alone():
    owners, model = facts.pet_owners(seed=3), small_decoder()
    before = [parameter.clone() for parameter in model.parameters()]
    assert sorted(owners) == sorted(facts.PEOPLE) and sorted(owners.values()) == sorted(facts.PETS)
    taught = facts.teach(model, owners, steps=2)
    assert all(map(torch.equal, before, model.parameters()))
    assert not all(map(torch.equal, before, taught.parameters()))
    assert set(facts.share_known(taught, owners)) == set(facts.recorded()["after"][0])


def test_a_row_in_ten_is_an_old_one_in_rehearsal_alone():
    new, old = (forgetting.mixed_batches(way, seed=0)(0).input.tolist() for way in ("whole", "rehearsal"))
    assert len(new) == len(old) == forgetting.BATCH
    asks = [["what was said ?" in world_tokenizer().decode(row) for row in rows] for rows in (new, old)]
    assert all(asks[0]) and asks[1].count(False) == forgetting.OLD


def test_habits_by_hand(monkeypatch):
    asked = chats(2, split="test", kinds=["answer"])
    first, second = (chat[1]["content"].split() for chat in asked)
    said = [[*first, END], ["<pad>"] * len(second) + ["x"]]
    monkeypatch.setattr(scored, "written", lambda model, chats: said)
    words = (len(said[0]) + len(said[1])) / 2
    assert scored.habits(None, asked) == {"right": 0.5, "stops": 0.5, "words": words, "strange": 1.0}


def test_what_is_written_ends_with_the_first_end():
    rows = scored.written(small_decoder(), chats(3, kinds=["answer"]), longest=5)
    assert all(0 < len(row) <= 5 and END not in row[:-1] for row in rows)
    assert world_tokenizer().tokens[world_id(END)] == END


def test_the_soft_loss_is_least_where_student_and_teacher_agree():
    teacher, other = small_decoder(), distil.new_student(1)
    ids, target = forgetting.plain_rows(1)[0]
    batch = text_batch([(ids, target)])
    found = distil.soft_loss(teacher, teacher, batch)
    log_p = teacher(batch.input).log_softmax(-1)
    assert found.item() == pytest.approx(-(log_p.exp() * log_p).sum(-1).mean().item(), rel=1e-4)
    assert found < distil.soft_loss(teacher, other, batch)
    with pytest.raises(ValueError, match="distil: way='x', expected"):
        distil.distil("x", 1)


def test_what_the_teacher_writes_is_read_from_its_beginning():
    inputs, targets = distil.written_rows(small_decoder(), 2)[0]
    assert inputs[0] == BOS and inputs[1:] == targets[:-1] and PAD not in targets


def test_the_picture_of_a_pair_says_its_margin_and_its_loss():
    alt = pair_picture(-22.0, -30.0, -21.0, -21.0, beta=0.25).alt  # gains -1 and -9: a margin of 8
    assert "= 8.0 nats, β · margin = 2.00" in alt and "σ = 0.88, loss −ln σ = 0.13" in alt
    with pytest.raises(ValueError, match="pair_picture: better=1, expected at most 0"):
        pair_picture(1, -1, -1, -1, beta=0.1)
    assert "<b>" not in written([("a <b>", {"who": "said"})], alt="a prompt and what was said").markup()


def test_the_explorers_follow_their_controls():
    explorer = drift_explorer()
    assert explorer.summary == describe_drift(drift.recorded(), "0.1")
    explorer.set(beta="2")
    assert explorer.summary.startswith("β = 2, before → after 40 steps: ")
    explorer = forgetting_explorer()
    for way in NAMES:
        explorer.set(way=way, old="loss")
        assert explorer.summary == describe_forgetting(forgetting.recorded(), way)
    assert explorer.shown[0].count("<polyline") == len(NAMES)


def test_means_are_those_of_the_seeds():
    runs = [[{"step": 0, "new": 0.0}, {"step": 5, "new": 0.5}], [{"step": 0, "new": 0.5}, {"step": 5, "new": 1.0}]]
    assert means(runs) == {"step": [0, 5], "new": [0.25, 0.75]}


@pytest.mark.thorough
@pytest.mark.parametrize(("way", "labels"), [("whole", 100), ("lora", 30), ("frozen", 1000), ("scratch", 10)])
def test_a_slice_of_the_few_labels_is_found_again(way, labels):
    """Bits differ between processors: a few of the 200 test texts may fall on the other side."""
    kept = few_labels.recorded()["scores"]["steps"][way][str(labels)][0]
    assert few_labels.learn(way, labels, seed=0).score == pytest.approx(kept, abs=0.06)


@pytest.mark.thorough
def test_lora_beside_all_maps_is_found_again():
    found = few_labels.learn("lora", 100, rate=few_labels.SLOWER, put=few_labels.beside_all, seed=0).score
    assert found == pytest.approx(few_labels.recorded()["all_maps"]["right"][0], abs=0.06)


@pytest.mark.thorough
def test_a_slice_of_the_other_records_is_found_again():
    tuned, owners = forgetting.chat_model(0), facts.pet_owners(0)
    assert facts.share_known(tuned, owners)["sentence"] < 0.3
    assert facts.share_known(facts.teach(tuned, owners), owners)["sentence"] > 0.8
    found = drift.follow(0.1, tuned, steps=20)
    kept = drift.recorded()["runs"]["0.1"][0]
    assert found[0]["better"] == pytest.approx(kept[0]["better"], abs=1) and found[-1]["better"] < found[0]["better"]
    assert forgetting.follow("rehearsal", tuned)[-1]["old"] > 0.15 > forgetting.follow("whole", tuned)[-1]["old"]
