"""Errors of a set-up, each with the line that corrects it."""

from __future__ import annotations

from pathlib import Path

EXTENSION = "io.streamjoin.StreamJoinExtensions"

_SET_UP = """\
  in Python:        spark = streamjoin.configure(SparkSession.builder).getOrCreate()
  on spark-submit:  --jars $(python -m streamjoin jar)
A running session cannot load the jar: first stop it, and restart the Python process (in a \
notebook, the kernel)."""


_REINSTALL = """\
Install the wheel again from its original source:
  pip install --force-reinstall --no-deps pyspark_streamjoin-VERSION-py3-none-any.whl
In a checkout of the sources, `make wheel` builds it, into dist/."""


class SetupError(RuntimeError):
    """The jar, the session or the version of Spark does not fit streamjoin.

    The message says which line to add. It is raised before anything is read or started.
    """


def jar_missing(jar: Path) -> SetupError:
    return SetupError(
        f"The jar {jar.name} is not in {jar.parent}: this installation of pyspark-streamjoin is "
        f"incomplete. {_REINSTALL}"
    )


def jar_of_other_version(jar: Path, found: list[str]) -> SetupError:
    return SetupError(
        f"pyspark-streamjoin needs {jar.name}, but {jar.parent} has {', '.join(found)}. "
        f"{_REINSTALL}"
    )


def delta_lacks_spark(delta: str, spark: str, minors: tuple[str, ...]) -> SetupError:
    *others, last = minors
    return SetupError(
        f"Delta Lake {delta} has no package for Spark {spark}. Use Spark {', '.join(others)} or "
        f"{last} with Delta tables: pip install 'pyspark=={last}.*'"
    )


def no_java() -> SetupError:
    return SetupError(
        "Spark needs Java 17 or newer, but Java is not installed: no `java` on PATH and no "
        "JAVA_HOME. Install Java (for example `apt-get install openjdk-17-jre-headless`, or "
        "`conda install openjdk=17`), or set JAVA_HOME."
    )


def java_too_old(home: Path, version: str) -> SetupError:
    return SetupError(
        f"Spark needs Java 17 or newer; the Java in {home} is {version}. Install a newer Java, "
        "and set JAVA_HOME before Python starts."
    )


def jar_in_archive(jar: Path) -> SetupError:
    return SetupError(
        f"This package is imported from an archive, {jar.parents[2]}, and Spark cannot load a jar "
        "from an archive. Add the jar file to the session (spark-submit --jars, spark.jars), or "
        "install the wheel."
    )


def jar_not_loaded() -> SetupError:
    return SetupError(
        "This Spark session was started without the streamjoin jar. Start it with the "
        f"jar:\n{_SET_UP}"
    )


def loaded_jar_of_other_version(loaded: str, package: str) -> SetupError:
    return SetupError(
        f"This Spark session has loaded the streamjoin jar {loaded}, but the Python package is "
        f"{package}. Remove the other jar from spark.jars, and add the jar of the "
        f"package:\n{_SET_UP}"
    )


def session_unfit(problem: str) -> SetupError:
    return SetupError(f"{problem}\nStart the session with the jar:\n{_SET_UP}")


def spark_unsupported(what: str, version: str, supported: str) -> SetupError:
    return SetupError(
        f"streamjoin runs on Spark {supported}; {what} is {version}. "
        'Install a supported version:\n  pip install "pyspark>=4.0.1,<4.4"'
    )


def needs_classic_session(function: str, command: str = "") -> SetupError:
    return SetupError(
        f"{function} runs Spark jobs over files and does not work on Spark Connect. Call it in a "
        f"classic session{', or run: python -m streamjoin ' + command if command else ''}"
    )


def jar_not_on_server(spark: str) -> SetupError:
    return SetupError(
        f"This Spark Connect server was started without the streamjoin jar for Spark {spark}, "
        "and a running server cannot load it (addArtifact is too late). Start the server with "
        "the jar:\n"
        f"  start-connect-server.sh --jars $(python -m streamjoin jar --spark {spark})\n"
        "or, for a server in this process, the session:\n"
        '  spark = streamjoin.configure(SparkSession.builder.remote("local")).getOrCreate()'
    )


def server_of_other_version(server: str, package: str) -> SetupError:
    return SetupError(
        f"The Spark Connect server has the streamjoin jar {server}, but the Python package here is "
        f"{package}. Install the package of the server's version, or start the server with the "
        "jar of this package."
    )
