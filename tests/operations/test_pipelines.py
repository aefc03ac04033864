"""The example of a declarative pipeline: its sources in Python, and no setting but the jar."""

from __future__ import annotations

import json
import shutil
import sys
from datetime import datetime
from pathlib import Path

import pytest
from pyarrow import parquet
from pyspark.find_spark_home import _find_spark_home

import streamjoin
from tests.orders import at
from tests.processes import run

EXAMPLE = Path(__file__).parents[2] / "examples" / "pipeline"


def feed(folder: Path, name: str, time: str, minutes: dict[int, str]) -> None:
    (folder / "input" / name).mkdir(parents=True)
    rows = [json.dumps({"order_id": n, time: at(clock)}) for n, clock in minutes.items()]
    (folder / "input" / name / "0.json").write_text("\n".join(rows), encoding="utf-8")


@pytest.mark.thorough
def test_pipeline_example_writes_the_joined_table(tmp_path: Path) -> None:
    shutil.copytree(EXAMPLE, tmp_path, dirs_exist_ok=True)
    spec = tmp_path / "spark-pipeline.yml"
    text = spec.read_text(encoding="utf-8")
    spec.write_text(text.replace("/tmp/streamjoin-pipeline", str(tmp_path)), encoding="utf-8")
    defaults = f"spark.sql.warehouse.dir {tmp_path}/tables\nspark.ui.enabled false\n"
    (tmp_path / "spark-defaults.conf").write_text(defaults, encoding="utf-8")
    feed(tmp_path, "orders", "order_time", {1: "10:00", 2: "11:00", 3: "20:00"})
    feed(tmp_path, "deliveries", "delivery_time", {1: "10:30", 9: "20:00"})
    home = _find_spark_home()
    run(
        [
            f"{home}/bin/spark-pipelines",
            *("run", "--jars", streamjoin.jar_path(), "--spec", str(spec)),
        ],
        {
            "SPARK_HOME": home,
            "SPARK_CONF_DIR": str(tmp_path),
            "PYSPARK_DRIVER_PYTHON": sys.executable,
        },
    )
    rows = parquet.read_table(tmp_path / "tables" / "delivered").to_pylist()
    found = sorted((row["order_id"], row["delivery_time"]) for row in rows)
    # The order of 20:00 can still be delivered.
    assert found == [(1, datetime.fromisoformat(at("10:30"))), (2, None)]
