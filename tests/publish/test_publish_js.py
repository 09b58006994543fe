"""Published pages in a real browser, opened from the disk: they compute as PyTorch does, and run no stranger's code."""

import random

import pytest
import torch

from firefox import firefox
from parity import randomise
from toy_models import POSITIONS, config
from tx_helpers.nn.capture import capture
from tx_helpers.nn.config import AttentionConfig, EmbeddingConfig, FeedForwardConfig, NormConfig
from tx_helpers.nn.models import DecoderOnly, EncoderDecoder
from tx_helpers.plain import GPT, Transformer
from tx_helpers.publish import Chat, publish
from tx_helpers.text.data import word_pairs
from tx_helpers.text.subwords import BytePairTokenizer, WordPieceTokenizer
from tx_helpers.text.tokenizers import CharTokenizer, WordTokenizer
from tx_helpers.widgets.machine_data import EVERY, SCRIPT, _side, machine_data
from tx_helpers.zoo.parts.inputs import NormedInput, TokenShift
from tx_helpers.zoo.parts.outputs import BiasedOutput, ScaledOutput
from tx_helpers.zoo.shipped import story_writer

pytestmark = pytest.mark.slow
LETTERS = CharTokenizer("abcdefgh")
HOSTILE = [
    "</script><img src=x onerror=alert(1)>",
    "__proto__",
    "\u2028",
    "\ud800",
    "<!--<script>",
    "{}\"'&",
    "constructor",
]
STORY = "Once upon a time"
OPEN = """(script) => import(URL.createObjectURL(new Blob([script], { type: "text/javascript" })))
  .then((module) => { window.machine = module; })"""


@pytest.fixture
def opened(browser, tmp_path):
    """A function that publishes and opens the page; what the browser complains of fails the test."""
    complaints, pages = [], []

    def opened(*arguments, width=900, **options):
        file = tmp_path / f"{len(pages)}.html"
        publish(*arguments, file, **options)
        pages.append(page := browser.new_page(viewport={"width": width, "height": 900}))
        page.on("console", lambda message: complaints.append(message.text))
        page.on("pageerror", lambda error: complaints.append(str(error)))
        page.on("dialog", lambda dialog: (complaints.append(dialog.message), dialog.dismiss()))
        page.on("request", lambda request: complaints.append(request.url) if request.url[:4] == "http" else None)
        page.goto(file.as_uri())
        page.locator("#stage > div").wait_for()
        return page

    yield opened
    for page in pages:
        page.close()
    assert complaints == []


def press(page, **settings) -> str:
    """Set controls, let it write to its end, and read the text."""
    for label, value in settings.items():
        page.get_by_label(label.replace("_", "-"), exact=True).fill(str(value))
    page.locator(".pw-first").click()
    page.locator("button[disabled]", has_text="Stop").wait_for()
    return page.locator(".pw-page").evaluate("(node) => node.textContent")


# ------------------------------------------------------------------------------------------------------------- compute


def configurations() -> list[torch.nn.Module]:
    """Twenty models, none of which has the parts of another."""
    changes = [
        *({"positions": positions} for positions in POSITIONS),
        {"wiring": "post_norm"},
        {"wiring": "pre_norm_without_residual", "norm": NormConfig("rms")},
        {"attention": AttentionConfig(3, n_kv_heads=1, qk_norm=True, bias=False)},
        {"attention": AttentionConfig(3, d_head=5, scale=0.3)},
        {"feed_forward": FeedForwardConfig(20, "silu", gated=True, bias=False)},
        {"feed_forward": FeedForwardConfig(20, "gelu")},
        {"embedding": EmbeddingConfig(tied=False, scale=False, input=TokenShift(2))},
        {"embedding": EmbeddingConfig(input=NormedInput(), output=BiasedOutput())},
        {"embedding": EmbeddingConfig(output=ScaledOutput(0.3)), "n_layers": 3},
    ]
    models = [DecoderOnly(config(vocab_size=11, **one)) for one in changes]
    both = {"vocab_size": 11, "source_vocab_size": 11}
    models += [EncoderDecoder(config(kind, **both)) for kind in ("t5", "alibi")]
    return [randomise(model, std=0.3).eval() for model in [*models, GPT(11, 12, 3, 20), Transformer(11, 11, 12, 3, 20)]]


