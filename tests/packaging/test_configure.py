"""`configure` and `conf` add settings to existing ones, from any source, and never twice."""

from __future__ import annotations

import zipfile
from pathlib import Path

import pytest
from pyspark.sql import SparkSession

import streamjoin
from tests.processes import run_python

EXTENSION = "io.streamjoin.StreamJoinExtensions"
FILES_KEY = "spark.sql.streaming.checkpointFileManagerClass"
FILES = "org.apache.spark.sql.streamjoin.checkpoint.LocalCheckpointFiles"
PRINT_SETTINGS = f"""
    import streamjoin
    from pyspark.sql import SparkSession
    options = streamjoin.configure(SparkSession.builder)._options
    print(options["spark.jars"], options["spark.sql.extensions"], options["{FILES_KEY}"])
"""


def test_configure_keeps_builder_options() -> None:
    builder = (
        SparkSession.builder.config("spark.jars", "/a.jar, /b.jar")
        .config("spark.sql.extensions", "x.One")
        .config("spark.ui.enabled", "false")
        .config(FILES_KEY, "x.Files")
    )
    assert streamjoin.configure(builder) is builder
    assert builder._options == {
        "spark.jars": f"/a.jar,/b.jar,{streamjoin.jar_path()}",
        "spark.sql.extensions": f"x.One,{EXTENSION}",
        "spark.ui.enabled": "false",
        FILES_KEY: "x.Files",
    }


def test_configure_is_idempotent() -> None:
    builder = SparkSession.builder.config("spark.jars", "/a.jar")
    once = dict(streamjoin.configure(builder)._options)
    assert streamjoin.configure(builder)._options == once


def test_conf_sets_jar_extension_and_checkpoint_file_manager() -> None:
    assert streamjoin.conf() == {
        "spark.jars": streamjoin.jar_path(),
        "spark.sql.extensions": EXTENSION,
        FILES_KEY: FILES,
    }


@pytest.mark.parametrize("key", [FILES_KEY, f"spark.hadoop.{FILES_KEY}"])
def test_conf_keeps_a_chosen_checkpoint_file_manager(key: str) -> None:
    settings = streamjoin.conf({key: "x.Files"})
    assert settings[key] == "x.Files"
    assert {name for name in settings if name.endswith(FILES_KEY)} == {key}


def test_configure_leaves_a_builder_of_a_running_server_unchanged() -> None:
    """A running server accepts no extension: PySpark would warn that it cannot set one."""
    builder = SparkSession.builder.remote("sc://localhost:15002")
    before = dict(builder._options)
    assert streamjoin.configure(builder)._options == before


def test_conf_extends_a_copy_of_base() -> None:
    base = {"spark.jars": "/a.jar", "spark.app.name": "x"}
    assert streamjoin.conf(base) == {
        "spark.jars": f"/a.jar,{streamjoin.jar_path()}",
        "spark.sql.extensions": EXTENSION,
        "spark.app.name": "x",
        FILES_KEY: FILES,
    }
    assert base == {"spark.jars": "/a.jar", "spark.app.name": "x"}


def test_conf_does_not_add_the_same_jar_from_another_folder() -> None:
    shipped = f"hdfs://cluster/lib/{Path(streamjoin.jar_path()).name}"
    assert streamjoin.conf({"spark.jars": shipped})["spark.jars"] == shipped


def test_configure_extends_settings_of_submit_args() -> None:
    printed = run_python(
        PRINT_SETTINGS,
        PYSPARK_SUBMIT_ARGS="--jars /a.jar --conf spark.sql.extensions=x.One pyspark-shell",
    )
    assert printed == f"/a.jar,{streamjoin.jar_path()} x.One,{EXTENSION} {FILES}"


def test_configure_extends_settings_of_spark_defaults(tmp_path: Path) -> None:
    defaults = "# spark.jars /no.jar\nspark.jars   /a.jar\nspark.sql.extensions=x.One\n"
    (tmp_path / "spark-defaults.conf").write_text(defaults, encoding="utf-8")
    printed = run_python(PRINT_SETTINGS, SPARK_CONF_DIR=str(tmp_path))
    assert printed == f"/a.jar,{streamjoin.jar_path()} x.One,{EXTENSION} {FILES}"


@pytest.mark.parametrize(
    ("given", "put"),
    [
        ("--jars /a.jar pyspark-shell", "--jars /a.jar,{jar} pyspark-shell"),
        ("--jars=/a.jar pyspark-shell", "--jars=/a.jar,{jar} pyspark-shell"),
        ("--conf spark.jars=/a.jar pyspark-shell", "--conf spark.jars=/a.jar,{jar} pyspark-shell"),
        (
            "--jars /a.jar -c spark.jars=/b.jar --jars /c.jar pyspark-shell",
            "--jars /a.jar -c spark.jars=/b.jar --jars /c.jar,{jar} pyspark-shell",
        ),
        ("--name 'my job' --jars /lib/{name} x", "--name 'my job' --jars /lib/{name} x"),
        ("--driver-memory 2g pyspark-shell", "--driver-memory 2g pyspark-shell"),
    ],
)
def test_configure_adds_the_jar_to_jars_of_submit_args(given: str, put: str) -> None:
    """PySpark prefers them to `spark.jars` of a builder."""
    jar = streamjoin.jar_path()
    names = {"jar": jar, "name": Path(jar).name}
    configured = """
        import os
        import streamjoin
        from pyspark.sql import SparkSession
        for _ in range(2):
            streamjoin.configure(SparkSession.builder)
        print(os.environ["PYSPARK_SUBMIT_ARGS"])
    """
    printed = run_python(configured, PYSPARK_SUBMIT_ARGS=given.format(**names))
    assert printed == put.format(**names)


@pytest.mark.parametrize(
    "option", ["--jars ", pytest.param("--conf spark.jars=", marks=pytest.mark.thorough)]
)
def test_session_loads_the_jar_and_other_jars_of_submit_args(tmp_path: Path, option: str) -> None:
    with zipfile.ZipFile(tmp_path / "other.jar", "w") as other:
        other.writestr("other.txt", "of another jar")
    printed = run_python(
        """
        import streamjoin
        from pyspark.sql import SparkSession

        plain = SparkSession.builder.master("local[1]").config("spark.ui.enabled", "false")
        spark = streamjoin.configure(plain).getOrCreate()
        rates = spark.readStream.format("rate").load()
        print(rates.imposeOrder("timestamp", "1 minute").columns)
        loader = spark._jvm.Thread.currentThread().getContextClassLoader()
        print(loader.getResource("other.txt") is not None)
        """,
        PYSPARK_SUBMIT_ARGS=f"{option}{tmp_path / 'other.jar'} pyspark-shell",
    )
    assert printed.splitlines() == ["['timestamp', 'value']", "True"]
