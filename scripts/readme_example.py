#!/usr/bin/env python3
"""README's examples in Python, for tests and the type checker; prints the first one."""

import re
from pathlib import Path

README = Path(__file__).parents[1] / "README.md"


def examples() -> list[str]:
    found = re.findall(r"```python\n(.*?)```", README.read_text(encoding="utf-8"), re.DOTALL)
    if not found:
        raise SystemExit(f"{README} has no example in Python")
    return found


if __name__ == "__main__":
    print(examples()[0], end="")