def test_the_logits_of_twenty_configurations_are_pytorch_s(browser):
    """Of the published weights, once read whole and once token by token."""
    page, models = browser.new_page(), configurations()
    page.evaluate(OPEN, SCRIPT)
    ids = torch.tensor([[3, 9, 4, 4, 7, 10, 5]])
    assert len(models) == 20
    for number, model in enumerate(models):
        both = hasattr(model, "encoder")
        spec, data = machine_data(model)
        with torch.no_grad():
            expected = model(*[ids.flip(1)] * both, ids)[0]
        found = page.evaluate(
            """([spec, data, source, target]) => {
                 const model = machine.load(spec, Uint8Array.from(data));
                 const state = machine.start(model, { source }), rows = (seen) => [...seen.get("logits").data];
                 const whole = machine.step(machine.start(model, { source }), ...target);
                 return [rows(machine.run(model, { source, target })), rows(whole),
                   target.flatMap((id) => rows(machine.step(state, id)))];
               }""",
            [spec, list(data), ids.flip(1)[0].tolist() if both else None, ids[0].tolist()],
        )
        for logits in found:
            gap = (torch.tensor(logits).view_as(expected) - expected).abs().max().item()
            assert gap < 1e-4, (number, gap)
    page.close()


TEXT = "The cat sat on the mat, didn't it? 42 – naïve façade… 日本語 🙂 twenty-one\n\ttabs  and   spaces"


def tokenizers() -> list:
    words = " ".join(["the cat sat", "on the mat", TEXT])
    return [
        CharTokenizer.train(words, unknown=True),
        WordTokenizer.train(words, unknown=True),
        BytePairTokenizer.train(words * 3 + " zaaaa" * 20, vocab_size=300),
        WordPieceTokenizer.train(words * 3, vocab_size=120, unknown=True),
        WordTokenizer(sorted({"<pad>", "__proto__", "constructor"})),
    ]


def random_texts(count: int) -> list[str]:
    draw = random.Random(1)
    signs = [
        *TEXT,
        *"\x1c\x85\xa0\u2028\u3000\ufeff\x7f\x00#'-_é",
        "##",
        "the ",
        " cat",
        "mat,",
        "\U0001f680",
        "ß",
        "e\u0301",
    ]
    return ["".join(draw.choices(signs, k=draw.randrange(1, 30))) for _ in range(count)]


@pytest.mark.parametrize("tokenizer", tokenizers(), ids=lambda one: type(one).__name__)
def test_texts_become_the_ids_of_python_and_back(bare_page, tokenizer):
    bare_page.evaluate(OPEN, SCRIPT)
    side, texts = _side(tokenizer, len(tokenizer), 10_000, EVERY), [TEXT, "zaaa zaaaaaaa aaa", *random_texts(300)]
    found = bare_page.evaluate(
        """([side, texts]) => texts.map((text) => {
             const { ids, error } = machine.encode(side, text);
             return [ids, error, machine.decode(side, ids), machine.decode(side, ids.slice(1, -1))];
           })""",
        [side, texts],
    )
    for text, (ids, error, back, part) in zip(texts, found, strict=True):
        try:
            expected = tokenizer.encode(text)
        except ValueError:
            expected = []
        assert ids == expected and bool(error) == (not expected), text
        assert (back, part) == (tokenizer.decode(ids), tokenizer.decode(ids[1:-1])), text


# ---------------------------------------------------------------------------------------------------------- the page


def test_it_writes_what_python_writes_beyond_its_context(opened):
    writer = story_writer(64)
    page = opened(writer, None, prompt=STORY, weights="float32")
    written = STORY + writer.write(STORY, 200, temperature=0.0)
    assert press(page, Temperature=0, Tokens=200) == written
    assert page.locator(".pw-said").inner_text().startswith("Done: 200 tokens, ")
    quarter = opened(writer, None, prompt=STORY, weights="int8")
    assert press(quarter, Temperature=0, Tokens=20)[: len(STORY) + 3] == written[: len(STORY) + 3]


def test_the_same_seed_writes_the_same_text_and_stop_stops(opened):
    page = opened(story_writer(64), None, prompt=STORY)
    first, other, again = (press(page, Seed=seed, Tokens=80) for seed in (1, 2, 1))
    assert first == again != other and press(page, Seed=3, Top_p=0.05) == press(page, Seed=4, Top_p=0.05)
    page.get_by_label("Tokens").fill("5000")
    page.locator(".pw-first").click()
    page.locator(".pw-token").nth(20).wait_for()
    page.get_by_role("button", name="Stop").click()
    page.locator("button[disabled]", has_text="Stop").wait_for()
    assert page.locator(".pw-said").inner_text().startswith("Stopped: ") and page.locator(".pw-token").count() < 5000


