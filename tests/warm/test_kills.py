"""A warm start is killed: no query starts on a part of its first batch."""

from __future__ import annotations

import shutil
from pathlib import Path

import pytest
from pyspark.errors import AnalysisException
from pyspark.sql import SparkSession

from tests.fingerprints import fingerprints
from tests.orders import Shop
from tests.rescale.test_kills import killed
from tests.warm.job import query, warm

# What the first batch has written by then: the first file of each step.
STEPS = {
    "mark": "unfinished-history",
    "identity": "metadata",
    "offsets": "offsets/0",
    "description": "state/*/_metadata/v2/*",
    "rows": "state/0/[0-9]*/*",
    "rows of the second join": "state/1/[0-9]*/*",
    "commit": "commits/0",
}


@pytest.mark.parametrize(
    "step", [s if s == "identity" else pytest.param(s, marks=pytest.mark.thorough) for s in STEPS]
)
def test_a_kill_at_each_step(step: str, spark: SparkSession, tmp_path: Path) -> None:
    session = spark.newSession()
    session.conf.set("spark.sql.session.timeZone", "UTC")
    shop, past = (Shop(session, tmp_path / name) for name in ("live", "past"))
    past.order(*((i, "10:00") for i in range(40)))
    past.deliver((1, "10:10"))
    run = query(shop)
    to = run.checkpoint

    def reached() -> bool:
        return any(not path.name.startswith(".") for path in to.glob(STEPS[step]))

    killed(to, reached, (str(tmp_path),), module="tests.warm.job")
    if (to / "unfinished-history").exists():
        half = fingerprints(to)
        with pytest.raises(AnalysisException, match="after an interrupted call of"):
            run.step()
        with pytest.raises(AnalysisException, match="TARGET_NOT_EMPTY"):
            warm(shop, past)
        assert fingerprints(to) == half
        shutil.rmtree(to)
        run = warm(shop, past)
    shop.deliver((2, "10:20"), (99, "11:30"))
    shop.order((99, "11:30"))
    rows = [row for batch in run.step().values() for row in batch]
    # order 1 had its deliveries before
    assert sorted(row[0] for row in rows) == [0, *range(2, 40), 99]
    assert [row[2] for row in rows if row[0] == 2] == [2]
