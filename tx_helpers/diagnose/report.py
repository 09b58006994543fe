"""What `diagnose` returns: a `Finding` for each probe, and the `Report` of them all, as a text and as a table."""

from collections.abc import Iterator, Mapping
from dataclasses import dataclass, field
from html import escape
from textwrap import fill
from typing import Any

from tx_helpers.environment import printable

RIGHT, WRONG, LOOK, SKIPPED = "right", "wrong", "look", "skipped"


@dataclass(frozen=True)
class Result:
    """What a probe returns; its row of the table in reasons.py has the texts.

    state   RIGHT, WRONG, LOOK (right in some models, a mistake in others) or SKIPPED
    figure  what was measured, in words; number: the same as a number, where it is one
    causes  keys of the row, the likeliest first; none: all causes of the row, in its order
    where   the part of the model where it begins; values: for the words in braces of the causes
    """

    state: str
    figure: str
    number: float | None = None
    causes: tuple[str, ...] = ()
    where: str = ""
    values: Mapping[str, Any] = field(default_factory=dict)


@dataclass(frozen=True)
class Finding:
    """A line of the report: a probe's result in words.

    state   "right", "wrong", "look" (right in some models, a mistake in others) or "skipped"
    figure  what was measured, in words; number: the same as a number, where it is one
    causes  the likely causes, the likeliest first; where: in which part of the model; advice: what to try
    """

    probe: str
    question: str
    state: str
    figure: str
    number: float | None = None
    causes: tuple[str, ...] = ()
    where: str = ""
    advice: str = ""


@dataclass(frozen=True)
class Reasons:
    """A row of the table in reasons.py.

    causes      by key, the likeliest first; words in braces are filled in from a result's `values`
    advice      what to try; advice_for: what else to try where the cause with this key comes first
    """

    question: str
    causes: dict[str, str]
    advice: str = ""
    advice_for: dict[str, str] = field(default_factory=dict)

    def explain(self, probe: str, result: Result) -> Finding:
        """The result of a probe in words."""
        measured = (probe, self.question, result.state, result.figure, result.number)
        if result.state not in (WRONG, LOOK):
            return Finding(*measured)
        keys = result.causes or tuple(self.causes)
        causes = tuple(self.causes[key].format(**result.values) for key in keys)
        return Finding(*measured, causes, result.where, self.advice_for.get(keys[0], self.advice))


@dataclass(frozen=True)
class Report:
    """All findings about one model, in the order of the probes. `report["future"]` is one of them."""

    model: str
    findings: tuple[Finding, ...] = field(default=())

    def __getitem__(self, probe: str) -> Finding:
        for finding in self.findings:
            if finding.probe == probe:
                return finding
        raise KeyError(f"no probe {probe!r}; there is: {', '.join(finding.probe for finding in self.findings)}")

    def __iter__(self) -> Iterator[Finding]:
        return iter(self.findings)

    def of(self, state: str) -> list[str]:
        """The probes with this state, by name."""
        return [finding.probe for finding in self.findings if finding.state == state]

    @property
    def wrong(self) -> list[str]:
        """The probes that found a mistake."""
        return self.of(WRONG)

    @property
    def summary(self) -> str:
        """One line: "2 probes find a mistake (future, prefix), 1 asks you to look (attention), 9 find nothing, …"."""
        wrong, look, right, skipped = (self.of(state) for state in (WRONG, LOOK, RIGHT, SKIPPED))
        parts = ["No probe finds a mistake"]
        if wrong:
            parts = [
                f"{len(wrong)} {'probe finds' if len(wrong) == 1 else 'probes find'} a mistake ({', '.join(wrong)})"
            ]
        if look:
            parts.append(f"{len(look)} {'asks' if len(look) == 1 else 'ask'} you to look ({', '.join(look)})")
        parts.append(f"{len(right)} {'finds' if len(right) == 1 else 'find'} nothing")
        if skipped:
            parts.append(f"{len(skipped)} {'was' if len(skipped) == 1 else 'were'} skipped ({', '.join(skipped)})")
        return ", ".join(parts) + "."

    def text(self, width: int = 80) -> str:
        """For a terminal of `width` columns: a line for each probe, then causes and advice for what was found."""
        names = max((len(finding.probe) for finding in self.findings), default=0)
        lines = [fill(self.model, width), ""]
        for f in self.findings:
            mark = f.state.upper() if f.state == WRONG else f.state
            lines.append(_hanging(f"{f.probe:<{names}}  {mark:<7}  ", f.figure, width))
        for f in self.findings:
            if f.state in (WRONG, LOOK):
                lines += ["", fill(f"{f.probe}: {f.question}", width), *_remarks(f, width)]
        return "\n".join([*lines, "", fill(self.summary, width)])

    def __str__(self) -> str:
        return printable(self.text())

    def __repr__(self) -> str:
        return printable(self.text(110))

    def _repr_html_(self) -> str:
        """For a notebook: a table with a row for each probe. No text of the model's gets in as markup."""
        rows = "".join(_row(finding) for finding in self.findings)
        head = "".join(f'<th scope="col" style="{_LEFT}">{name}</th>' for name in _COLUMNS)
        return (
            f'<table aria-label="{escape(self.summary, quote=True)}"><caption style="text-align:left">'
            f"{escape(self.model)}<br><strong>{escape(self.summary)}</strong></caption>"
            f"<thead><tr>{head}</tr></thead><tbody>{rows}</tbody></table>"
        )


_COLUMNS = ("Probe", "Result", "What was measured; likely causes, where to look, what to try")
_MARKS = {RIGHT: "✓", WRONG: "✗", LOOK: "?", SKIPPED: "–"}
_LEFT = "text-align:left;vertical-align:top;padding:0.2em 0.6em"


def _row(f: Finding) -> str:
    remarks = ""
    if f.state in (WRONG, LOOK):
        causes = "".join(f"<li>{escape(cause)}</li>" for cause in f.causes)
        notes = "".join(
            f"<p>{name}: {escape(text)}</p>" for name, text in (("Look", f.where), ("Try", f.advice)) if text
        )
        remarks = (f"<ol>{causes}</ol>" if causes else "") + notes
    weight = "bold" if f.state == WRONG else "normal"
    return (
        f'<tr><th scope="row" style="{_LEFT};white-space:nowrap">{escape(f.probe)}</th>'
        f'<td style="{_LEFT};white-space:nowrap;font-weight:{weight}">{_MARKS[f.state]} {f.state}</td>'
        f'<td style="{_LEFT}">{escape(f.question)} <em>{escape(f.figure)}</em>{remarks}</td></tr>'
    )


def _remarks(f: Finding, width: int) -> list[str]:
    notes = [(f"{n}.", cause) for n, cause in enumerate(f.causes, 1)]
    notes += [(name, text) for name, text in (("look:", f.where), ("try:", f.advice)) if text]
    return [_hanging(f"  {name:<6}", text, width) for name, text in notes]


def _hanging(head: str, text: str, width: int) -> str:
    return fill(text, width, initial_indent=head, subsequent_indent=" " * len(head)) or head.rstrip()
