"""Adds the jar and the extension to the settings of a new session."""

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
# Spark reads this setting from the Hadoop configuration; both keys end up there.
_CHOSEN_FILES = (_FILES_KEY, f"spark.hadoop.{_FILES_KEY}")
_FILES = "org.apache.spark.sql.streamjoin.checkpoint.LocalCheckpointFiles"


def configure(builder: SparkSession.Builder) -> SparkSession.Builder:
    """Add the jar of this package and its extension to a session builder.

    Parameters
    ----------
    builder : SparkSession.Builder
        The builder, as ``SparkSession.builder`` or with options already set. The jar is added to
        its ``spark.jars`` and the extension to its ``spark.sql.extensions``, never twice. If the
        builder has no value, they are added to the value of ``spark-submit``,
        ``PYSPARK_SUBMIT_ARGS`` or ``spark-defaults.conf``. Jars in ``PYSPARK_SUBMIT_ARGS`` replace
        the jars of the builder, so the jar is also added to this environment variable.

        ``spark.sql.streaming.checkpointFileManagerClass`` is set if it has no value. Local
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
        ``builder`` is not a session builder: a running session cannot load the jar.
    SetupError
        The jar is not in the package or has another version. The version of the installed pyspark
        is not 4.0, 4.1, 4.2 or 4.3. There is no Java, or it is older than 17. This process has
        already started Spark without the jar: a running JVM cannot load it.

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
        return builder  # the server ignores these settings, with a warning
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
    """Check whether this process will start the JVM of the session."""
    running = "PYSPARK_GATEWAY_PORT" in os.environ or jvm_in_process() is not None
    return not running and not is_remote_only()


def _has_its_server(builder: SparkSession.Builder) -> bool:
    """Check whether the session belongs to a running server, which cannot load the jar."""
    remote = builder._options.get("spark.remote", os.environ.get("SPARK_REMOTE", ""))
    return str(remote).startswith("sc://")


def conf(base: Mapping[str, str] | None = None) -> dict[str, str]:
    """Return the Spark settings that load streamjoin.

    Parameters
    ----------
    base : Mapping of str to str, optional
        Settings to start from; they are not changed. The jar and the extension are added to the
        lists ``spark.jars`` and ``spark.sql.extensions``, never twice. All other entries are
        copied unchanged. Default: none.

    Returns
    -------
    dict of str to str
        ``base`` with the jar and the extension, for ``SparkSession.builder.config(map=...)``. If
        ``base`` names no checkpoint file manager, the result has the one of this package for local
        disks.

    Raises
    ------
    SetupError
        The jar is not in the package or has another version, or the version of the installed
        pyspark is not 4.0, 4.1, 4.2 or 4.3.

    Notes
    -----
    Source: ``spark.jars`` and ``spark.sql.extensions`` as described in Spark's configuration page.
    """
    require_supported_pyspark()
    settings = dict(base or {})
    jars = _entries(settings.get(_JARS_KEY))
    jar = jar_path()
    # cluster managers copy jars to other folders and schemes, but keep the file name
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
