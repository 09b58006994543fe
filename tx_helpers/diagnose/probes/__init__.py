"""The probes of `diagnose`, in the order of the report. Each takes a `Run` and returns a `Result`.

The texts of each probe stand in reasons.py, in the row of its name.
"""

from collections.abc import Callable

from tx_helpers.diagnose.probes import answers, caches, context, data, leaks, padding, training
from tx_helpers.diagnose.report import Result
from tx_helpers.diagnose.run import Run

PROBES: dict[str, Callable[[Run], Result]] = {
    "numbers": answers.numbers,
    "repeat": answers.repeat,
    "future": leaks.future,
    "prefix": leaks.prefix,
    "neighbours": leaks.neighbours,
    "padding": padding.padding,
    "empty row": padding.empty_row,
    "context": context.context,
    "order": answers.order,
    "start": answers.start,
    "logits": answers.logits,
    "echo": answers.echo,
    "gradients": training.gradients,
    "parameters": training.parameters,
    "attention": training.attention,
    "cached": caches.cached,
    "prefill": caches.prefill,
    "reorder": caches.reorder,
    "shift": data.shift,
    "loss": data.loss,
}
WITHOUT_NUMBERS = {"numbers", "parameters", "shift", "loss"}  # can be probed where the logits are not finite
COMPARED = {"future", "prefix", "neighbours", "padding", "context", "order", "cached", "prefill", "reorder"}
