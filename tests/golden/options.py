"""The option of the golden files; a plugin listed in tests/conftest.py."""

from __future__ import annotations

import pytest


def pytest_addoption(parser: pytest.Parser) -> None:
    group = parser.getgroup("streamjoin")
    group.addoption(
        "--golden-update",
        action="store_true",
        help="write the results of tests/golden to its files instead of comparing them",
    )