def test_a_token_says_its_rivals_and_what_it_looks_at(opened):
    writer = story_writer(64)
    page = opened(writer, None, prompt=STORY, weights="float32")
    text = press(page, Temperature=0, Tokens=12)
    ids = torch.tensor([writer.tokenizer.encode(text)])
    with torch.no_grad(), capture(writer.model, "*.self_attention.weights") as seen:
        odds = writer.model(ids)[0].softmax(-1)
    looked = torch.stack([weights[0] for weights in seen.values()]).mean(dim=(0, 1))  # of layers and heads, (T, T)
    for move in (lambda node: node.hover(), lambda node: node.focus()):
        move(page.locator(".pw-token").nth(7))
        share, at = odds[len(STORY) + 6].max().item(), len(STORY) + 7
        assert page.locator(".pw-tell h2").inner_text() == f"“{text[at].replace(' ', '␣')}”: {share:.1%}"
        assert page.locator(".pw-tell li").count() == 5
        gold = page.evaluate(
            """[...document.querySelectorAll(".pw-page span")].map((node) => node.style.getPropertyValue("--share"))"""
        )
        assert [float(one) for one in gold] == pytest.approx((looked[at] / looked[at].max()).tolist(), abs=2e-3)
    page.keyboard.press("ArrowRight")
    assert page.locator(".pw-on").count() == 1 and f"“{text[at + 1]}”" in page.locator(
        ".pw-about"
    ).inner_text().replace("␣", " ")
    page.get_by_label("Layer").select_option("2")
    page.get_by_label("Head").select_option("1")
    page.locator(".pw-given").first.hover()
    assert page.locator(".pw-tell h2").inner_text() == "“O” was given"


def test_a_chat_page_asks_and_answers(opened):
    page = opened(story_writer(64), None, chat=Chat("There was a ", " who", stop="."))
    for question in ("dog", "boat"):
        page.get_by_label("Your question").fill(question)
        page.get_by_label("Your question").press("Enter")
        page.locator("button[disabled]", has_text="Stop").wait_for()
        turn = page.locator(".pw-turn").last.evaluate("(node) => node.textContent")
        assert turn.startswith(f"There was a {question} who") and turn.count(".") == 1 and turn.endswith(".")
    assert page.locator(".pw-turn").count() == 2
    page.get_by_label("Your question").fill("漢")
    page.locator(".pw-first").click()
    assert page.locator(".pw-error").inner_text() == "The model does not know the character “漢”."


def test_a_translator_has_the_machine(opened):
    data = word_pairs([("one", "eins"), ("twenty-one", "ein und zwanzig")])
    model = randomise(EncoderDecoder(config(vocab_size=7, source_vocab_size=5))).eval()
    page = opened(model, (data.source_tokenizer, data.target_tokenizer), prompt="twenty one", title="Numbers")
    assert page.locator("h1").inner_text() == "Numbers" and page.get_by_label("Translate").input_value() == "twenty one"
    pieces = BytePairTokenizer.train("the cat sat on the mat " * 3, vocab_size=270)
    model = randomise(EncoderDecoder(config(vocab_size=len(pieces), source_vocab_size=len(pieces)))).eval()
    page = opened(model, (pieces, pieces), prompt="the cat")
    assert page.get_by_label("Translate").input_value() == "the cat"


def test_hostile_words_and_cards_run_nothing(opened):
    tokenizer = WordTokenizer([*HOSTILE[:2], *HOSTILE[3:], "a"])
    model = randomise(GPT(len(tokenizer), 12, 3, 20)).eval()
    card = {text: text for text in HOSTILE}
    page = opened(model, tokenizer, prompt="__proto__ constructor", title=HOSTILE[0], card=card)
    assert page.locator("h1").inner_text() == page.title() == HOSTILE[0]
    assert page.locator("dd").all_inner_texts()[:2] == HOSTILE[:2]
    text = press(page, Tokens=150, Temperature=3)
    assert text.startswith("__proto__ constructor") and HOSTILE[0] in text
    for number in range(0, page.locator(".pw-token").count(), 10):
        page.locator(".pw-token").nth(number).hover(force=True)
    assert page.locator("img, b > script").count() == 0 and page.evaluate("Object.prototype.polluted === undefined")
    assert page.evaluate("document.querySelectorAll('script').length") == 2


def test_it_fits_a_telephone_and_every_control_can_be_hit_and_has_a_name(opened):
    page = opened(story_writer(64), None, prompt=STORY, width=390, title="M" * 60, card={"W" * 50: "x" * 200})
    press(page, Tokens=100)
    assert page.evaluate("document.documentElement.scrollWidth <= innerWidth")
    for control in page.locator("button, input, select, textarea").all():
        box = control.bounding_box()
        assert min(box["width"], box["height"]) >= 24 and control.evaluate("(c) => c.labels.length || c.textContent")


@pytest.mark.thorough
def test_it_writes_in_firefox(tmp_path):
    publish(story_writer(64), None, tmp_path / "a.html", prompt=STORY, weights="float32")
    with firefox() as page:
        page.goto((tmp_path / "a.html").as_uri())
        page.wait("document.querySelector('.pw-first')", 30)
        page.evaluate(
            "[document.querySelectorAll('input')[0].value = '0', document.querySelector('.pw-first').click()]"
        )
        page.wait("document.querySelector('.pw-said').textContent.startsWith('Done')", 60)
        written = STORY + story_writer(64).write(STORY, 200, temperature=0.0)
        assert page.evaluate("document.querySelector('.pw-page').textContent") == written
