"""Planted faults: each one must fail a suite. ``python -m tests.planted [FAULT ...]``.

``faults.txt`` has the faults, those of the Spark part last. All are compiled at once, into a copy,
and a property of the running program chooses one. So a run of the suites is all that a fault costs:
of all suites of the core, or of the suites of its package for a fault of the Spark part.
"""

from __future__ import annotations

import argparse
import os
import re
import shutil
import subprocess
import sys
from pathlib import Path
from typing import NamedTuple

ROOT = Path(__file__).parents[2]
HERE = Path(__file__).parent
COPY = ROOT / "target" / "planted"
PACKAGES = {"core": "io.streamjoin", "spark": "org.apache.spark.sql.streamjoin"}
SOURCES = ("jvm/core/src", "jvm/spark/src")
COPIED = ("build.sbt", "version.sbt", "sbt", "project", *SOURCES)

PLANTED = """package io.streamjoin

object Planted {
  @volatile var chosen: Int = -1
  def is(fault: Int): Boolean = fault == chosen
}
"""


class Fault(NamedTuple):
    """An expression of a file, and what replaces it.

    Attributes
    ----------
    file
        its path, ``spark/...`` for one of the Spark part
    before, old, after
        source text, in which any white space is as good as another
    new
        the planted fault

    """

    file: str
    before: str
    old: str
    after: str
    new: str

    @property
    def module(self) -> str:
        return "spark" if self.file.startswith("spark/") else "core"

    @property
    def path(self) -> Path:
        return sources(self.module) / self.file.removeprefix("spark/")

    @property
    def package(self) -> str:
        folders = Path(self.file.removeprefix("spark/")).parts[:-1]
        return ".".join((PACKAGES[self.module], *folders))

    def __str__(self) -> str:
        return f"{self.file}: {self.before}[-{self.old}-]{{+{self.new}+}}{self.after}"

    def place(self, source: str) -> tuple[int, int]:
        """The place of the old expression; the text around it is in the source once."""
        parts = [
            r"\s+".join(map(re.escape, t.split())) for t in (self.before, self.old, self.after)
        ]
        pattern = r"\s*".join(f"({part})" for part in parts)
        found = list(re.finditer(pattern, source))
        if len(found) != 1:
            raise SystemExit(f"{len(found)} places instead of one: {self}")
        return found[0].span(2)


def sources(module: str) -> Path:
    """The folder of the sources of a module."""
    return Path(f"jvm/{module}/src/main/scala", *PACKAGES[module].split("."))


def listed() -> list[Fault]:
    found: list[Fault] = []
    file = ""
    for line in (HERE / "faults.txt").read_text(encoding="utf-8").splitlines():
        if line.startswith("  "):
            parts = re.fullmatch(r"(.*)\[-(.*)-\]\{\+(.*)\+\}(.*)", line.strip())
            if parts is None:
                raise SystemExit(f"no fault: {line}")
            before, old, new, after = parts.groups()
            found.append(Fault(file, before, old, after, new))
        elif line:
            file = line
    return found


def plant(faults: list[Fault]) -> None:
    """Write the copy with all faults."""
    for name in SOURCES:
        shutil.rmtree(COPY / name, ignore_errors=True)
    for name in COPIED:
        origin, target = ROOT / name, COPY / name
        target.parent.mkdir(parents=True, exist_ok=True)
        if origin.is_dir():
            ignored = shutil.ignore_patterns("target", "project")
            shutil.copytree(origin, target, dirs_exist_ok=True, ignore=ignored)
        else:
            shutil.copy2(origin, target)
    for name in (".venv", ".sbt-launch"):
        if not (COPY / name).exists():
            (COPY / name).symlink_to(ROOT / name)
    build = COPY / "build.sbt"
    build.write_text(build.read_text("utf-8").replace('"-Werror"', '"-nowarn"'), "utf-8")
    for path in dict.fromkeys(fault.path for fault in faults):
        source = (ROOT / path).read_text("utf-8")
        edits: dict[tuple[int, int], str] = {}
        for number, fault in enumerate(faults):
            if fault.path == path:
                place = fault.place(source)
                old = edits.get(place, source[slice(*place)])
                edits[place] = (
                    f"(if (io.streamjoin.Planted.is({number})) ({fault.new}) else ({old}))"
                )
        for (start, end), text in sorted(edits.items(), reverse=True):
            source = source[:start] + text + source[end:]
        (COPY / path).write_text(source, "utf-8")
    (COPY / sources("core") / "Planted.scala").write_text(PLANTED, "utf-8")
    tests = COPY / "jvm/core/src/test/scala/io/streamjoin"
    shutil.copy2(HERE / "PlantedFaults.scala", tests / "PlantedFaults.scala")


def compiled(module: str) -> list[str]:
    """The flags of a virtual machine with the suites of a module."""
    classes, flags = f"export {module}/Test/fullClasspath", f"print {module}/Test/javaOptions"
    output = subprocess.run(
        ["./sbt", "-Dsbt.color=false", f"{module}/Test/compile", flags, classes],
        cwd=COPY,
        stdout=subprocess.PIPE,
        text=True,
        check=False,
    )
    if output.returncode:
        raise SystemExit(output.stdout)
    found = re.findall(r"^\* (\S+)$", output.stdout, re.MULTILINE)
    return ["-Xmx2g", *found, "-cp", output.stdout.splitlines()[-1]]


def run(module: str, faults: list[Fault], chosen: list[int], seconds: int) -> list[int]:
    """Run the suites for each fault, and return those that no suite has seen."""
    flags = compiled(module)
    classes = COPY / f"jvm/{module}/target/scala-2.13/test-classes"
    survivors, waiting = [], list(chosen)
    while waiting:
        numbers = [f"{n}={faults[n].package}" for n in waiting]
        command = ["java", *flags, "io.streamjoin.PlantedFaults"]
        process = subprocess.Popen(
            [*command, str(classes), str(seconds), *numbers],
            stdout=subprocess.PIPE,
            stderr=subprocess.DEVNULL,
            text=True,
            env={**os.environ, "STREAMJOIN_TIMES": os.environ.get("STREAMJOIN_TIMES", "0.2")},
        )
        assert process.stdout is not None
        ended = 0
        for line in process.stdout:
            verdict = re.fullmatch(r"(\d+) (survives|does not end|(?:io|org)\.\S+)", line.strip())
            if verdict and int(verdict[1]) in waiting:
                number = int(verdict[1])
                waiting.remove(number)
                ended += 1
                print(f"{verdict[2]:70} {faults[number]}", flush=True)
                if verdict[2] == "survives":
                    survivors.append(number)
        if process.wait() not in (0, 3) or not ended:
            raise SystemExit(f"the suites did not run for {waiting}")
    return survivors


def main() -> None:
    parser = argparse.ArgumentParser(prog="python -m tests.planted", description=__doc__)
    parser.add_argument("faults", nargs="*", type=int, help="numbers of faults; all without")
    parser.add_argument("--seconds", type=int, default=300, help="the most that one run may take")
    arguments = parser.parse_args()
    faults = listed()
    plant(faults)
    chosen = arguments.faults or list(range(len(faults)))
    survivors = []
    for module in PACKAGES:
        some = [number for number in chosen if faults[number].module == module]
        survivors += run(module, faults, some, arguments.seconds) if some else []
    print(f"{len(chosen)} planted faults, {len(survivors)} seen by no suite")
    for number in survivors:
        print(f"  {number} {faults[number]}")
    sys.exit(bool(survivors))


if __name__ == "__main__":
    main()
