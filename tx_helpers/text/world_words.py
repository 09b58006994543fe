"""The words of the little world, its people and things, and the form of a tale that is told of them.

A record is somebody or something that a tale can be about, with all words that depend on it: what `she` must be, that
lemons are sour and that cats purr. A tale is a small grammar (see `Grammar`). In its rules

    "{hero.name} lost a {thing.one} . ~ a {thing.one} was lost by {hero.name} . | feel=negative"

`~` stands between two ways of saying the same, which are equally likely; exchanging them everywhere paraphrases a text.
What follows `|` is true of a text in which this line was chosen. A slot {city} is a rule, written anew each time;
{hero.name} repeats what the tale's cast holds. Summaries, questions and answers are written with the same slots, and
with what is true: {gist} is what the chosen line says of it.

`it` is the last thing, animal, fruit or firm that was mentioned, `she` and `he` are the last fitting person, with two
exceptions. Places are never meant. And an object ("ada helped her") is never the person who was mentioned last in the
same sentence. {hero.whoever} and {pet.whatever} follow no such rule: there the meaning decides, and a later line says
by `that=` who or what is meant.
"""

from collections.abc import Mapping, Sequence
from types import MappingProxyType
from typing import NamedTuple

Record = Mapping[str, str]


class Tale(NamedTuple):
    """A kind of text: who and what takes part, the rules, and what can be asked."""

    together: dict[str, Sequence[Record]]  # role → records; all combinations, some of which are held out
    rules: dict[str, list[str]]  # the first one is the full text
    kinds: dict[str, str]  # role → kind of entity
    summary: str
    questions: dict[str, str]  # question → answer
    alone: Mapping[str, Sequence[Record]] = MappingProxyType({})  # role → records, drawn independently of the others
    alike: bool = False  # hero and friend are both "she" or both "he"


def _records(fields: str, rows: str) -> list[Record]:
    """The records of a table; "_" in a cell is a space."""
    split = [row.replace("\n", " ").split() for row in rows.split(",")]
    return [dict(zip(fields.split(), [cell.replace("_", " ") for cell in row], strict=True)) for row in split]


def _people(names: str, they: str, them: str, their: str) -> list[Record]:
    one = {"they": they, "them": them, "their": their, "whoever": they}
    return [{"name": name, **one} for name in names.split()]


def _with_it(records: Sequence[Record]) -> list[Record]:
    return [{**record, "it": "it", "whatever": "it"} for record in records]


_NUMBERS = "zero one two three four five six seven eight nine ten eleven twelve thirteen fourteen"
NUMBERS = _NUMBERS.split()
PEOPLE = [
    *_people("mia ada zoe ella nora lucy", "she", "her", "her"),
    *_people("tom max leo ben finn otto", "he", "him", "his"),
]
FRUIT = _with_it(
    _records(
        "one many a taste look",
        """apple apples an sweet red, orange oranges an sweet round, pear pears a sweet green, plum plums a sweet blue,
        lemon lemons a sour yellow, lime limes a sour green, cherry cherries a sweet red,
        peach peaches a sweet round""",
    )
)
FLAVOURS = _with_it(_records("one", "apple, orange, pear, peach"))
FIRMS = _with_it(_records("one goods", "apple phones, orange phones, acme toys, nimbus lamps"))
EITHER = _with_it(_records("one other", "apple orange, orange apple"))
BANK = _with_it(_records("one", "bank"))
WORDS_OF_TWO_SENSES = _with_it(
    _records(
        "one alive used",
        """bat flew_away was_made_of_wood, mouse ran_away had_a_long_cable, crane flew_away could_lift_a_house,
        jaguar climbed_a_tree needed_new_wheels""",
    )
)
PETS = _with_it(
    _records(
        "one sound food",
        """dog barks bones, cat purrs fish, horse neighs hay, duck quacks bread, hen clucks corn, goat bleats leaves,
        donkey brays carrots, pig grunts potatoes""",
    )
)
THINGS = _with_it(_records("one", "ring, key, hat, ball, scarf, coin, watch, cap, book, kite"))
SHOWS = _with_it(_records("one did", "film saw, play saw, opera saw, book read, poem read, song heard, concert heard"))
CITIES = ["paris", "rome", "london", "berlin", "madrid", "vienna", "oslo", "lisbon"]
ROUTES = [{"home": home, "away": away} for home in CITIES for away in CITIES if home != away]
SUMS = [
    {"had": NUMBERS[had], "gave": NUMBERS[gave], "left": NUMBERS[had - gave]}
    for had in range(3, 13)
    for gave in range(1, had)
]
AGES = [
    {
        "now": NUMBERS[now],
        "gap": f"{NUMBERS[gap]} year{'s' * (gap > 1)}",
        "way": way,
        "other": NUMBERS[now + sign * gap],
    }
    for now in range(6, 11)
    for gap, years in enumerate(("year", "years", "years", "years"), start=1)
    for way, sign in (("older", 1), ("younger", -1))
]

