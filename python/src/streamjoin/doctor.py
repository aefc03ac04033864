"""``python -m streamjoin.doctor CHECKPOINT``: why there is no output, by the state alone.

In Python ``streamjoin.doctor`` is the function.
"""

from __future__ import annotations

import argparse
import sys

from pyspark.errors import PySparkException
from pyspark.sql import SparkSession

from streamjoin._doctor import doctor
from streamjoin._session import configure

if __name__ != "__main__":
    # an import of this module would hide the function of the same name
    raise ImportError("streamjoin.doctor is a function: from streamjoin import doctor")


def main() -> int:
    parser = argparse.ArgumentParser(prog="python -m streamjoin.doctor", description=__doc__)
    parser.add_argument("checkpoint", help="the checkpointLocation of a query, running or not")
    folder = parser.parse_args().checkpoint
    builder = SparkSession.builder.master("local[*]").appName("streamjoin doctor")
    session = (
        configure(builder)
        .config("spark.ui.enabled", "false")
        .config("spark.log.level", "ERROR")
        .config("spark.ui.showConsoleProgress", "false")
        .getOrCreate()
    )
    try:
        print(doctor(folder))
    except PySparkException as refused:
        print(refused, file=sys.stderr)
        return 1
    finally:
        session.stop()
    return 0


sys.exit(main())
