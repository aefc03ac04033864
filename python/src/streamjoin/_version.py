"""Which version this is, and which versions of Spark it runs on."""

from __future__ import annotations

from importlib.resources import files

try:
    import pyspark
except ModuleNotFoundError as error:
    if error.name != "pyspark":
        raise
    # the wheel asks for none, lest pip replace the one of a cluster
    raise ImportError(
        "streamjoin runs on PySpark 4.2 or 4.3, and this Python has none. Install it:\n"
        '  pip install "pyspark>=4.2,<4.4"'
    ) from None

from streamjoin import _errors


def _built() -> str:
    """Give the version that the build has noted; also on PYTHONPATH and in an archive."""
    try:
        return files("streamjoin").joinpath("version.txt").read_text(encoding="utf-8").strip()
    except FileNotFoundError:
        raise ImportError(
            "These are the sources of streamjoin, of which nothing has been built: there is "
            "neither version.txt nor the jar. `make wheel` in the checkout makes both."
        ) from None


__version__ = _built()

_SUPPORTED = ("4.2", "4.3")


def require_supported_pyspark() -> None:
    require_supported("the installed pyspark", pyspark.__version__)


def require_supported(what: str, version: str) -> None:
    minor = ".".join(version.split(".")[:2])
    if minor not in _SUPPORTED:
        raise _errors.spark_unsupported(what, version, " or ".join(_SUPPORTED))


# Another pyspark lacks what the modules of this package import, which would say less.
require_supported_pyspark()
