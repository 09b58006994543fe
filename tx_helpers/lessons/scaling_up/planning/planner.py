"""Plan a training run before renting the chips: does it fit, how long does it take, at what cost, in which layout?

    sizes = sizes_of(PUBLISHED["Llama 3 8B"])
    training = Training(tokens=1e12, length=8192, batch=512)
    cluster = Cluster("H100 SXM", 64)
    found = plan(sizes, training, cluster, Layout(data=64, stage=2))
    found.fits, found.days, found.mfu, found.memory, found.seconds
    best_layouts(sizes, training, cluster)[0].layout

`layout_costs` has the formulas, `Assumptions` what no data sheet says, `published` how far off they are for runs
of five models. MFU is the share of the chips' peak that the model's own FLOPs use, HFU with all that is computed again
(Chowdhery et al. 2022, appendix B); both with the peak in bfloat16, and MFU with all T × T scores. Left out: the
latency of messages, slow chips and failures, validation, and time in which the processor feeds the chip too slowly.
"""

from collections.abc import Iterator
from dataclasses import dataclass, replace
from itertools import product

from tx_helpers.lessons.scaling_up.planning.cluster import RECOMPUTE, Assumptions, Cluster, Layout, why_not
from tx_helpers.lessons.scaling_up.planning.layout_costs import hardware_flops, memory, seconds
from tx_helpers.lessons.scaling_up.planning.workload import ModelSizes, Training
from tx_helpers.nn.arguments import check_numbers, check_types

DAY = 86_400


@dataclass(frozen=True)
class Plan:
    """What one layout needs. memory in bytes on a chip, and seconds of a step, both by part."""

    sizes: ModelSizes
    training: Training
    cluster: Cluster
    layout: Layout
    assumed: Assumptions
    memory: dict[str, float]
    seconds: dict[str, float]

    @property
    def room(self) -> float:
        """Bytes of a chip that may be used."""
        return self.cluster.chip.memory * self.assumed.usable

    @property
    def fits(self) -> bool:
        """Is there room for all parts?"""
        return sum(self.memory.values()) <= self.room

    @property
    def step(self) -> float:
        """Seconds of a step."""
        return sum(self.seconds.values())

    @property
    def bubble(self) -> float:
        """The share of the step that the pipeline's bubble takes."""
        return self.seconds["bubble"] / self.step

    @property
    def mfu(self) -> float:
        """Model FLOPs utilisation."""
        flops = self.sizes.flops(self.training.length) * self.training.tokens_a_step
        return flops / (self.cluster.count * self.cluster.chip.flops * self.step)

    @property
    def causal_mfu(self) -> float:
        """MFU that counts half of the scores, those that the causal mask leaves."""
        T, sizes = self.training.length, self.sizes
        return self.mfu * (1 - 3 * T * sizes.score_width / sizes.flops(T))

    @property
    def hfu(self) -> float:
        """Hardware FLOPs utilisation."""
        flops = sum(hardware_flops(self.sizes, self.training, self.layout).values())
        return flops / (self.cluster.count * self.cluster.chip.flops * self.step)

    @property
    def tokens_per_second(self) -> float:
        """Of all chips."""
        return self.training.tokens_a_step / self.step

    @property
    def days(self) -> float:
        """Of the whole run."""
        return self.training.tokens / self.tokens_per_second / DAY

    @property
    def chip_hours(self) -> float:
        """Of the whole run."""
        return self.days * 24 * self.cluster.count

    @property
    def kwh(self) -> float | None:
        """Of the whole run, with the data centre's share; None where the chip's power is not published."""
        watts = self.cluster.chip.watts if self.assumed.watts is None else self.assumed.watts
        return None if watts is None else self.chip_hours * watts / 1000 * self.assumed.pue

    @property
    def carbon(self) -> float | None:
        """kg of CO2e, without what making the chips took."""
        return None if self.kwh is None else self.kwh * self.assumed.carbon

    @property
    def dollars(self) -> float | None:
        """The rent; None where no price is known."""
        price = self.cluster.chip.dollars if self.assumed.dollars is None else self.assumed.dollars
        return None if price is None else self.chip_hours * price


def plan(
    sizes: ModelSizes, training: Training, cluster: Cluster, layout: Layout, assumed: Assumptions | None = None
) -> Plan:
    """What a layout needs. Errors: a ValueError that names what cannot be cut so."""
    _check("plan", sizes, training, cluster, assumed)
    check_types("plan", Layout, layout=layout)
    reason = why_not(sizes, training, cluster, layout)
    if reason:
        raise ValueError(f"plan: {reason}")
    return _planned(sizes, training, cluster, layout, assumed or Assumptions())


def needed_mfu(sizes: ModelSizes, training: Training, cluster: Cluster, days: float) -> float:
    """The MFU with which the run ends after so many days; above 1 it cannot."""
    _check("needed_mfu", sizes, training, cluster, None)
    check_numbers("needed_mfu", above=0, less_than=float("inf"), days=days)
    return sizes.flops(training.length) * training.tokens / (cluster.count * cluster.chip.flops * days * DAY)


def best_layouts(
    sizes: ModelSizes,
    training: Training,
    cluster: Cluster,
    assumed: Assumptions | None = None,
    *,
    count: int = 5,
    recompute: tuple[str, ...] = RECOMPUTE,
) -> list[Plan]:
    """The fastest `count` plans of those that fit; none if nothing does.

    Every way is a power of two or what is left of the cluster. Of the stages of ZeRO that share something the lowest
    that fits is taken, since it sends least.
    """
    _check("best_layouts", sizes, training, cluster, assumed)
    check_numbers("best_layouts", least=1, whole=True, count=count)
    assumed = assumed or Assumptions()
    room, found = cluster.chip.memory * assumed.usable, []
    for copied in layouts(sizes, training, cluster, recompute):
        stages = range(4 if copied.data * copied.context > 1 else 1)
        for stage in stages:
            layout = replace(copied, stage=stage)
            if sum(memory(sizes, training, layout).values()) <= room:
                found.append(_planned(sizes, training, cluster, layout, assumed))
                if stage:
                    break
    return sorted(found, key=lambda one: one.step)[:count]


def layouts(
    sizes: ModelSizes, training: Training, cluster: Cluster, recompute: tuple[str, ...] = RECOMPUTE
) -> Iterator[Layout]:
    """Every layout that can be used (see `why_not`), in stage 0."""
    few = [2**i for i in range(7)]
    experts = few if sizes.experts else [1]
    for tensor, pipeline, context in product(few, few, few[: 5 if training.length > 8192 else 1]):
        data, rest = divmod(cluster.count, tensor * pipeline * context)
        if rest or not data:
            continue
        for chunks, expert, rows in product(few[:4], experts, few[:4]):
            layout = Layout(data, 0, tensor, pipeline, chunks, context, expert, rows)
            if why_not(sizes, training, cluster, layout) is None:
                yield from (replace(layout, recompute=again) for again in recompute)


def _planned(sizes: ModelSizes, training: Training, cluster: Cluster, layout: Layout, assumed: Assumptions) -> Plan:
    parts = memory(sizes, training, layout), seconds(sizes, training, cluster, layout, assumed)
    return Plan(sizes, training, cluster, layout, assumed, *parts)


def _check(where: str, sizes: ModelSizes, training: Training, cluster: Cluster, assumed: Assumptions | None) -> None:
    check_types(where, ModelSizes, sizes=sizes)
    check_types(where, Training, training=training)
    check_types(where, Cluster, cluster=cluster)
    check_types(where, (Assumptions, type(None)), assumed=assumed)
