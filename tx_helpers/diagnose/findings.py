"""What an examination finds: one `Finding` for each probe, and the `Report` of them all, as a text and as a table."""

from collections.abc import Iterator
from dataclasses import dataclass, field
from html import escape
from textwrap import fill

RIGHT, WRONG, LOOK, SKIPPED = "right", "wrong", "look", "not examined"


@dataclass(frozen=True)
class Finding:
    """One probe's result.

    question  what was probed
    figure    what was measured, in words; number: the same as a number, where it is one
    verdict   "right", "wrong", "look" (right for some models, a mistake in others) or "not examined"
    causes    the likely causes, the likeliest first; where: in which part of the model; advice: what to try
    """

    probe: str
    question: str
    verdict: str
    figure: str
    number: float | None = None
    causes: tuple[str, ...] = ()
    where: str = ""
    advice: str = ""


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

    def of(self, verdict: str) -> list[str]:
        """The probes of a verdict, by name."""
        return [finding.probe for finding in self.findings if finding.verdict == verdict]

    @property
    def wrong(self) -> list[str]:
        """The probes that convict."""
        return self.of(WRONG)

    @property
    def summary(self) -> str:
        """One line: "2 probes convict (future, prefix), 1 asks you to look (attention), 9 find nothing, …"."""
        convict, look, right, skipped = (self.of(verdict) for verdict in (WRONG, LOOK, RIGHT, SKIPPED))
        parts = (
            [f"{_count(convict, 'convicts', 'convict')} ({', '.join(convict)})"] if convict else ["Nothing is wrong"]
        )
        if look:
            parts.append(f"{_count(look, 'asks', 'ask')} you to look ({', '.join(look)})")
        parts.append(f"{_count(right, 'finds', 'find')} nothing")
        if skipped:
            parts.append(f"{len(skipped)} could not examine ({', '.join(skipped)})")
        return ", ".join(parts) + "."

    def text(self, width: int = 80) -> str:
        """For a terminal: a line for each probe, then what to do about what was found; `width` columns."""
        names = max((len(finding.probe) for finding in self.findings), default=0)
        lines = [fill(self.model, width), ""]
        for f in self.findings:
            mark = f.verdict.upper() if f.verdict == WRONG else f.verdict
            lines.append(_hanging(f"{f.probe:<{names}}  {mark:<12}  ", f.figure, width))
        for f in self.findings:
            if f.verdict in (WRONG, LOOK):
                lines += ["", fill(f"{f.probe}: {f.question}", width), *_remarks(f, width)]
        return "\n".join([*lines, "", fill(self.summary, width)])

    def __str__(self) -> str:
        return self.text()

    def __repr__(self) -> str:
        return self.text(110)

    def _repr_html_(self) -> str:
        """For a notebook: a table with a row for each probe. No text of the model's gets in as markup."""
        rows = "".join(_row(finding) for finding in self.findings)
        head = "".join(f'<th scope="col" style="{_LEFT}">{name}</th>' for name in _COLUMNS)
        return (
            f'<table aria-label="{escape(self.summary, quote=True)}"><caption style="text-align:left">'
            f"{escape(self.model)}<br><strong>{escape(self.summary)}</strong></caption>"
            f"<thead><tr>{head}</tr></thead><tbody>{rows}</tbody></table>"
        )


_COLUMNS = ("Probe", "Verdict", "What was measured; likely causes, where to look, what to try")
_MARKS = {RIGHT: "✓", WRONG: "✗", LOOK: "?", SKIPPED: "–"}
_LEFT = "text-align:left;vertical-align:top;padding:0.2em 0.6em"


def _row(f: Finding) -> str:
    remarks = ""
    if f.verdict in (WRONG, LOOK):
        causes = "".join(f"<li>{escape(cause)}</li>" for cause in f.causes)
        notes = "".join(
            f"<p>{name}: {escape(text)}</p>" for name, text in (("Look", f.where), ("Try", f.advice)) if text
        )
        remarks = (f"<ol>{causes}</ol>" if causes else "") + notes
    weight = "bold" if f.verdict == WRONG else "normal"
    return (
        f'<tr><th scope="row" style="{_LEFT};white-space:nowrap">{escape(f.probe)}</th>'
        f'<td style="{_LEFT};white-space:nowrap;font-weight:{weight}">{_MARKS[f.verdict]} {f.verdict}</td>'
        f'<td style="{_LEFT}">{escape(f.question)} <em>{escape(f.figure)}</em>{remarks}</td></tr>'
    )


def _remarks(f: Finding, width: int) -> list[str]:
    notes = [(f"{n}.", cause) for n, cause in enumerate(f.causes, 1)]
    notes += [(name, text) for name, text in (("look:", f.where), ("try:", f.advice)) if text]
    return [_hanging(f"  {name:<6}", text, width) for name, text in notes]


def _hanging(head: str, text: str, width: int) -> str:
    return fill(text, width, initial_indent=head, subsequent_indent=" " * len(head)) or head.rstrip()


def _count(probes: list[str], one: str, many: str) -> str:
    return f"{len(probes)} probe{'' if len(probes) == 1 else 's'} {one if len(probes) == 1 else many}"
