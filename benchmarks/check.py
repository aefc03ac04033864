"""Whether engines give the same result."""

from __future__ import annotations

from . import process
from .case import Case, Expected
from .engine import BATCH, LIMIT
from .process import FailedRunError, Result

CHECKED_ROWS = 50_000


def outcome(result: Result, reference: Result) -> Expected:
    """Compare the number of result rows and their checksum."""
    if "refused" in result:
        return "refused"
    same = all(result[name] == reference[name] for name in ("result_rows", "checksum"))
    return "correct" if same else "wrong"


def checked_rows(case: Case) -> int:
    """Give a size at which a batch join of few keys still ends, and something matches.

    A row is a millisecond: while the second input is behind, it has nothing for the first.
    """
    rows = CHECKED_ROWS + int(case.parameters.get("behind", 0))
    return min(rows, int(case.parameters.get("rows", rows)))


def cross_check(case: Case) -> None:
    """Hold the bare loop, which is the reference of all others, against a batch join of Spark.

    Raises
    ------
    FailedRunError
        They differ, or there is no result to compare, or a process failed.
    """
    rows = checked_rows(case)
    loop, batch = (process.run(engine, case, rows=rows) for engine in (LIMIT, BATCH))
    if outcome(batch, loop) != "correct" or loop["result_rows"] == 0:
        raise FailedRunError(
            f"{case.label}: the bare loop gives {loop['result_rows']} rows, {loop['checksum']}; "
            f"the batch join {batch['result_rows']}, {batch['checksum']}"
        )
