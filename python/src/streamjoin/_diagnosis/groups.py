"""Findings about the watermarks of groups (``per``): a slow group, and topics without groups."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any, NamedTuple

from streamjoin._diagnosis.figures import HOUR, buffered, plain
from streamjoin._diagnosis.findings import Finding
from streamjoin._diagnosis.known import JoinKnown, Known
from streamjoin._diagnosis.subjects import Subject
from streamjoin._progress import Distance, shown_span


class Slowest(NamedTuple):
    """The group that holds the watermark of its column back.

    `behind` is its distance from the fastest group; None if it had no row so far.
    """

    name: str
    behind: int | None
    silent: int


def slowest(s: Subject) -> Slowest | None:
    """Return the slowest group of a column, if it is far behind and rows are buffered."""
    batch = s.last
    marks, silent = (
        {
            name.removeprefix(f"{s.time}."): value
            for name, value in batch.of(metric).items()
            if name.startswith(f"{s.time}.")
        }
        for metric in ("groupWatermark", "groupSilent")
    )
    if s.of_join.is_number(s.time) or not silent or not buffered(batch):
        return None
    without = [name for name in silent if name not in marks]
    if without and batch.of("groups").get(s.time, 0) > 1:
        name = max(without, key=silent.__getitem__)
        return Slowest(name, None, silent[name]) if silent[name] >= HOUR else None
    spread = batch.of("groupSpread").get(s.time, 0)
    if not marks or spread < HOUR:
        return None
    name = min(marks, key=marks.__getitem__)
    return Slowest(name, spread, silent.get(name, 0))


def slow(s: Subject) -> Finding:
    """Report the group that the join waits for."""
    found, rows, said = slowest(s), buffered(s.last), s.of_join.said(s.time)
    assert found is not None
    count = s.last.of("groups").get(s.time, 0)
    silent = f"its last row was {shown_span(found.silent)} ago" if found.silent else "it has rows"
    if found.behind is None:
        where = f"has had no row for {shown_span(found.silent)}"
    else:
        where = f"is {shown_span(found.behind)} behind the fastest; {silent}"
    return Finding(
        "SLOW_GROUP",
        f"Of {count} groups of {said}, ({found.name}) {where}. It holds back the watermark, and "
        f"{rows} rows are buffered.",
        {
            "group": found.name,
            "groups": count,
            "buffered rows": rows,
            **({} if found.behind is None else {"behind": Distance(found.behind)}),
        },
        "The watermark is that of the slowest group of per, so that its rows are not late.",
        f'imposeOrder("{plain(said)}", ..., idle_timeout="1 hour") if the group has ended: after '
        "that time without a row, the join no longer waits for it.",
    )


def late(join: JoinKnown, column: str) -> str:
    """Return why rows of a column with groups are late; empty without groups."""
    if f"groups.{column}" not in join.reported.last.metrics:
        return ""
    return (
        f"The watermark of {join.said(column)} is that of the slowest group by per. A row below it "
        "is out of order in the slowest group, or belongs to a group that is new or was idle."
    )


def advice(column: str, metrics: Mapping[str, int], said: str, known: Known) -> str:
    """Recommend ``per`` for late rows if the query reads a topic with several partitions.

    Parameters
    ----------
    column : str
        The column with the late rows, with its name in `metrics`; empty if it is unknown.
    metrics : Mapping[str, int]
        The metrics of the last batch of the operator.
    said : str
        The display name of the column.
    known : Known
        What is known of the query.
    """
    if not column or f"groups.{column}" in metrics:
        return ""
    partitions = max((_partitions(source) for source in _sources(known)), default=[], key=len)
    if len(partitions) < 2:
        return ""
    name, unread = max(partitions, key=lambda partition: partition[1])
    furthest = _late_with(known)
    if not furthest and unread:
        furthest = f"; partition {name} has {unread} unread rows"
    return (
        f"The query reads {len(partitions)} partitions of topics{furthest}. "
        f'imposeOrder("{plain(said)}", ..., per=["topic", "partition"]) gives each '
        "its own watermark, so that rows of a slow one are not late. "
    )


def _late_with(known: Known) -> str:
    """Name the partition that brought most rows together with late rows, after a batch without any.

    Only a batch counts in which another partition had rows.
    """
    found: list[tuple[int, str]] = []
    before: dict[str, int] = {}
    for progress in known.progress:
        read = {name: rows for s in progress["sources"] for name, rows in _read(s)}
        if _late_rows(progress) and any(before.values()):
            found += [(rows, name) for name, rows in read.items() if rows and not before.get(name)]
        before = read
    if not found:
        return ""
    rows, name = max(found)
    return f"; late rows arrived with {rows} rows of partition {name}, which had none before"


def _late_rows(progress: Mapping[str, Any]) -> int:
    return sum(
        value
        for operator in progress["stateOperators"]
        for metric, value in operator["customMetrics"].items()
        if metric.startswith("lateRows")
    )


def _read(source: dict[str, Any]) -> list[tuple[str, int]]:
    """Return the number of rows of each partition of Kafka topics that a batch has read."""
    start = source.get("startOffset")
    return [
        (f"{partition} of topic {topic}", -_unread(start, topic, partition, offset))
        for topic, partition, offset in _ends(source)
    ]


def _sources(known: Known) -> list[dict[str, Any]]:
    return list(known.progress[-1]["sources"]) if known.progress else []


def _partitions(source: dict[str, Any]) -> list[tuple[str, int]]:
    """Return the partitions of Kafka topics, with the unread rows of each."""
    latest = source.get("latestOffset")
    return [
        (f"{partition} of topic {topic}", _unread(latest, topic, partition, offset))
        for topic, partition, offset in _ends(source)
    ]


def _ends(source: dict[str, Any]) -> list[tuple[str, str, int]]:
    end = source.get("endOffset")
    return [
        (topic, partition, offset)
        for topic, offsets in (end.items() if isinstance(end, dict) else ())
        if isinstance(offsets, dict)
        for partition, offset in offsets.items()
        if isinstance(offset, int)
    ]


def _unread(latest: Any, topic: str, partition: str, offset: int) -> int:
    of_topic = latest.get(topic) if isinstance(latest, dict) else None
    last = of_topic.get(partition) if isinstance(of_topic, dict) else None
    return last - offset if isinstance(last, int) else 0
