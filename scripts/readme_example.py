#!/usr/bin/env python3
"""Prints README's first example in Python: what is run and type-checked is what stands there."""

import re
from pathlib import Path

README = Path(__file__).parents[1] / "README.md"


def first_example() -> str:
    found = re.search(r"```python\n(.*?)```", README.read_text(), re.DOTALL)
    if found is None:
        raise SystemExit(f"{README} has no example in Python")
    return found[1]


if __name__ == "__main__":
    print(first_example(), end="")
