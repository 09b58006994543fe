"""Little stories, as many as you like, for which the smallest possible loss of a model is known.

The hero, a friend, the thing it lost and a sum in fruit are the cast of a `Grammar`: the whole story refers to them, so
a model must remember who "she" is, what was lost and how many are left. Everything else is drawn word by word.

In a stream of independent stories the entropy per character is E[−ln p] / E[length], the "conservation of entropy" for
prefix-free codewords (Timo, Blackmore and Hanlen 2009, arXiv:0904.3778), and no model has a lower expected loss. A
model can reach this floor if it sees the whole story so far. With a shorter context, or at the beginning of a window
cut out of the stream, it must guess what it cannot see, and its loss is higher.
"""

import math
from functools import cache

from tx_helpers.nn.arguments import check_numbers, described
from tx_helpers.text.grammar import Alternatives, Grammar

END = "\n\n"  # a blank line ends every story, and counts as its last two characters

SENTENCES: dict[str, Alternatives] = {
    "story": ["{opening} {likes} {meeting} {loss} {gift} {search} {find} {evening}" + END],
    "opening": {
        "{hero.name} the {mood} {animal} lived in a {look} {colour} {home} by the {mill}.": 3,
        "In a {look} {colour} {home} by the {mill} lived {hero.name}, a {mood} {animal}.": 2,
        "Once a {mood} {animal} named {hero.name} had a {look} {colour} {home}.": 1,
    },
    "likes": {
        "{hero.They} {drew} {colour} {things} and ate {taste} {food}.": 3,
        "{hero.name} loved {taste} {food}, {colour} {things} and {sound} {songs}.": 2,
    },
    "meeting": {
        "One {wet} {day} {hero.they} {bought} {sum.had} {fruit.many} and met a {mood} {friend.kind}.": 2,
        "A {mood} {friend.kind} came as {hero.they} {bought} {sum.had} {fruit.many} one {wet} {day}.": 1,
    },
    "loss": {
        '"I lost my {look} {lost.thing}!" it {wept}.': 2,
        "It {wept} for its {look} {lost.thing}.": 1,
    },
    "gift": {
        "{hero.name} gave the {friend.kind} {sum.gave} and kept {sum.left}.": 2,
        '"Eat {sum.gave} {fruit.many}," said {hero.name} and kept {sum.left}.': 1,
    },
    "search": {
        "They ran to {place}, {place} and {place}.": 2,
        "Off to {place} they went, then to {place}.": 1,
    },
    "find": ["The {lost.thing} {lay} {under} a {look} {colour} {bench}!"],
    "evening": {
        "They {danced}, {yawned} and ate {taste} {food}.": 2,
        "Both {danced} and {yawned} until the {moon} came.": 1,
    },
    "place": ["a {dark} {barn}"],
}
WORDS = {
    "mood": """shy bold calm kind sad glad proud merry sleepy tiny brave gentle lazy polite quiet witty grumpy clever
        noisy jolly fussy timid wild vain curious lonely""",
    "animal": """fox mouse otter mole cat dog pig frog duck bee lynx panda koala seal tiger zebra rat lion horse yak
        kitten rabbit badger hedgehog""",
    "look": """big tiny round long wet broken shiny wooden dusty rusty lucky crooked soft striped heavy cracked
        painted plain new hollow smooth magic leaky neat""",
    "colour": "red blue green pink black white brown grey gold purple yellow silver",
    "home": """hut barn boot tent shed castle barge cabin nest jar pot cave van tree box mug teapot wagon basket
        pumpkin""",
    "mill": """mill river lake forest hill pond harbour school garden sea moor well village meadow station road bridge
        market fountain beach""",
    "drew": "drew made sewed built found sold fixed hid chased painted counted polished",
    "things": """ships kites boots bells drums lamps cups caps flags rugs pens masks dolls wheels maps clouds roses
        socks trains shells beads spoons toys fans buttons ribbons candles marbles""",
    "taste": """sweet sour hot cold salty spicy warm burnt crisp sticky fresh dry juicy smoky creamy tangy minty
        buttery""",
    "food": """pies cakes nuts cheese buns soup beans tarts bread rice jam stew honey fish corn fudge toast ham leeks
        mints noodles pudding waffles turnips""",
    "sound": "slow silly loud sweet funny old sad soft merry secret gentle wild",
    "songs": "songs poems jokes tunes tales plays hymns riddles dances rhymes",
    "wet": "wet dry windy rainy foggy sunny misty chilly mild bright grey warm hazy dull frosty snowy stormy cloudy",
    "day": "morning noon Monday Tuesday Wednesday Thursday Friday Saturday Sunday",
    "bought": "bought picked found sold packed washed dropped carried",
    "wept": "wept cried sighed sobbed moaned sniffed wailed howled squeaked mumbled",
    "dark": """dark cold deep damp gloomy misty windy noisy secret sandy locked steamy quiet haunted muddy bright
        narrow foggy crowded flooded frosty silent""",
    "barn": """barn cellar tower tunnel kitchen ditch maze drain shop park temple tavern jungle crypt wood mine zoo
        fort pier cave well market pantry museum theatre""",
    "lay": "lay sat hung hid stood shone waited rested",
    "under": "under behind inside beside above below",
    "bench": """bench kettle rock bush statue ladder fern log clock piano sofa bucket gate cabbage chest pillow stove
        plum barrel curtain toadstool bathtub""",
    "danced": "danced giggled hummed skipped bowed sneezed hugged clapped fished sang whistled juggled drummed",
    "yawned": "yawned skated napped waltzed snored laughed swam rested chatted cheered splashed wrestled knitted",
    "moon": "moon stars sun owls bats snow rain",
}
NAMES = {
    "she": "Mia Nora Lily Ada Zoe Ruby Ella Iris Bess Fern Wanda Tilly",
    "he": "Finn Otto Max Leo Hugo Theo Sam Ben Kip Gus Jasper Rufus",
}
FRIENDS = "goose toad crow hen swan bear wolf lamb goat pony snail robin newt moth moose owl turtle raven heron donkey"
LOST = """hat scarf key ring map purse comb glove drum lantern mirror fiddle letter coin watch shawl whistle blanket
    teddy bell"""
