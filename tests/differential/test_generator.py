from __future__ import annotations

import re

import pytest

from tests.differential.case import (
    HOWS,
    NUMBERS,
    SENTINEL,
    Case,
    from_json,
    inputs_of,
    joins_of,
    to_json,
)
from tests.differential.chains import KEYS as CHAIN_KEYS
from tests.differential.chains import STEPS, draw
from tests.differential.changelogs import GROUP
from tests.differential.changelogs import generate as generate_changelog
from tests.differential.generator import generate
from tests.differential.lateness import judge
from tests.differential.plans import sql_text
from tests.differential.rows import KEYS, closing

MANY = [generate(1, number) for number in range(200)]
GROUPED = [generate(1, number, 20) for number in range(60)]
MORE = [*MANY, *(generate(33, number) for number in range(140))]


def test_seed_and_number_determine_the_case() -> None:
    assert [generate(1, number) for number in range(20)] == MANY[:20]
    assert generate(2, 0) != MANY[0]


def test_four_streams_with_partly_comparable_times_are_generated() -> None:
    """There was no pair left to choose from: the bounds of the joins below were of another type."""
    assert len(generate(20261124, 103).inputs) >= 4


def test_case_survives_a_json_round_trip() -> None:
    assert all(from_json(to_json(case)) == case for case in MANY)


def test_six_consecutive_cases_cover_all_join_types() -> None:
    for start in range(0, 60, 6):
        hows = {next(iter(joins_of(case.tree))).how for case in MANY[start : start + 6]}
        assert hows == set(HOWS)


def test_every_feature_is_generated() -> None:
    drawn = {feature for case in MANY for feature in case.features}
    assert drawn >= {
        "absolute", "bigint", "bigint_key", "binary_key", "both_sides", "collated_key",
        "constant", "constant_first", "contradiction", "date", "date_add", "datediff",
        "decimal_key", "difference", "distinct_above", "distinct_below",
        "distinct_within_below", "double_key", "double_negation", "either_range", "equal_times",
        "expression_key", "files", "filter_below", "float_key", "hot_keys", "inputs_3",
        "inputs_4", "int", "late", "memory", "mixed_keys", "mixed_times", "more_bounds",
        "negated", "negative_size",
        "no_key", "null_safe_key", "odd_microseconds", "one_partition", "one_sided",
        "project_below", "rename_below", "residual", "restart", "row_bound",
        "row_bound_expression", "self_join", "smallint", "sql", "string_key", "struct_key",
        "table_above", "table_below", "timestamp", "timestamp_ntz", "timestampadd",
        "timestampdiff", "truncated", "two_actions", "two_keys", "two_watermarks", "union",
        "unix", "unseen_filter_below", "update", "using", "where", "wider_cast", "width_0",
        "windows_above", "windows_below", "with_watermark",
    }  # fmt: skip


@pytest.mark.parametrize("cases", [MANY, GROUPED], ids=["without groups", "in groups"])
def test_some_rows_are_late_and_most_are_not(cases: list[Case]) -> None:
    arrivals = []
    for case in cases:
        batches = [
            {each.alias: step.get(each.same_as or each.alias, []) for each in case.inputs}
            for step in case.steps
        ]
        arrivals += judge(case, batches)
    share = sum(each.late for each in arrivals) / len(arrivals)
    assert 0.05 < share < 0.4


def test_each_group_has_rows_and_none_of_another_group() -> None:
    for case in GROUPED:
        rows = [row for step in case.steps for some in step.values() for row in some]
        assert len({row["c"] for row in rows} & set(range(20))) > 12
        owner = {row["id"]: row["c"] for row in rows}
        assert all(owner[row["id"]] == row["c"] for row in rows)
        for join in joins_of(case.tree):
            assert "c" in join.using or re.search(r"[a-d]\.c = [a-d]\.c", join.condition)


def test_groups_of_changelogs_and_of_chains_have_keys_of_their_own() -> None:
    for number in range(20):
        case = generate_changelog(1, number, 20)
        for table in (rows for tables in case.tables for rows in tables.values()):
            assert all(row["k"] is None or row["k"] // GROUP == row["id"] // GROUP for row in table)
        assert all(f"div {GROUP}" in join.on for join in case.joins)
        for rows in draw(1, number, 20).rows:
            assert all(key // CHAIN_KEYS == number // 100 // STEPS for number, key, _ in rows)
            assert len({number for number, _, _ in rows}) == len(rows)


def test_keys_are_of_the_type_of_their_input() -> None:
    mixed = [case for case in MORE if "mixed_keys" in case.features]
    assert mixed
    for case in mixed:
        for step in case.steps:
            for alias, rows in step.items():
                source = case.input(alias)
                keys = {row["k"] for row in rows if SENTINEL not in row["id"]}
                assert keys <= {None, *KEYS[source.key]}, f"{case.name}, {alias}"


def test_no_stateful_spark_operator_has_collated_keys() -> None:
    stateful = {"distinct", "distinct_within", "windows"}
    for case in MORE:
        for each in case.inputs:
            assert not (each.key == "collated" and stateful & set(each.below)), case.name


def test_query_text_contains_every_input() -> None:
    for case in MANY:
        text = sql_text(case)
        assert all(f"source_{alias}" in text for alias in inputs_of(case.tree))


def test_closing_rows_are_sentinels_of_every_input() -> None:
    for case in MANY:
        for step in closing(case):
            assert set(step) == set(case.fed)
            assert all(SENTINEL in row["id"] for rows in step.values() for row in rows)
            numbers = {
                row[time.name]
                for alias, rows in step.items()
                for row in rows
                for time in case.input(alias).times
                if time.kind in NUMBERS
            }
            # a row waits for times of others that are compared with its own
            assert len(numbers) <= 1
