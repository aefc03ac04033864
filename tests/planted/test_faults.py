"""Each planted fault has its place in the core, which changes."""

from __future__ import annotations

import pytest

from tests.planted.__main__ import MAIN, ROOT, Fault, listed


@pytest.mark.parametrize("fault", listed(), ids=lambda fault: f"{fault.file}: {fault.new}")
def test_fault_has_one_place_in_its_file(fault: Fault) -> None:
    fault.place((ROOT / MAIN / fault.file).read_text("utf-8"))
