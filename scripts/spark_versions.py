"""Checks the jars of the wheel against releases of Spark, and writes what passed into the docs.

``python -m scripts.spark_versions links [VERSION ...]`` takes releases of PySpark from the package
index, and looks up in the jars of each what our jar names of Spark. Without a version it takes
every release that one of our jars is for.

``python -m scripts.spark_versions sizes WHEEL`` measures the wheel, its jars, and the sources of
each range of versions.

``python -m scripts.spark_versions page`` writes the tables of ``docs/reference/versions.md`` from
``results/spark-versions.json``. The links, the sizes and the tests of features
(``make test-newest``) leave there what they found.
"""

from __future__ import annotations

import json
import re
import subprocess
import sys
import tarfile
from datetime import date
from pathlib import Path
from tempfile import TemporaryDirectory
from typing import Any
from zipfile import ZipFile

import streamjoin
from streamjoin._version import _JAR_OF, _TOO_OLD

from .missing_members import missing

ROOT = Path(__file__).resolve().parents[1]
RECORD = ROOT / "results" / "spark-versions.json"
PAGE = ROOT / "docs" / "reference" / "versions.md"
EVERY = "every version"
BEGIN, END = "<!-- from results/spark-versions.json -->\n", "<!-- end -->\n"
PIP = [sys.executable, "-m", "pip", "--disable-pip-version-check"]


def keep(part: str, version: str, found: Any) -> None:
    """Write the result of a version into a part of the record."""
    record = json.loads(RECORD.read_text()) if RECORD.exists() else {}
    record["date"] = date.today().isoformat()
    entries = {**record.get(part, {}), version: found}
    record[part] = {version: entries[version] for version in sorted(entries, key=_place)}
    RECORD.write_text(json.dumps(record, indent=2) + "\n")


def _place(version: str) -> list[int]:
    return [int(number) for number in version.split(".")]


def releases() -> list[str]:
    """Give the releases of PySpark that one of the jars is for, the oldest first."""
    listed = subprocess.run(
        [*PIP, "index", "versions", "pyspark"], capture_output=True, text=True, check=True
    ).stdout
    found = set(re.findall(r"\b\d+\.\d+\.\d+\b", listed)) - {_TOO_OLD}
    return sorted((v for v in found if v.rpartition(".")[0] in _JAR_OF), key=_place)


def missing_in_release(version: str) -> list[str]:
    """Give what the jar for a release of Spark refers to and the release does not have."""
    with TemporaryDirectory() as folder:
        command = [
            *PIP,
            "download",
            "--quiet",
            "--no-deps",
            "--dest",
            folder,
            f"pyspark=={version}",
        ]
        subprocess.run(command, check=True)
        (release,) = Path(folder).glob("pyspark-*.tar.gz")
        with tarfile.open(release) as contents:
            for entry in contents:
                if re.search(r"/jars/(spark|scala-library)[^/]*\.jar$", entry.name):
                    entry.name = Path(entry.name).name
                    contents.extract(entry, folder)
        return missing(Path(streamjoin.jar_path(version)), Path(folder))


def links(versions: list[str]) -> int:
    failed = False
    for version in versions or releases():
        found = missing_in_release(version)
        keep("links", version, len(found))
        print(f"Spark {version}: {len(found)} missing", *found, sep="\n  ")
        failed |= bool(found)
    return 1 if failed else 0


def sizes(wheel: Path) -> None:
    """Record the bytes of the wheel and of its jars, and the lines of each folder of sources."""
    with ZipFile(wheel) as contents:
        jars = {
            Path(entry.filename).name.removesuffix(
                f"-{streamjoin.__version__}.jar"
            ): entry.file_size
            for entry in contents.infolist()
            if entry.filename.endswith(".jar")
        }
    folders = sorted((ROOT / "jvm" / "spark" / "src" / "main").glob("scala-spark-*"))
    record = json.loads(RECORD.read_text())
    record["sizes"] = {
        "wheel": wheel.stat().st_size,
        "jars": dict(sorted(jars.items())),
        "lines": {
            EVERY: sum(lines(ROOT / "jvm" / part / "src/main/scala") for part in ("core", "spark")),
            **{folder.name.removeprefix("scala-spark-"): lines(folder) for folder in folders},
        },
    }
    RECORD.write_text(json.dumps(record, indent=2) + "\n")


def lines(folder: Path) -> int:
    """Count the lines of Scala in a folder that are not blank."""
    return sum(bool(line.strip()) for path in folder.rglob("*.scala") for line in path.open("rb"))


def tables() -> str:
    """Give the tables of the page."""
    record = json.loads(RECORD.read_text())
    return f"{table(record)}\n{table_of_sizes(record['sizes'])}"


def table_of_sizes(found: dict[str, Any]) -> str:
    """Give what a version adds to the wheel and to the sources."""
    rows = [
        ("the wheel", megabytes(found["wheel"])),
        *((f"the jar `{name}`", megabytes(size)) for name, size in found["jars"].items()),
        *((f"sources of {name}", f"{n:,} lines") for name, n in found["lines"].items()),
    ]
    shown = ["| part | size |", "|---|---|", *(f"| {' | '.join(row)} |" for row in rows)]
    return "\n".join(shown) + "\n"


def megabytes(size: int) -> str:
    return f"{size / 1e6:.1f} MB"


def table(record: dict[str, Any]) -> str:
    """Return the releases with which each jar links, and on which it was tested."""
    lines = [
        "| Spark | jar | all classes and members found in | tests of features |",
        "|---|---|---|---|",
    ]
    for minor, jar in _JAR_OF.items():
        since = f"{minor}.0" == _TOO_OLD
        linked = [
            v for v, count in record["links"].items() if v.startswith(f"{minor}.") and not count
        ]
        passed = [
            f"{run['passed']} on {version} with Java {run['java']} and Python {run['python']}"
            for version, run in record["tests"].items()
            if version.startswith(f"{minor}.")
        ]
        name = f"{minor}, from {minor}.1 on" if since else minor
        row = (name, f"`streamjoin-spark-{jar}_2.13`", ", ".join(linked), "; ".join(passed))
        lines.append(f"| {' | '.join(row)} |")
    return "\n".join(lines) + "\n"


def page(text: str) -> str:
    """Give the page with the tables of the record in the place of its own."""
    before, rest = text.split(BEGIN)
    _, after = rest.split(END)
    return f"{before}{BEGIN}\n{tables()}\n{END}{after}"


def main() -> int:
    command, *versions = sys.argv[1:] or [""]
    if command == "links":
        return links(versions)
    if command == "sizes" and len(versions) == 1:
        sizes(Path(versions[0]))
        return 0
    if command == "page" and not versions:
        PAGE.write_text(page(PAGE.read_text()))
        return 0
    print(__doc__, file=sys.stderr)
    return 2


if __name__ == "__main__":
    sys.exit(main())
