"""Which version this is, and which versions of Spark it runs on."""

from __future__ import annotations

from importlib.metadata import version as _installed

import pyspark

from streamjoin import _errors

__version__ = _installed("pyspark-streamjoin")

_SUPPORTED = ("4.2", "4.3")


def require_supported_pyspark() -> None:
    require_supported("the installed pyspark", pyspark.__version__)


def require_supported(what: str, version: str) -> None:
    minor = ".".join(version.split(".")[:2])
    if minor not in _SUPPORTED:
        raise _errors.spark_unsupported(what, version, " or ".join(_SUPPORTED))
