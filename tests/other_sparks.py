"""The other Spark versions that ``make test`` sets up.

``STREAMJOIN_OTHER_SPARKS`` has a Python for each: ``4.1=/path/to/python 4.3=/path/to/python``.
"""

from __future__ import annotations

import os

import pyspark
import pytest

_NAMED = dict(
    entry.split("=", 1) for entry in os.environ.get("STREAMJOIN_OTHER_SPARKS", "").split()
)
MINORS = tuple(_NAMED) or ("4.0", "4.1", "4.3")

# Whether the tests run on Spark 4.0, which lacks some features of later versions.
ON_SPARK_4_0 = pyspark.__version__.startswith("4.0.")


def python_of(minor: str) -> str:
    """The Python with this version of PySpark; without one, the test is skipped."""
    found = _NAMED.get(minor)
    if found is None:
        pytest.skip(f"STREAMJOIN_OTHER_SPARKS names no Python that has pyspark {minor}")
    return found
