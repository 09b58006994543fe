"""The tasks of the tournament: questions, answers, and scores worked out by hand."""

import pytest

from tx_helpers.lessons.families.tasks import TASKS, f1, most_hits, named, task_named, word_accuracy
from tx_helpers.text.world_vocabulary import TASKS as TOKENS
from tx_helpers.text.world_vocabulary import world_tokenizer

TEXT = (
    "zoe lost a white key in the park . ada helped her to look for it . "
    "under the bench ada found it , and zoe was glad ."
)


def test_every_task_of_the_vocabulary_is_there():
    assert set(TASKS) == set(TOKENS)
    assert all(task.name == name and task.token == TOKENS[name] for name, task in TASKS.items())
    with pytest.raises(ValueError, match="task: task='dance', expected one of fill_gap, go_on"):
        task_named("dance")


@pytest.mark.parametrize("name", TASKS)
def test_questions_and_answers_have_known_words_and_right_answers_score_one(name):
    task = TASKS[name]
    given, targets = task.examples(200, split="test", seed=1)
    answers = [task.answer(*pair) for pair in zip(given, targets, strict=True)]
    known = set(world_tokenizer().tokens)
    words = [word for one in given for word in task.question(one)] + [word for words in answers for word in words]
    assert set(words) <= known
    assert max(map(len, answers)) <= task.longest
    assert task.score(given, targets, answers) == 1
    assert task.score(given, targets, [["<unk>"]] * 200) == 0


def test_questions_by_hand():
    assert TASKS["resolve"].question(("ada helped her", 2)) == ["ada", "helped", "<resolve>", "her"]
    assert TASKS["similar"].question(("a b", "c d")) == ["a", "b", "<sep>", "c", "d"]
    assert TASKS["answer"].question("who ?") == ["who", "?"]


def test_answers_by_hand():
    assert TASKS["resolve"].answer((TEXT, 11), 0) == ["zoe"]
    assert TASKS["similar"].answer(("a", "b"), 1) == ["yes"]
    assert TASKS["entities"].answer("zoe has an apple .", ["person", "-", "-", "fruit", "-"]) == [
        *("zoe", "person"),
        *("apple", "fruit"),
    ]
    assert named(["a", "b"], ["-", "thing"]) == ["b", "thing"]


def test_the_share_of_right_answers():
    task = TASKS["answer"]
    given, targets = ["", "", "", ""], ["a b .", "c .", "d .", "e ."]
    answers = [["a", "b", "."], ["c"], ["d", ".", "."], ["e", "."]]
    assert task.score(given, targets, answers) == 0.5
    with pytest.raises(ValueError, match="score of answer: 4 questions, 4 targets, 3 answers; expected as many"):
        task.score(given, targets, answers[:3])


def test_words_right_by_hand():
    right = ["ada", "helped", "mia", "."]
    assert word_accuracy(right, right) == 1
    assert word_accuracy(right, ["ada", "helped", "zoe", "."]) == 0.75  # one replaced
    assert word_accuracy(right, ["ada", "mia", "."]) == 0.75  # one missing: all words behind it count
    assert word_accuracy(right, ["so", "ada", "helped", "mia", "."]) == 0.75
    assert word_accuracy(right, []) == word_accuracy(right, ["no"] * 9) == 0
    task = TASKS["summarise"]
    assert task.score(["", ""], ["a b", "c d"], [["a", "b"], ["c", "b"]]) == 0.75


def test_f1_by_hand():
    right = [["mia", "person", "apple", "fruit"], ["tom", "person"]]
    answers = [["mia", "person", "apple", "firm"], ["tom", "person", "tom", "person", "key"]]
    # 2 hits; 3 pairs are right, 4 were given ("key" has no kind)
    assert f1(right, answers) == pytest.approx(2 * 2 / (3 + 4))
    assert f1([[]], [[]]) == 1
    assert f1(right, [[], []]) == 0


def test_a_rest_counts_if_the_world_could_tell_it():
    task, beginning = TASKS["go_on"], "zoe lost a white key in the park ."
    rest = TEXT.removeprefix(beginning + " ").split()
    other = [("otto" if word == "ada" else word) for word in rest]
    wrong = [("him" if word == "her" else word) for word in rest]
    assert task.score([beginning] * 4, [""] * 4, [rest, other, wrong, rest[:-1]]) == 0.5


def test_guesses_by_hand():
    labels = (["x"] * 4, ["positive", "negative", "positive", "neutral"])
    assert TASKS["sentiment"].guess(["y", "z"], ["positive", "negative"], *labels) == 0.5
    assert TASKS["translate"].guess(["a b", "c d"], ["a b", "c e"], ["e"], ["e"]) == 0.75
    seen = (["apple sold apple", "an apple"], [["firm", "-", "firm"], ["-", "fruit"]])
    assert TASKS["entities"].guess(["apple fell"], [["fruit", "-"]], *seen) == 0  # a firm in two of three places
    assert TASKS["entities"].guess(["apple sold"], [["firm", "-"]], *seen) == 1
    place = TEXT.split().index("her")
    assert TASKS["resolve"].guess([(TEXT, place)], [0], [], []) == 0  # the last name before it is ada


def test_the_exact_probabilities_fill_more_gaps_than_a_guess():
    given, targets = TASKS["fill_gap"].examples(40, split="test", seed=2)
    best = most_hits(given, targets)
    assert TASKS["fill_gap"].guess(given, targets, given, targets) < best < 1
    certain = TEXT.replace("her to", "<mask> to")
    assert most_hits([certain], ["her"]) == 1
