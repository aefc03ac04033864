"""The notebook runs, and prints the output that it shows.

`python -m tests.docs.test_walkthrough` runs it and updates its output.
"""

from __future__ import annotations

from pathlib import Path
from typing import Any

import nbformat
import pytest
from nbclient import NotebookClient

NOTEBOOK = Path(__file__).parents[2] / "examples" / "walkthrough.ipynb"


def executed(path: Path = NOTEBOOK) -> Any:
    notebook = nbformat.read(path, as_version=4)
    NotebookClient(notebook, timeout=300, kernel_name="python3").execute()
    for cell in notebook.cells:
        cell.metadata.pop("execution", None)
        if cell.cell_type == "code":
            cell.outputs = _printed(cell.outputs)
    return notebook


def _printed(outputs: list[Any]) -> list[Any]:
    """Everything printed, in one piece, without the logs of Spark and the JVM."""
    text = "".join(each["text"] for each in outputs if each.get("name") == "stdout")
    return [nbformat.v4.new_output("stream", name="stdout", text=text)] if text else []


def shown(notebook: Any) -> list[str]:
    return [
        "".join(each.get("text", "") for each in cell.outputs)
        for cell in notebook.cells
        if cell.cell_type == "code"
    ]


@pytest.mark.thorough
def test_notebook_prints_the_output_it_shows() -> None:
    assert shown(executed()) == shown(nbformat.read(NOTEBOOK, as_version=4))


if __name__ == "__main__":
    nbformat.write(executed(), NOTEBOOK)
