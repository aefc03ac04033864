"""``python -m streamjoin.jar [--spark 4.1]`` prints the path of the jar for a Spark."""

from __future__ import annotations

import argparse
import sys

from streamjoin._errors import SetupError
from streamjoin._jar import jar_path


def main() -> None:
    parser = argparse.ArgumentParser(
        prog="python -m streamjoin.jar", description="Prints the path of the jar."
    )
    parser.add_argument("--spark", help="the version of Spark that loads it; the installed one")
    try:
        print(jar_path(parser.parse_args().spark))
    except SetupError as error:
        sys.exit(str(error))


if __name__ == "__main__":
    main()
