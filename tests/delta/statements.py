"""The statements on the tables of orders and customers, step by step; one batch reads one step."""

from __future__ import annotations

from collections.abc import Iterator
from random import Random

Step = list[str]
FIRST: Step = [
    "INSERT INTO orders VALUES (1, 1, 10), (2, 2, 20), (3, NULL, 30), (4, 1, 40)",
    "INSERT INTO customers VALUES (1, 'Ada'), (3, 'Cem')",
]
STEPS: list[Step] = [
    ["UPDATE orders SET customer_id = 3, amount = 11 WHERE order_id = 1"],
    ["DELETE FROM customers WHERE id = 1", "INSERT INTO customers VALUES (2, 'Bo')"],
    [
        "DELETE FROM orders WHERE order_id = 2",
        "UPDATE customers SET name = 'Eva' WHERE id = 3",
        "INSERT INTO orders VALUES (5, 3, 50)",
        "UPDATE customers SET name = 'Cem' WHERE id = 3",
    ],
]


def written(seed: int) -> tuple[Step, list[Step]]:
    """The initial statements and the steps after them; random, except for seed 0."""
    if seed == 0:
        return FIRST, STEPS
    rng = Random(f"delta/{seed}")
    orders = iter(range(5, 1000))
    return FIRST, [
        [_statement(rng, orders) for _ in range(rng.randint(1, 4))]
        for _ in range(rng.randint(3, 5))
    ]


def _statement(rng: Random, orders: Iterator[int]) -> str:
    customer = rng.choice([1, 2, 3, "NULL"])
    some = f"% 4 = {rng.randrange(4)}"
    name = rng.choice(["'Ada'", "'Bo'", "'Cem'", "NULL"])
    number = rng.randint(1, 3)
    return rng.choice(
        [
            f"INSERT INTO orders VALUES ({next(orders)}, {customer}, {rng.randrange(9)})",
            f"UPDATE orders SET customer_id = {customer} WHERE order_id {some}",
            f"UPDATE orders SET amount = amount + {rng.randrange(2)} WHERE order_id {some}",
            f"DELETE FROM orders WHERE order_id {some}",
            # customers have a primary key
            f"MERGE INTO customers USING (SELECT {number} AS n) ON id = n "
            f"WHEN MATCHED THEN UPDATE SET name = {name} "
            f"WHEN NOT MATCHED THEN INSERT (id, name) VALUES (n, {name})",
            f"DELETE FROM customers WHERE id = {number}",
        ]
    )
