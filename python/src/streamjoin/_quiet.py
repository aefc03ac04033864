"""Keeps expected errors, which are caught, out of the log."""

from __future__ import annotations

import contextlib
import threading
from collections.abc import Iterator
from logging import LogRecord

from pyspark.logger import PySparkLogger

# PySpark logs an error that has a position in a query when it creates the exception, even if the
# caller catches it. The log is JSON on stderr, with stack traces of Java and Python. A notebook
# shows it above the result of the cell.
_LOGGERS = ("SQLQueryContextLogger", "DataFrameQueryContextLogger")


@contextlib.contextmanager
def quiet() -> Iterator[None]:
    """Keep the errors of this thread out of the log of PySpark."""
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
