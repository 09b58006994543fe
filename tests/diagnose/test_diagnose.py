"""`diagnose` reports every wrong model of wrong_models.py, by the probe named there and with the right cause first,
and finds nothing in the right ones of right_models.py."""

import math

import pytest
import torch
from torch import nn

import wrong_models
from dressed_models import DRESSED, Dressed, Hiding, Layer, Own, Translator
from right_models import LIBRARY, RIGHT, ours
from toy import D
from tx_helpers.diagnose import PROBES, diagnose
from tx_helpers.diagnose.report import LOOK, SKIPPED, Report
from tx_helpers.diagnose.report import RIGHT as FINE
from tx_helpers.diagnose.report import WRONG as FOUND
from tx_helpers.nn.config import EmbeddingConfig, FeedForwardConfig, NormConfig, PositionConfig
from tx_helpers.nn.models import EncoderDecoder
from tx_helpers.zoo.parts.experts import ExpertsConfig
from tx_helpers.zoo.parts.outputs import ScaledOutput
from wrong_models import NO_MODEL, UNSEEN, WRONG, Toy


def probed(make, **options) -> Report:
    torch.manual_seed(0)
    return diagnose(make(), **options)


@pytest.mark.slow
@pytest.mark.parametrize("name", WRONG)
def test_each_wrong_model_is_found_by_its_probe_and_for_its_reason(name):
    case = WRONG[name]
    found = probed(case.make, **case.options)
    assert found[case.probe].state == case.state, found
    assert case.cause in found[case.probe].causes[0]
    assert (case.state == FOUND) == bool(found.wrong)


@pytest.mark.slow
@pytest.mark.parametrize("name", RIGHT)
def test_nothing_is_found_in_a_right_model(name):
    make, options = RIGHT[name]
    found = probed(make, trained=False, **options)
    assert found.wrong == [], found
    assert set(found.of(LOOK)) <= {"empty row"}, found  # −∞ at a row of padding alone: NaN, which PyTorch's own have
    assert not [finding for finding in found if "failed" in finding.figure], found


@pytest.mark.slow
def test_no_right_model_in_other_peoples_dress_is_accused():
    reports = {name: probed(make, trained=False, **options) for name, (make, options) in DRESSED.items()}
    accused = {name: found.wrong for name, found in reports.items() if found.wrong}
    assert accused == {} and len(DRESSED) >= 60
    looks = {name: found.of(LOOK) for name, found in reports.items() if found.of(LOOK)}
    assert looks == {"decoder layers, padding 0": ["empty row"]}
    assert not [(name, f.figure) for name, found in reports.items() for f in found if "failed" in f.figure]


@pytest.mark.parametrize("length", [8, 16])
def test_a_leak_behind_a_float_mask_is_found(length):
    """PyTorch misreads a float32 mask beside float64 queries from 16 positions on: such models stay in float32."""

    class Open(Layer):
        def forward(self, x):
            return self.layer(x)

    layers = iter([Layer, Open])
    found = probed(lambda: Dressed(lambda: next(layers)("float", True)), length=length)
    assert {"future", "prefix"} <= set(found.wrong)
    assert found.model.endswith("float64" if length == 8 else "float32")


@pytest.mark.parametrize("named", [True, False])
def test_what_looks_like_padding_is_asked_for(named):
    found = probed(lambda: Hiding(-1e9, 3, named=named))
    assert found.wrong == [] and found["padding"].state == SKIPPED
    assert found["padding"].figure.startswith("id 3 looks like padding")
    assert probed(lambda: Hiding(-1e9, 3, named=named), pad_id=3)["padding"].state == FINE
    assert "is hidden as padding is" in probed(lambda: Hiding(-1e9, 3, named=named), pad_id=0)["padding"].figure


