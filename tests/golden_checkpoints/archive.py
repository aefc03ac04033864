"""A checkpoint as one file, independent of the folder in which it was written."""

from __future__ import annotations

import io
import json
import tarfile
from dataclasses import dataclass
from pathlib import Path
from typing import Any

from tests.golden_checkpoints.cases import Batch

KEPT = Path(__file__).parent / "kept"
ELSEWHERE = "/where/it/was/made"
"""Some checkpoint files contain absolute paths of other files; this path replaces them."""


@dataclass(frozen=True)
class Morning:
    """The history of a checkpoint.

    Parameters
    ----------
    batches : list of Batch
        The rows that the query has read.
    output : list of list
        The rows that the query has emitted.
    """

    batches: list[Batch]
    output: list[list[int | None]]


SPARK = "4.2"
"""The Spark version that wrote the checkpoints outside of folders for other versions."""
OF_OTHER_SPARKS = ("chain", "changes_in_a_chain", "full", "full_merged", "last_rows", "ordered")
"""The cases with checkpoints of earlier Spark versions."""


def archive(state_format: str, version: int, case: str, spark: str = SPARK) -> Path:
    """The path of the checkpoint of a case in a format version."""
    folder = KEPT if spark == SPARK else KEPT / f"spark-{spark}"
    return folder / f"{state_format}-{version}" / f"{case}.tar.gz"


def minor(version: str) -> str:
    return ".".join(version.split(".")[:2])


def can_go_on(kept: Path, spark: str) -> bool:
    """Whether a Spark version can read a checkpoint: it is no older than the writer."""
    folder = kept.relative_to(KEPT).parts[0]
    writer = folder.removeprefix("spark-") if folder.startswith("spark-") else SPARK
    return [*map(int, minor(spark).split("."))] >= [*map(int, writer.split("."))]


def pack(checkpoint: Path, morning: Morning, into: Path) -> None:
    """Write a checkpoint to an archive."""
    into.parent.mkdir(parents=True, exist_ok=True)
    made = str(checkpoint.parent).encode()
    with tarfile.open(into, "w:gz") as tar:
        story = json.dumps({"batches": morning.batches, "output": morning.output}, indent=1)
        _add(tar, "morning.json", story.encode())
        for path in sorted(checkpoint.rglob("*")):
            # Hadoop's checksums would be those of the files before the paths were replaced.
            if path.is_file() and path.suffix != ".crc":
                name = f"checkpoint/{path.relative_to(checkpoint)}"
                content = path.read_bytes().replace(made, ELSEWHERE.encode())
                _add(tar, name, sealed(content) if "_metadata" in path.parts else content)


def sealed(metadata: bytes) -> bytes:
    """The metadata of an operator with the checksum of its description, which has changed."""
    head, _, body = metadata.decode().partition("\n")
    written = json.loads(body)
    parts = json.loads(written["operatorPropertiesJson"])
    del parts["checksum"]
    text = _compact(dict(sorted(parts.items())))
    parts["checksum"] = _crc32c(text.encode())
    written["operatorPropertiesJson"] = _compact(parts)
    return f"{head}\n{_compact(written)}".encode()


def _compact(value: dict[str, Any]) -> str:
    return json.dumps(value, separators=(",", ":"), ensure_ascii=False)


def _crc32c(data: bytes) -> int:
    crc = 0xFFFFFFFF
    for byte in data:
        crc ^= byte
        for _ in range(8):
            crc = crc >> 1 ^ (0x82F63B78 if crc & 1 else 0)
    return crc ^ 0xFFFFFFFF


def unpack(kept: Path, folder: Path) -> Morning:
    """Extract a checkpoint into a folder, as `checkpoint`."""
    with tarfile.open(kept) as tar:
        tar.extractall(folder, filter="data")
    # Spark's file source refuses a file outside of its folder, even one that it has already read.
    for path in (folder / "checkpoint" / "sources").rglob("*"):
        if path.is_file():
            text = path.read_text(encoding="utf-8")
            path.write_text(text.replace(ELSEWHERE, str(folder)), encoding="utf-8")
    story = json.loads((folder / "morning.json").read_text(encoding="utf-8"))
    return Morning(story["batches"], story["output"])


def _add(tar: tarfile.TarFile, name: str, content: bytes) -> None:
    entry = tarfile.TarInfo(name)
    entry.size = len(content)
    tar.addfile(entry, io.BytesIO(content))
