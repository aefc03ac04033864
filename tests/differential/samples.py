"""Small cases written by hand."""

from __future__ import annotations

from tests.differential.case import Case, How, Input, Join, Kind, Row, TimeColumn

SECOND_US = 1_000_000


def two_inputs(
    how: How,
    *conjuncts: str,
    lags: tuple[int, int] = (0, 0),
    kind: Kind = "bigint",
    second_lag: int | None = None,
) -> Case:
    """Give a join of ``a`` and ``b``, yet without rows; ``second_lag`` marks a column ``u`` too."""
    inputs = tuple(
        Input(
            alias,
            "int",
            (
                TimeColumn("t", kind, lag),
                *([] if second_lag is None else [TimeColumn("u", kind, second_lag)]),
            ),
        )
        for alias, lag in zip("ab", lags, strict=True)
    )
    return Case(
        seed=0,
        index=0,
        tick_us=SECOND_US,
        number_base=0,
        qualified=True,
        through="dataframe",
        feed="memory",
        files_per_trigger=None,
        partitions=2,
        settings={},
        inputs=inputs,
        tree=Join("a", "b", how, conjuncts),
        steps=(),
    )


def row(name: str, t: int | None, k: int | None = 1, **others: int | None) -> Row:
    key = None if k is None else str(k)
    return {"id": name, "k": key, "g": None, "p": None, "q": None, "t": t, **others}
