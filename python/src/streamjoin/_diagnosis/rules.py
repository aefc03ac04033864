"""From what is known of a query to findings: a rule for each, what explains most first."""

from __future__ import annotations

from collections.abc import Iterator
from typing import Any

from streamjoin._diagnosis import above, inputs, matching, watermarks, whole_query
from streamjoin._diagnosis.advice import lags, sizes
from streamjoin._diagnosis.changelog import changelog_findings
from streamjoin._diagnosis.findings import Diagnosis, Finding
from streamjoin._diagnosis.healthy import nothing_wrong
from streamjoin._diagnosis.known import Known


def diagnose(known: Known) -> Diagnosis:
    rules = (
        whole_query.failed,
        whole_query.no_batch,
        _each(matching.contradictory),
        whole_query.never_any_input,
        inputs.filtered_below,
        _each(inputs.null_times),
        _each(watermarks.ahead),
        _each(watermarks.mostly_late),
        _each(watermarks.stands),
        _each(watermarks.long_lag),
        _each(matching.no_key_met),
        _each(matching.times_never_meet),
        changelog_findings,
        above.aggregation_waits,
        above.filtered_above,
        whole_query.backlog,
        whole_query.no_input_lately,
        whole_query.no_join,
    )
    found = [finding for rule in rules for finding in rule(known)]
    return Diagnosis(
        tuple(found or [nothing_wrong(known)]), tuple(lags(known)), tuple(sizes(known))
    )


def _each(rule: Any) -> Any:
    """Ask a rule of each join, the lowest first: those above see what it has decided."""

    def of_all(known: Known) -> Iterator[Finding]:
        for join in reversed(known.joins):
            yield from rule(known, join)

    return of_all
