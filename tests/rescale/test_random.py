"""The random joins of `tests/differential`, moved to other partitions at each restart."""

from __future__ import annotations

import random
import shutil
from dataclasses import replace
from functools import partial
from itertools import count, islice
from pathlib import Path

import pytest
from pyspark.errors import AnalysisException
from pyspark.sql import SparkSession
from pyspark.sql.streaming.query import StreamingQuery

from streamjoin import rescale
from tests.differential import check as checks
from tests.differential.case import Restart
from tests.differential.generator import generate
from tests.differential.invariants import violations as checked
from tests.differential.runner import Runner

NUMBERS = (1, 2, 3, 7, 12)
# Before a batch is committed there is nothing to move.
EXPECTED = ("STREAM_JOIN_STATE.NOT_FOUND", "STREAM_JOIN_REWRITE.OTHER_OPERATOR")


class Moving(Runner):
    def _restart(self, restart: Restart) -> StreamingQuery:
        draw = random.Random(f"{self.case.name} {restart.step}")
        old = self.checkpoint
        new = old.with_name(f"{old.name}-{restart.step}")
        number = draw.choice([n for n in NUMBERS if n != self._partitions()])
        try:
            rescale(old, new, number)
        except AnalysisException as refused:
            if not str(refused).startswith(tuple(f"[{name}]" for name in EXPECTED)):
                raise
        else:
            self.checkpoint = new
            # the oracle reads the rows of each batch there
            for log in (old / "offsets").glob("[0-9]*"):
                if not (new / "offsets" / log.name).exists():
                    shutil.copy(log, new / "offsets" / log.name)
        return super()._restart(restart)

    def _partitions(self) -> int:
        tail = self.checkpoint.name.rpartition("-")[2]
        states = [p for p in (self.checkpoint / "state/0").glob("[0-9]*") if p.is_dir()]
        return len(states) if tail.isdecimal() else self.case.partitions


def pytest_generate_tests(metafunc: pytest.Metafunc) -> None:
    if "number" in metafunc.fixturenames:
        restarting = (n for n in count() if generate(3, n).restarts)
        chosen = islice(restarting, metafunc.config.option.rescale_cases)
        metafunc.parametrize("number", [*chosen])


@pytest.mark.thorough
def test_random_join_rescaled_at_each_restart_equals_the_batch_join(
    number: int, spark: SparkSession, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    case = generate(3, number)
    # how many replicas are buffered at the end depends on the last number
    most = partial(replace, partitions=max(NUMBERS))
    monkeypatch.setattr(checks, "violations", lambda c, *of: checked(most(c), *of))
    verdict = checks.check(case, spark, tmp_path, running=lambda *of: Moving(*of).run())
    assert verdict.problems == ()