@pytest.mark.slow
def test_source_and_target_may_have_their_own_padding():
    class Mistaken(Translator):
        """The target's mask asks for the source's padding."""

        def forward(self, source, target):
            self.pads = (1, 1)
            return super().forward(source, target)

    def made(kind):
        return lambda: kind(mask="boolean", pads=(1, 2), layers=True)

    both = dict(pad_id=2, source_pad_id=1)
    assert probed(made(Translator), **both).wrong == [] == probed(made(Translator), pad_id=1).wrong
    found = probed(made(Mistaken), **both)
    assert found.wrong == ["padding"]
    assert found["padding"].figure == "id 1 of the target is hidden as padding is; padding is said to be 2"


def test_a_probe_hands_over_ids_as_callers_do():
    class Backwards(Dressed):
        def forward(self, ids):
            if not ids.is_contiguous():
                raise RuntimeError("ids.view(-1)")
            x = self.tokens(ids) + self.positions(torch.arange(ids.shape[1]).flip(0))
            return self.output(self.blocks[0](x))

    assert probed(lambda: Backwards(Own))["prefix"].state == FOUND


@pytest.mark.slow
def test_prophet_net_looks_ahead():
    """Its relative biases are laid out by (position, head) and read by (head, position): early positions get those of
    later ones. The one of dressed_models.py, without the biases, is found right."""
    import transformers

    sizes = dict(hidden_size=24, encoder_ffn_dim=40, decoder_ffn_dim=40, max_position_embeddings=32, pad_token_id=0)
    sizes |= {
        f"num_{side}_{what}": n
        for side in ("encoder", "decoder")
        for what, n in (("layers", 2), ("attention_heads", 4))
    }
    config = transformers.ProphetNetConfig(vocab_size=29, ngram=2, num_buckets=8, **sizes, **LIBRARY)
    torch.manual_seed(0)
    model = transformers.ProphetNetForCausalLM(config).eval()
    assert {"future", "prefix"} <= set(diagnose(model).wrong)
    model = model.double()
    with torch.no_grad():
        for matrix in (parameter for parameter in model.parameters() if parameter.dim() > 1):
            matrix.mul_(8)
        ids = torch.arange(3, 19)[None]
        other = torch.cat([ids[:, :4], ids[:, 4:].flip(1)], dim=1)
        apart = model(input_ids=other).logits[:, :4] - model(input_ids=ids).logits[:, :4]
    assert apart.abs().max() > 1e-3


@pytest.mark.slow
@pytest.mark.parametrize("name", UNSEEN)
def test_what_cannot_be_seen_from_outside_is_not_guessed_at(name):
    make, reason = UNSEEN[name]
    assert probed(make, trained=False).wrong == []
    assert len(reason.split()) > 6


def test_the_whole_table_of_mistakes_is_here():
    assert len(WRONG) >= 88 and len(RIGHT) >= 55
    assert {"odd d_model", "no zero_grad"} == set(NO_MODEL)
    assert {case.probe for case in WRONG.values()} == set(PROBES) - {"start", "echo"}


# --- probes that no row of the table needs by itself ------------------------------------------------------------------


class FromTheEnd(Toy):
    """Positions counted from the last token: nothing leaks, but a prefix is another sentence."""

    def forward(self, ids, caches=None):
        x = self.tokens(ids) + wrong_models.sinusoids(ids.shape[1]).flip(0)
        for block in self.blocks:
            x = block(x, None, None)
        return self.output(self.norm(x))


class OwnTokenOnly(Toy):
    def forward(self, ids, caches=None):
        return self.output(self.norm(self.tokens(ids)))


def loud():
    return ours(embedding=EmbeddingConfig(output=ScaledOutput(30.0)))


class Deaf(nn.Module):
    """A decoder whose cross-attention is given the target."""

    def __init__(self):
        super().__init__()
        self.toy = Toy()

    def forward(self, source, target):
        return self.toy(target)


class Copier(nn.Module):
    """Names the token just read, as a model does whose targets were not shifted."""

    def forward(self, ids):
        return 20.0 * nn.functional.one_hot(ids, 29).float()


class Stammerer(nn.Module):
    """The same, and less sure of it: trained by a smoothed loss, or not for long."""

    def __init__(self, p: float):
        super().__init__()
        self.size = math.log(p / (1 - p) * 28)

    def forward(self, ids):
        return self.size * nn.functional.one_hot(ids, 29).float()


