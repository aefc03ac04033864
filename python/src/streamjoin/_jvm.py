"""The way to the JVM: the class that serves Python calls, once the session is known to fit.

What is imported here needs no py4j: where only Spark Connect is installed there is none.
"""

from __future__ import annotations

from typing import Any

from pyspark.sql import SparkSession

from streamjoin import _errors
from streamjoin._version import __version__, require_supported, require_supported_pyspark


def python_api(session: SparkSession) -> Any:
    from py4j.java_gateway import JavaClass

    require_supported_pyspark()
    require_supported("the Spark of this session", session.version)
    jvm: Any = session._jvm
    api = jvm.io.streamjoin.PythonApi
    # py4j takes the name of a class that it cannot find for that of a package.
    if not isinstance(api, JavaClass):
        raise _errors.jar_not_loaded()
    loaded = api.version()
    if loaded != __version__:
        raise _errors.loaded_jar_of_other_version(loaded, __version__)
    problem = api.check(session._jsparkSession)
    if problem is not None:
        raise _errors.session_unfit(problem)
    return api
