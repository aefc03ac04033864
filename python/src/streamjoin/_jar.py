"""Where the jar of this package is."""

from __future__ import annotations

from pathlib import Path

import pyspark

from streamjoin import _errors
from streamjoin._version import __version__, range_of

_JARS = Path(__file__).resolve().parent / "jars"


def jar_path(spark: str | None = None) -> str:
    """Give the path of the jar for a version of Spark. The package has one for each.

    Parameters
    ----------
    spark : str, optional
        The version of Spark that loads the jar, for example ``"4.1"`` or ``"4.1.4"``. Default:
        that of the installed pyspark. Give it where another Spark loads the jar, for example a
        Spark Connect server.

    Returns
    -------
    str
        The absolute path of ``streamjoin-spark-<version of Spark>_2.13-<version>.jar`` on this
        machine, to be put on ``spark.jars`` or behind ``spark-submit --jars``. The jar of Spark
        4.2 is also that of 4.3. ``python -m streamjoin.jar --spark 4.1`` prints the path.

    Raises
    ------
    SetupError
        There is no jar for this version of Spark, the jar is not there, or one of another version
        than this package's is.

    Notes
    -----
    Source: the jar is put into the wheel by the project's own build (``make wheel``).
    """
    if spark is None:
        named = range_of("the installed pyspark", pyspark.__version__)
    else:
        named = range_of("the one asked for", spark)
    jar = _JARS / f"streamjoin-spark-{named}_2.13-{__version__}.jar"
    if jar.is_file():
        return str(jar)
    if not _JARS.parent.is_dir():
        raise _errors.jar_in_archive(jar)
    found = sorted(other.name for other in _JARS.glob("*.jar"))
    raise _errors.jar_of_other_version(jar, found) if found else _errors.jar_missing(jar)