class Foresight(nn.Module):
    def forward(self, ids):
        return 20.0 * nn.functional.one_hot(ids.roll(-1, 1), 29).float()


@pytest.mark.parametrize(
    ("make", "options", "probe", "state", "figure"),
    [
        (FromTheEnd, {}, "prefix", FOUND, "they differ"),
        (OwnTokenOnly, {}, "context", FOUND, "earlier tokens do not"),
        (Deaf, {}, "context", FOUND, "the source does not"),
        (lambda: Toy(), dict(kind="encoder"), "context", FOUND, "later tokens: no influence"),
        (Copier, {}, "echo", LOOK, "100%"),
        (Copier, dict(trained=True), "echo", FOUND, "100%"),
        (Copier, dict(trained=False), "echo", LOOK, "100%"),
        (lambda: Stammerer(0.7), {}, "echo", LOOK, "100%"),
        (lambda: Stammerer(0.7), dict(trained=True), "echo", FOUND, "100%"),
        (lambda: Stammerer(0.3), dict(trained=True), "echo", FOUND, "100%"),
        (lambda: Stammerer(0.3), dict(trained=False), "echo", FINE, "it does"),
        (Foresight, {}, "start", FOUND, "0.00 on the random tokens"),
        (
            lambda: ours(embedding=EmbeddingConfig(output=ScaledOutput(30.0))),
            dict(trained=False),
            "start",
            FOUND,
            "ln V is 3.37",
        ),
        (loud, {}, "start", LOOK, "ln V is 3.37"),
        (lambda: Stammerer(0.9), {}, "start", LOOK, "5.44, ln V is 3.37"),
        (lambda: Stammerer(0.9), dict(trained=False), "start", LOOK, "5.44, ln V is 3.37"),
        (loud, dict(trained=True), "start", FINE, "trained"),
    ],
)
def test_the_other_probes_see(make, options, probe, state, figure):
    found = probed(make, **options)
    assert found[probe].state == state, found
    assert figure in found[probe].figure


def test_a_forward_without_gradients_is_found():
    class Cut(Toy):
        def forward(self, ids, caches=None):
            return super().forward(ids, caches).detach()

    found = probed(Cut)
    assert found.wrong == ["gradients"]
    assert found["gradients"].figure.startswith("none at all for tokens.weight, output.weight")
    assert "detach()" in found["gradients"].causes[0]


@pytest.mark.parametrize("width", [23, 64])
def test_gates_of_one_number_are_found_though_rounding_differs_from_row_to_row(width):
    def made():
        feed_forward = FeedForwardConfig(width, "silu", gated=True, bias=False)
        model = ours(norm=NormConfig("rms"), feed_forward=feed_forward)
        for matrix in model.decoder.blocks[0].feed_forward.parameters():
            nn.init.constant_(matrix, 0.01)
        return model

    found = probed(made)
    assert found.wrong == ["gradients"]
    assert "filled with one number" in found["gradients"].causes[0]
    assert "feed_forward.gate.weight" in found["gradients"].figure


def test_frozen_parameters_are_named():
    found = probed(RIGHT["toy, all frozen but the output"][0])["gradients"]
    assert found.figure.startswith("all 2 do within 6 steps; frozen (requires_grad=False): tokens.weight, blocks.0.")


def test_parameters_for_inputs_that_are_not_given_are_only_looked_at():
    """As the segments of XLNet: `transformers` has many inputs beside the ids, and may have parameters for them."""

    class Segments(Toy):
        def __init__(self):
            super().__init__()
            self.segments = nn.Embedding(2, wrong_models.D)

        def forward(self, input_ids, token_type_ids=None):
            return super().forward(input_ids)

    found = probed(Segments)["gradients"]
    assert found.state == LOOK and found.figure == "none at all for segments.weight"
    assert found.causes[1] == "it is meant: used with other inputs only (token_type_ids)"


def mixture(idle: int) -> nn.Module:
    """Of four experts, the first `idle` are never chosen: the bias of the choice is against them."""
    experts = ExpertsConfig(4, 1, biased=True)
    made = ours(n_layers=1, feed_forward=FeedForwardConfig(8, "silu", gated=True, bias=False, experts=experts))
    made.decoder.blocks[0].feed_forward.router.bias[:idle] = -1e9
    return made


