"""Each planted fault has its place in the sources, which change."""

from __future__ import annotations

import pytest

from tests.planted.__main__ import ROOT, Fault, listed


@pytest.mark.parametrize("fault", listed(), ids=lambda fault: f"{fault.file}: {fault.new}")
def test_fault_has_one_place_in_its_file(fault: Fault) -> None:
    fault.place((ROOT / fault.path).read_text("utf-8"))
