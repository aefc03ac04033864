"""Findings about what stands above the join on top."""

from __future__ import annotations

from collections.abc import Iterator

from streamjoin._diagnosis.figures import emitted
from streamjoin._diagnosis.findings import Finding
from streamjoin._diagnosis.known import Known


def aggregation_waits(known: Known) -> Iterator[Finding]:
    out, sink, above = emitted(known), known.sink_rows(), known.operators_above()
    if out and sink == 0 and above:
        mark = known.progress[-1].get("eventTime", {}).get("watermark", "not known yet")
        yield Finding(
            "OPERATOR_ABOVE_WAITS",
            f"The join has emitted {out} rows; {above[0]} above it waits for Spark's watermark, "
            f"{mark}.",
            {"rows of the join": out, "watermark": mark},
            "A window above a join closes by Spark's own watermark of the query, which the slowest "
            "of all inputs holds back.",
            "A shorter lag of the slowest input, or a shorter window.",
        )


def filtered_above(known: Known) -> Iterator[Finding]:
    out = emitted(known)
    if out and known.sink_rows() == 0 and not known.operators_above():
        yield Finding(
            "FILTERED_ABOVE",
            f"The join has emitted {out} rows, and none has reached the sink.",
            {"rows of the join": out},
            "A filter above the join lets none of them through.",
            "query.explain() shows what stands above the join.",
        )
