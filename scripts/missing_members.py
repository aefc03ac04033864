"""Reports what a jar names of Spark that a distribution of Spark does not have.

``python scripts/missing_members.py streamjoin.jar .venv/lib/python3.11/site-packages/pyspark/jars``

Every class, method and field that the class files of the jar refer to is looked up, through
superclasses and interfaces, in the jars of the folder. Also reported: abstract methods that a class
of the jar inherits from Spark and does not implement. Names that only reflection uses are not seen.
"""

from __future__ import annotations

import struct
import sys
from collections.abc import Iterator
from dataclasses import dataclass, field
from pathlib import Path
from zipfile import ZipFile

OURS = ("io/streamjoin/", "org/apache/spark/sql/streamjoin/")
SPARK = "org/apache/spark/"
ABSTRACT, INTERFACE, STATIC = 0x0400, 0x0200, 0x0008
Member = tuple[str, str]


@dataclass
class ClassFile:
    """What one class file declares, and what it refers to."""

    name: str
    access: int
    parents: list[str]
    members: dict[Member, int] = field(default_factory=dict)
    classes: set[str] = field(default_factory=set)
    references: set[tuple[str, str, str]] = field(default_factory=set)


def parse(data: bytes) -> ClassFile:
    (count,) = struct.unpack_from(">H", data, 8)
    pool: list[tuple[int, object]] = [(0, None)] * count
    at, index = 10, 1
    while index < count:
        tag = data[at]
        if tag == 1:
            (length,) = struct.unpack_from(">H", data, at + 1)
            pool[index] = (tag, data[at + 3 : at + 3 + length].decode("utf-8", "replace"))
            at += 3 + length
        elif tag in (7, 8, 16, 19, 20):
            pool[index] = (tag, struct.unpack_from(">H", data, at + 1)[0])
            at += 3
        elif tag in (3, 4, 9, 10, 11, 12, 17, 18):
            pool[index] = (tag, struct.unpack_from(">HH", data, at + 1))
            at += 5
        elif tag in (5, 6):
            at += 9
            index += 1
        elif tag == 15:
            at += 4
        else:
            raise ValueError(f"constant of an unknown kind: {tag}")
        index += 1

    def text(i: int) -> str:
        return str(pool[i][1])

    def class_name(i: int) -> str:
        return text(int(str(pool[i][1])))

    access, this, above, interfaces = struct.unpack_from(">HHHH", data, at)
    at += 8
    parents = [class_name(i) for i in struct.unpack_from(f">{interfaces}H", data, at)]
    at += 2 * interfaces
    if above:
        parents.append(class_name(above))
    found = ClassFile(class_name(this), access, parents)
    for _ in range(2):
        (members,) = struct.unpack_from(">H", data, at)
        at += 2
        for _ in range(members):
            flags, name, kind, attributes = struct.unpack_from(">HHHH", data, at)
            at += 8
            found.members[text(name), text(kind)] = flags
            for _ in range(attributes):
                at += 6 + struct.unpack_from(">I", data, at + 2)[0]
    for tag, value in pool:
        if tag == 7:
            found.classes.add(text(int(str(value))).lstrip("[").removeprefix("L").rstrip(";"))
        elif tag in (9, 10, 11) and isinstance(value, tuple):
            name, kind = pool[value[1]][1]  # type: ignore[misc]
            found.references.add((class_name(value[0]), text(name), text(kind)))
    return found


def class_files(jar: Path, beginning: str | tuple[str, ...] = "") -> Iterator[ClassFile]:
    with ZipFile(jar) as contents:
        for name in contents.namelist():
            if name.endswith(".class") and name.startswith(beginning) and "META-INF" not in name:
                yield parse(contents.read(name))


class Classes:
    """Classes of ours and, from the jars of a folder, those of Spark and of Scala's library.

    A class of the folder is parsed when it is looked up: most are not.
    """

    def __init__(self, ours: list[ClassFile], folder: Path) -> None:
        self._parsed = {c.name: c for c in ours}
        self._jars: dict[str, ZipFile] = {}
        for library in sorted(folder.glob("*.jar")):
            if library.name.startswith(("spark-", "scala-library")):
                contents = ZipFile(library)
                names = (n.removesuffix(".class") for n in contents.namelist())
                self._jars.update((n, contents) for n in names if not n.startswith(OURS))

    def __contains__(self, name: str) -> bool:
        return name in self._parsed or name in self._jars

    def __getitem__(self, name: str) -> ClassFile:
        if name not in self._parsed:
            self._parsed[name] = parse(self._jars[name].read(f"{name}.class"))
        return self._parsed[name]


def missing(jar: Path, distribution: Path) -> list[str]:
    """Give what the jar refers to and the distribution does not have, sorted."""
    ours = list(class_files(jar, OURS))
    known = Classes(ours, distribution)

    def above(name: str) -> Iterator[ClassFile]:
        if name in known:
            here = known[name]
            yield here
            for parent in here.parents:
                yield from above(parent)

    def is_known(name: str) -> bool:
        """Whether all that a class inherits from is in the jars that are looked at."""
        return all(p in known or p == "java/lang/Object" for c in above(name) for p in c.parents)

    found = set()
    for one in ours:
        for name in one.classes:
            if name.startswith(SPARK) and name not in known:
                found.add(f"class {name}")
        for owner, name, kind in one.references:
            if not owner.startswith(SPARK) or owner not in known or not is_known(owner):
                continue
            declared = any((name, kind) in c.members for c in above(owner))
            if not declared and not _of_object(name):
                found.add(f"member {owner}.{name}{kind}")
        if not one.access & (ABSTRACT | INTERFACE):
            line = list(above(one.name))
            bodies = {m for c in line for m, f in c.members.items() if not f & ABSTRACT}
            for c in line:
                if c.name.startswith(SPARK) and not c.name.startswith(OURS):
                    for (name, kind), flags in c.members.items():
                        if flags & ABSTRACT and (name, kind) not in bodies:
                            found.add(f"body of {c.name}.{name}{kind} in {one.name}")
    return sorted(found)


def _of_object(name: str) -> bool:
    return name in ("getClass", "hashCode", "equals", "toString", "clone", "wait", "notifyAll")


def main() -> int:
    jar, distribution = map(Path, sys.argv[1:])
    found = missing(jar, distribution)
    for line in found:
        print(line)
    print(f"{len(found)} missing of {jar.name} in {distribution}", file=sys.stderr)
    return 1 if found else 0


if __name__ == "__main__":
    sys.exit(main())
