"""``python -m streamjoin.doctor CHECKPOINT``: why there is no output, by the state alone.

In Python ``streamjoin.doctor`` is the function.
"""

from __future__ import annotations

import argparse
import sys

from pyspark.sql import SparkSession

from streamjoin._command import run
from streamjoin._doctor import doctor

if __name__ != "__main__":
    # an import of this module would hide the function of the same name
    raise ImportError("streamjoin.doctor is a function: from streamjoin import doctor")


def main() -> int:
    parser = argparse.ArgumentParser(prog="python -m streamjoin.doctor", description=__doc__)
    parser.add_argument("checkpoint", help="the checkpointLocation of a query, running or not")
    folder = parser.parse_args().checkpoint
    builder = (
        SparkSession.builder.master("local[*]")
        .appName("streamjoin doctor")
        .config("spark.ui.enabled", "false")
        .config("spark.ui.showConsoleProgress", "false")
    )
    return run(builder, lambda _: [doctor(folder)])


sys.exit(main())
