"""Errors that are expected and caught are not logged."""

from __future__ import annotations

import contextlib
import threading
from collections.abc import Iterator
from logging import LogRecord

from pyspark.logger import PySparkLogger

# PySpark logs an error with a place in a query when it makes the exception, whether or not it is
# caught: as JSON on stderr, with the stack traces of Java and Python. A notebook shows that above
# what a cell returns.
_LOGGERS = ("SQLQueryContextLogger", "DataFrameQueryContextLogger")


@contextlib.contextmanager
def quiet() -> Iterator[None]:
    """Keep this thread's errors out of the log of PySpark."""
    here = threading.get_ident()

    def of_others(record: LogRecord) -> bool:
        return record.thread != here

    loggers = [PySparkLogger.getLogger(name) for name in _LOGGERS]
    for logger in loggers:
        logger.addFilter(of_others)
    try:
        yield
    finally:
        for logger in loggers:
            logger.removeFilter(of_others)
