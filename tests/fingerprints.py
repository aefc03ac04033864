"""Whether anything in a folder has changed."""

from __future__ import annotations

import hashlib
from pathlib import Path


def fingerprints(folder: Path) -> dict[str, str]:
    """The files of a folder, by name, with what is in them."""
    return {
        str(path.relative_to(folder)): hashlib.sha256(path.read_bytes()).hexdigest()
        for path in sorted(folder.rglob("*"))
        if path.is_file()
    }
