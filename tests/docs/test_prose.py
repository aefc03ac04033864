"""Prose in the field's nouns and in short sentences, in every part of the tree."""

from __future__ import annotations

from pathlib import Path

import pytest

from tests.docs.prose import PRIVATE, ROOT, files, prose, sentences

PARTS = (
    "pages",
    "benchmarks",
    "build",
    "docker",
    "examples",
    "jvm/core/src/main",
    "jvm/core/src/test",
    "jvm/spark/src/main",
    "jvm/spark/src/test",
    "python",
    "scripts",
    "tests",
)


def part_of(file: Path) -> str:
    """The part of a file: its folder, or pages, or the build for files of the root folder."""
    if file.suffix == ".md":
        return "pages"
    name = file.relative_to(ROOT).as_posix()
    return next((part for part in PARTS if name.startswith(f"{part}/")), "build")


@pytest.mark.parametrize("part", PARTS)
def test_prose_uses_the_nouns_of_the_field_in_short_sentences(part: str) -> None:
    found = [s for file in files() if part_of(file) == part for s in sentences(prose(file))]
    lengths = [len(sentence.split()) for sentence in found]
    words = sum(lengths)
    assert words > 100
    private = [sentence for sentence in found if PRIVATE.search(sentence)]
    assert 1000 * len(private) <= 2 * words, private
    assert words <= 16 * len(found)
    assert sum(length > 30 for length in lengths) <= 0.05 * len(found)
