"""The package of Delta Lake for a version of Spark."""

from __future__ import annotations

import pyspark

from streamjoin import _errors
from streamjoin._version import require_supported

_VERSION = "4.4.0"
_MINORS = ("4.0", "4.1", "4.2")


def delta_package(spark: str | None = None) -> str:
    """Return the Maven coordinate of Delta Lake for a version of Spark.

    Parameters
    ----------
    spark : str, optional
        The version of the Spark that loads it, for example ``"4.1"`` or ``"4.1.4"``. Default: the
        version of the installed pyspark.

    Returns
    -------
    str
        ``io.delta:delta-spark_<version of Spark>_2.13:<version>``, for ``spark.jars.packages`` or
        ``spark-submit --packages``. ``streamjoin delta`` prints it.

    Raises
    ------
    SetupError
        This version of Delta Lake has no package for this version of Spark.

    Notes
    -----
    Source: the artifacts of Delta Lake, of which each fits one minor version of Spark.
    """
    version = pyspark.__version__ if spark is None else spark
    require_supported("the requested version", version)
    minor = ".".join(version.split(".")[:2])
    if minor not in _MINORS:
        raise _errors.delta_lacks_spark(_VERSION, minor, _MINORS)
    return f"io.delta:delta-spark_{minor}_2.13:{_VERSION}"
