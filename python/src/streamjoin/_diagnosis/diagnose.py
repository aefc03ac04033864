"""Derives findings from the facts of a query, by the table of causes."""

from __future__ import annotations

from dataclasses import replace

from streamjoin._diagnosis.advice import lags, sizes
from streamjoin._diagnosis.causes import CAUSES, Cause
from streamjoin._diagnosis.findings import Diagnosis, Finding
from streamjoin._diagnosis.healthy import nothing_wrong
from streamjoin._diagnosis.known import Known
from streamjoin._diagnosis.signals import seen
from streamjoin._diagnosis.subjects import Subject, subjects

# Times with one of these findings are wrong, so no advice is computed from them.
_WRONG_TIMES = ("OTHER_UNIT", "WATERMARK_AHEAD")


def diagnose(known: Known) -> Diagnosis:
    said: list[tuple[Cause, Subject, Finding]] = []
    for cause in CAUSES:
        for subject in subjects(known, cause.scope):
            explained = any(
                other.code in cause.yields and subject.concerns(about) for other, about, _ in said
            )
            if not explained and _holds(cause, subject):
                finding = replace(cause.say(subject), severity=cause.severity.word)
                said.append((cause, subject, finding))
    wrong = [about for cause, about, _ in said if cause.code in _WRONG_TIMES]
    found = tuple(finding for _, _, finding in said)
    return Diagnosis(
        found or (nothing_wrong(known),), tuple(lags(known, wrong)), tuple(sizes(known, wrong))
    )


def _holds(cause: Cause, subject: Subject) -> bool:
    return not any(seen(s, subject) for s in cause.unseen) and all(
        seen(s, subject) for s in cause.seen
    )
