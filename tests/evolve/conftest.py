from __future__ import annotations

import pytest


def pytest_generate_tests(metafunc: pytest.Metafunc) -> None:
    """A random change for each number."""
    if "number" in metafunc.fixturenames:
        metafunc.parametrize("number", range(metafunc.config.option.evolve_cases))
