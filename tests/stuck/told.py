"""The input of the doctor for a query of the model: reports, plan, state."""

from __future__ import annotations

from datetime import datetime, timedelta
from typing import Any

from streamjoin._diagnosis.known import Known, Waiting
from streamjoin._diagnosis.plan import Plan, read
from streamjoin._progress import reports, shown_time
from tests.stuck.model import ALIASES, CLOCK, COLUMNS, DAY, SECOND, SIDES, Model, Setup, ms


def known(setup: Setup) -> Known:
    """Run the model, and return the doctor's input."""
    model, progress = Model(setup), []
    was: dict[str, Any] = {}
    for batch in range(setup.batches + setup.silent_end):
        now = CLOCK + timedelta(minutes=batch)
        was = {**was, "came": {}} if batch >= setup.batches else model.step(batch, ms(now))
        progress.append(_report(setup, batch, now, was, model))
    rows = [report["numInputRows"] for report in progress]
    silent = len(rows) - max((n + 1 for n, count in enumerate(rows) if count), default=0)
    return Known(
        progress=reports(progress),
        described=[_described(setup)] if setup.state else [],
        silent=silent,
        error=setup.error,
        interval=setup.interval,
        running=None if setup.runs_for is None else (len(progress), setup.runs_for),
        waiting=(lambda: _waiting(model)) if setup.state else list,
        sample=lambda operator: {
            s: [{"id": row.key} for row in model.state[s]] for s in SIDES if setup.state
        },
        plan=lambda: plan(setup),
    )


