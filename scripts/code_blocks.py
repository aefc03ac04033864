#!/usr/bin/env python3
"""Code blocks of the pages, for tests and the type checker; prints README's first example."""

import re
from pathlib import Path
from typing import NamedTuple

ROOT = Path(__file__).parents[1]
BLOCK = re.compile(r"^```(\w*)\n(.*?)^```$", re.DOTALL | re.MULTILINE)


class Block(NamedTuple):
    language: str
    text: str


def blocks(page: str, heading: str = "") -> list[Block]:
    """All blocks of a page, or of one section of second rank; at least one."""
    text = (ROOT / page).read_text(encoding="utf-8")
    if heading:
        text = text.partition(f"\n## {heading}\n")[2].partition("\n## ")[0]
    found = [Block(*match) for match in BLOCK.findall(text)]
    if not found:
        raise SystemExit(f"{page} has no code {heading and f'in {heading!r}'}".rstrip())
    return found


def python(page: str, heading: str = "") -> list[str]:
    return [block.text for block in blocks(page, heading) if block.language == "python"]


if __name__ == "__main__":
    print(python("README.md")[0], end="")
