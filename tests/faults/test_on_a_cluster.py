"""Killed executors and workers, failing or duplicated tasks: the result stays exact."""

from __future__ import annotations

import json
import os
import signal
import time
from collections.abc import Callable, Iterator, Mapping
from contextlib import ExitStack, suppress
from pathlib import Path
from random import Random
from typing import Any

import pytest
from pyspark.sql import SparkSession

from scripts.standalone_cluster import StandaloneCluster
from tests.faults.day import MOST_HOURS, Day, decided, plain
from tests.orders import Shop
from tests.parameters import STATE_FORMATS
from tests.soak.changelog import pipeline
from tests.soak.changelog.oracle import Oracle

JOB = Path(__file__).with_name("job.py")
CHANGES_JOB = Path(__file__).with_name("changes_job.py")
SILENT_FOR_S = 240
CONFLICTS = ("CONCURRENT_STREAM_LOG_UPDATE", "Multiple streaming queries are concurrently using")
"""Two drivers plan the same batch, or read the same file for the next one."""
MOST_DELAY_S = 2.0


@pytest.fixture(scope="module")
def cluster(
    pytestconfig: pytest.Config, tmp_path_factory: pytest.TempPathFactory
) -> Iterator[StandaloneCluster]:
    if not pytestconfig.option.faults:
        pytest.skip("faults on a cluster need --faults")
    with StandaloneCluster(tmp_path_factory.mktemp("cluster")) as running:
        yield running


class Job:
    """One run of ``job.py`` or another script, which tests disturb while it runs."""

    def __init__(
        self,
        cluster: StandaloneCluster,
        folder: Path,
        *arguments: str,
        script: Path = JOB,
        name: str = "job",
        conf: Mapping[str, str] | None = None,
    ) -> None:
        self.folder = folder
        self.log = folder / f"{name}.log"
        (self.folder / "output").mkdir(exist_ok=True)
        settings = {"spark.sql.shuffle.partitions": "2", **(conf or {})}
        self._process = cluster.submit(script, str(folder), *arguments, conf=settings, log=self.log)

    def runs(self) -> bool:
        return self._process.poll() is None

    def log_text(self) -> str:
        return self.log.read_text(errors="replace")

    def in_conflict(self) -> bool:
        log = self.log_text()
        return any(conflict in log for conflict in CONFLICTS)

    def wait_for(self, what: str, happened: Callable[[], bool]) -> None:
        try:
            wait_for(what, happened, self.runs)
        except TimeoutError as error:
            raise TimeoutError(
                f"{error}; the end of the job's log:\n{self.log_text()[-4000:]}"
            ) from None

    def wait_for_batches(self, log: str, count: int) -> None:
        """Wait until that many batches are planned (``offsets``) or committed (``commits``)."""
        self.wait_for(f"batch in {log}", self.has(log, count))

    def has(self, log: str, count: int) -> Callable[[], bool]:
        return lambda: self.batches(log) >= count

    def batches(self, log: str) -> int:
        return len(list((self.folder / "checkpoint" / log).glob("[0-9]*")))

    def end(self) -> dict[str, Any]:
        """Let it process all landed files and end; return its last progress."""
        (self.folder / "complete").touch()
        done = self._process.wait(SILENT_FOR_S)
        assert done == 0, self.log_text()[-4000:]
        progress: dict[str, Any] = json.loads((self.folder / "progress.json").read_text())
        return progress

    def lost_tasks(self) -> int:
        return self.log_text().count("Lost task 0.0 in stage")

    def __enter__(self) -> Job:
        return self

    def __exit__(self, *_: object) -> None:
        with suppress(ProcessLookupError):
            os.killpg(self._process.pid, signal.SIGKILL)
        self._process.wait()


def wait_for(what: str, happened: Callable[[], bool], runs: Callable[[], bool]) -> None:
    deadline = time.monotonic() + SILENT_FOR_S
    while not happened():
        if not runs() or time.monotonic() > deadline:
            raise TimeoutError(f"no {what} comes")
        time.sleep(0.02)


@pytest.fixture
def day(spark: SparkSession, tmp_path: Path, pytestconfig: pytest.Config) -> Day:
    return Day(Shop(spark, tmp_path), pytestconfig.option.faults_seed)


def check(day: Day, progress: dict[str, Any]) -> None:
    given = [
        tuple(row)
        for path in (day.shop.folder / "output").glob("[0-9]*.json")
        for row in json.loads(path.read_text())
    ]
    assert decided(given) == sorted(map(plain, day.answer()), key=str)
    (join,) = (s for s in progress["stateOperators"] if s["operatorName"] == "streamJoin")
    # Only the two rows of the closing files remain; a duplicated row would remain too.
    assert join["numRowsTotal"] == 2
    assert join["customMetrics"]["lateRowsLeft"] + join["customMetrics"]["lateRowsRight"] == 0


