"""Puts the jar and the extension on a session that is yet to be started."""

from __future__ import annotations

import os
from collections.abc import Mapping

from pyspark.sql import SparkSession
from pyspark.util import is_remote_only

from streamjoin._arguments import require_builder
from streamjoin._errors import EXTENSION
from streamjoin._jar import jar_path
from streamjoin._java import require_java
from streamjoin._jvm import jvm_in_process, require_jar_in_process
from streamjoin._launch import add_to_submitted_jars, launch_setting
from streamjoin._version import require_supported_pyspark

_JARS_KEY = "spark.jars"
_EXTENSIONS_KEY = "spark.sql.extensions"
_FILES_KEY = "spark.sql.streaming.checkpointFileManagerClass"
# Spark reads it from Hadoop's settings, into which either key leads.
_CHOSEN_FILES = (_FILES_KEY, f"spark.hadoop.{_FILES_KEY}")
_FILES = "org.apache.spark.sql.streamjoin.checkpoint.LocalCheckpointFiles"


def configure(builder: SparkSession.Builder) -> SparkSession.Builder:
    """Put the jar of this package and its extension on a session builder.

    Parameters
    ----------
    builder : SparkSession.Builder
        The builder, as ``SparkSession.builder`` or with options already set. The jar is added to
        its ``spark.jars`` and the extension to its ``spark.sql.extensions``, never twice. If the
        builder has no value, they are added to the value of ``spark-submit``,
        ``PYSPARK_SUBMIT_ARGS`` or ``spark-defaults.conf``. Jars in ``PYSPARK_SUBMIT_ARGS`` replace
        those of a builder, so the jar is added to that variable of this process, too.

        ``spark.sql.streaming.checkpointFileManagerClass`` is set unless it is set already. Local
        checkpoints are then written without the processes that Hadoop starts for each file. A
        builder for a running Spark Connect server (``sc://``) stays unchanged: the server loads
        the jar when it starts.

    Returns
    -------
    SparkSession.Builder
        The same builder.

    Raises
    ------
    pyspark.errors.PySparkTypeError
        ``builder`` is no session builder: a session that runs cannot load the jar.
    SetupError
        The jar is not in the package or is of another version, the installed pyspark is
        none of 4.0, 4.1, 4.2 and 4.3, there is no Java or one older than 17, or this process
        has started Spark without the jar already, which takes it up no more.

    Notes
    -----
    Call this before the first ``getOrCreate()`` of the Python process.

    Source: ``spark.jars`` and ``spark.sql.extensions`` as described in Spark's configuration page.

    Examples
    --------
    >>> import streamjoin
    >>> from pyspark.sql import SparkSession
    >>> spark = streamjoin.configure(SparkSession.builder).getOrCreate()  # doctest: +SKIP
    """
    require_supported_pyspark()
    require_builder(builder)
    if _has_its_server(builder):
        return builder  # it takes up no settings of this kind any more, and warns of them
    require_jar_in_process()
    starts_java = _starts_java(builder)
    if starts_java:
        require_java()
    present: dict[str, str] = {}
    for key in (_JARS_KEY, _EXTENSIONS_KEY, *_CHOSEN_FILES):
        value = builder._options.get(key)
        if value is None:
            value = launch_setting(key)
        if value is not None:
            present[key] = value
    for key, value in conf(present).items():
        if key not in _CHOSEN_FILES or key not in present:
            builder.config(key, value)
    if starts_java:
        add_to_submitted_jars(jar_path())
    return builder


def _starts_java(builder: SparkSession.Builder) -> bool:
    """Check whether the session will be of a JVM that this process is yet to start."""
    running = "PYSPARK_GATEWAY_PORT" in os.environ or jvm_in_process() is not None
    return not running and not is_remote_only()


def _has_its_server(builder: SparkSession.Builder) -> bool:
    """Check whether the session is one of a server that runs, and has its jar or has none."""
    remote = builder._options.get("spark.remote", os.environ.get("SPARK_REMOTE", ""))
    return str(remote).startswith("sc://")


def conf(base: Mapping[str, str] | None = None) -> dict[str, str]:
    """Give the Spark settings that load streamjoin.

    Parameters
    ----------
    base : Mapping of str to str, optional
        Settings to start from; not changed. The jar and the extension are added to its
        ``spark.jars`` and ``spark.sql.extensions`` (comma-separated lists), never twice; all its
        other entries are in the result as they are. Default: none.

    Returns
    -------
    dict of str to str
        ``base`` with the jar and the extension, for ``SparkSession.builder.config(map=...)``, and
        with this package's writer of checkpoints on local disks, if ``base`` names none.

    Raises
    ------
    SetupError
        The jar is not in the package or is of another version, or the installed pyspark is
        none of 4.0, 4.1, 4.2 and 4.3.

    Notes
    -----
    Source: ``spark.jars`` and ``spark.sql.extensions`` as described in Spark's configuration page.
    """
    require_supported_pyspark()
    settings = dict(base or {})
    jars = _entries(settings.get(_JARS_KEY))
    jar = jar_path()
    # Cluster managers pass jars on under other folders and schemes; the file name stays.
    if _file_name(jar) not in map(_file_name, jars):
        jars.append(jar)
    extensions = _entries(settings.get(_EXTENSIONS_KEY))
    if EXTENSION not in extensions:
        extensions.append(EXTENSION)
    settings[_JARS_KEY] = ",".join(jars)
    settings[_EXTENSIONS_KEY] = ",".join(extensions)
    if not any(key in settings for key in _CHOSEN_FILES):
        settings[_FILES_KEY] = _FILES
    return settings


def _entries(value: str | None) -> list[str]:
    return [entry.strip() for entry in (value or "").split(",") if entry.strip()]


def _file_name(path: str) -> str:
    return path.replace("\\", "/").rpartition("/")[2]
