"""The settings with which Spark starts if the session builder has no value.

A value of the builder replaces the value from spark-submit, from
``PYSPARK_SUBMIT_ARGS`` or from ``spark-defaults.conf``. To add to it, read it first.
"""

from __future__ import annotations

import os
import re
import shlex
from collections.abc import Iterator
from dataclasses import dataclass
from pathlib import Path

from pyspark.util import is_remote_only

_SUBMIT_ARGS = "PYSPARK_SUBMIT_ARGS"
_JARS_KEY = "spark.jars"
_PROPERTY = re.compile(r"\s*([^\s=:#!][^\s=:]*)\s*[\s=:]\s*(.*?)\s*$")


def launch_setting(key: str) -> str | None:
    if is_remote_only():
        return None
    from pyspark import SparkContext

    if SparkContext._gateway is not None or "PYSPARK_GATEWAY_PORT" in os.environ:
        return _of_running_jvm(key)
    value = _of_submit_args(key, os.environ.get(_SUBMIT_ARGS, ""))
    return value if value is not None else _of_defaults_file(key, _defaults_file())


def _of_running_jvm(key: str) -> str | None:
    from pyspark import SparkConf, SparkContext

    context = SparkContext._active_spark_context
    if context is not None:
        return context.getConf().get(key)
    SparkContext._ensure_initialized()
    return SparkConf(_jvm=SparkContext._jvm).get(key)


def add_to_submitted_jars(jar: str) -> None:
    """Add a jar to the jars of PYSPARK_SUBMIT_ARGS, if that variable names jars.

    Spark's launcher appends these arguments to the settings of the builder. So the driver loads
    their jars and ignores ``spark.jars`` of the builder.
    """
    words = shlex.split(os.environ.get(_SUBMIT_ARGS, ""))
    given = _taken(_JARS_KEY, words)
    if given is not None and Path(jar).name not in [Path(j).name for j in given.value.split(",")]:
        words[given.word] = ",".join(each for each in (words[given.word], jar) if each)
        os.environ[_SUBMIT_ARGS] = shlex.join(words)


@dataclass(frozen=True)
class _Given:
    """A setting in the arguments of spark-submit; `word` is the index of its last argument."""

    key: str
    value: str
    word: int
    is_option: bool


def _of_submit_args(key: str, submit_args: str) -> str | None:
    given = _taken(key, shlex.split(submit_args))
    return None if given is None else given.value


def _taken(key: str, words: list[str]) -> _Given | None:
    """Return the setting that Spark uses: options before ``--conf``, then the last occurrence."""
    given = [each for each in _given(words) if each.key == key]
    return max(given, key=lambda each: (each.is_option, each.word), default=None)


def _given(words: list[str]) -> Iterator[_Given]:
    for number, word in enumerate(words):
        option, has_value, text = word.partition("=")
        at = number if has_value else number + 1
        if option not in ("--jars", "--conf", "-c") or at >= len(words):
            continue
        value = text if has_value else words[at]
        if option == "--jars":
            yield _Given(_JARS_KEY, value, at, is_option=True)
        else:
            name, _, setting = value.partition("=")
            yield _Given(name, setting, at, is_option=False)


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