def _report(
    setup: Setup, batch: int, now: datetime, was: dict[str, Any], model: Model
) -> dict[str, Any]:
    metrics = dict(was["metrics"])
    if not was["came"]:
        counts = [m for m in metrics if m.startswith(("input", "late", "ahead", "null", "evict"))]
        metrics |= dict.fromkeys([*counts, "joinedRows", "lookedIntoRows", "keyMetRows"], 0)
        metrics.pop("closestMiss", None)
    out = metrics["nullPaddedRows"] + (0 if setup.how == "LEFT ANTI" else metrics["joinedRows"])
    operators = [{"operatorName": "streamJoin", "customMetrics": metrics}]
    sink = out if setup.passes is None else min(out, setup.passes)
    if setup.order_lag is not None:
        at = 0 if not model.held else model.held[-1]
        model.held.append(at + out if setup.order_lag > DAY else 0)
        sink = 0 if setup.order_lag > DAY else out
        order = {"heldRows": model.held[-1], "lateRows": 0, "nullTimeRows": 0, "watermark.ot": 5}
        operators.insert(0, {"operatorName": "streamOrder", "customMetrics": order})
    elif setup.drops:
        dropped = -(-out // 4)
        sink = out - dropped
        dedupe = {"operatorName": "dedupe", "customMetrics": {}}
        operators.insert(0, {**dedupe, "numRowsDroppedByWatermark": dropped})
    elif any(text.startswith("StateStore") for text in setup.above):
        operators.insert(0, {"operatorName": "stateStoreSave", "customMetrics": {}})
    source = {}
    if setup.behind is not None:
        source = {"latestOffset": {"t": 1000 + setup.behind(batch)}, "endOffset": {"t": 1000}}
    came = [was["came"].get(s, 0) for s in SIDES]
    return {
        "batchId": batch,
        "timestamp": now.isoformat().replace("+00:00", "Z"),
        "numInputRows": sum(came),
        "sources": [
            {"description": s, "numInputRows": n, **source}
            for s, n in zip(SIDES, came, strict=True)
        ],
        "sink": {"numOutputRows": sink},
        "durationMs": {"triggerExecution": 30_000, "addBatch": 20_000},
        "eventTime": {"watermark": "2024-05-04T09:00:00.000Z"},
        "stateOperators": operators,
    }


def _described(setup: Setup) -> dict[str, Any]:
    contradiction = setup.low > setup.high
    kind = "long" if setup.number else "timestamp"
    return {
        "operator": 0,
        "joinType": setup.how,
        "keys": ["id = id: STRING"],
        "contradiction": contradiction,
        "bounds": []
        if contradiction
        else [
            {"later": "d.dt", "earlier": "o.ot", "slack": -setup.low},
            {"later": "o.ot", "earlier": "d.dt", "slack": setup.high},
        ],
        "times": {s: {ALIASES[s]: kind} for s in SIDES},
        "said": {f"{s}.{COLUMNS[s]}": ALIASES[s] for s in SIDES},
        "lookup": ALIASES,
    }


def _waiting(model: Model) -> list[Waiting]:
    rows = []
    for side, other in zip(SIDES, reversed(SIDES), strict=True):
        state, mark = model.state[side], model.marks[other]
        if state:
            first = min(row.time for row in state) + (model.setup.high if side == "left" else 0)
            at = None if mark is None else shown_time(mark)
            unmatched = sum(not row.matched for row in state) if model.setup.emits(side) else 0
            column = f"{other}.{COLUMNS[other]}"
            rows.append(Waiting(0, side, column, len(state), shown_time(first), at, unmatched))
    return rows


def plan(setup: Setup) -> Plan:
    """Write the plan as explain does, and parse it as the doctor does."""
    seen = "largest" if setup.number else "latest"
    bounds = [
        f"d.dt >= o.ot{_moved(setup.low, setup.number)}",
        f"o.ot >= d.dt{_moved(-setup.high, setup.number)}",
    ]
    summary = "no two rows can match" if setup.low > setup.high else "d.dt within reach of o.ot"
    join = [
        f"StreamJoin {setup.how}, hash by [o.id] = [d.id], {summary}",
        f":  :- watermark of ot: the {seen} ot seen - 1 minute",
        f":  :- watermark of dt: the {seen} dt seen - 1 minute",
        ":  :- condition (o.id = d.id): equality",
        *(f":  :- condition ({bound}): bound {bound}" for bound in bounds),
        f":  :- a row of o is buffered until the {seen} d.dt seen passes o.ot",
        f":  +- a row of d is buffered until the {seen} o.ot seen passes d.dt",
        ":- StreamExchange hashpartitioning(id#1, 1)",
        *_below(setup, "left", ":  "),
        "+- StreamExchange hashpartitioning(id#2, 1)",
        *_below(setup, "right", "   "),
    ]
    lines = ["WriteToDataSourceV2"]
    for text in [*setup.above, join]:
        depth = len(lines) if isinstance(text, str) else len(setup.above) + 1
        prefix = "   " * (depth - 1)
        if isinstance(text, str):
            lines.append(f"{prefix}+- {text}")
        else:
            lines.append(f"{prefix}+- {text[0]}")
            lines += [f"{prefix}   {line}" for line in text[1:]]
    return read("\n".join(["== Physical Plan ==", *lines, ""]))


def _below(setup: Setup, side: str, prefix: str) -> list[str]:
    number, column = SIDES.index(side) + 1, COLUMNS[side]
    nulls = f"(isnotnull(id#{number}) OR isnull({column}#{number + 2}-T60000ms))"
    filters = [] if setup.emits(side) else [f"Filter {nulls}"]
    if setup.inputs[side].dropped:
        filters = [f"Filter ({nulls} AND (kind#{number} = x))"]
    nodes = [
        "StreamJoinInput",
        *filters,
        f"ImposeOrder latest {column} - 1 minute",
        "FileScan json",
    ]
    return [f"{prefix}{'   ' * n}+- {text}" for n, text in enumerate(nodes)]


def _moved(by: int, number: bool) -> str:
    if not by:
        return ""
    distance = f"{abs(by)}" if number else f"{abs(by) // SECOND} seconds"
    return f" {'+' if by > 0 else '-'} {distance}"
