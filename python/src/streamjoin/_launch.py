"""The settings with which Spark starts if the session builder has none.

A value given to the builder replaces one that comes from spark-submit, from
``PYSPARK_SUBMIT_ARGS`` or from ``spark-defaults.conf``. To add to it, read it first.
"""

from __future__ import annotations

import os
import re
import shlex
from pathlib import Path

from pyspark.util import is_remote_only

_PROPERTY = re.compile(r"\s*([^\s=:#!][^\s=:]*)\s*[\s=:]\s*(.*?)\s*$")


def launch_setting(key: str) -> str | None:
    if is_remote_only():
        return None
    from pyspark import SparkContext

    if SparkContext._gateway is not None or "PYSPARK_GATEWAY_PORT" in os.environ:
        return _of_running_jvm(key)
    value = _of_submit_args(key, os.environ.get("PYSPARK_SUBMIT_ARGS", ""))
    return value if value is not None else _of_defaults_file(key, _defaults_file())


def _of_running_jvm(key: str) -> str | None:
    from pyspark import SparkConf, SparkContext

    context = SparkContext._active_spark_context
    if context is not None:
        return context.getConf().get(key)
    SparkContext._ensure_initialized()
    return SparkConf(_jvm=SparkContext._jvm).get(key)


def _of_submit_args(key: str, submit_args: str) -> str | None:
    value = None
    words = iter(shlex.split(submit_args))
    for word in words:
        option, has_value, text = word.partition("=")
        if key == "spark.jars" and option == "--jars":
            return text if has_value else next(words, None)
        if option in ("--conf", "-c"):
            name, _, setting = (text if has_value else next(words, "")).partition("=")
            if name == key:
                value = setting
    return value


def conf_folder() -> Path:
    from pyspark.find_spark_home import _find_spark_home

    return Path(os.environ.get("SPARK_CONF_DIR") or Path(_find_spark_home()) / "conf")


def _defaults_file() -> Path:
    return conf_folder() / "spark-defaults.conf"


def _of_defaults_file(key: str, file: Path) -> str | None:
    if not file.is_file():
        return None
    value = None
    for line in file.read_text(encoding="utf-8").splitlines():
        found = _PROPERTY.match(line)
        if found and found[1] == key:
            value = found[2]
    return value
