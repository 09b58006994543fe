"""The machine's interventions in Chromium: each is the same intervention made in PyTorch, for 25 numbers.

Where something is observed at that place, `capture(edit=…)` makes it; elsewhere a part of the model is replaced.
"""

import random
from collections.abc import Callable, Mapping

import pytest
import torch
from torch import Tensor, nn

from machine_pages import Case, MachinePage, captured, in_place, largest, number_cases, random_case
from parity import randomise
from test_machine_js import CLOSE, drawn_config, numbers, translator  # noqa: F401 (two of them are fixtures)
from tx_helpers.nn.models import DecoderOnly, EncoderDecoder
from tx_helpers.nn.positions import sinusoidal
from tx_helpers.text.data import pad_right

SELF, CROSS = "decoder.blocks.0.self_attention", "decoder.blocks.1.cross_attention"
SEEN = ("*.hidden", "*.weights", "*.heads", "*.activation")  # what is compared, with the logits


@pytest.fixture
def compare(bare_page, translator, numbers):  # noqa: F811
    """(edits of the machine, edits of `capture`, parts to replace) -> equal, and changed by the edits."""
    page, model = MachinePage(bare_page, translator), translator.model
    cases = number_cases(translator, numbers)[::4]

    def compare(edits: Mapping, edit: Mapping | None = None, parts: Mapping | None = None, share: slice = slice(None)):
        chosen = [case._replace(edits=edits) for case in cases[share]]
        with in_place(model, **(parts or {})):
            gaps = page.compare(chosen, captured(model, *SEEN, edit=edit))
            intact = page.compare([case._replace(edits={}) for case in chosen[-1:]], captured(model, edit=edit))
        assert largest(gaps)[0] < CLOSE, (edits, largest(gaps))
        assert largest(intact)[0] > 1e-3, f"{edits} changes nothing"

    return compare


def share_of(number: int, count: int) -> slice:
    """Every number is tried with one of `count` edits, so that all are tried."""
    return slice(number, None, count)


# ----------------------------------------------------------------------------------------------------- heads and masks


def without(*heads: int) -> Callable[[Tensor], Tensor]:
    def edit(x: Tensor) -> Tensor:
        x = x.clone()
        x[:, list(heads)] = 0.0
        return x

    return edit


def test_removed_heads_give_zeros(compare):
    removed = {
        "encoder.blocks.0.self_attention": [0],
        "encoder.blocks.1.self_attention": [1, 3],
        SELF: [2],
        CROSS: [0, 1, 2, 3],
    }
    for i, (path, heads) in enumerate(removed.items()):
        edit = {f"{path}.heads": without(*heads)}
        compare({"heads": {path: heads}}, edit, share=share_of(i, len(removed)))
    together = {f"{path}.heads": without(*heads) for path, heads in removed.items()}
    compare({"heads": removed}, together, share=slice(None, None, 5))


def with_mask(path: str, mask: Callable[[int, int], Tensor]) -> dict:
    """Edits of `capture`: the weights are made of the scores anew, where mask(T, S) allows."""
    scores: list[Tensor] = []

    def remember(x: Tensor) -> Tensor:
        scores[:] = [x]
        return x

    def again(weights: Tensor) -> Tensor:
        allowed = mask(*weights.shape[-2:])
        return torch.nan_to_num(scores[0].masked_fill(~allowed, -torch.inf).softmax(-1))

    return {f"{path}.scores": remember, f"{path}.weights": again}


def opened(T: int, S: int) -> Tensor:
    return torch.ones(T, S, dtype=torch.bool)


def causal(T: int, S: int) -> Tensor:
    return torch.arange(S) <= torch.arange(T)[:, None]


def test_masks_are_opened_and_closed(compare):
    kinds = [
        (SELF, "open", opened),
        ("encoder.blocks.1.self_attention", "causal", causal),
        (CROSS, "causal", causal),
    ]
    for i, (path, name, mask) in enumerate(kinds):
        compare({"masks": {path: name}}, with_mask(path, mask), share=share_of(i, len(kinds)))
    compare(
        {"masks": {path: name for path, name, _ in kinds}},
        {k: v for p, _, m in kinds for k, v in with_mask(p, m).items()},
    )


