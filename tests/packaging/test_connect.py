"""Spark Connect: the methods work through hints; all tests read the results of one session."""

from __future__ import annotations

import json
import sys
from pathlib import Path
from typing import Any

import pytest
from pyspark.errors import AnalysisException
from pyspark.sql import SparkSession

import streamjoin
from streamjoin import _connect
from tests.processes import ROOT, run, run_python


@pytest.fixture(scope="module")
def seen(tmp_path_factory: pytest.TempPathFactory) -> dict[str, Any]:
    folder: Path = tmp_path_factory.mktemp("connect")
    printed = run(
        [sys.executable, "-m", "tests.packaging.connect_session", str(folder)],
        {"PYTHONPATH": str(ROOT), "SPARK_LOCAL_DIRS": str(folder)},
    )
    found: dict[str, Any] = json.loads(printed.splitlines()[-1])
    return found


def test_connect_join_emits_matched_and_late_rows(seen: dict[str, Any]) -> None:
    assert seen["columns"] == ["id", "ot", "id", "dt", "late"]
    assert sorted(seen["rows"]) == [[1, None], [2, None], [3, "left"]]


def test_connect_accepts_every_kind_of_condition(seen: dict[str, Any]) -> None:
    assert seen["by_columns"] == ["id", "ot", "id", "dt"]
    assert seen["by_names"] == ["id", "ot", "dt", "late"]
    assert seen["as_of"] == ["id", "ot", "dt"]
    assert seen["itself"] == ["id", "ot", "id", "ot", "late"]
    assert seen["sql"] == ["id", "ot", "id", "dt", "late"]


def test_connect_sends_order_by_and_order_scope(seen: dict[str, Any]) -> None:
    by_rowtime, by_both, in_partitions = seen["ordered"]
    assert "StreamOrder by the later of o.ot and d.dt" in by_rowtime
    assert "StreamOrder by d.dt, o.ot" in by_both
    # An order within partitions does not depend on rows buffered below.
    earlier = ", or sooner if the joins below buffer no earlier row"
    sooner = [earlier in text for text in seen["ordered"]]
    assert sooner == [True, True, False]
    assert "StreamOrder by d.dt; in each partition" in in_partitions


def test_connect_returns_refusals_and_explain(seen: dict[str, Any]) -> None:
    assert "STREAM_JOIN.UNBOUNDED_STATE" in seen["missing"]
    assert "StreamJoin LEFT OUTER" in seen["explained"]


def test_connect_declares_joins_and_writes_changelogs(seen: dict[str, Any]) -> None:
    changes = seen["changes"]
    assert changes["rows"] == [[7, "Ada", "insert"]]
    row = ["id", "seq", "name", "gone"]
    assert changes["debezium"] == [*row, "_commit_version", "_change_type"]
    assert changes["by_column"] == [*row, "_change_type"]
    assert "STREAM_JOIN.INVALID_CHANGELOG" in changes["refused"]
    change_columns = ["_change_type", "_commit_version", "_commit_timestamp"]
    assert changes["columns"] == ["call", "id", *row, *change_columns]
    assert changes["by_view"] == changes["columns"]
    assert changes["aliases"] == list("abcdefghi")
    assert changes["merged"] == "[(7, 'Ada', 'insert', 0)]"
    assert changes["natural"] == [*row, *change_columns]
    assert (changes["using"], changes["exists"]) == (["id"], [*row, change_columns[0]])


def test_connect_supports_pending_and_doctor(seen: dict[str, Any]) -> None:
    waiting = seen["pending"]
    assert waiting["by_folder"] == [["left", 1], ["right", 1]]
    assert (waiting["by_query"], waiting["sql"]) == ([2], 1)
    running, ended, folder = waiting["doctor"]
    assert "the first until d.dt passes" in running
    assert "Nothing is wrong: no row is stored by its last report. To inspect the rows, " in ended
    assert "call streamjoin.doctor with the folder of the" in ended
    assert "The state contains no problem" in folder
    # The plan remains, with the filter above the join and the aliases of the inputs.
    assert "none has reached the sink" in waiting["forgotten"]
    assert "Filter (uuid(" in waiting["forgotten"]
    assert "STREAM_JOIN_STATE.NOT_FOUND" in waiting["missing"]
    assert "STREAM_JOIN_STATE.QUERY_NOT_RUNNING" in waiting["ended"]


@pytest.mark.thorough
def test_same_batch_tests_pass_on_connect() -> None:
    """One of the files marked ``connect``; `pytest --connect` runs all of them."""
    some = ROOT / "tests" / "eventtime" / "test_same_batch.py"
    printed = run([sys.executable, "-m", "pytest", "-q", "--connect", str(some)])
    assert " passed" in printed
    assert "deselected" not in printed


def test_import_works_without_py4j() -> None:
    printed = run_python(
        """
        import sys

        sys.modules["py4j"] = None
        import streamjoin

        print(streamjoin.__version__, "grpc" in sys.modules)
        """,
        SPARK_SKIP_CONNECT_COMPAT_TESTS="1",
    )
    assert printed == f"{streamjoin.__version__} False"


class Server:
    """The part of a session that is used before a hint is sent."""

    version = "4.2.0"

    def __init__(self, spark: SparkSession, query: str) -> None:
        self.spark, self.query, self.calls = spark, query, 0

    def sql(self, query: str) -> object:
        self.calls += 1
        return self.spark.sql(query.replace("streamjoin_version()", self.query))


def test_server_jar_is_checked_once_and_missing_or_other_jars_refused(
    spark: SparkSession,
) -> None:
    good = Server(spark, "streamjoin_version()")
    for _ in range(2):
        _connect.check(good)  # type: ignore[arg-type]
    assert good.calls == 1
    with pytest.raises(streamjoin.SetupError, match="was started without the streamjoin jar"):
        _connect.check(Server(spark, "not_there()"))  # type: ignore[arg-type]
    with pytest.raises(streamjoin.SetupError, match=r"jar 0\.0\.1, but the Python package"):
        _connect.check(Server(spark, "'0.0.1'"))  # type: ignore[arg-type]
    dropping = spark.newSession()
    dropping.conf.set("spark.sql.optimizer.disableHints", "true")
    with pytest.raises(AnalysisException, match="Spark drops all hints"):
        _connect.check(Server(dropping, "streamjoin_version()"))  # type: ignore[arg-type]
