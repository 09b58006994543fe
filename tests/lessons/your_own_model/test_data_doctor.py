"""The data doctor gives no alarm on healthy data, and finds what is planted in them."""

import pytest

from repository import ROOT
from tx_helpers.lessons.your_own_model.data_doctor import data_doctor, garbled
from tx_helpers.lessons.your_own_model.sets import chat_pairs, story_text, time_split

TEXT, HELD = story_text(120_000), story_text(10_000, seed=7)
PAIRS, HELD_PAIRS = time_split()
HEALTHY = ["CONTRIBUTING.md", "TEACHING.md", "docs/processes.md"]


@pytest.mark.parametrize("seed", range(3))
def test_the_three_sets_get_no_alarm(seed):
    text = story_text(seed=seed)
    cut = text.index("\n\n", 180_000)
    chats = chat_pairs(3000, seed), chat_pairs(300, seed, split="test")
    for train, held_out in ((text[:cut], text[cut:]), time_split(seed), chats):
        assert data_doctor(train, held_out).of("right") == [
            *("duplicates", "leaks", "rare", "encodings", "little", "lines")
        ]


@pytest.mark.parametrize("name", HEALTHY)
def test_a_healthy_text_has_no_fault_but_that_it_is_short(name):
    text = (ROOT / name).read_text(encoding="utf-8")
    cut = text.index("\n", int(0.9 * len(text)))
    assert set(data_doctor(text[:cut], text[cut:]).wrong) <= {"little", "rare"}


PLANTED = {
    "duplicates": [(TEXT + TEXT[:20_000], HELD), (TEXT + TEXT[:20_000].upper(), HELD)],
    "leaks": [(TEXT, TEXT[:5_000]), (TEXT, HELD + TEXT[:2_000].replace(",", "").replace(".", "!"))],
    "rare": [(TEXT, HELD + "ß")],
    "encodings": [
        (TEXT + 9 * "\ufffd", HELD), (TEXT + "schÃ¶n, fÃ¼r", HELD), (TEXT + "\x1b[31m", HELD),
        (TEXT[:60_000].replace("\n", "\r\n") + TEXT[60_000:], HELD),
    ],
    "little": [(TEXT[:19_000], TEXT[19_000:25_000])],
    "lines": [(TEXT.replace("\n", " "), HELD.replace("\n", " "))],
}  # fmt: skip
PLANTED_PAIRS = {
    "duplicates": [(PAIRS + PAIRS[:300], HELD_PAIRS)],
    "leaks": [(PAIRS + HELD_PAIRS[:30], HELD_PAIRS)],
    "rare": [(PAIRS, [*HELD_PAIRS, ("at ñ", "05:00")])],
    "encodings": [([*PAIRS, ("Ã¼ber", "05:00")], HELD_PAIRS)],
    "little": [(PAIRS[:150], HELD_PAIRS)],
    "lines": [([*PAIRS, ("noon", " ")], HELD_PAIRS)],
}


@pytest.mark.parametrize(
    "fault, train, held_out",
    [(fault, *data) for table in (PLANTED, PLANTED_PAIRS) for fault, all_of in table.items() for data in all_of],
)
def test_what_is_planted_is_found_and_nothing_else(fault, train, held_out):
    report = data_doctor(train, held_out)
    assert report.wrong == [fault]
    finding = report[fault]
    assert finding.figure and finding.causes and finding.advice and "{" not in str(finding)


def test_rare_characters_are_listed():
    report = data_doctor(TEXT + "ñññ é", HELD)
    assert report.wrong == [] and report.of("look") == ["rare"]
    assert "'é', 'ñ'" in report["rare"].figure


def test_accents_are_not_garbled():
    assert garbled("Ähre, São, NÃO, Ærø, “so”, naïve… Ångström 你好 «été»") == []
    assert garbled("fÃ¼r â€œsoâ€¦") == ["Ã¼", "â€œ", "â€¦"]


def test_a_text_beside_pairs_is_refused():
    with pytest.raises(ValueError, match="two texts or two lists of pairs"):
        data_doctor(TEXT, HELD_PAIRS)
    with pytest.raises(ValueError, match="held_out is empty"):
        data_doctor(TEXT, "")
