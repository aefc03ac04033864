"""The path of the jar."""

from __future__ import annotations

from pathlib import Path

import pyspark

from streamjoin import _errors
from streamjoin._version import __version__, range_of

_JARS = Path(__file__).resolve().parent / "jars"


def jar_path(spark: str | None = None) -> str:
    """Return the path of the jar for a version of Spark.

    Parameters
    ----------
    spark : str, optional
        The version of Spark that loads the jar, for example ``"4.1"`` or ``"4.1.4"``. Set it if
        another Spark loads the jar, for example a Spark Connect server. Default: the version of
        the installed pyspark.

    Returns
    -------
    str
        The absolute path of ``streamjoin-spark-<version of Spark>_2.13-<version>.jar`` on this
        machine, for ``spark.jars`` or ``spark-submit --jars``. Spark 4.2 and 4.3 have the same
        jar. ``python -m streamjoin jar --spark 4.1`` prints the path.

    Raises
    ------
    SetupError
        There is no jar for this version of Spark, the jar is missing, or its version is not the
        version of this package.

    Notes
    -----
    Source: the build of this project (``make wheel``) adds the jar to the wheel.
    """
    if spark is None:
        named = range_of("the installed pyspark", pyspark.__version__)
    else:
        named = range_of("the requested version", spark)
    jar = _JARS / f"streamjoin-spark-{named}_2.13-{__version__}.jar"
    if jar.is_file():
        return str(jar)
    if not _JARS.parent.is_dir():
        raise _errors.jar_in_archive(jar)
    found = sorted(other.name for other in _JARS.glob("*.jar"))
    raise _errors.jar_of_other_version(jar, found) if found else _errors.jar_missing(jar)
