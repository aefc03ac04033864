"""The last step of ``make release``: checks and signs the files, and prints what remains.

Nothing is uploaded. ``STREAMJOIN_HOME_PAGE`` is the repository's address, ``STREAMJOIN_SIGN_WITH``
the GnuPG key of the signatures; without it there are none, and Maven Central takes no such bundle.
"""

from __future__ import annotations

import hashlib
import os
import re
import subprocess
import sys
import xml.etree.ElementTree as ET
from collections.abc import Iterator
from email import message_from_bytes
from email.message import Message
from pathlib import Path
from zipfile import ZIP_DEFLATED, ZipFile

ROOT = Path(__file__).parents[1]
BUILT = Path("target/release")
NAMESPACE = "{http://maven.apache.org/POM/4.0.0}"
ASKED_OF_A_POM = (
    *("groupId", "artifactId", "version", "name", "description", "url"),
    *("licenses/license/name", "licenses/license/url", "scm/url", "scm/connection"),
    *("developers/developer/name", "developers/developer/url"),
)


def stated_version(root: Path) -> str:
    found = re.search(r'version := "(.+)"', (root / "version.sbt").read_text(encoding="utf-8"))
    if found is None:
        raise ValueError("version.sbt states no version")
    return found[1]


def problems(root: Path) -> Iterator[str]:
    """Say what keeps this from being released."""
    version = stated_version(root)
    if not re.fullmatch(r"\d+\.\d+\.\d+", version):
        yield f"{version} in version.sbt is no version of a release"
    changes = re.findall(r"^## (\S+)", (root / "CHANGELOG.md").read_text(encoding="utf-8"), re.M)
    if changes[:1] != [version]:
        yield f"CHANGELOG.md begins with {changes[:1]}, not with the changes of {version}"
    [wheel] = (root / "dist").glob("*.whl")
    yield from _of_wheel(_metadata(wheel), version)
    jars = [name for name in ZipFile(wheel).namelist() if name.endswith(".jar")]
    if not jars:
        yield "the wheel holds no jar"
    for jar in jars:
        yield from _of_artifact(root, wheel, jar, version)


def _of_artifact(root: Path, wheel: Path, in_wheel: str, version: str) -> Iterator[str]:
    name = Path(in_wheel).stem
    folder = artifacts(root, name.removesuffix(f"-{version}"))
    for ending in (".pom", ".jar", "-sources.jar", "-javadoc.jar"):
        if not (folder / f"{name}{ending}").is_file():
            yield f"{name}{ending} was not published to {folder}"
    if (folder / f"{name}.pom").is_file():
        yield from _of_pom(ET.parse(folder / f"{name}.pom").getroot(), version)
    if (folder / f"{name}.jar").is_file():
        if ZipFile(wheel).read(in_wheel) != (folder / f"{name}.jar").read_bytes():
            yield f"the wheel holds another {name}.jar than the one for Maven"
        with ZipFile(folder / f"{name}.jar") as contents:
            for text in ("META-INF/LICENSE", "META-INF/NOTICE"):
                if text not in contents.namelist():
                    yield f"{name}.jar has no {text}"


def artifacts(root: Path, artifact: str) -> Path:
    return root / BUILT / "maven/io/streamjoin" / artifact / stated_version(root)


def _metadata(wheel: Path) -> Message:
    with ZipFile(wheel) as contents:
        [name] = (n for n in contents.namelist() if n.endswith(".dist-info/METADATA"))
        return message_from_bytes(contents.read(name))


def _of_wheel(metadata: Message, version: str) -> Iterator[str]:
    if metadata["Version"] != version:
        yield f"the wheel is of {metadata['Version']}"
    for name in ("Summary", "License-Expression", "Author", "Keywords", "Project-URL"):
        if not metadata[name]:
            yield f"the wheel's metadata have no {name}"


def _of_pom(pom: ET.Element, version: str) -> Iterator[str]:
    for path in ASKED_OF_A_POM:
        if not pom.findtext("/".join(NAMESPACE + name for name in path.split("/"))):
            yield f"the POM has no {path}"
    if pom.findtext(f"{NAMESPACE}version") != version:
        yield "the POM is of another version"
    for dependency in pom.iter(f"{NAMESPACE}dependency"):
        artifact = dependency.findtext(f"{NAMESPACE}artifactId")
        scope = dependency.findtext(f"{NAMESPACE}scope")
        if artifact != "scala-library" and scope != "provided":
            yield f"the POM has a dependency that users would get: {artifact}"


def bundle(root: Path, key: str | None) -> Path:
    """Sign and sum up each file, and put all into the archive that Maven Central takes."""
    base = root / BUILT / "maven"
    for file in sorted(base.rglob("*")):
        if file.suffix not in (".jar", ".pom"):
            continue
        for algorithm in ("md5", "sha1"):
            digest = hashlib.new(algorithm, file.read_bytes()).hexdigest()
            file.with_name(f"{file.name}.{algorithm}").write_text(digest, encoding="ascii")
        if key:
            sign = ["gpg", "--batch", "--yes", "--local-user", key, "--armor", "--detach-sign"]
            subprocess.run([*sign, str(file)], check=True)
    archive = root / BUILT / "central-bundle.zip"
    with ZipFile(archive, "w", ZIP_DEFLATED) as zipped:
        for file in sorted(base.rglob("*")):
            if file.is_file() and not file.name.startswith("maven-metadata"):
                zipped.write(file, file.relative_to(base))
    return archive


def main() -> int:
    found = list(problems(ROOT))
    for problem in found:
        print(f"release: {problem}", file=sys.stderr)
    if found:
        return 1
    key = os.environ.get("STREAMJOIN_SIGN_WITH")
    archive = bundle(ROOT, key)
    version = stated_version(ROOT)
    print(f"{version} is ready. By hand:")
    print(f"  git tag -s v{version} && git push --tags")
    print("  .venv-release/bin/twine upload dist/*.whl")
    unsigned = "" if key else " (not signed: STREAMJOIN_SIGN_WITH names no key)"
    print(f"  upload {archive.relative_to(ROOT)} to Maven Central{unsigned}")
    print("  publish artifacts/site")
    return 0


if __name__ == "__main__":
    sys.exit(main())
