"""Chips, how the work is laid out over them, and how long a collective takes between them.

The ranks are numbered with tensor innermost, then context, data and pipeline: neighbours talk most. So a group of n
ranks, whose neighbours stand `stride` chips apart, has up to node / stride members in a node and the rest in others. A
collective then runs in two levels, inside the nodes over their links, and between them over the network, where each
chip sends only its part. Source: Narayanan et al. 2021, section 3.2, for the order of the ranks.
"""

from dataclasses import dataclass
from functools import lru_cache

from tx_helpers.lessons.scaling_up.planning.hardware import CHIPS, Chip
from tx_helpers.lessons.scaling_up.planning.workload import ModelSizes, Training
from tx_helpers.lessons.scaling_up.simulated.collectives import bytes_sent
from tx_helpers.nn.arguments import check_numbers, check_one_of, check_types

RECOMPUTED = {"none": "nothing", "selective": "the scores of attention", "full": "every block"}
RECOMPUTE = tuple(RECOMPUTED)


@dataclass(frozen=True)
class Cluster:
    """`count` chips: the name of a row of `CHIPS`, or a `Chip`. `node`: how many its links connect, if not as there."""

    chip: Chip | str
    count: int
    node: int | None = None

    def __post_init__(self) -> None:
        if isinstance(self.chip, str):
            check_one_of("Cluster", CHIPS, chip=self.chip)
            object.__setattr__(self, "chip", CHIPS[self.chip])
        check_types("Cluster", Chip, chip=self.chip)
        object.__setattr__(self, "node", self.chip.node if self.node is None else self.node)
        check_numbers("Cluster", least=1, whole=True, count=self.count, node=self.node)

    def seconds(self, collective: str, size: float, n: int, stride: int) -> float:
        """Of a collective of n chips, `stride` apart; `size` is the whole tensor in bytes. All links at full speed."""
        inside = members_inside(n, stride, self.node)
        within = bytes_sent(collective, round(size), inside) / self.chip.link
        return within + bytes_sent(collective, round(size / inside), n // inside) / self.chip.network


@lru_cache
def members_inside(n: int, stride: int, node: int) -> int:
    """How many of a group's n members, `stride` chips apart, are in one node: the largest divisor of n that fits."""
    most = max(1, min(n, node // stride))
    return next(members for members in range(most, 0, -1) if n % members == 0)


@dataclass(frozen=True)
class Layout:
    """How many ways each kind of parallelism cuts the work. Their product is the number of chips.

    data       groups with parts of the batch of their own; stage: what they share instead of copying it, 0 nothing,
               1 the optimizer's numbers, 2 gradients as well, 3 weights as well (ZeRO: Rajbhandari et al. 2020)
    tensor     each matrix in parts, and the tokens between them (sequence parallelism: Korthikanti et al. 2022)
    pipeline   stages, of `chunks` pieces each (interleaved 1F1B, see `schedules`)
    context    parts of each sequence (ring attention)
    expert     groups of experts, spread over the data groups
    rows       sequences in a microbatch
    recompute  "none": attention keeps its T × T scores; "selective": a fused kernel computes them again, and skips the
               half that the causal mask forbids; "full": a block keeps its input alone, and computes the rest again
    """

    data: int = 1
    stage: int = 0
    tensor: int = 1
    pipeline: int = 1
    chunks: int = 1
    context: int = 1
    expert: int = 1
    rows: int = 1
    recompute: str = "selective"

    def __post_init__(self) -> None:
        ways = dict(data=self.data, tensor=self.tensor, pipeline=self.pipeline, context=self.context)
        others = dict(chunks=self.chunks, expert=self.expert, rows=self.rows)
        check_numbers("Layout", least=1, whole=True, **ways, **others)
        check_numbers("Layout", least=0, most=3, whole=True, stage=self.stage)
        check_one_of("Layout", RECOMPUTE, recompute=self.recompute)

    @property
    def chips(self) -> int:
        """The product of the ways."""
        return self.data * self.tensor * self.pipeline * self.context

    def microbatches(self, training: Training) -> int:
        """How many a data group computes in a step."""
        return training.batch // (self.data * self.rows)

    def __str__(self) -> str:
        ways = dict(tensor=self.tensor, context=self.context, pipeline=self.pipeline, data=self.data)
        said = [f"{name} {n}" for name, n in ways.items() if n > 1] or ["one chip"]
        others = {"stages of a rank": self.chunks, "experts": self.expert, "texts at once": self.rows}
        said += [f"{name} {n}" for name, n in others.items() if n > 1]
        return ", ".join([*said, f"ZeRO stage {self.stage}", f"recompute {RECOMPUTED[self.recompute]}"])


def why_not(sizes: ModelSizes, training: Training, cluster: Cluster, layout: Layout) -> str | None:
    """Why a layout cannot be used, in words; None if it can."""
    tensor, data, context = layout.tensor, layout.data, layout.context
    many = layout.microbatches(training)
    rules = (
        (layout.chips == cluster.count, f"{layout.chips} chips in the layout, but {cluster.count} in the cluster"),
        (sizes.heads % tensor == 0, f"{sizes.heads} heads cannot be cut into tensor={tensor} equal parts"),
        (tensor <= cluster.node, f"tensor={tensor}, but a node has {cluster.node} chips"),
        (
            layout.pipeline * layout.chunks <= sizes.layers,
            f"pipeline={layout.pipeline} with chunks={layout.chunks} for {sizes.layers} layers",
        ),
        (training.length % context == 0, f"{training.length} tokens cannot be cut into context={context} equal parts"),
        (
            training.batch % (data * layout.rows) == 0,
            f"a batch of {training.batch} cannot be cut into data·rows={data * layout.rows} equal parts",
        ),
        (layout.chunks == 1 or layout.pipeline > 1, f"chunks={layout.chunks} without a pipeline"),
        (
            layout.chunks == 1 or many % layout.pipeline == 0,
            f"{many} microbatches are no multiple of pipeline={layout.pipeline}, which chunks={layout.chunks} needs",
        ),
        (sizes.experts is not None or layout.expert == 1, f"expert={layout.expert}, but the model has no experts"),
        (data % layout.expert == 0, f"data={data} cannot be cut into groups of expert={layout.expert}"),
        (
            sizes.experts is None or sizes.experts.n_experts % layout.expert == 0,
            f"expert={layout.expert} parts of {sizes.experts and sizes.experts.n_experts} experts",
        ),
    )
    return next((words for holds, words in rules if not holds), None)


@dataclass(frozen=True)
class Assumptions:
    """What no data sheet says. One set for all plans, unless you change it.

    matmul     share of a chip's peak that is reached while a block computes its products. Products alone reach 0.73 on
               an H100, 720 of 989 TFLOP/s, and 0.65 in 8 bits (both SemiAnalysis, December 2024). 0.60 fits the
               published runs best, see `published`; fp8 is lowered in proportion
    bandwidth  share of the stated bandwidths that is reached: 160 of 200 GB/s (DeepSeek-AI 2024, section 3.2.2)
    usable     share of the memory for the parts that are counted; the rest is the framework's
    pue        power of the data centre for each watt of its computers, and carbon in kg of CO2e for each kWh: those of
               GPT-3's training, a mean of the US (Patterson et al. 2021, table 4)
    watts, dollars  of a chip, and of an hour of it; None: those in `CHIPS`
    """

    matmul: float = 0.60
    fp8: float = 0.53
    bandwidth: float = 0.8
    usable: float = 0.9
    pue: float = 1.10
    carbon: float = 0.429
    watts: float | None = None
    dollars: float | None = None

    def __post_init__(self) -> None:
        shares = dict(matmul=self.matmul, fp8=self.fp8, bandwidth=self.bandwidth, usable=self.usable)
        check_numbers("Assumptions", above=0, most=1, **shares)
        check_numbers("Assumptions", least=1, less_than=10, pue=self.pue)
        rates = dict(carbon=self.carbon, watts=self.watts, dollars=self.dollars)
        check_numbers("Assumptions", least=0, less_than=float("inf"), optional=True, **rates)
