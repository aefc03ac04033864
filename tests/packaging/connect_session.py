"""Uses streamjoin in a Spark Connect session, in a separate process; prints JSON."""

from __future__ import annotations

import json
import sys
from collections.abc import Callable
from pathlib import Path
from typing import Any

from pyspark.errors import PySparkException
from pyspark.sql import DataFrame, SparkSession
from pyspark.sql import functions as F

import streamjoin
from streamjoin import impose_order, stream_join
from tests.connect_server import local_builder

CHANGES = ("_change_type", "_commit_version", "_commit_timestamp")
WITHIN = "o.id = d.id AND d.dt BETWEEN o.ot AND o.ot + INTERVAL '1' HOUR"


def land(folder: Path, number: int, *rows: tuple[int, str, str]) -> None:
    lines = [json.dumps({"id": i, name: f"2024-05-04T{clock}:00"}) for i, name, clock in rows]
    (folder / f"{number}.json").write_text("\n".join(lines), encoding="utf-8")


def refusal(call: Callable[[], object]) -> str:
    try:
        call()
    except (PySparkException, streamjoin.SetupError) as error:
        return str(error)
    return ""


def main(folder: Path) -> None:
    spark = (
        streamjoin.configure(local_builder())
        .config("spark.ui.enabled", "false")
        .config("spark.sql.shuffle.partitions", "2")
        .config("spark.sql.session.timeZone", "UTC")
        .getOrCreate()
    )
    for name in ("orders", "deliveries"):
        (folder / name).mkdir()

    def stream(name: str, time: str) -> DataFrame:
        schema = f"id INT, {time} TIMESTAMP"
        return spark.readStream.schema(schema).json(str(folder / name))

    orders, deliveries = stream("orders", "ot"), stream("deliveries", "dt")
    placed = impose_order(orders, "ot", "10 minutes").alias("o")
    delivered = impose_order(deliveries, "dt", "10 minutes", max_ahead="10000 days").alias("d")
    columns = (orders["id"] == deliveries["id"]) & deliveries["dt"].between(
        orders["ot"], orders["ot"] + _hour()
    )
    joined = stream_join(placed, delivered, WITHIN, "left", late="emit")
    placed.createOrReplaceTempView("o")
    delivered.createOrReplaceTempView("d")
    steps = [
        ([(1, "ot", "10:00"), (2, "ot", "12:00")], [(1, "dt", "10:30"), (2, "dt", "12:30")]),
        ([(3, "ot", "11:49")], []),
    ]

    def rows(result: DataFrame, name: str) -> list[Any]:
        for number, (left, right) in enumerate(steps):
            land(folder / "orders", number, *left)
            land(folder / "deliveries", number, *right)
            query = (
                result.writeStream.format("parquet")
                .option("checkpointLocation", str(folder / f"{name}-checkpoint"))
                .trigger(availableNow=True)
                .start(str(folder / name))
            )
            query.awaitTermination()
        return [list(row) for row in spark.read.parquet(str(folder / name)).collect()]

    missing = stream_join(placed, delivered, "o.id = d.id AND d.dt >= o.ot")
    print(
        json.dumps(
            {
                "columns": joined.columns,
                "rows": rows(joined.select("o.id", "late.input"), "out"),
                "by_columns": stream_join(placed, delivered, columns).columns,
                "by_names": stream_join(
                    placed, delivered, ["id"], "full", retention="1 hour", late="emit"
                ).columns,
                "as_of": stream_join(placed, delivered, ["id"], "left_asof").columns,
                "mixed": stream_join(placed, delivered, ["id"], retention="1 hour").columns,
                "itself": placed.streamJoin(
                    placed.alias("p"), "o.id = p.id AND o.ot = p.ot", late="emit"
                ).columns,
                "sql": spark.sql(
                    f"SELECT /*+ STREAM_JOIN(late => 'emit') */ * FROM o JOIN d ON {WITHIN}"
                ).columns,
                "ordered": [
                    stream_join(placed, delivered, WITHIN, **order)._explain_string()
                    for order in (
                        {"order_by": "rowtime"},
                        {"order_by": ["d.dt", "o.ot"]},
                        {"order_by": ["d.dt"], "order_scope": "partition"},
                    )
                ],
                "missing": refusal(lambda: missing.columns),
                "changes": changes(spark, folder),
                "pending": waiting(spark, joined, folder),
                "explained": joined._explain_string(),
            }
        )
    )
    spark.stop()