def work_through(day: Day, job: Job) -> None:
    """Three hours of the day and its close, a batch each, and then the check."""
    for hour in range(1, 4):
        day.land()
        job.wait_for_batches("commits", hour)
    day.close()
    job.wait_for_batches("commits", 4)
    check(day, job.end())


@pytest.mark.parametrize("disturbance", ["fail_before_commit", "fail_after_commit"])
def test_result_is_exact_after_failed_tasks_are_retried(
    cluster: StandaloneCluster, day: Day, disturbance: str
) -> None:
    with Job(cluster, day.shop.folder, disturbance) as job:
        work_through(day, job)
        # at least one in each batch
        assert job.lost_tasks() >= 4


@pytest.mark.parametrize("disturbance", ["straggle_before_commit", "straggle_after_commit"])
def test_result_is_exact_with_speculative_task_copies(
    cluster: StandaloneCluster, day: Day, disturbance: str
) -> None:
    """First attempts sleep longer than the test waits; a speculative copy completes each batch."""
    speculation = {
        "spark.speculation": "true",
        "spark.speculation.interval": "100ms",
        "spark.speculation.quantile": "0.5",
        "spark.speculation.multiplier": "1.5",
    }
    with Job(cluster, day.shop.folder, disturbance, conf=speculation) as job:
        work_through(day, job)


@pytest.mark.parametrize("victim", ["executor", "worker"])
def test_result_is_exact_after_executor_or_worker_kills(
    cluster: StandaloneCluster, day: Day, pytestconfig: pytest.Config, victim: str
) -> None:
    seed: int = pytestconfig.option.faults_seed
    rng = Random(f"{victim}/{seed}")
    with Job(cluster, day.shop.folder, "as_it_is") as job:
        day.land()
        job.wait_for_batches("commits", 1)
        for _ in range(pytestconfig.option.faults_kills):
            planned = job.batches("offsets")
            day.land()
            # during the next batch, or between two batches
            job.wait_for_batches("offsets", planned + 1)
            time.sleep(rng.uniform(0, MOST_DELAY_S))
            worker = rng.randrange(cluster.workers)
            if victim == "executor":
                job.wait_for("executor", lambda: bool(cluster.executors()))
                os.kill(rng.choice(sorted(cluster.executors())), signal.SIGKILL)
            else:
                cluster.kill_worker(worker)
                cluster.start_worker(worker)
            job.wait_for_batches("commits", planned + 1)
        day.close()
        check(day, job.end())


@pytest.mark.parametrize("state_format", STATE_FORMATS)
def test_changelog_join_is_exact_after_executor_kills(
    cluster: StandaloneCluster, tmp_path: Path, pytestconfig: pytest.Config, state_format: str
) -> None:
    """The applied changes equal the table after each batch, also for long batches."""
    rng = Random(f"changes/{pytestconfig.option.faults_seed}")
    oracle = Oracle()
    checked = 0

    def check_finished() -> None:
        nonlocal checked
        for batch in range(checked, pipeline.finished(tmp_path)):
            [changes] = pipeline.attempts(tmp_path, batch)
            oracle.take(batch, changes)
            checked = batch + 1

    conf = {"spark.sql.streamJoin.stateFormat": state_format}
    with Job(cluster, tmp_path, script=CHANGES_JOB, conf=conf) as job:
        job.wait_for_batches("commits", 2)
        for _ in range(pytestconfig.option.faults_kills):
            time.sleep(rng.uniform(0, MOST_DELAY_S))
            job.wait_for("executor", lambda: bool(cluster.executors()))
            planned = job.batches("offsets")
            os.kill(rng.choice(sorted(cluster.executors())), signal.SIGKILL)
            job.wait_for_batches("commits", planned + 2)
            check_finished()
        job.end()
    check_finished()
    assert checked >= 2 * pytestconfig.option.faults_kills


def test_second_driver_on_a_checkpoint_fails_one_of_both(
    cluster: StandaloneCluster, day: Day
) -> None:
    """One driver finds a log entry of the other and fails; the other continues."""

    def run(name: str) -> Job:
        half = {"spark.cores.max": "1"}
        return Job(cluster, day.shop.folder, "as_it_is", name=name, conf=half)

    with ExitStack() as running:
        jobs = [running.enter_context(run("one"))]
        day.land()
        jobs[0].wait_for_batches("commits", 1)
        jobs.append(running.enter_context(run("two")))
        # Both wait for the next hour, and then both plan it.
        folder = day.shop.folder
        jobs[1].wait_for("waiting job", lambda: len(list(folder.glob("caught_up.*"))) == 2)
        while not any(job.in_conflict() for job in jobs):
            assert day.hours < MOST_HOURS, "two queries share a checkpoint, and neither says so"
            one_more = jobs[0].has("commits", jobs[0].batches("commits") + 1)
            day.land()
            wait_for("batch", one_more, lambda: any(job.runs() for job in jobs))
        (loser,) = (job for job in jobs if job.in_conflict())
        (winner,) = (job for job in jobs if job is not loser)
        wait_for("end", lambda: not loser.runs(), winner.runs)
        day.close()
        check(day, winner.end())