def test_an_expert_that_no_token_chose_is_only_looked_at():
    found = probed(lambda: mixture(2))
    assert found.wrong == []
    assert found["gradients"].state == LOOK
    assert "decoder.blocks.0.feed_forward.experts.0.gate.weight" in found["gradients"].figure
    assert found["gradients"].causes[0].startswith("experts that none of these few tokens chose")
    assert probed(lambda: mixture(0))["gradients"].state == FINE


@pytest.mark.parametrize("name", ["routed_experts", "moe", "expert_list"])
def test_experts_are_known_by_other_names_too(name):
    class Mixture(nn.Module):
        """Of two experts the first one is chosen, always."""

        def __init__(self):
            super().__init__()
            setattr(self, name, nn.ModuleList(nn.Linear(D, D) for _ in range(2)))

        def forward(self, x, *_):
            return x + getattr(self, name)[0](x)

    def made():
        model = Toy()
        model.blocks.append(Mixture())
        return model

    found = probed(made)
    assert found.wrong == [] and found["gradients"].state == LOOK
    assert f"blocks.2.{name}.1.weight" in found["gradients"].figure


def test_a_layer_that_is_not_used_stays_wrong_beside_idle_experts():
    class Unused(nn.Module):
        def __init__(self):
            super().__init__()
            self.model, self.spare = mixture(2), nn.Linear(3, 3)

        def forward(self, ids):
            return self.model(ids)

    found = probed(Unused)
    assert found.wrong == ["gradients"]
    assert "spare.weight" in found["gradients"].figure


@pytest.mark.slow
@pytest.mark.parametrize(
    ("name", "probe", "where"),
    [
        ("NaN among the parameters", "numbers", "blocks.1.expand is the first part to make one"),
        ("NaN outside of attention", "numbers", "the model itself is the first part to make one"),
        ("mask inverted", "numbers", "blocks.0.attention: the first softmax with NaN"),
        (
            "no mask in the second layer",
            "future",
            "blocks.1.attention (Attention), in its own lines before it calls blocks.1.attention.output",
        ),
        ("norm over the batch", "neighbours", "blocks.0.norms.0 (NormOver) is the first part whose output moves"),
        (
            "positions added along the batch",
            "neighbours",
            "the model (Toy), in its own lines before it calls blocks.0",
        ),
        ("two of 1,000 ids share an embedding", "context", "tokens"),
    ],
)
def test_where_the_mistake_begins(name, probe, where):
    assert probed(WRONG[name].make)[probe].where == where


def test_a_model_that_is_another_in_float64_is_probed_in_its_own_precision():
    class Fixed(Toy):
        """As a traced model, into which float32 is written."""

        def forward(self, ids, caches=None):
            logits = super().forward(ids, caches)
            return logits if logits.dtype == torch.float32 else logits.flip(1)

    found = probed(Fixed)
    assert found.wrong == [] and found.model.endswith("in float32")


def test_a_model_that_keeps_a_result_is_copied():
    class Keeping(Toy):
        def forward(self, ids, caches=None):
            self.last = super().forward(ids, caches)
            return self.last

    model = Keeping()
    last = model(torch.ones(1, 4, dtype=torch.long))
    found = diagnose(model)
    assert found.wrong == [] and found["gradients"].state == FINE
    assert model.last is last and last.requires_grad


def test_a_traced_model_keeps_its_attributes():
    model = RIGHT["traced"][0]()
    before = [sorted(vars(module)) for module in model.modules()]
    diagnose(model)
    assert [sorted(vars(module)) for module in model.modules()] == before


def test_a_copy_that_training_blows_up_is_left_out():
    class Touchy(Toy):
        """Overflows as soon as its parameters move."""

        def __init__(self):
            super().__init__()
            self.register_buffer("first", self.output.weight.detach().clone())

        def forward(self, ids, caches=None):
            moved = (self.output.weight - self.first).abs().max().detach() > 1e-3
            return super().forward(ids, caches) / (~moved)

    found = probed(Touchy)
    assert "future" not in found.wrong and "prefix" not in found.wrong


