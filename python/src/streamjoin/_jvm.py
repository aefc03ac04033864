"""Access to the JVM: the class that serves Python calls, after a check of the session.

The imports here need no py4j, which a Spark Connect client does not have.
"""

from __future__ import annotations

import sys
from typing import Any

from pyspark.sql import SparkSession

from streamjoin import _errors
from streamjoin._version import __version__, require_supported, require_supported_pyspark


def require_jar(jvm: Any) -> Any:
    """Return the class; refuse a JVM that was started without the jar, as it cannot load it."""
    from py4j.java_gateway import JavaClass

    # With the full name, py4j asks the JVM once, and not once for each package. For the name of a
    # class that it cannot find, py4j returns a package.
    api = getattr(jvm, "io.streamjoin.PythonApi")
    if not isinstance(api, JavaClass):
        raise _errors.jar_not_loaded()
    return api


def require_jar_in_process() -> None:
    """Refuse the JVM of this process, if it has one, if that was started without the jar."""
    jvm = jvm_in_process()
    if jvm is not None:
        require_jar(jvm)


def jvm_in_process() -> Any:
    context = sys.modules.get("pyspark.core.context")
    return context.SparkContext._jvm if context else None


def python_api(session: SparkSession) -> Any:
    require_supported_pyspark()
    require_supported("the Spark of this session", session.version)
    api = require_jar(session._jvm)
    loaded = api.version()
    if loaded != __version__:
        raise _errors.loaded_jar_of_other_version(loaded, __version__)
    problem = api.check(session._jsparkSession)
    if problem is not None:
        raise _errors.session_unfit(problem)
    return api
