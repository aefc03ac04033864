"""``python -m streamjoin.jar`` prints the path of the jar."""

from __future__ import annotations

import sys

from streamjoin._errors import SetupError
from streamjoin._jar import jar_path


def main() -> None:
    try:
        print(jar_path())
    except SetupError as error:
        sys.exit(str(error))


if __name__ == "__main__":
    main()
