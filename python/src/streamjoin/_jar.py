"""Where the jar of this package is."""

from __future__ import annotations

from pathlib import Path

from streamjoin import _errors
from streamjoin._version import __version__

_JARS = Path(__file__).resolve().parent / "jars"


def jar_path() -> str:
    """Give the path of the jar that this package carries.

    Returns
    -------
    str
        The absolute path of ``streamjoin_2.13-<version>.jar`` on this machine, to be put on
        ``spark.jars`` or behind ``spark-submit --jars``. ``python -m streamjoin.jar`` prints it.

    Raises
    ------
    SetupError
        The jar is not there, or one of another version than this package's is.

    Notes
    -----
    Source: the jar is put into the wheel by the project's own build (``make wheel``).
    """
    jar = _JARS / f"streamjoin_2.13-{__version__}.jar"
    if jar.is_file():
        return str(jar)
    if not _JARS.parent.is_dir():
        raise _errors.jar_in_archive(jar)
    found = sorted(other.name for other in _JARS.glob("*.jar"))
    raise _errors.jar_of_other_version(jar, found) if found else _errors.jar_missing(jar)
