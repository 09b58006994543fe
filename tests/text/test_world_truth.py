import re

import pytest

from tx_helpers.text.world import little_world
from tx_helpers.text.world_words import FIRMS, NUMBERS, PEOPLE, SENSES, WORDS

GENDER = {person["name"]: person["they"] for person in PEOPLE}
FORMS = {"she": ("she", "they"), "her": ("she", "them"), "he": ("he", "they"), "him": ("he", "them"), "his": ("he", "")}
ALL = little_world()


@pytest.fixture(scope="module")
def truths():
    return [ALL.truth(text) for text in ALL.texts(2500, seed=7)]


def sentences(tokens):
    return re.findall(r"[^.!?]*[.!?]", " ".join(tokens))


def test_spans_and_names_of_mentions(truths):
    for truth in truths:
        assert truth.text == " ".join(truth.tokens)
        starts = [mention.start for mention in truth.mentions]
        assert starts == sorted(set(starts))
        for mention in truth.mentions:
            assert " ".join(truth.tokens[mention.start : mention.end]) == mention.words
            assert (mention.kind == "person") == (mention.words in GENDER or mention.words in FORMS)
            assert (mention.kind == "number") == (mention.words.split()[0] in NUMBERS)
        said = {place for place, word in enumerate(truth.tokens) if word in FORMS or word == "it"}
        assert said == {m.start for m in truth.mentions if m.pronoun}


def meant(truth, pronoun):
    """The entities a pronoun may stand for by grammar alone, the last one first; places are no candidates for "it"."""
    before = [m for m in truth.mentions if m.start < pronoun.start]
    if pronoun.kind != "person":
        return list(dict.fromkeys(m.entity for m in reversed(before) if m.kind not in ("person", "number", "place")))
    gender, form = FORMS[pronoun.words]
    names = {m.entity: m.words for m in truth.mentions if m.words in GENDER}
    fitting = [m for m in reversed(before) if m.kind == "person" and GENDER[names[m.entity]] == gender]
    people = [m for m in before if m.kind == "person"]
    beginning = max([place for place, word in enumerate(truth.tokens[: pronoun.start]) if word in ".!?"], default=-1)
    if form == "them" and pronoun.pronoun == "them" and people and people[-1].start > beginning:
        fitting = [m for m in fitting if m.entity != people[-1].entity]  # nobody helps herself here
    return list(dict.fromkeys(m.entity for m in fitting))


def test_a_pronoun_stands_for_the_last_that_fits_or_meaning_decides(truths):
    by_meaning = {"first": 0, "second": 0}
    for truth in truths:
        for pronoun in truth.mentions:
            if not pronoun.pronoun:
                continue
            candidates = meant(truth, pronoun)
            if not pronoun.by_meaning:
                assert candidates[0] == pronoun.entity, (truth.english, pronoun)
            elif pronoun.kind in ("animal", "place"):
                assert pronoun.entity in ("pet", "road")
                by_meaning["first" if pronoun.entity == "pet" else "second"] += 1
            else:
                assert set(candidates) == {"hero", "friend"}
                by_meaning["first" if pronoun.entity == "hero" else "second"] += 1
            antecedent = truth.antecedent(pronoun)
            assert antecedent.end <= pronoun.start and antecedent.entity == pronoun.entity
            assert pronoun.kind == antecedent.kind
            names = [m.start for m in truth.mentions if m.entity == pronoun.entity and not m.pronoun]
            assert antecedent.start == max(start for start in names if start < pronoun.start)
            if pronoun.kind == "person":
                assert GENDER[antecedent.words] == FORMS[pronoun.words][0]
    assert min(by_meaning.values()) > 100


@pytest.mark.parametrize(
    ("text", "entity"),
    [
        ("today the dog did not cross the river because it was too tired .", "pet"),
        ("the dog did not want to cross the river today : it was too wide .", "road"),
        ("mia thanked ada because she had baked a pizza . then both went to the park .", "friend"),
        ("mia scolded ada because she had broken the cup . then both went to the park .", "friend"),
        ("mia apologised to ada because she had broken the cup . then both went to the park .", "hero"),
        ("ben called max for help because he could not swim . then both went to the park .", "hero"),
        ("ben helped max because he could not swim . then both went to the park .", "friend"),
    ],
)
def test_who_is_meant_where_meaning_decides(text, entity):
    if entity in ("pet", "road"):
        text = f"mia has a dog . it barks every day and eats bones . {text} so mia took the dog home ."
    assert [m.entity for m in ALL.truth(text).mentions if m.by_meaning] == [entity]


def test_senses_are_all_there_and_not_decided_by_the_sentence_alone(truths):
    seen = {}
    for truth in truths:
        for place, sense in truth.senses.items():
            word = truth.tokens[place]
            assert sense in SENSES[word]
            sentence = next(s for s in sentences(truth.tokens) if f" {word} " in f" {s} ")
            pattern = re.sub(rf"\b({'|'.join([*GENDER, 'she', 'he', 'her', 'his', 'him'])})\b", "X", sentence)
            seen.setdefault(word, {}).setdefault(pattern, set()).add(sense)
    assert set(seen) == set(SENSES)
    for word, patterns in seen.items():
        assert set().union(*patterns.values()) == set(SENSES[word]), word
        assert any(len(senses) == 2 for senses in patterns.values()), word


def feeling(tokens):
    """The sentiment of the last feeling that is named, found without the grammar."""
    good = set(WORDS["good"].replace("~", " ").split())
    bad = set(WORDS["bad"].replace("~", " ").split())
    place = max((place for place, word in enumerate(tokens) if word in good | bad), default=None)
    if place is None:
        return None
    before = tokens[place - 2 : place]
    turned = before in (["far", "from"], ["anything", "but"], ["not", "feel"], ["hardly", "felt"])
    return "positive" if (tokens[place] in good) != turned else "negative"


