"""Public functions document parameters, results, errors, and the source of their design."""

from __future__ import annotations

import inspect
import re
from collections.abc import Callable
from dataclasses import fields, is_dataclass
from typing import Any

import pytest

import streamjoin

FUNCTIONS = [n for n in streamjoin.__all__ if inspect.isfunction(getattr(streamjoin, n))]
RECORDS = [n for n in streamjoin.__all__ if is_dataclass(getattr(streamjoin, n))]
# functions that need no session with the jar
BEFORE_A_SESSION = {"watch"}


def section(doc: str, title: str) -> str:
    found = re.search(rf"^{title}\n-+\n(.*?)(?=^\w[\w ]*\n-+\n|\Z)", doc, re.M | re.S)
    return found[1] if found else ""


def entries(text: str) -> dict[str, str]:
    """Each name with its type and text; several names can share an entry."""
    found = {}
    for entry in re.findall(r"^(\S[^\n]*(?:\n(?: +[^\n]*)?)*)", text, re.M):
        names, _, rest = entry.partition(" : ")
        found.update(dict.fromkeys(names.split(", "), rest))
    return found


@pytest.mark.parametrize("name", FUNCTIONS)
def test_public_function_documents_its_signature(name: str) -> None:
    function: Callable[..., Any] = getattr(streamjoin, name)
    doc = inspect.getdoc(function) or ""
    signature = inspect.signature(function)
    described = entries(section(doc, "Parameters"))
    assert list(described) == list(signature.parameters)
    for parameter in signature.parameters.values():
        if parameter.default is not inspect.Parameter.empty:
            text = described[parameter.name]
            assert "optional" in text.splitlines()[0], parameter
            assert "Default:" in text or "(default)" in text, parameter
    assert (signature.return_annotation == "None") == (not section(doc, "Returns"))
    assert section(doc, "Raises")
    assert ("SetupError" in section(doc, "Raises")) == (name not in BEFORE_A_SESSION)
    assert "Source: " in section(doc, "Notes")


@pytest.mark.parametrize("name", RECORDS)
def test_public_dataclass_documents_its_fields(name: str) -> None:
    record = getattr(streamjoin, name)
    described = entries(section(inspect.getdoc(record) or "", "Attributes"))
    assert list(described) == [field.name for field in fields(record)]
