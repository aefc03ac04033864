"""The checks of ``make release``, on fabricated releases."""

from __future__ import annotations

from pathlib import Path
from zipfile import ZipFile

import pytest

from scripts import release

ARTIFACT = "streamjoin-spark-4.2_2.13"
POM = """<project xmlns="http://maven.apache.org/POM/4.0.0">
  <groupId>io.streamjoin</groupId><artifactId>streamjoin-spark-4.2_2.13</artifactId>
  <version>1.2.3</version><name>streamjoin</name><description>joins</description>
  <url>https://example.org</url>
  <licenses><license><name>Apache-2.0</name><url>https://example.org</url></license></licenses>
  <scm><url>https://example.org</url><connection>scm:git:https://example.org</connection></scm>
  <developers><developer><name>us</name><url>https://example.org</url></developer></developers>
  <dependencies><dependency><artifactId>spark-sql_2.13</artifactId><scope>provided</scope>
  </dependency></dependencies>
</project>"""
METADATA = """Metadata-Version: 2.4
Name: pyspark-streamjoin
Version: 1.2.3
Summary: joins
License-Expression: Apache-2.0
Author: us
Keywords: joins
Project-URL: Homepage, https://example.org
"""


@pytest.fixture
def built(tmp_path: Path) -> Path:
    (tmp_path / "version.sbt").write_text('ThisBuild / version := "1.2.3"\n')
    (tmp_path / "CHANGELOG.md").write_text("# Changelog\n\n## 1.2.3\n\n## 1.2.2\n")
    folder = release.artifacts(tmp_path, ARTIFACT)
    folder.mkdir(parents=True)
    name = "streamjoin-spark-4.2_2.13-1.2.3"
    (folder / f"{name}.pom").write_text(POM)
    for ending in (".jar", "-sources.jar", "-javadoc.jar"):
        with ZipFile(folder / f"{name}{ending}", "w") as jar:
            jar.writestr("META-INF/LICENSE", "as you like")
            jar.writestr("META-INF/NOTICE", "us")
    (tmp_path / "dist").mkdir()
    with ZipFile(tmp_path / "dist/pyspark_streamjoin-1.2.3-py3-none-any.whl", "w") as wheel:
        wheel.writestr("pyspark_streamjoin-1.2.3.dist-info/METADATA", METADATA)
        wheel.write(folder / f"{name}.jar", f"streamjoin/jars/{name}.jar")
    return tmp_path


def test_complete_release_has_no_problems(built: Path) -> None:
    assert list(release.problems(built)) == []
    with ZipFile(release.bundle(built, key=None)) as archive:
        names = [name.rpartition("/")[2] for name in archive.namelist()]
    assert "streamjoin-spark-4.2_2.13-1.2.3.pom" in names
    assert "streamjoin-spark-4.2_2.13-1.2.3-javadoc.jar.sha1" in names


@pytest.mark.parametrize(
    ("file", "old", "new", "message"),
    [
        ("version.sbt", '1.2.3"', '1.2.3-SNAPSHOT"', "no version of a release"),
        ("CHANGELOG.md", "## 1.2.3", "## Unreleased", "not with the changes of 1.2.3"),
    ],
)
def test_snapshot_version_or_missing_changelog_is_reported(
    built: Path, file: str, old: str, new: str, message: str
) -> None:
    found = (built / file).read_text()
    (built / file).write_text(found.replace(old, new))
    assert message in next(release.problems(built))


@pytest.mark.parametrize(
    ("old", "new", "message"),
    [
        ("<scm><url>https://example.org</url>", "<scm>", "the POM has no scm/url"),
        ("<version>1.2.3", "<version>1.2.4", "the POM is of another version"),
        ("<scope>provided</scope>", "", "that users would get: spark-sql_2.13"),
    ],
)
def test_invalid_pom_is_reported(built: Path, old: str, new: str, message: str) -> None:
    [pom] = release.artifacts(built, ARTIFACT).glob("*.pom")
    pom.write_text(POM.replace(old, new))
    [problem] = release.problems(built)
    assert message in problem


def test_different_jars_in_wheel_and_maven_are_reported(built: Path) -> None:
    jar = release.artifacts(built, ARTIFACT) / "streamjoin-spark-4.2_2.13-1.2.3.jar"
    with ZipFile(jar, "a") as contents:
        contents.writestr("More.class", "")
    assert list(release.problems(built)) == [
        f"the wheel holds another {ARTIFACT}-1.2.3.jar than the one for Maven"
    ]


def test_missing_artifact_is_reported(built: Path) -> None:
    [javadoc] = release.artifacts(built, ARTIFACT).glob("*-javadoc.jar")
    javadoc.unlink()
    [problem] = release.problems(built)
    assert problem.startswith("streamjoin-spark-4.2_2.13-1.2.3-javadoc.jar was not published")