def test_the_sentiment_is_that_of_the_last_feeling(truths):
    told = [(feeling(truth.tokens), truth) for truth in truths if truth.tale != "review"]
    for found, truth in told:
        assert truth.sentiment == (found or "neutral"), truth.english
    counts = [sum(truth.sentiment == label for truth in truths) for label in ("positive", "negative", "neutral")]
    assert min(counts) > 0.2 * len(truths)


@pytest.mark.parametrize(
    ("opinion", "label"),
    [
        ("everybody said that it was good . and mia agreed .", "positive"),
        ("everybody said that it was good . mia did not agree .", "negative"),
        ("everybody said that it was bad . so did mia .", "negative"),
        ("the film , everybody said , was slow . but that was not what mia thought .", "positive"),
        ("at first it was slow , but the end was good .", "positive"),
        ("at first it was good , yet the end was slow .", "negative"),
    ],
)
def test_an_opinion_is_made_of_two_parts(opinion, label):
    assert ALL.truth(f"last friday mia saw a new film . {opinion}").sentiment == label


def test_sums_and_ages_are_right(truths):
    for truth in truths:
        number = {m.entity: NUMBERS.index(m.words.split()[0]) for m in truth.mentions if m.kind == "number"}
        if truth.tale == "market":
            assert number["sum.had"] - number["sum.gave"] == number["sum.left"] > 0
        if truth.tale == "birthday":
            sign = 1 if "older" in truth.tokens else -1
            assert number["age.now"] + sign * number["age.gap"] == number["age.other"] > 0


@pytest.mark.slow
def test_a_paraphrase_means_the_same_and_leads_back(truths):
    for truth in truths[:300]:
        other = ALL.truth(truth.paraphrase)
        assert other.text != truth.text and other.paraphrase == truth.text and other.meaning == truth.meaning
        assert ALL.truth(truth.meaning).meaning == truth.meaning
        assert (other.tale, other.sentiment, set(other.senses.values())) == (
            truth.tale,
            truth.sentiment,
            set(truth.senses.values()),
        )
        names = [{(m.entity, m.kind) for m in one.mentions if m.kind in ("person", "number")} for one in (truth, other)]
        assert names[0] == names[1]
        assert ALL.log_probability(truth.paraphrase) == pytest.approx(ALL.log_probability(truth.text), rel=1e-12)


@pytest.mark.slow
def test_one_changed_word_changes_the_meaning(truths):
    changed = [(truth, ALL.changed(truth.text, seed=seed)) for seed, truth in enumerate(truths[:400])]
    for truth, text in changed:
        if text is not None:
            assert ALL.truth(text).meaning != truth.meaning
            assert ALL.truth(text).tale == truth.tale
    assert sum(text is not None for _, text in changed) > 300


def test_answers_are_said_in_the_text_and_summaries_in_its_words(truths):
    for truth in truths:
        assert truth.summary.endswith(" .") and "{" not in truth.summary
        assert truth.questions
        for question, answer in truth.questions.items():
            assert question.endswith(" ?") and "{" not in question + answer
            assert answer in ("yes", "no", "more money", "less money") or answer.split()[-1] in truth.tokens


def test_a_text_with_all_its_truth():
    text = "mia lost a black ring in the park . ada helped her to look for it . "
    truth = ALL.truth(text + "under the box ada found it , and mia hardly felt sad .")
    assert truth.english == (
        "Mia lost a black ring in the park. Ada helped her to look for it. "
        "Under the box Ada found it, and Mia hardly felt sad."
    )
    assert [(m.words, m.kind, m.entity) for m in truth.mentions if m.pronoun] == [
        ("her", "person", "hero"),
        ("it", "thing", "thing"),
        ("it", "thing", "thing"),
    ]
    assert truth.sentiment == "positive" and truth.summary == "mia lost a ring and got it back ."
    assert truth.paraphrase == (
        "in the park mia lost a black ring . to find it , she asked ada for help . "
        "ada found it under the box , and mia did not feel unhappy ."
    )
    assert truth.questions == {
        "what did mia lose ?": "a ring",
        "who helped mia ?": "ada",
        "where was the ring ?": "under the box",
        "did ada find the ring ?": "yes",
    }


def test_a_firm_is_written_with_a_capital_and_a_fruit_is_not():
    middle = 'could not decide . orange or apple ? slowly she counted to six . " why not apple ? " she said . soon she'
    job = ALL.truth(f"mia {middle} had a new job and was glad .")
    juice = ALL.truth(f"mia {middle} drank a glass of cold juice and was glad .")
    assert set(job.senses.values()) == {"firm"} and set(juice.senses.values()) == {"fruit"}
    assert 'Orange or Apple? Slowly she counted to six. "Why not Apple?" she said. Soon' in job.english
    assert 'Orange or apple? Slowly she counted to six. "Why not apple?" she said. Soon' in juice.english
    assert {firm["one"] for firm in FIRMS} & set(SENSES) == {"apple", "orange"}


def test_no_nonsense(truths):
    """A firm does not ripen, and a pear has no office."""
    for truth in truths:
        kinds = {m.kind for m in truth.mentions}
        words = set(truth.tokens)
        if "firm" in kinds:
            assert not words & {"ripe", "rotten", "tree", "juice", "tasted", "water", "fish"}, truth.english
        if "fruit" in kinds:
            assert not words & {"office", "paid", "sold", "job", "clerk"}, truth.english
