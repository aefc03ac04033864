"""Errors of a wrong set-up include the line that corrects it."""

from __future__ import annotations

import sys
from pathlib import Path

import pytest
from pyspark.find_spark_home import _find_spark_home

import streamjoin
from streamjoin._java import require_java
from tests.processes import run, run_python

CONFIGURE_LINE = "spark = streamjoin.configure(SparkSession.builder).getOrCreate()"
SUBMIT_LINE = "--jars $(python -m streamjoin jar)"


def test_missing_jar_is_reported_with_a_reinstall_command(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr("streamjoin._jar._JARS", tmp_path)
    with pytest.raises(streamjoin.SetupError, match="pip install --force-reinstall") as caught:
        streamjoin.conf()
    assert isinstance(caught.value, RuntimeError)


def test_jar_inside_an_archive_is_reported(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr("streamjoin._jar._JARS", tmp_path / "a.zip" / "streamjoin" / "jars")
    with pytest.raises(streamjoin.SetupError, match=r"archive, .*a\.zip,"):
        streamjoin.jar_path()


def test_jar_of_another_version_is_reported(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr("streamjoin._jar._JARS", tmp_path)
    (tmp_path / "streamjoin-spark-4.2_2.13-0.0.1.jar").touch()
    with pytest.raises(
        streamjoin.SetupError, match=r"has streamjoin-spark-4\.2_2\.13-0\.0\.1\.jar"
    ):
        streamjoin.jar_path()


@pytest.mark.parametrize("version", ["3.5.7", "4.0.0", "4.4.0"])
def test_unsupported_pyspark_is_refused(version: str, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr("pyspark.__version__", version)
    with pytest.raises(streamjoin.SetupError, match=rf"4\.1, 4\.2 or 4\.3; .* is {version}"):
        streamjoin.conf()


def test_import_with_an_old_pyspark_is_refused() -> None:
    printed = run_python(
        """
        import pyspark, pyspark.sql, pyspark.util

        pyspark.__version__ = "3.5.6"
        del pyspark.util.is_remote_only
        try:
            import streamjoin
        except RuntimeError as error:
            print(type(error).__name__, error)
        """
    )
    assert printed.startswith("SetupError streamjoin runs on Spark 4.0, 4.1, 4.2 or 4.3; ")
    assert 'pip install "pyspark>=4.0.1,<4.4"' in printed


def test_import_without_pyspark_is_refused() -> None:
    printed = run_python(
        """
        import sys

        class Missing:
            def find_spec(self, name, path=None, target=None):
                if name.partition(".")[0] == "pyspark":
                    raise ModuleNotFoundError(f"No module named {name!r}", name=name)

        sys.meta_path.insert(0, Missing())
        try:
            import streamjoin
        except ImportError as error:
            print(error)
        """
    )
    assert "PySpark is not installed. Install it" in printed
    assert 'pip install "pyspark>=4.0.1,<4.4"' in printed


@pytest.mark.parametrize("version", ["4.0.1", "4.1.0", "4.2.1", "4.3.0.dev1"])
def test_supported_pyspark_is_accepted(version: str, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr("pyspark.__version__", version)
    assert streamjoin.conf()


@pytest.mark.parametrize(
    ("version", "refused"),
    [("11.0.2", True), ("1.8.0_392", True), ("17.0.9", False), ("21", False)],
)
def test_java_below_17_is_refused(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch, version: str, refused: bool
) -> None:
    (tmp_path / "release").write_text(f'IMPLEMENTOR="x"\nJAVA_VERSION="{version}"\n')
    monkeypatch.setenv("JAVA_HOME", str(tmp_path))
    if refused:
        with pytest.raises(streamjoin.SetupError, match=rf"is {version}\. Install a newer Java"):
            require_java()
    else:
        require_java()


def test_missing_java_is_refused_unless_spark_env_may_set_it(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.delenv("JAVA_HOME", raising=False)
    monkeypatch.setenv("PATH", str(tmp_path))
    with pytest.raises(streamjoin.SetupError, match="Java is not installed: no `java` on PATH"):
        require_java()
    monkeypatch.setenv("SPARK_CONF_DIR", str(tmp_path))
    (tmp_path / "spark-env.sh").touch()
    require_java()


def test_session_without_the_jar_is_refused() -> None:
    printed = run_python(
        """
        import streamjoin
        from pyspark.sql import SparkSession

        def refused(use):
            try:
                use()
            except streamjoin.SetupError as error:
                print(error)
            print("---")

        plain = SparkSession.builder.master("local[1]").config("spark.ui.enabled", "false")
        spark = plain.getOrCreate()
        refused(lambda: spark.range(1).imposeOrder("id", 1))
        refused(lambda: streamjoin.configure(SparkSession.builder))
        spark.stop()
        refused(lambda: streamjoin.configure(SparkSession.builder))
        """
    )
    at_first_use, beside_it, after_it, _ = printed.split("---")
    assert CONFIGURE_LINE in at_first_use
    assert SUBMIT_LINE in at_first_use
    assert "restart the Python process" in beside_it
    assert "restart the Python process" in after_it


@pytest.mark.thorough
def test_spark_submit_with_the_jar_imposes_an_order(tmp_path: Path) -> None:
    script = tmp_path / "job.py"
    script.write_text(
        "import streamjoin\n"
        "from pyspark.sql import SparkSession\n"
        "spark = SparkSession.builder.getOrCreate()\n"
        'rates = spark.readStream.format("rate").load()\n'
        'print(rates.imposeOrder("timestamp", "1 minute").columns)\n',
        encoding="utf-8",
    )
    home = _find_spark_home()
    printed = run(
        [
            f"{home}/bin/spark-submit",
            *("--master", "local[1]", "--conf", "spark.ui.enabled=false"),
            *("--jars", streamjoin.jar_path()),
            str(script),
        ],
        {"SPARK_HOME": home, "PYSPARK_DRIVER_PYTHON": sys.executable},
    )
    assert "['timestamp', 'value']" in printed