@pytest.mark.slow
def test_a_leak_is_found_in_a_trained_model_too():
    def trained(model):
        optimizer = torch.optim.Adam(model.parameters(), lr=3e-3)
        for _ in range(60):
            ids = (torch.randint(0, 29, (16, 1)) + torch.arange(13)) % 29  # counting
            logits = model(ids[:, :-1])
            optimizer.zero_grad()
            nn.functional.cross_entropy(logits.flatten(0, 1), ids[:, 1:].flatten()).backward()
            optimizer.step()
        return model

    assert probed(lambda: trained(Toy()), trained=True).wrong == []
    found = probed(lambda: trained(Toy(causal=False)), trained=True)
    assert "future" in found.wrong and "prefix" in found.wrong


# --- how models may be passed ----------------------------------------------------------------------------------------


def test_a_function_is_probed_in_its_own_precision():
    right, wrong = Toy(n_layers=1), Toy(causal=False)
    found = diagnose(lambda ids: right(ids))
    assert found.wrong == [] and found["gradients"].state == found["parameters"].state == SKIPPED
    assert "float32" in found.model
    assert {"future", "prefix"} <= set(diagnose(lambda ids: wrong(ids)).wrong)


@pytest.mark.slow
@pytest.mark.parametrize("dtype", [torch.float16, torch.bfloat16])
def test_half_precision(dtype):
    model = ours().to(dtype).eval()
    assert diagnose(model).wrong == []
    assert diagnose(lambda ids: model(ids)).wrong == []
    leaking = Toy(causal=False).to(dtype)
    assert "future" in diagnose(lambda ids: leaking(ids)).wrong


def test_another_call_another_answer():
    with pytest.raises(ValueError, match=r"torch.float32 \(3, 1, 29\) of ids \(3, 16\); .* give forward="):
        diagnose(wrong_models.Nano())
    found = diagnose(wrong_models.Nano(), forward=wrong_models.with_targets)
    assert found.wrong == [] and found["gradients"].state == FINE


def test_the_context_of_the_model_is_respected():
    found = diagnose(ours(context_length=9, positions=PositionConfig("learned")))
    assert found.wrong == [] and "8 positions" in found.model


@pytest.mark.slow
def test_the_source_vocabulary_is_found():
    config = ours(EncoderDecoder, source_vocab_size=7).config
    found = diagnose(EncoderDecoder(config))
    assert found.wrong == [] and not [finding for finding in found if "failed" in finding.figure]


@pytest.mark.parametrize(
    ("model", "options", "error"),
    [
        (3, {}, "model=3, expected a module, or a function"),
        (Toy(), dict(kind="gpt"), "kind='gpt', expected one of decoder, encoder, seq2seq"),
        (Toy(), dict(length=3), "length=3, expected at least 4"),
        (Toy(), dict(pad_id=29), "pad_id=29 is no id of the model, expected 0 to 28"),
        (Toy(), dict(source_pad_id=1), "source_pad_id=1, expected None: a decoder has one sequence (pad_id)"),
        (Toy(), dict(pad_side="top"), "pad_side='top', expected 'left' or 'right'"),
        (lambda ids: "no", {}, "answered with str, expected logits"),
        (lambda ids: ids[99], {}, "fails on ids (B, T) = (3, 16): IndexError"),
    ],
)
def test_errors_name_both_sides(model, options, error):
    with pytest.raises(ValueError) as raised:
        diagnose(model, **options)
    assert error in str(raised.value)


def test_a_probe_that_fails_is_told_and_spoils_nothing():
    class OneLength(Toy):
        def forward(self, ids, caches=None):
            if ids.shape[1] != 16:
                raise RuntimeError("only 16 positions")
            return super().forward(ids, caches)

    found = probed(OneLength)
    assert found.of(SKIPPED)[0] == "prefix" and found["prefix"].figure == "failed with RuntimeError: only 16 positions"
    assert found["future"].state == FINE and found.wrong == []
