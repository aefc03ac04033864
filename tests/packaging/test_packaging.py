"""The wheel, and that the tests use it."""

from __future__ import annotations

import re
import shutil
import sys
import textwrap
from email import message_from_bytes
from importlib import metadata
from pathlib import Path
from zipfile import ZipFile

import pytest

import streamjoin
from tests.processes import run

ROOT = Path(__file__).parents[2]


def test_wheel_contains_one_jar_per_spark_version() -> None:
    (wheel,) = (ROOT / "dist").glob("*.whl")
    with ZipFile(wheel) as contents:
        names = contents.namelist()
    jars = [name for name in names if name.endswith(".jar")]
    ending = f"_2.13-{streamjoin.__version__}.jar"
    wanted = [
        f"streamjoin/jars/streamjoin-spark-{spark}{ending}" for spark in ("4.0", "4.1", "4.2")
    ]
    assert sorted(jars) == wanted
    assert "streamjoin/py.typed" in names


def test_package_version_equals_version_sbt() -> None:
    stated = re.search(r'version := "(.+)"', (ROOT / "version.sbt").read_text(encoding="utf-8"))
    assert stated is not None
    assert streamjoin.__version__ == stated[1]


def test_tests_use_the_installed_package() -> None:
    assert ROOT / "python" not in Path(streamjoin.__file__).parents


def test_pyspark_is_an_optional_dependency() -> None:
    requirements = metadata.requires("pyspark-streamjoin")
    assert requirements == ["pyspark<4.4,>=4.0.1; extra == 'spark'"]


@pytest.mark.parametrize("archive", [False, True])
def test_package_is_importable_from_a_folder_or_an_archive(tmp_path: Path, archive: bool) -> None:
    """From a folder on PYTHONPATH, and from an archive as for `--py-files`."""
    package = Path(streamjoin.__file__).parent
    path = tmp_path / ("package.zip" if archive else "package")
    if archive:
        with ZipFile(path, "w") as into:
            for file in package.rglob("*"):
                into.write(file, Path("streamjoin") / file.relative_to(package))
    else:
        shutil.copytree(package, path / "streamjoin")
    code = """
        import sys

        sys.path[:0] = [sys.argv[1]]
        import streamjoin
        from streamjoin import SetupError

        assert sys.argv[1] in streamjoin.__file__
        print(streamjoin.__version__)
        try:
            print(streamjoin.jar_path())
        except SetupError as error:
            print(error)
    """
    version, jar = run([sys.executable, "-c", textwrap.dedent(code), str(path)]).split("\n", 1)
    assert version == streamjoin.__version__
    assert ("imported from an archive" in jar) is archive


def test_wheel_has_metadata_and_licence_files() -> None:
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
