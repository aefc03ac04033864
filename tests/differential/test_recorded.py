from __future__ import annotations

import json
from dataclasses import replace
from pathlib import Path

import pytest

from tests.differential import recorded
from tests.differential.case import Case, Row
from tests.differential.samples import row, two_inputs


def write_offsets(checkpoint: Path, *batches: tuple[str, ...]) -> None:
    (checkpoint / "offsets").mkdir(parents=True)
    for number, lines in enumerate(batches):
        text = "\n".join(["v1", "{}", *lines])
        (checkpoint / "offsets" / str(number)).write_text(text)


def arrived(case: Case, name: str) -> dict[str, dict[str | int, list[Row]]]:
    return {
        alias: {name.format(alias, n) if name else n: [row(f"{alias}{n}", n)] for n in range(4)}
        for alias in case.fed
    }


def ids(case: Case, checkpoint: Path, name: str = "") -> list[dict[str, list[str]]]:
    batches = recorded.batches(case, checkpoint, arrived(case, name))
    return [{alias: [r["id"] for r in rows] for alias, rows in step.items()} for step in batches]


def test_batches_from_memory_offsets(tmp_path: Path) -> None:
    write_offsets(tmp_path, ("0", "-"), ("0", "0"), ("3", "1"))
    assert ids(two_inputs("inner"), tmp_path) == [
        {"a": ["a0"], "b": []},
        {"a": [], "b": ["b0"]},
        {"a": ["a1", "a2", "a3"], "b": ["b1"]},
    ]


def test_batches_from_file_offsets_with_a_compacted_log(tmp_path: Path) -> None:
    case = replace(two_inputs("inner"), feed="files")
    write_offsets(tmp_path, ('{"logOffset":0}', "-"), ('{"logOffset":1}', '{"logOffset":0}'))
    entries = {"a": [(0, 0), (0, 1), (1, 2)], "b": [(0, 3)]}
    for source, alias in enumerate("ab"):
        folder = tmp_path / "sources" / str(source)
        folder.mkdir(parents=True)
        for log, n in entries[alias]:
            line = json.dumps({"path": f"file:///x/{alias}-{n}.json", "batchId": log})
            for name in (str(log), "9.compact"):
                with (folder / name).open("a") as file:
                    file.write(f"{line}\n" if file.tell() else f"v1\n{line}\n")
    assert ids(case, tmp_path, "{}-{}.json") == [
        {"a": ["a0", "a1"], "b": []},
        {"a": ["a2"], "b": ["b3"]},
    ]


def test_self_join_may_have_one_source_or_two(tmp_path: Path) -> None:
    case = two_inputs("inner")
    case = replace(case, inputs=(case.inputs[0], replace(case.inputs[1], same_as="a")))
    for folder, offsets in (("one", ("1",)), ("two", ("1", "1"))):
        (tmp_path / folder / "offsets").mkdir(parents=True)
        text = "\n".join(["v1", "{}", *offsets])
        (tmp_path / folder / "offsets" / "0").write_text(text)
        assert ids(case, tmp_path / folder) == [{"a": ["a0", "a1"], "b": ["a0", "a1"]}]


def test_union_branches_are_consecutive_sources(tmp_path: Path) -> None:
    case = two_inputs("inner")
    part = replace(case.inputs[0], alias="A", part_of="a")
    write_offsets(tmp_path, ("0", "1", "-"))
    batches = ids(replace(case, inputs=(*case.inputs, part)), tmp_path)
    assert batches == [{"a": ["a0"], "A": ["A0", "A1"], "b": []}]


def test_recorded_spark_watermarks(tmp_path: Path) -> None:
    (tmp_path / "offsets").mkdir()
    for number, watermark in enumerate((0, 5)):
        lines = ["v1", json.dumps({"batchWatermarkMs": watermark}), "0", "0"]
        (tmp_path / "offsets" / str(number)).write_text("\n".join(lines))
    assert recorded.spark_watermarks(tmp_path) == [0, 5]


def test_gap_in_the_offset_log_is_refused(tmp_path: Path) -> None:
    write_offsets(tmp_path, ("0", "0"), ("1", "1"))
    (tmp_path / "offsets" / "0").unlink()
    with pytest.raises(ValueError, match="gaps"):
        recorded.offsets(tmp_path)
