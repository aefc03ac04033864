"""JSON lines that another process appends to a file."""

from __future__ import annotations

import json
from collections.abc import Iterator
from contextlib import suppress
from pathlib import Path
from typing import Any


class Lines:
    """Reads on from the end of the last read."""

    def __init__(self, file: Path) -> None:
        self._file = file
        self._read = 0

    def new(self) -> Iterator[dict[str, Any]]:
        if not self._file.exists():
            return
        with self._file.open("rb") as lines:
            lines.seek(self._read)
            for line in lines:
                if not line.endswith(b"\n"):
                    break
                self._read += len(line)
                # A kill can truncate a line.
                with suppress(ValueError):
                    yield json.loads(line)