def test_a_mask_by_hand_holds_where_it_has_a_cell(compare):
    rows = [[False, True], [True, False, True], []]  # a row that may see nothing at all, if there is one source word

    def by_hand(usual: Callable[[int, int], Tensor]) -> Callable[[int, int], Tensor]:
        def mask(T: int, S: int) -> Tensor:
            allowed = usual(T, S).clone()
            for t, row in enumerate(rows[:T]):
                for s, cell in enumerate(row[:S]):
                    allowed[t, s] = cell
            return allowed

        return mask

    compare({"masks": {SELF: rows}}, with_mask(SELF, by_hand(causal)), share=share_of(0, 2))
    compare({"masks": {CROSS: rows}}, with_mask(CROSS, by_hand(opened)), share=share_of(1, 2))


# ----------------------------------------------------------------------------------- positions, residuals, norms, words


def test_positions_are_left_out(compare):
    def minus_positions(x: Tensor) -> Tensor:
        return x - sinusoidal(torch.arange(x.shape[1]), x.shape[2])

    compare({"positions": False}, {"*.input.hidden": minus_positions})


def test_a_residual_connection_is_left_out(compare, translator):  # noqa: F811
    paths = ["encoder.blocks.0.feed_forward", SELF, CROSS, "encoder.blocks.1.self_attention"]
    for i, path in enumerate(paths):
        block, _, name = path.rpartition(".")
        parts = {f"{block}.wiring": pre_norm_except(translator.model.get_submodule(block), name)}
        compare({"residuals": {path: False}}, parts=parts, share=share_of(i, len(paths)))


def pre_norm_except(block: nn.Module, name: str):
    """The wiring of pre-norm, but f(norm(x)) in place of x + f(norm(x)) for the sub-layer of this name."""
    alone = getattr(block, f"{name}_norm")

    def wiring(x: Tensor, sublayers, norms) -> Tensor:
        for sublayer, norm in zip(sublayers, norms, strict=True):
            x = sublayer(norm(x)) + (0.0 if norm is alone else x)
        return x

    return wiring


def test_a_norm_is_left_out(compare):
    paths = [
        *("encoder.blocks.0.self_attention_norm", "encoder.norm", "decoder.blocks.0.feed_forward_norm"),
        *("decoder.blocks.1.cross_attention_norm", "decoder.norm"),
    ]
    for i, path in enumerate(paths):
        compare({"norms": {path: False}}, parts={path: nn.Identity()}, share=share_of(i, len(paths)))


def test_a_hidden_state_is_edited(compare):
    names = [
        "encoder.blocks.0.hidden",
        f"{SELF}.scores",
        f"{CROSS}.weights",
        "decoder.blocks.1.feed_forward.activation",
    ]
    for i, name in enumerate(names):
        compare({"doubled": [name]}, {name: lambda x: 2 * x}, share=share_of(i, len(names)))


def test_another_word_is_read_in_a_place(bare_page, translator, numbers):  # noqa: F811
    draw, page = random.Random(1), MachinePage(bare_page, translator)
    cases, other_ids = [], {}
    for case in number_cases(translator, numbers)[::4]:
        side, ids = draw.choice([("source", case.source), ("target", case.target)])
        place, word = draw.randrange(len(ids)), draw.randrange(3, 33)
        cases.append(case._replace(edits={"replace": [{"side": side, "position": place, "id": word}]}))
        other = [*ids[:place], word, *ids[place + 1 :]]
        other_ids[id(cases[-1])] = case._replace(**{side: other})
    expected = captured(translator.model, *SEEN)
    gaps = page.compare(cases, lambda case: expected(other_ids[id(case)]))
    assert largest(gaps)[0] < CLOSE, largest(gaps)


# ------------------------------------------------------------------------------------------------- patches, and a lens

