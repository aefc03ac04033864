"""The rows of each micro-batch, read from the checkpoint of the query."""

from __future__ import annotations

import json
from collections.abc import Mapping, Sequence
from pathlib import Path

from tests.differential.case import Case, Row, Step

NOTHING_YET = "-"


def offsets(checkpoint: Path) -> list[list[str]]:
    """For each batch, the offset that each source had reached at its end."""
    return [each[2:] for each in _log(checkpoint)]


def _log(checkpoint: Path) -> list[list[str]]:
    files = {int(path.name): path for path in (checkpoint / "offsets").glob("[0-9]*")}
    if sorted(files) != list(range(len(files))):
        raise ValueError(f"the offset log has gaps: {sorted(files)}")
    lines = [files[number].read_text().splitlines() for number in range(len(files))]
    for each in lines:
        if each[0] != "v1":
            raise ValueError(f"unknown version of the offset log: {each[0]}")
    return lines


def spark_watermarks(checkpoint: Path) -> list[int]:
    """Spark's one watermark in each batch, in milliseconds."""
    return [json.loads(each[1])["batchWatermarkMs"] for each in _log(checkpoint)]


def file_log(checkpoint: Path, source: int) -> dict[int, set[str]]:
    """Names of the files of a file source, by the log offset with which they came."""
    files: dict[int, set[str]] = {}
    folder = checkpoint / "sources" / str(source)
    # Both sides of a self-join may share one source, and then the log of the first.
    shared = checkpoint / "sources" / "0"
    # A compacted log repeats the entries of those before it, hence sets.
    for path in (folder if folder.exists() else shared).glob("[0-9]*"):
        for line in path.read_text().splitlines()[1:]:
            entry = json.loads(line)
            files.setdefault(entry["batchId"], set()).add(Path(entry["path"]).name)
    return files


def _reached(offset: str) -> int:
    """Offsets of memory sources are numbers, those of file sources objects around one.

    A memory source in real-time mode has the number of rows in its only partition.
    """
    if offset == NOTHING_YET:
        return -1
    value = json.loads(offset)
    if not isinstance(value, dict):
        return int(value)
    return int(value["logOffset"]) if "logOffset" in value else int(value["0"]) - 1


def batches(
    case: Case, checkpoint: Path, arrived: Mapping[str, Mapping[str | int, list[Row]]]
) -> list[Step]:
    """The rows of every batch, by input.

    ``arrived`` has the rows of each input by the name of their file, or by the number of their
    addition to a memory source.
    """
    log = offsets(checkpoint)
    leaves = case.sources
    sources = _sources(case, leaves, len(log[0]))
    steps: list[Step] = [{} for _ in log]
    for leaf in leaves:
        source = sources[leaf]
        rows = arrived[case.input(leaf).same_as or leaf]
        names = file_log(checkpoint, source) if case.feed == "files" else {}
        before = -1
        for step, line in zip(steps, log, strict=True):
            end = _reached(line[source])
            taken: list[Row] = []
            for offset in range(before + 1, end + 1):
                keys: Sequence[str | int] = sorted(names[offset]) if names else [offset]
                for key in keys:
                    taken += rows[key]
            step[leaf] = taken
            before = end
    return steps


def _sources(case: Case, leaves: tuple[str, ...], count: int) -> dict[str, int]:
    """Number of the source of each leaf. A self-join may read one source once or twice."""
    if count == len(leaves):
        return {leaf: number for number, leaf in enumerate(leaves)}
    fed = [leaf for leaf in leaves if case.input(leaf).same_as is None]
    if count != len(fed):
        raise ValueError(f"{count} sources for the inputs {leaves}")
    return {leaf: fed.index(case.input(leaf).same_as or leaf) for leaf in leaves}