# What the meaning of a word with two senses depends on: its kind of entity in each.
SENSES = {
    "apple": ("fruit", "firm"),
    "orange": ("fruit", "firm"),
    "bank": ("place", "firm"),
    "bat": ("animal", "thing"),
    "mouse": ("animal", "thing"),
    "crane": ("animal", "thing"),
    "jaguar": ("animal", "thing"),
}

# Rules whose words are entities.
KINDS_OF_RULES = {
    **dict.fromkeys(("city", "place", "road"), "place"),
    **dict.fromkeys(("flavour", "other_flavour"), "fruit"),
    **dict.fromkeys(("rival", "other_rival"), "firm"),
    "bench": "place",
}

WORDS = {
    "city": " ".join(CITIES),
    "day": "monday tuesday wednesday thursday friday saturday sunday",
    "good": "happy~glad pleased~delighted cheerful~merry",
    "bad": "sad~unhappy angry~furious upset~troubled disappointed",
    "shade": "black grey brown white",
    "strange": "strange~odd beautiful~lovely dirty old~ancient",
    "flavour": "plum lime fig",
    "other_flavour": "cherry lemon",
    "rival": "zelta kordo",
    "other_rival": "norvik tibo",
    "walked": "walked~went hurried~ran drove cycled",
    "still": "quiet~silent empty~deserted crowded~busy",
    "place": "park garden school station kitchen forest library museum",
    "bench": "bench table chair box bag coat",
    "road": "road street river field path",
    "tired": "tired~weary hungry scared~afraid lazy sick~ill",
    "wide": "wide~broad dangerous~risky icy~frozen muddy",
    "morning": "morning evening~night day",
    "job": "driver writer cook designer clerk",
    "dull": "dull~boring bad~poor slow silly",
    "great": "great~wonderful good~fine funny~amusing clever~witty",
    "yet": "but~yet",
    "train": "train bus plane",
    "hours": "two three four five six seven eight nine",
    "cup": "cup~mug plate lamp window vase",
    "cake": "cake pizza bread cheese~butter",
    "task": "sleep swim drive cook",
}

# Rules that several tales share.
SHARED = {
    "felt_good": ["was {very_good} ~ felt {very_good}", "did not feel {bad} ~ hardly felt {bad}"],
    "felt_bad": ["was {very_bad} ~ felt {very_bad}", "did not feel {good} ~ hardly felt {good}"],
    "very_good": ["{good}", "far from {bad} ~ anything but {bad}"],
    "very_bad": ["{bad}", "far from {good} ~ anything but {good}"],
    "think": [
        "for a long time {hero.they} could not make up {hero.their} mind . ~ choosing was hard for {hero.them} .",
        "{hero.they} took {hero.their} time and counted to {hours} . ~ slowly {hero.they} counted to {hours} .",
    ],
    "choose": [
        "in the end {hero.they} chose {pick.one} . ~ at last {hero.they} went for {pick.one} .",
        '" why not {pick.one} ? " {hero.they} said . ~ then {hero.they} said : " {pick.one} , please . "',
        "{hero.they} heard that {pick.one} was the best . ~ somebody told {hero.them} that {pick.one} was the best .",
    ],
    "verdict": [
        "{right} , and {hero.they} {felt_good} . | feel=positive",
        "{wrong} , and {hero.they} {felt_bad} . | feel=negative",
    ],
    "right": ["a good choice ~ a good idea"],
    "wrong": ["a mistake ~ the wrong choice"],
}
