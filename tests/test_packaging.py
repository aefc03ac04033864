"""The wheel, and that it is the wheel that is tested."""

from __future__ import annotations

import re
import sys
from email import message_from_bytes
from pathlib import Path
from zipfile import ZipFile

import streamjoin

from .processes import run

ROOT = Path(__file__).parents[1]


def test_wheel_holds_one_jar_of_its_own_version() -> None:
    (wheel,) = (ROOT / "dist").glob("*.whl")
    with ZipFile(wheel) as contents:
        names = contents.namelist()
    jars = [name for name in names if name.endswith(".jar")]
    assert jars == [f"streamjoin/jars/streamjoin_2.13-{streamjoin.__version__}.jar"]
    assert "streamjoin/py.typed" in names


def test_version_is_that_of_version_sbt() -> None:
    stated = re.search(r'version := "(.+)"', (ROOT / "version.sbt").read_text(encoding="utf-8"))
    assert stated is not None
    assert streamjoin.__version__ == stated[1]


def test_installed_package_is_tested_not_the_sources() -> None:
    assert ROOT / "python" not in Path(streamjoin.__file__).parents


def test_module_prints_the_path_of_the_jar() -> None:
    printed = run([sys.executable, "-m", "streamjoin.jar"])
    assert printed == streamjoin.jar_path()
    assert Path(printed).is_file()


def test_wheel_says_what_it_is_and_under_which_licence() -> None:
    (wheel,) = (ROOT / "dist").glob("*.whl")
    with ZipFile(wheel) as contents:
        (name,) = (n for n in contents.namelist() if n.endswith(".dist-info/METADATA"))
        metadata = message_from_bytes(contents.read(name))
        for text in metadata.get_all("License-File", []):
            kept = name.replace("METADATA", f"licenses/{text}")
            assert contents.read(kept) == (ROOT / text).read_bytes()
    assert metadata["License-Expression"] == "Apache-2.0"
    assert metadata.get_all("License-File") == ["LICENSE", "NOTICE"]
    assert metadata["Description-Content-Type"] == "text/markdown"
    for wanted in ("Summary", "Author", "Keywords", "Classifier", "Requires-Python"):
        assert metadata[wanted]