PATCHED = """([cases, most]) => cases.map(({ source, target, edits: given }) => {
  const edits = machine.forRun({ edits: { positions: true, ...given } });
  const { shape, data } = machine.run(model, { source, target }, edits).get("logits");
  return { logits: [...data], written: machine.greedy(model, { source, prompt: target.slice(0, 1) }, most, edits) };
})"""


def patched_in(model: EncoderDecoder, case: Case, edits: Mapping, heads: Mapping) -> Tensor:
    """The logits of PyTorch: each row is taken from a run with another word there and the same heads removed."""
    edit: dict[str, Callable] = dict(heads)
    for one in edits["replace"]:
        read = enumerate(getattr(case, one["side"]))
        case = case._replace(**{one["side"]: [one["id"] if at == one["position"] else id for at, id in read]})
    for patch in edits["patches"]:
        name, at = f"{patch['side']}.blocks.{patch['block']}.hidden", patch["position"]
        side = "source" if patch["side"] == "encoder" else "target"
        other = list(getattr(case, side))
        if at >= len(other):
            continue
        other[at] = patch["id"]
        row = captured(model, name, edit=heads or None)(case._replace(**{side: other}))[name][at]
        edit[name] = put(edit.get(name, lambda x: x), at, row)
    return captured(model, edit=edit)(case)["logits"]


def put(before: Callable[[Tensor], Tensor], at: int, row: Tensor) -> Callable[[Tensor], Tensor]:
    def edit(x: Tensor) -> Tensor:
        x = before(x).clone()
        x[:, at] = row
        return x

    return edit


def test_a_state_is_taken_from_a_run_with_another_word(bare_page, translator, numbers):  # noqa: F811
    """In the encoder, the memory and the decoder, at once and with removed heads; in a whole pass, and as it writes."""
    page, model, draw = MachinePage(bare_page, translator), translator.model, random.Random(3)
    heads = {SELF: [1], "encoder.blocks.1.self_attention": [0]}
    cases = []
    for number, case in enumerate(number_cases(translator, numbers)[::5]):
        length = len(case.source)
        places = [("encoder", length, 0), ("encoder", length, 1), ("decoder", 4, 0), ("decoder", 1, 1)]
        chosen = places if number % 5 == 4 else [places[number % 5]]
        patches = [
            {"side": side, "position": draw.randrange(length), "block": block, "id": draw.randrange(3, 33)}
            for side, length, block in [*chosen, chosen[0]]  # two of one tensor; they may be of one position
        ]
        kept = {(one["side"], one["position"], one["block"]): one for one in patches}
        edits = {"patches": [*kept.values()], "heads": heads if number % 2 else {}, "replace": []}
        if number % 3 == 0:  # the word itself is another one, and a state of a third is put there
            side = "source" if patches[0]["side"] == "encoder" else "target"
            edits["replace"] = [{"side": side, "position": patches[0]["position"], "id": draw.randrange(3, 33)}]
        cases.append(case._replace(edits=edits))
    seen = page.page.evaluate(PATCHED, [[case._asdict() for case in cases], 14])
    apart, turned = 0, 0
    for case, got in zip(cases, seen, strict=True):
        removed = {f"{path}.heads": without(*some) for path, some in case.edits["heads"].items()}
        expected = patched_in(model, case, case.edits, removed)
        torch.testing.assert_close(torch.tensor(got["logits"]).view_as(expected), expected, rtol=CLOSE, atol=CLOSE)
        apart += float((expected - captured(model, edit=removed or None)(case)["logits"]).abs().max()) > 1e-2
        own = Case([case.target[0], *got["written"]], case.source)
        logits = patched_in(model, own, case.edits, removed)[: len(got["written"])]
        assert (logits.amax(-1) - logits[torch.arange(len(logits)), got["written"]]).max() < CLOSE
        turned += got["written"][: len(case.target) - 1] != case.target[1:]
    assert apart == len(cases) and turned > 4


