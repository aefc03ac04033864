"""The version of this package, and the versions of Spark that it supports."""

from __future__ import annotations

from importlib.resources import files

try:
    import pyspark
except ModuleNotFoundError as error:
    if error.name != "pyspark":
        raise
    # the wheel has no dependency on pyspark, or pip could replace the one of a cluster
    raise ImportError(
        "streamjoin runs on PySpark 4.0, 4.1, 4.2 or 4.3, but PySpark is not installed. Install "
        "it:\n"
        '  pip install "pyspark>=4.0.1,<4.4"'
    ) from None

from streamjoin import _errors


def _built() -> str:
    """Read the version that the build has written; it also works on PYTHONPATH and in archives."""
    try:
        return files("streamjoin").joinpath("version.txt").read_text(encoding="utf-8").strip()
    except FileNotFoundError:
        raise ImportError(
            "This is a source checkout of streamjoin without build output: version.txt and the "
            "jar are missing. Build both with `make wheel`."
        ) from None


__version__ = _built()

# The release of 4.0 that lacks classes which the jar needs.
_TOO_OLD = "4.0.0"
# A version of Spark, and the version in the name of its jar.
_JAR_OF = {"4.0": "4.0", "4.1": "4.1", "4.2": "4.2", "4.3": "4.2"}


def require_supported_pyspark() -> None:
    require_supported("the installed pyspark", pyspark.__version__)


def require_supported(what: str, version: str) -> None:
    range_of(what, version)


def range_of(what: str, version: str) -> str:
    """Return the version of Spark in the name of the jar for this version."""
    found = _JAR_OF.get(".".join(version.split(".")[:2]))
    if found is None or version == _TOO_OLD:
        *others, last = _JAR_OF
        raise _errors.spark_unsupported(what, version, f"{', '.join(others)} or {last}")
    return found


# First, for a clear error: the imports of this package fail with an unsupported pyspark.
require_supported_pyspark()
