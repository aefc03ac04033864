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
OnExpiry: TypeAlias = Literal["keep", "retract"]
Side: TypeAlias = Literal["left", "right"]

_PLAIN = {word.replace("_", "") for word in get_args(How)}
_OTHER_AS_OF = (
    ". An as-of join only preserves left rows. To preserve right rows, exchange the inputs: "
    'right.streamJoin(left, on, "left_asof")'
)


def how(value: object) -> tuple[str, str | None]:
    """Return the join type of Spark, and ``"last"`` for an as-of join."""
    words = get_args(How)
    kind = string("how", value)
    plain = _plain(kind)
    if plain not in _PLAIN:
        raise _not_among("how", kind, words, _OTHER_AS_OF if "asof" in plain else None)
    as_of = {"asof": "inner", "leftasof": "left"}.get(plain)
    return (kind, None) if as_of is None else (as_of, "last")


def require_condition(on: object, how: object) -> None:
    """Refuse a join type as the condition, beside another text or a Column as the join type."""
    if isinstance(on, str) and _plain(on) in _PLAIN and not _is_default(how):
        raise PySparkValueError(
            f"`on` is the join type {on!r}, and `how` is {how!r}: they are exchanged. Write "
            f"left.streamJoin(right, {how!r}, {on!r})."
        )


def _plain(kind: str) -> str:
    """Normalize a join type as DataFrame.join does."""
    return kind.lower().replace("_", "")


def _is_default(how: object) -> bool:
    return isinstance(how, str) and how == "inner"


def ahead(value: object) -> str | None:
    return _optional("ahead", value, get_args(Ahead))


def late(value: object) -> str:
    return _word("late", "str", value, get_args(Late))


def mode(value: object) -> str | None:
    return _optional("mode", value, get_args(Mode))


def emit(value: object) -> str | None:
    return _optional("emit", value, get_args(Emit))


def in_partitions(order_scope: object) -> bool:
    return _word("order_scope", "str", order_scope, get_args(OrderScope)) == "partition"


def on_expiry(value: object) -> str | None:
    """Return the value, or None for the default."""
    word = _word("on_expiry", "str", value, get_args(OnExpiry))
    return None if word == "keep" else word


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
