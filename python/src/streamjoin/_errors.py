"""What can be wrong with a set-up, each case with the line that puts it right."""

from __future__ import annotations

from pathlib import Path

EXTENSION = "io.streamjoin.StreamJoinExtensions"

_SET_UP = f"""\
  in Python:        spark = streamjoin.configure(SparkSession.builder).getOrCreate()
  on spark-submit:  --jars $(python -m streamjoin.jar) --conf spark.sql.extensions={EXTENSION}
A session that runs already cannot take it up: stop it and restart the Python process (in a \
notebook, the kernel) first."""


class SetupError(RuntimeError):
    """The jar, the session or the version of Spark is not what streamjoin needs.

    The message says which line to add. Nothing has been read or started when this is raised.
    """


def jar_missing(jar: Path) -> SetupError:
    return SetupError(
        f"The jar {jar.name} is not in {jar.parent}: this installation of pyspark-streamjoin is "
        "incomplete. Install the wheel again:\n"
        "  pip install --force-reinstall --no-deps pyspark-streamjoin\n"
        "In a checkout of the sources, `make wheel` builds it."
    )


def jar_of_other_version(jar: Path, found: list[str]) -> SetupError:
    return SetupError(
        f"pyspark-streamjoin needs {jar.name}, but {jar.parent} holds {', '.join(found)}. "
        "Install the wheel again:\n"
        "  pip install --force-reinstall --no-deps pyspark-streamjoin"
    )


def jar_not_loaded() -> SetupError:
    return SetupError(
        f"This Spark session was started without the streamjoin jar. Start it with it:\n{_SET_UP}"
    )


def loaded_jar_of_other_version(loaded: str, package: str) -> SetupError:
    return SetupError(
        f"This Spark session has loaded the streamjoin jar {loaded}, but the Python package is "
        f"{package}. Take the other jar off spark.jars and add the package's own:\n{_SET_UP}"
    )


def session_unfit(problem: str) -> SetupError:
    return SetupError(f"{problem}\nStart the session with both settings:\n{_SET_UP}")


def spark_unsupported(what: str, version: str, supported: str) -> SetupError:
    return SetupError(
        f"streamjoin runs on Spark {supported}; {what} is {version}. "
        'Install one that fits:\n  pip install "pyspark>=4.2,<4.4"'
    )


def connect_unsupported(what: str) -> SetupError:
    return SetupError(
        f"{what} got a Spark Connect DataFrame; Spark Connect is not supported yet. Start a "
        "classic session, without remote() and with SPARK_REMOTE and SPARK_API_MODE unset:\n"
        "  spark = streamjoin.configure(SparkSession.builder).getOrCreate()"
    )