def changes(spark: SparkSession, folder: Path) -> dict[str, Any]:
    """Declare changelogs in each way, join them and convert them to upserts."""
    (folder / "people").mkdir()
    (folder / "calls").mkdir()
    row = "id INT, seq INT, name STRING, gone BOOLEAN"
    people = spark.readStream.schema(row).json(str(folder / "people"))
    calls = spark.readStream.schema("call INT, id INT, kind STRING").json(str(folder / "calls"))
    lines = [{"id": 1, "seq": 1, "name": "Ada"}, {"id": 2, "seq": 1, "gone": True}]
    text = "\n".join(json.dumps(line) for line in lines)
    (folder / "people" / "0.json").write_text(text, encoding="utf-8")
    (folder / "calls" / "0.json").write_text(
        '{"call": 7, "id": 1, "kind": "=new"}', encoding="utf-8"
    )
    known = streamjoin.from_upserts(people, "id", "seq", deletes="gone").alias("p")
    called = streamjoin.from_changelog(
        calls, key=["call"], op="kind", op_mapping={"=new": "insert", "old": "delete"}
    ).alias("c")
    joined = stream_join(called, known, "c.id = p.id", "left", state_ttl={"right": "30 days"})
    # renames all columns of the result
    named = joined.toDF("call", "caller", "id", "seq", "name", "gone", *CHANGES)
    netted = streamjoin.to_upserts(named.select("call", "name", "_change_type"), "call")
    query = (
        netted.writeStream.format("parquet")
        .option("checkpointLocation", str(folder / "changes-checkpoint"))
        .trigger(availableNow=True)
        .start(str(folder / "changes"))
    )
    query.awaitTermination()
    exists = "EXISTS (SELECT 1 FROM known AS o WHERE o.id = p.seq)"
    envelope = f"STRUCT<op: STRING, before: STRUCT<{row}>, after: STRUCT<{row}>, lsn: BIGINT>"
    messages = people.selectExpr(f"CAST(NULL AS {envelope}) AS message")
    called.createOrReplaceTempView("called")
    known.createOrReplaceTempView("known")
    views = [spark.table(name).alias(name[0]) for name in ("called", "known")]
    by_view = stream_join(views[0], views[1], "c.id = k.id")
    names = ", ".join("abcdefghi")
    merged = merge(spark, netted, folder)
    return {
        "columns": joined.columns,
        "by_view": by_view.columns,
        "aliases": spark.sql(
            f"SELECT * FROM (SELECT * FROM called c JOIN known p ON c.id = p.id) AS t({names})"
        ).columns,
        "merged": merged,
        "rows": [list(each) for each in spark.read.parquet(str(folder / "changes")).collect()],
        "debezium": streamjoin.from_debezium(
            messages, "id", value="message", sequence_by="lsn"
        ).columns,
        "by_column": streamjoin.from_upserts(people, ["id"], "seq", deletes=people["gone"]).columns,
        "refused": refusal(lambda: streamjoin.to_upserts(people, "id").columns),
        "natural": spark.sql("SELECT * FROM known AS p NATURAL JOIN known AS q").columns,
        "using": spark.sql("SELECT q.id FROM known AS p LEFT JOIN known AS q USING (id)").columns,
        "exists": spark.sql(
            "SELECT /*+ STREAM_JOIN(state_ttl => '1 day') */ * FROM known AS p "
            f"WHERE {exists} AND seq IN (SELECT id FROM known)"
        ).columns,
    }


def merge(spark: SparkSession, netted: DataFrame, folder: Path) -> str:
    """A foreachBatch function, which runs in a Python process of the server."""
    table = str(folder / "merged")

    def write(batch: DataFrame, number: int) -> None:
        batch.withColumn("batch", F.lit(number)).write.mode("append").parquet(table)

    checkpoint = str(folder / "merged-checkpoint")
    query = netted.writeStream.foreachBatch(write).option("checkpointLocation", checkpoint)
    query.trigger(availableNow=True).start().awaitTermination()
    return str([tuple(row) for row in spark.read.parquet(table).collect()])


def waiting(spark: SparkSession, joined: DataFrame, folder: Path) -> dict[str, Any]:
    """Read the state as a client does: by folder, by query, and in SQL."""
    checkpoint = str(folder / "out-checkpoint")
    out = joined.writeStream.format("noop").option("checkpointLocation", checkpoint).start()
    out.processAllAvailable()
    by_query = streamjoin.pending(out, "left").select("row.id").collect()
    running = streamjoin.doctor(out)
    out.stop()
    ended = streamjoin.doctor(out)
    counts = streamjoin.pending(checkpoint).groupBy("side").count().orderBy("side")
    sql = f"SELECT count(*) FROM `streamjoin-pending`.`{checkpoint}` WHERE side = 'left'"
    return {
        "by_folder": [list(row) for row in counts.collect()],
        "by_query": sorted(row.id for row in by_query),
        "sql": spark.sql(sql).collect()[0][0],
        "doctor": [str(each) for each in (running, ended, streamjoin.doctor(checkpoint))],
        "forgotten": forgotten(joined),
        "missing": refusal(lambda: streamjoin.pending(str(folder / "missing")).schema),
        "ended": refusal(lambda: streamjoin.pending(out).schema),
    }


def forgotten(joined: DataFrame) -> str:
    """Run the doctor on an ended query without a checkpointLocation."""
    query = joined.where("uuid() = 'none'").writeStream.format("noop").trigger(availableNow=True)
    ended = query.start()
    ended.awaitTermination()
    return str(streamjoin.doctor(ended))


def _hour() -> Any:
    return F.expr("INTERVAL '1' HOUR")


if __name__ == "__main__":
    main(Path(sys.argv[1]))
