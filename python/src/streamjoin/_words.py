"""The valid values of arguments: their types, and their checks."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from difflib import get_close_matches
from typing import Any, Literal, TypeAlias, get_args

from pyspark.errors import PySparkValueError

from streamjoin._arguments import string, wrong_type

How: TypeAlias = Literal[
    "inner",
    "cross",
    "left",
    "leftouter",
    "left_outer",
    "right",
    "rightouter",
    "right_outer",
    "full",
    "fullouter",
    "full_outer",
    "outer",
    "semi",
    "leftsemi",
    "left_semi",
    "anti",
    "leftanti",
    "left_anti",
    "asof",
    "left_asof",
]
Ahead: TypeAlias = Literal["reject", "keep"]
Late: TypeAlias = Literal["drop", "emit"]
Emit: TypeAlias = Literal["final", "early"]
Mode: TypeAlias = Literal["event_time", "changelog"]
OrderScope: TypeAlias = Literal["query", "partition"]
Side: TypeAlias = Literal["left", "right"]

_OTHER_AS_OF = (
    ". An as-of join only preserves left rows. To preserve right rows, exchange the inputs: "
    'right.streamJoin(left, on, "left_asof")'
)


def how(value: object) -> tuple[str, str | None]:
    """Return the join type of Spark, and ``"last"`` for an as-of join."""
    words = get_args(How)
    kind = string("how", value)
    # normalized as in DataFrame.join
    plain = kind.lower().replace("_", "")
    if plain not in {word.replace("_", "") for word in words}:
        raise _not_among("how", kind, words, _OTHER_AS_OF if "asof" in plain else None)
    as_of = {"asof": "inner", "leftasof": "left"}.get(plain)
    return (kind, None) if as_of is None else (as_of, "last")


def ahead(value: object) -> str | None:
    return _optional("ahead", value, get_args(Ahead))


def late(value: object) -> str:
    return _word("late", "str", value, get_args(Late))


def mode(value: object) -> str | None:
    return _optional("mode", value, get_args(Mode))


def emit(value: object) -> str | None:
    return _optional("emit", value, get_args(Emit))


def order_scope(value: object) -> str | None:
    """Return the scope, or None for the default."""
    word = _word("order_scope", "str", value, get_args(OrderScope))
    return None if word == "query" else word


def side(value: object) -> str | None:
    return _optional("side", value, get_args(Side))


def sides(name: str, given: Mapping[Any, object]) -> None:
    """Check the keys of a mapping by side; it must have at least one key."""
    if not given:
        raise _not_among(name, given, get_args(Side))
    for key in given:
        _word(name, "str or mapping of str", key, get_args(Side))


def _optional(name: str, value: object, words: Sequence[str]) -> str | None:
    return None if value is None else _word(name, "str or None", value, words)


def _word(name: str, expected: str, value: object, words: Sequence[str]) -> str:
    if not isinstance(value, str):
        raise wrong_type(name, expected, value)
    if value not in words:
        raise _not_among(name, value, words)
    return value


def _not_among(
    name: str, value: object, words: Sequence[str], advice: str | None = None
) -> PySparkValueError:
    near = get_close_matches(str(value).lower().replace(" ", "_"), words, n=1)
    meant = advice or (f". Perhaps write '{near[0]}'" if near else "")
    return PySparkValueError(
        errorClass="VALUE_NOT_ALLOWED",
        messageParameters={
            "arg_name": name,
            "allowed_values": f"{', '.join(map(repr, words))}; it is {value!r}{meant}",
        },
    )
