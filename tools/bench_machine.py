"""The machine in Chromium, and the same model in PyTorch: milliseconds of a decoding step and of a whole pass.

    python tools/bench_machine.py [--rounds 20]

Every line is a median. "step" is one word more with the cache, at each length up to the one that is given; "last step"
is the step at that length. "pass" is a forward pass over all of it, with every tensor kept. Aim: a step within 8 ms.
"redraw" is a removed head, or one put back, from the click to the laid-out picture, in time of the page's own thread.
Aim: within 16 ms.
PyTorch runs in one thread, with `DecodingState` for a step and without `capture`.
"""

import argparse
import statistics
import sys
import time

import torch

from notebook_frame import ROOT
from tx_helpers.widgets.machine import machine
from tx_helpers.zoo.recipes import Translator, Writer, number_translator
from tx_helpers.zoo.shipped import CONTEXTS, story_writer

sys.path.insert(0, str(ROOT / "tests/support"))

from browser_harness import chromium
from machine_pages import Case, MachinePage
from widget_page import mount

NUMBER, TRANSLATION = "seven hundred forty-three thousand four hundred twenty-one", "sieben hundert drei und vierzig"
TIMES = """([ids, rounds]) => {
  const timed = (f) => { const start = performance.now(); f(); return performance.now() - start; };
  const median = (times) => times.sort((a, b) => a - b)[Math.floor(times.length / 2)];
  const steps = [], last = [], passes = [];
  for (let round = -2; round < rounds; round++) {  // the first two warm up
    const state = machine.start(model, ids), times = ids.target.map((id) => timed(() => machine.step(state, id)));
    const pass = timed(() => machine.run(model, ids));
    if (round >= 0) { steps.push(...times); last.push(times.at(-1)); passes.push(pass); }
  }
  return [steps, last, passes].map(median);
}"""


REDRAW = """(count) => {
  for (let i = 0; i < count; i++) {
    document.querySelector(".tx-map").click();
    document.body.getBoundingClientRect();
  }
}"""


def cases() -> dict[str, tuple[Translator | Writer, Case]]:
    """Name -> (the model, what it reads)."""
    translator = number_translator()
    source, target = translator.data.source_tokenizer, translator.data.target_tokenizer
    case = Case([target.bos_id, *target.encode(f"{TRANSLATION} tausend vier hundert")], source.encode(NUMBER))
    found = {"translator": (translator, case)}
    for context in CONTEXTS:
        writer = story_writer(context)
        found[f"writer, {context}"] = writer, Case(writer.tokenizer.encode("Once upon a time. " * 16)[:context])
    return found


@torch.no_grad()
def in_pytorch(subject: Translator | Writer, case: Case, rounds: int) -> list[float]:
    """The same three medians."""
    model, steps, last, passes = subject.model, [], [], []

    def timed(function) -> float:
        start = time.perf_counter()
        function()
        return 1000 * (time.perf_counter() - start)

    for counted in [False, False] + [True] * rounds:
        state = model.start() if case.source is None else model.start(case.inputs[0])
        times = [timed(lambda state=state, id=id: state.step(torch.tensor([[id]]))) for id in case.target]
        one = timed(lambda: model(*case.inputs))
        if counted:
            steps, last, passes = steps + times, [*last, times[-1]], [*passes, one]
    return [statistics.median(times) for times in (steps, last, passes)]


def redraw(page, subject: Translator | Writer, rounds: int) -> float:
    """Milliseconds of a redraw in a page of 1,066 pixels: the mean time that the page's own thread was at work."""
    view = machine(subject)
    page.set_viewport_size({"width": 1066, "height": 900})
    page.set_content(f"<style>{view._css}</style><main id=place></main>")
    mount(page, view._esm, {"spec": view.spec, "data": view.data, "state": view.state}, "state")
    page.evaluate(REDRAW, 6)  # warms up; and the passes of both machines are computed
    tools = page.context.new_cdp_session(page)
    tools.send("Performance.enable", {"timeDomain": "threadTicks"})

    def at_work() -> float:
        metrics = tools.send("Performance.getMetrics")["metrics"]
        return next(each["value"] for each in metrics if each["name"] == "TaskDuration")

    before = at_work()
    page.evaluate(REDRAW, rounds)
    return 1000 * (at_work() - before) / rounds


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--rounds", type=int, default=20, help="decodings and passes of each model (default: 20)")
    rounds = parser.parse_args().rounds
    torch.set_num_threads(1)
    print(f"{'':16}{'positions':>10}{'':12}{'step':>8}{'last step':>11}{'pass':>8}   milliseconds (medians)")
    with chromium() as browser:
        for name, (subject, case) in cases().items():
            page = browser.new_page()
            ids = {"source": case.source, "target": case.target}
            in_page = MachinePage(page, subject).page.evaluate(TIMES, [ids, rounds])
            drawn = redraw(page, subject, rounds)
            page.close()
            for where, times in (("Chromium", in_page), ("PyTorch", in_pytorch(subject, case, rounds))):
                positions = f"{len(case.source or [])}+{len(case.target)}" if case.source else str(len(case.target))
                step, last, whole = times
                print(f"{name:16}{positions:>10}  {where:10}{step:8.2f}{last:11.2f}{whole:8.2f}", flush=True)
            print(f"{name:16}{'':10}  {'Chromium':10}{drawn:8.2f}   redraw", flush=True)


if __name__ == "__main__":
    main()
