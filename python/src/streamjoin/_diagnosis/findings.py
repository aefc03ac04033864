"""Findings of the doctor, as text and as a table for notebooks."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass, field
from enum import Enum
from html import escape

from streamjoin._diagnosis.advice import LagAdvice, StateEstimate


class Severity(Enum):
    """The severity of a finding: its word, its sign, and its colour in a notebook."""

    STUCK = ("stuck", "\u2716", "#c62828")
    LOSES = ("loses", "\u25b2", "#e65100")
    NOTE = ("note", "\u25cf", "#1565c0")
    UNSEEN = ("unseen", "?", "#616161")
    WELL = ("well", "\u2714", "#2e7d32")

    def __init__(self, word: str, sign: str, colour: str) -> None:
        self.word = word
        self.sign = sign
        self.colour = colour


_SEVERITIES = {each.word: each for each in Severity}


@dataclass(frozen=True)
class Finding:
    """One cause of missing output or lost rows.

    Attributes
    ----------
    code : str
        One of a fixed set of codes; the page "Why is there no output?" lists them.
    headline : str
        The finding in a sentence.
    figures : Mapping of str to int, float or str
        The figures of the finding. Times are text in the session's time zone. Distances are a
        subclass of int, in milliseconds or in the unit of a column of numbers. Their text has the
        unit.
    cause : str
        The cause in a sentence.
    write : str
        The line to write, or what to check; empty if there is nothing to do.
    severity : str
        One of these values:

        - ``"stuck"``: the query cannot emit rows
        - ``"loses"``: rows are dropped, or the query falls behind
        - ``"note"``: worth knowing
        - ``"unseen"``: the cause is unknown
        - ``"well"``: nothing is wrong
    """

    code: str
    headline: str
    figures: Mapping[str, object] = field(default_factory=dict)
    cause: str = ""
    write: str = ""
    severity: str = Severity.STUCK.word


@dataclass(frozen=True)
class Diagnosis:
    """All findings of a query or a checkpoint, the one that explains most first.

    It prints as text, and in a notebook as a table.

    Attributes
    ----------
    findings : tuple of Finding
        The causes of missing output or lost rows.
    lags : tuple of LagAdvice
        For each column with an imposed order, the lag that would have accepted its rows. Empty for
        a folder, which has no reports.
    sizes : tuple of StateEstimate
        For each input, the rows that the bounds buffer at the reported rate. Empty for a folder.
    """

    findings: tuple[Finding, ...]
    lags: tuple[LagAdvice, ...] = ()
    sizes: tuple[StateEstimate, ...] = ()

    @property
    def headline(self) -> Finding:
        """The finding that explains most."""
        return self.findings[0]

    def __str__(self) -> str:
        lines = []
        for number, finding in enumerate(self.findings):
            lines.append(("" if number == 0 else "also: ") + finding.headline)
            lines += [f"  {text}" for text in (finding.cause, finding.write) if text]
            if finding.figures:
                lines.append("  " + _figures(finding))
        return "\n".join([*lines, *map(str, self.lags), *map(str, self.sizes)])

    __repr__ = __str__

    def _repr_html_(self) -> str:
        rows = "".join(_row(finding) for finding in self.findings)
        advice = "<br>".join(escape(str(each)) for each in (*self.lags, *self.sizes))
        if advice:
            rows += f"<tr><th></th><td style='text-align:left'>{advice}</td></tr>"
        return f"<table><tbody>{rows}</tbody></table>"


def _figures(finding: Finding) -> str:
    return ", ".join(f"{name} {value}" for name, value in finding.figures.items())


def _row(finding: Finding) -> str:
    severity = _SEVERITIES.get(finding.severity, Severity.STUCK)
    texts = (finding.cause, _figures(finding))
    more = "".join(f"<br>{escape(text)}" for text in texts if text)
    line = f"<br><code>{escape(finding.write)}</code>" if finding.write else ""
    edge = f"vertical-align:top;border-left:6px solid {severity.colour};white-space:nowrap"
    # the sign and its word repeat the colour, for readers who do not see it
    sign = f"<span style='color:{severity.colour}' title='{severity.word}'>{severity.sign}</span>"
    return (
        f"<tr><th style='text-align:left;{edge}'>{sign} {escape(finding.code)}</th>"
        f"<td style='text-align:left'><b>{escape(finding.headline)}</b>{more}{line}</td></tr>"
    )
