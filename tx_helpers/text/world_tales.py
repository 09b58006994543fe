"""Tales of the little world: lost things, birthdays, trips, and who was sorry."""

from tx_helpers.text.world_words import (
    AGES,
    FRUIT,
    PEOPLE,
    PETS,
    ROUTES,
    SHOWS,
    SUMS,
    THINGS,
    Tale,
)

TALES = {
    "market": Tale(
        {"hero": PEOPLE, "friend": PEOPLE, "fruit": FRUIT},
        {
            "text": ["{buy} {give} {left} {tried}"],
            "buy": [
                "{hero.name} went to the market and bought {sum.had} {fruit.many} . "
                "~ at the market {hero.name} bought {sum.had} {fruit.many} .",
                "one {day} {hero.name} left the market with {sum.had} {fruit.look} {fruit.many} . "
                "~ when {hero.name} left the market one {day} , {sum.had} {fruit.look} {fruit.many} were in the bag .",
            ],
            "give": [
                "{hero.they} gave {sum.gave} to {friend.name} . "
                "~ {sum.gave} of the {fruit.many} were for {friend.name} .",
                "{friend.name} was hungry , so {hero.name} gave {friend.them} {sum.gave} . "
                "~ because {friend.name} was hungry , {hero.name} gave {friend.them} {sum.gave} .",
            ],
            "left": ["now {hero.name} had {sum.left} left . ~ that left {hero.name} with {sum.left} ."],
            "tried": ["the {fruit.many} were {state} . ~ {hero.they} found that the {fruit.many} were {state} ."],
            "state": [
                "ripe and {fruit.taste} , and {hero.they} {felt_good} | feel=positive",
                "old and rotten , and {hero.they} {felt_bad} | feel=negative",
            ],
        },
        {"hero": "person", "friend": "person", "fruit": "fruit", "sum": "number"},
        "{hero.name} bought {sum.had} {fruit.many} and gave {friend.name} {sum.gave} .",
        {
            "how many {fruit.many} did {hero.name} keep ?": "{sum.left}",
            "who got {sum.gave} of the {fruit.many} ?": "{friend.name}",
            "what did {hero.name} buy ?": "{fruit.many}",
        },
        alone={"sum": SUMS},
    ),
    "lost": Tale(
        {"hero": PEOPLE, "friend": PEOPLE, "thing": THINGS},
        {
            "text": ["{lose} {help} {result}"],
            "lose": [
                "{hero.name} lost a {shade} {thing.one} in the {place} . "
                "~ in the {place} {hero.name} lost a {shade} {thing.one} .",
            ],
            "help": [
                "{friend.name} helped {hero.them} to look for {thing.it} . "
                "~ to find {thing.it} , {hero.they} asked {friend.name} for help .",
            ],
            "result": [
                "under the {bench} {friend.name} found {thing.it} , and {hero.name} {felt_good} . "
                "~ {friend.name} found {thing.it} under the {bench} , and {hero.name} {felt_good} . "
                "| feel=positive | gist=got it back | found=yes",
                "nobody saw {thing.it} again , and {hero.name} {felt_bad} . "
                "~ the {thing.one} was gone , and {hero.name} {felt_bad} . "
                "| feel=negative | gist=never saw it again | found=no",
            ],
        },
        {"hero": "person", "friend": "person", "thing": "thing"},
        "{hero.name} lost a {thing.one} and {gist} .",
        {
            "what did {hero.name} lose ?": "a {thing.one}",
            "who helped {hero.name} ?": "{friend.name}",
            "where was the {thing.one} ?": "under the {bench}",
            "did {friend.name} find the {thing.one} ?": "{found}",
        },
    ),
    "pet": Tale(
        {"hero": PEOPLE, "pet": PETS},
        {
            "text": ["{own} {habit} {cross} {home}"],
            "own": ["{hero.name} has a {pet.one} . ~ there is a {pet.one} in {hero.name} 's house ."],
            "habit": [
                "every {morning} {pet.it} {pet.sound} and eats {pet.food} . "
                "~ {pet.it} {pet.sound} every {morning} and eats {pet.food} .",
            ],
            "cross": [
                "today the {pet.one} did not cross the {road} because {pet.whatever} was too {why} . "
                "~ the {pet.one} did not want to cross the {road} today : {pet.whatever} was too {why} .",
            ],
            "why": ["{tired} | that=pet", "{wide} | that=road"],
            "home": ["so {hero.name} took the {pet.one} home . ~ in the end {hero.name} took the {pet.one} home ."],
        },
        {"hero": "person", "pet": "animal"},
        "{hero.name} 's {pet.one} did not cross the {road} .",
        {
            "what was too {why} ?": "the {that.name}",
            "who has a {pet.one} ?": "{hero.name}",
            "what did the {pet.one} not cross ?": "the {road}",
        },
    ),
    "review": Tale(
        {"hero": PEOPLE, "show": SHOWS},
        {
            "text": ["{did} {opinion}"],
            "did": [
                "last {day} {hero.name} {show.did} a new {show.one} . "
                "~ {hero.name} {show.did} a new {show.one} last {day} ."
            ],
            "opinion": [
                "at first {show.it} was {turn} ~ {hero.they} found that at first {show.it} was {turn}",
                "everybody said that {show.it} was {fame} ~ the {show.one} , everybody said , was {fame}",
            ],
            "turn": [
                "{dull} , {yet} the end was {great} . | feel=positive | gist=liked | liked=yes",
                "{great} , {yet} the end was {dull} . | feel=negative | gist=disliked | liked=no",
            ],
            "fame": ["{great} . {praised}", "{dull} . {blamed}"],
            "praised": [
                "so did {hero.name} . ~ and {hero.name} agreed . | feel=positive | gist=liked | liked=yes",
                "{hero.name} did not agree . ~ but that was not what {hero.name} thought . "
                "| feel=negative | gist=disliked | liked=no",
            ],
            "blamed": [
                "so did {hero.name} . ~ and {hero.name} agreed . | feel=negative | gist=disliked | liked=no",
                "{hero.name} did not agree . ~ but that was not what {hero.name} thought . "
                "| feel=positive | gist=liked | liked=yes",
            ],
        },
        {"hero": "person", "show": "thing"},
        "{hero.name} {show.did} a new {show.one} and {gist} {show.it} .",
        {"did {hero.name} like the {show.one} ?": "{liked}", "who {show.did} a new {show.one} ?": "{hero.name}"},
    ),
    "because": Tale(
        {"hero": PEOPLE, "friend": PEOPLE},
        {
            "text": ["{hero.name} {did} {together}"],
            "did": [
                "thanked {friend.name} because {hero.whoever} had {helped} . "
                "~ praised {friend.name} because {hero.whoever} had {helped} . "
                "| that=friend | gist={hero.name} thanked {friend.name} | had={helped}",
                "said sorry to {friend.name} because {hero.whoever} had {harmed} . "
                "~ apologised to {friend.name} because {hero.whoever} had {harmed} . "
                "| that=hero | gist={hero.name} said sorry to {friend.name} | had={harmed}",
                "shouted at {friend.name} because {hero.whoever} had {harmed} . "
                "~ scolded {friend.name} because {hero.whoever} had {harmed} . "
                "| that=friend | gist={hero.name} shouted at {friend.name} | had={harmed}",
                "asked {friend.name} for help because {hero.whoever} could not {task} . "
                "~ called {friend.name} for help because {hero.whoever} could not {task} . "
                "| that=hero | gist={friend.name} helped {hero.name}",
                "helped {friend.name} because {hero.whoever} could not {task} . "
                "~ came to help {friend.name} because {hero.whoever} could not {task} . "
                "| that=friend | gist={hero.name} helped {friend.name}",
            ],
            "helped": ["washed the {cup}", "baked a {cake}"],
            "harmed": ["broken the {cup}", "eaten the {cake}"],
            "together": ["then both went to the {place} . ~ then both walked to the {place} ."],
        },
        {"hero": "person", "friend": "person"},
        "{gist} .",
        {
            "who had {had} ?": "{that.name}",
            "who could not {task} ?": "{that.name}",
            "where did both go ?": "to the {place}",
        },
        alike=True,
    ),
    "trip": Tale(
        {"hero": PEOPLE, "friend": PEOPLE},
        {
            "text": ["{ride} {took} {weather} {met}"],
            "ride": [
                "{hero.name} took the {train} from {route.home} to {route.away} . "
                "~ from {route.home} to {route.away} {hero.name} went by {train} .",
            ],
            "took": ["the trip took {hours} hours . ~ after {hours} hours {hero.they} was there ."],
            "weather": [
                "the sun was {shining} , and {hero.they} {felt_good} . "
                "~ {hero.they} {felt_good} because the sun was {shining} . | feel=positive",
                "the rain was {pouring} , and {hero.they} {felt_bad} . "
                "~ because the rain was {pouring} , {hero.they} {felt_bad} . | feel=negative",
            ],
            "shining": ["shining ~ bright"],
            "pouring": ["cold ~ heavy"],
            "met": [
                "{friend.name} was there to meet {hero.them} . "
                "~ at the station {friend.name} was waiting for {hero.them} .",
            ],
        },
        {"hero": "person", "friend": "person", "route": "place"},
        "{hero.name} went from {route.home} to {route.away} .",
        {
            "where is {hero.name} now ?": "in {route.away}",
            "where was {hero.name} before ?": "in {route.home}",
            "who met {hero.name} ?": "{friend.name}",
            "how many hours was the trip ?": "{hours}",
        },
        alone={"route": ROUTES},
    ),
    "birthday": Tale(
        {"hero": PEOPLE, "friend": PEOPLE, "gift": THINGS},
        {
            "text": ["{party} {friend_is} {gave} {like}"],
            "party": [
                "today is {hero.name} 's birthday : {hero.they} is {age.now} years old . "
                "~ happy birthday to {hero.name} : today {hero.they} is {age.now} years old .",
            ],
            "friend_is": [
                "{friend.name} is {age.gap} {age.way} , so {friend.they} is {age.other} . "
                "~ as {friend.name} is {age.gap} {age.way} , {friend.they} is {age.other} .",
            ],
            "gave": [
                "{hero.name} got a {shade} {gift.one} from {friend.name} . "
                "~ a {shade} {gift.one} for {hero.name} came from {friend.name} .",
            ],
            "like": [
                "{hero.name} loved {gift.it} and {felt_good} . | feel=positive",
                "but {hero.name} had one already and {felt_bad} . | feel=negative",
            ],
        },
        {"hero": "person", "friend": "person", "gift": "thing", "age": "number"},
        "{hero.name} is {age.now} years old and got a {gift.one} .",
        {
            "how old is {hero.name} ?": "{age.now}",
            "how old is {friend.name} ?": "{age.other}",
            "what did {hero.name} get ?": "a {gift.one}",
        },
        alone={"age": AGES},
    ),
}
