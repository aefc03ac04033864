"""The columns of the inputs of random queries, and random changes of them."""

from __future__ import annotations

import random
from dataclasses import dataclass, replace


@dataclass(frozen=True)
class Columns:
    """The columns of an input."""

    names: tuple[str, ...] = ("id", "k", "v")
    renamed: tuple[str, ...] = ()
    """The columns with another name in the query."""
    wide: bool = False

    def called(self, name: str) -> str:
        return f"{name}_new" if name in self.renamed else name

    def sql(self, *more: str) -> list[str]:
        return [self._text(name) for name in dict.fromkeys((*self.names, *more))]

    def _text(self, name: str) -> str:
        # a condition computes with id, and its text would change
        wide = self.wide and name in "kvx"
        return f"{f'CAST({name} AS BIGINT)' if wide else name} AS {self.called(name)}"


def changed_columns(
    draw: random.Random,
    old: dict[str, Columns],
    fixed: tuple[str, ...] = (),
    more: tuple[str, ...] = (),
) -> tuple[dict[str, Columns], dict[str, str]]:
    """The changed columns, and the renamed ones of v and `more`. `fixed` inputs get none."""
    chosen = draw.sample(["added", "removed", "renamed", "wide", "reordered"], draw.randrange(1, 4))
    columns = dict(old)
    some = draw.sample(sorted(columns), draw.randrange(1, len(columns) + 1))
    # a join compares keys of one type
    for name in columns if "wide" in chosen else some:
        now = columns[name]
        if "added" in chosen and name not in fixed:
            now = replace(now, names=(*now.names, "x"))
        if "removed" in chosen:
            now = replace(now, names=tuple(n for n in now.names if n != "v"))
        if "reordered" in chosen:
            now = replace(now, names=now.names[::-1])
        columns[name] = replace(now, wide="wide" in chosen)
    rename = {}
    if "renamed" in chosen:
        names = [*more, *(["v"] if all("v" in each.names for each in columns.values()) else [])]
        renamed = tuple(draw.sample(names, draw.randrange(len(names) + 1)))
        columns = {name: replace(each, renamed=renamed) for name, each in columns.items()}
        rename = {name: f"{name}_new" for name in renamed}
    return columns, rename