FRUIT = "plums apples figs grapes lemons melons pears dates onions eggs limes peas cherries acorns berries peaches"
COUNTS = ["zero", "one", "two", "three", "four", "five", "six", "seven", "eight", "nine"]

CAST = {
    "hero": [
        {"name": name, "they": they, "They": they.capitalize()}
        for they, names in NAMES.items()
        for name in names.split()
    ],
    "friend": [{"kind": word} for word in FRIENDS.split()],
    "lost": [{"thing": word} for word in LOST.split()],
    "fruit": [{"many": word} for word in FRUIT.split()],
    "sum": [
        {"had": COUNTS[had], "gave": COUNTS[gave], "left": COUNTS[had - gave]}
        for had in range(3, 10)
        for gave in range(2, had)
    ],
}


@cache
def story_grammar() -> Grammar:
    """The grammar of the stories: `read` says how far a text is one, and where it goes wrong."""
    return Grammar(SENTENCES | {name: words.split() for name, words in WORDS.items()}, CAST)


def stories(count: int, *, seed: int = 0) -> str:
    """`count` independent stories as one text, each ended by a blank line."""
    check_numbers("stories", least=1, whole=True, count=count)
    check_numbers("stories", whole=True, seed=seed)
    return "".join(story_grammar().texts(count, seed=seed))


def story_log_probability(story: str) -> float:
    """ln p of a story, with or without the blank line at its end; −∞ if the grammar does not write it."""
    if not isinstance(story, str):
        raise ValueError(f"story_log_probability: story is {described(story)}, expected a str")
    return story_grammar().log_probability(story.strip("\n") + END)


def entropy_per_story(base: float = math.e) -> float:
    """Exact mean of −log p of a story: in nats, or with base=2 in bits."""
    return story_grammar().entropy(base)


def mean_length() -> float:
    """Exact mean number of characters of a story, the blank line at its end included."""
    return story_grammar().mean_length()


def entropy_per_character(base: float = math.e) -> float:
    """The floor under the loss per character of a stream of stories: in nats, or with base=2 in bits."""
    return entropy_per_story(base) / mean_length()