@pytest.mark.parametrize("kind", [EncoderDecoder, DecoderOnly])
def test_the_lens_reads_each_state_of_the_decoder_as_pytorch_does(bare_page, kind):
    """Pre-norm and post-norm, with any output layer; after the last block it is what the model says."""
    draw, generator = random.Random(11), torch.Generator().manual_seed(12)
    for number in range(16):
        model = randomise(kind(drawn_config(draw, kind)), seed=number, std=0.3).eval()
        case = random_case(model, generator)
        seen = captured(model, "decoder.blocks.*.hidden")(case)
        states = [seen[f"decoder.blocks.{block}.hidden"] for block in range(len(model.decoder.blocks))]
        with torch.no_grad():
            expected = [model.logits(model.decoder.norm(state)) for state in states]
        got = MachinePage(bare_page, model).page.evaluate(
            """([source, target, blocks]) => {
                 const seen = machine.run(model, { source, target });
                 const said = (i) => [...machine.lens(model, seen.get(`decoder.blocks.${i}.hidden`)).data];
                 return [...Array.from({ length: blocks }, (_, i) => said(i)), [...seen.get("logits").data]];
               }""",
            [case.source, case.target, len(states)],
        )
        assert got[-1] == got[-2], model.config
        for found, wanted in zip(got, expected, strict=False):
            torch.testing.assert_close(torch.tensor(found).view_as(wanted), wanted, rtol=CLOSE, atol=CLOSE)


# ---------------------------------------------------------------------------------------- decoding, and other models


def test_what_is_written_after_an_edit_is_what_pytorch_writes(bare_page, translator, numbers):  # noqa: F811
    """Greedily, with the cache: a model without a head and without a norm."""
    page, model = MachinePage(bare_page, translator), translator.model
    edits = {"heads": {SELF: [1], CROSS: [0, 2]}, "norms": {"decoder.blocks.1.feed_forward_norm": False}}
    cases = number_cases(translator, numbers)[::4]
    written = page.page.evaluate(
        """([sources, edits]) => sources.map((source) =>
             machine.greedy(model, { source, prompt: [model.target.bos] }, 14, edits))""",
        [[case.source for case in cases], edits],
    )
    edit = {f"{path}.heads": without(*heads) for path, heads in edits["heads"].items()}
    with in_place(model, **{path: nn.Identity() for path in edits["norms"]}):
        sentences = [Case([1, *ids], case.source) for ids, case in zip(written, cases, strict=True)]
        for ids, sentence in zip(written, sentences, strict=True):
            logits = captured(model, "*.hidden", edit=edit)(sentence)["logits"]
            chosen = logits[torch.arange(len(ids)), ids]
            assert (logits[: len(ids)].amax(-1) - chosen).max() < CLOSE  # the likeliest, or as likely
    assert pad_right(written, 0).tolist() != pad_right([case.target[1:] for case in cases], 0).tolist()


@pytest.mark.parametrize("kind", [EncoderDecoder, DecoderOnly])
def test_models_of_any_configuration_without_positions_and_heads(bare_page, kind):
    """All kinds of positions, norms, groups and wirings, with the positions, a head and a norm left out at once."""
    draw, generator = random.Random(9), torch.Generator().manual_seed(10)
    path, norm = "decoder.blocks.0.self_attention", "decoder.blocks.0.feed_forward_norm"
    edits = {"positions": False, "heads": {path: [1, 4]}, "norms": {norm: False}}
    for number in range(15):
        model = randomise(kind(drawn_config(draw, kind)), seed=number, std=0.2).eval()
        cases = [random_case(model, generator, edits) for _ in range(3)]
        stacks = ["encoder", "decoder"] if kind is EncoderDecoder else ["decoder"]
        nothing = ("input.positions", "rotary", "bias")
        parts = {f"{stack}.{name}": None for stack in stacks for name in nothing} | {norm: nn.Identity()}
        page = MachinePage(bare_page, model)
        with in_place(model, **parts):
            gaps = page.compare(cases, captured(model, edit={f"{path}.heads": without(1, 4)}))
        assert largest(gaps)[0] < CLOSE, (number, largest(gaps), model.config)
