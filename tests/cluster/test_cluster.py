"""The pipeline of examples/ on a cluster of processes, and on the Compose services of docker/."""

from __future__ import annotations

from collections.abc import Iterator
from pathlib import Path

import pytest
from pyspark.sql import SparkSession

from examples.kafka_pipeline import SCHEMAS
from scripts.standalone_cluster import StandaloneCluster
from tests.cluster.clusters import Cluster, Composition, OfProcesses
from tests.kafka.orders import Waves, batch_join, distinct_rows
from tests.kafka.topics import Topics


@pytest.fixture(scope="module")
def composition(pytestconfig: pytest.Config) -> Iterator[Composition]:
    if not pytestconfig.option.compose:
        pytest.skip("the Compose services of docker/ need --compose")
    made = Composition()
    try:
        made.start()
        yield made
    finally:
        made.remove()


@pytest.fixture(params=["processes", "containers"])
def cluster(request: pytest.FixtureRequest, tmp_path: Path) -> Iterator[Cluster]:
    if request.param == "containers":
        yield request.getfixturevalue("composition")
        return
    kafka = request.getfixturevalue("kafka")
    with StandaloneCluster(tmp_path / "cluster") as processes:
        yield OfProcesses(processes, kafka)


def test_distinct_pipeline_rows_on_a_cluster_equal_the_batch_join(
    cluster: Cluster, spark: SparkSession, pytestconfig: pytest.Config
) -> None:
    topics = Topics(cluster.broker, "on-a-cluster-")
    waves = Waves(topics, seed=4, hours=2)
    topics.create(2, "completed")
    if pytestconfig.option.faults:
        for _ in range(4):
            waves.send()
        cluster.take_in(topics.prefix)
        assert topics.values("completed")
    waves.send_all()
    cluster.take_in(topics.prefix)
    assert distinct_rows(spark, topics, "completed") == batch_join(spark, topics)


def test_compose_feed_sends_messages_and_notebook_starts(composition: Composition) -> None:
    output = composition.run("feed", "/feed.py", "--bootstrap", "kafka:19092", "--orders", "100")
    assert "75 messages to the topic deliveries" in output
    topics = Topics(composition.broker, "")
    assert [len(topics.values(topic)) for topic in SCHEMAS] == [100, 75, 10]
    assert "started" in composition.notebook()
