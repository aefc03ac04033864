"""Checks the Java that Spark will start, as Spark's own error does not name the reason."""

from __future__ import annotations

import os
import re
import shutil
from pathlib import Path

from streamjoin import _errors
from streamjoin._launch import conf_folder

_OLDEST = 17
_VERSION = re.compile(r'^JAVA_VERSION="((?:1\.)?(\d+)[^"]*)"', re.MULTILINE)


def require_java() -> None:
    """Refuse a missing or too old Java; starts no process."""
    if (conf_folder() / "spark-env.sh").exists():
        return  # it may choose another Java
    home = _home()
    if home is None:
        raise _errors.no_java()
    try:
        release = (home / "release").read_text(encoding="utf-8", errors="replace")
    except OSError:
        return  # not every Java has this file
    found = _VERSION.search(release)
    if found and int(found[2]) < _OLDEST:
        raise _errors.java_too_old(home, found[1])


def _home() -> Path | None:
    """Find Java as Spark's launcher does."""
    chosen = os.environ.get("JAVA_HOME")
    if chosen:
        return Path(chosen)
    java = shutil.which("java")
    return Path(java).resolve().parent.parent if java else None
