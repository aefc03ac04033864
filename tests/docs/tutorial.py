"""Runs a tutorial in the session that it builds: ``python -m tests.docs.tutorial PAGE``.

The Python blocks run in order, in one namespace. A block without a language shows the output of
the previous block.
"""

from __future__ import annotations

import contextlib
import io
import json
import sys
from typing import Any

from scripts.code_blocks import blocks


def printed(page: str) -> list[tuple[str, str]]:
    """The output that the page shows and the output that its code prints, for each Python block."""
    names: dict[str, Any] = {}
    found = []
    everything = [block for block in blocks(page) if block.language in ("python", "")]
    for block, below in zip(everything, [*everything[1:], None], strict=True):
        if block.language:
            out = io.StringIO()
            with contextlib.redirect_stdout(out):
                exec(compile(block.text, page, "exec"), names)
            shown = below.text if below is not None and not below.language else ""
            found.append((shown, out.getvalue()))
    return found


if __name__ == "__main__":
    print(json.dumps(printed(sys.argv[1])))
