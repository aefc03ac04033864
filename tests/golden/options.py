"""The option of the golden files; a plugin that tests/conftest.py names."""

from __future__ import annotations

import pytest


def pytest_addoption(parser: pytest.Parser) -> None:
    group = parser.getgroup("streamjoin")
    group.addoption(
        "--golden-update",
        action="store_true",
        help="write what the statements of tests/golden give to its files instead of comparing",
    )
