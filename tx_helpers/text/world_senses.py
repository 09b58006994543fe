"""Tales of the little world in which a word has two senses, and what comes before or after decides which.

The words beside it are the same in both senses: "in the end she chose apple" is said of a cake and of an employer.
"""

from tx_helpers.text.world_words import (
    BANK,
    EITHER,
    FIRMS,
    FLAVOURS,
    FRUIT,
    PEOPLE,
    WORDS_OF_TWO_SENSES,
    Tale,
)

TALES_OF_SENSES = {
    "cafe": Tale(
        {"hero": PEOPLE, "pick": FLAVOURS},
        {
            "text": ["{wish} {wait} {choose} {after}"],
            "wish": ["{hero.name} sat in a cafe and wanted {treat} . ~ in a cafe {hero.name} asked for {treat} ."],
            "treat": ["some juice", "an ice cream", "a piece of cake ~ some cake", "a cup of tea ~ some tea"],
            "wait": ["{offer} {think}", "{think}"],
            "offer": [
                "there was {flavour} , {other_flavour} or {pick.one} . "
                "~ the choice was {flavour} , {other_flavour} or {pick.one} ."
            ],
            "after": ["that was {verdict}", "{pick.it} tasted {tasted}"],
            "tasted": [
                "fresh and sweet , and {hero.they} {felt_good} . | feel=positive",
                "of soap , and {hero.they} {felt_bad} . | feel=negative",
            ],
        },
        {"hero": "person", "pick": "fruit"},
        "{hero.name} chose {pick.one} in a cafe .",
        {"what did {hero.name} choose ?": "{pick.one}", "who was in a cafe ?": "{hero.name}"},
    ),
    "job": Tale(
        {"hero": PEOPLE, "pick": FIRMS},
        {
            "text": ["{wish} {wait} {choose} {after}"],
            "wish": [
                "{hero.name} looked for a job in {city} . ~ in {city} {hero.name} tried to find a job .",
            ],
            "wait": ["{offer} {think}", "{think}"],
            "offer": [
                "there was {rival} , {other_rival} or {pick.one} . "
                "~ the choice was {rival} , {other_rival} or {pick.one} ."
            ],
            "after": ["that was {verdict}", "{pick.it} paid {paid}"],
            "paid": [
                "very well , and {hero.they} {felt_good} . | feel=positive",
                "next to nothing , and {hero.they} {felt_bad} . | feel=negative",
            ],
        },
        {"hero": "person", "pick": "firm"},
        "{hero.name} chose {pick.one} for a job .",
        {"what did {hero.name} choose ?": "{pick.one}", "where did {hero.name} look ?": "in {city}"},
    ),
    "decide": Tale(
        {"hero": PEOPLE, "pick": EITHER},
        {
            "text": ["{hero.name} could not decide . {offer} {think} {choose} {after}"],
            "offer": ["{pick.other} or {pick.one} ? ~ should {hero.they} take {pick.other} or {pick.one} ?"],
            "after": ["soon {hero.they} {later} ~ before long {hero.they} {later}"],
            "later": [
                "drank a glass of cold juice and {felt_good} . | feel=positive | sense=fruit",
                "threw the cake away and {felt_bad} . | feel=negative | sense=fruit",
                "had a new job and {felt_good} . | feel=positive | sense=firm",
                "lost the new job and {felt_bad} . | feel=negative | sense=firm",
            ],
        },
        {"hero": "person", "pick": "{sense}"},
        "{hero.name} chose {pick.one} and not {pick.other} .",
        {"what did {hero.name} choose ?": "{pick.one}", "who could not decide ?": "{hero.name}"},
    ),
    "bank": Tale(
        {"hero": PEOPLE, "friend": PEOPLE},
        {
            "text": [
                "{hero.name} wanted to {plan}",
                "one {day} {hero.name} {walked} to the {bank.one} . {there} {shown}",
            ],
            "plan": [
                "{wet} . {went} {there} {after} | sense=place | gist=to {wet}",
                "{money} . {went} {there} {after} | sense=firm | gist=to {money}",
            ],
            "wet": ["swim ~ bathe", "catch some fish ~ catch a fish", "row a boat"],
            "money": ["save some money ~ put some money aside", "pay a bill", "borrow some money"],
            "went": [
                "so {hero.they} {walked} to the {bank.one} . ~ that is why {hero.they} {walked} to the {bank.one} ."
            ],
            "there": [
                "the {bank.one} was {still} , and {friend.name} was there , too . "
                "~ {friend.name} was there , too , and the {bank.one} was {still} ."
            ],
            "after": ["both stayed for {hours} hours . ~ {hours} hours later both went home ."],
            "shown": [
                "the water was {water} . | sense=place",
                "the clerk was {clerk} . | sense=firm",
            ],
            "water": [
                "warm , and {hero.name} {felt_good} | feel=positive",
                "full of mud , and {hero.name} {felt_bad} | feel=negative",
            ],
            "clerk": [
                "polite , and {hero.name} {felt_good} | feel=positive",
                "rude , and {hero.name} {felt_bad} | feel=negative",
            ],
        },
        {"hero": "person", "friend": "person", "bank": "{sense}"},
        "{hero.name} and {friend.name} were at the bank .",
        {"who was at the bank with {hero.name} ?": "{friend.name}", "why did {hero.name} go to the bank ?": "{gist}"},
        alone={"bank": BANK},
    ),
    "creature": Tale(
        {"hero": PEOPLE, "friend": PEOPLE, "what": WORDS_OF_TWO_SENSES},
        {
            "text": ["{hero.name} {loves}", "{brought} {look} {stare} {then}"],
            "loves": ["likes {hobby} ~ is fond of {hobby}"],
            "hobby": [
                "animals . {showed} {look} {stare} {keep} | sense=animal",
                "tools and machines . {showed} {look} {stare} {keep} | sense=thing",
            ],
            "showed": [
                "{friend.name} showed {hero.name} a {what.one} . "
                '~ " look , a {what.one} ! " said {friend.name} to {hero.name} .',
            ],
            "brought": [
                "one {day} {friend.name} showed {hero.name} a {what.one} . "
                "~ last {day} {friend.name} showed {hero.name} a {what.one} .",
            ],
            "look": ["the {what.one} was {shade} and {strange} . ~ how {strange} and {shade} the {what.one} was !"],
            "stare": [
                "{hero.name} looked at {what.it} for a {long} . ~ for a {long} {hero.name} looked at {what.it} ."
            ],
            "long": ["long time ~ good while"],
            "keep": [
                '" may i keep the {what.one} ? " {hero.they} asked . '
                '~ {hero.they} asked : " may i keep the {what.one} ? "'
            ],
            "then": ["then {what.it} {what.alive} . | sense=animal", "in fact {what.it} {what.used} . | sense=thing"],
        },
        {"hero": "person", "friend": "person", "what": "{sense}"},
        "{friend.name} showed {hero.name} a {what.one} .",
        {"what did {friend.name} show {hero.name} ?": "a {what.one}", "who looked at the {what.one} ?": "{hero.name}"},
    ),
    "firm": Tale(
        {"hero": PEOPLE, "firm": FIRMS},
        {
            "text": ["{office} {makes} {works} {news}"],
            "office": [
                "in {city} there is an office of {firm.one} . ~ {firm.one} has an office in {city} .",
            ],
            "makes": ["{firm.it} makes {firm.goods} . ~ {firm.goods} are what {firm.it} makes ."],
            "works": ["{hero.name} works there as a {job} . ~ a {job} named {hero.name} works there ."],
            "news": ["this year {firm.one} sold {sales} . ~ today {hero.they} heard that {firm.one} sold {sales} ."],
            "sales": [
                "many {firm.goods} , so {hero.they} got more money and {felt_good} | feel=positive | gist=more money",
                "no {firm.goods} , so {hero.they} got less money and {felt_bad} | feel=negative | gist=less money",
            ],
        },
        {"hero": "person", "firm": "firm"},
        "{hero.name} works for {firm.one} and got {gist} .",
        {
            "where does {hero.name} work ?": "in {city}",
            "who makes {firm.goods} ?": "{firm.one}",
            "what did {hero.name} get ?": "{gist}",
        },
    ),
    "garden": Tale(
        {"hero": PEOPLE, "fruit": FRUIT},
        {
            "text": ["{tree} {fell} {ate}"],
            "tree": [
                "in {hero.name} 's garden there is {fruit.a} {fruit.one} tree . "
                "~ {hero.name} has a garden with {fruit.a} {fruit.one} tree .",
            ],
            "fell": [
                "last {day} {fruit.a} {fruit.one} fell on {hero.their} head . "
                "~ {fruit.a} {fruit.one} fell on {hero.their} head last {day} .",
            ],
            "ate": [
                "{hero.they} tried {fruit.it} : {fruit.it} was {state} . "
                "~ when {hero.they} tried {fruit.it} , {fruit.it} was {state} ."
            ],
            "state": [
                "ripe and {fruit.taste} , and {hero.they} {felt_good} | feel=positive | gist=ripe",
                "old and rotten , and {hero.they} {felt_bad} | feel=negative | gist=rotten",
            ],
        },
        {"hero": "person", "fruit": "fruit"},
        "{fruit.a} {fruit.one} fell on {hero.name} 's head , and {fruit.it} was {gist} .",
        {
            "what fell on {hero.name} 's head ?": "{fruit.a} {fruit.one}",
            "when did the {fruit.one} fall ?": "last {day}",
        },
    ),
}
