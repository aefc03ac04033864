"""Detects changes in a folder."""

from __future__ import annotations

import hashlib
from pathlib import Path


def fingerprints(folder: Path) -> dict[str, str]:
    """A digest of each file of a folder, by file name."""
    return {
        str(path.relative_to(folder)): hashlib.sha256(path.read_bytes()).hexdigest()
        for path in sorted(folder.rglob("*"))
        if path.is_file()
    }
