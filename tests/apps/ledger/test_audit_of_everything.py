"""One unit changed in any column of any table of money: the audit says that, and where.

The columns are the database's own: a new one without a check fails here until it has one, or an
excuse of its own in EXCUSED and in docs/concepts/audit.md.
"""

from collections.abc import Iterator
from pathlib import Path
from secrets import randbelow
from typing import Any

import pytest
from django.db import DataError, IntegrityError, connection, transaction

from apps.ledger.queries.audit import audit_in_transaction
from apps.ledger.queries.audit_sql import BOUNDS
from controlplane.ledger_audit import CHECKS, PROBES, audit_here
from tests.apps.ledger.audited_world import make_world
from tests.apps.ledger.tampering import Column, columns_of, rows_of, tables_of, tamper

NO_MONEY = {
    "ledger_billrule": "what people say of bills",
    "ledger_billruleevent": "its history",
    "ledger_closeevent": "the history of closes",
    "ledger_billimport": "deliveries; their sums are held against their rows",
    "ledger_rejectedbillrow": "rows that could not be read",
    "ledger_billedmatch": "where rows of a bill went, and why; what came of it is proven",
    "ledger_monthdigest": "digests of closed months, which the database lets nobody change",
    "ledger_billtwin": "bills that may be the same money, and what people said",
    "ledger_lateestimate": "weights by which rows are spread; what came of it is proven",
    "ledger_correctedhour": "hours of a closed month whose difference is posted",
    "ledger_meterday": "what GPU meters told while jobs held them",
    "ledger_clocksweep": "how far the clock has come",
    "ledger_export": "files that were asked for",
}
"""Tables that hold no amounts of their own, and what they hold."""

AS_SENT = "a bill's row as its issuer sent it"
WORDS = "says in words why"
FINGERPRINT = "a fingerprint of the facts it was made of"
WHEN = "when, or by whom"
EVIDENCE = "what was observed, and of whom: the agents' word"
EXCUSED: dict[str, dict[str, tuple[str, ...]]] = {
    "ledger_charge": {
        "what rates came to before a bill took their place": ("estimated_micros",),
        "by the meter and the tariff of the plan": ("marginal_micros",),
        WORDS: ("reason", "spread_method"),
        FINGERPRINT: ("digest",),
    },
    "ledger_chargepiece": {WORDS: ("detail",)},
    "ledger_settlement": {
        FINGERPRINT: ("digest",),
        WORDS: ("reason",),
        WHEN: ("settled_at", "superseded_at"),
    },
    "ledger_line": {EVIDENCE: ("holder_key_id", "evidence")},
    "ledger_bill": {
        "as its issuer named it": ("issuer", "provider", "account", "starts_at", "ends_at"),
        "whether its issuer rounds, by its rows": ("is_rounded_upstream",),
        WHEN: ("created_at", "changed_at", "reconciled_at", "woken_at"),
        WORDS: ("failure",),
        "what it was read by, to be read again where that changes": (
            *("long_from", "long_until", "last_team_id"),
        ),
    },
    "ledger_billedcharge": {
        "what it was for, as its rows say": (
            *("billed_kind", "label", "starts_at", "rows", "commitment_id"),
        ),
        "a node that did not live then carries nothing": ("node_id",),
    },
    "ledger_billedhour": {"machine time as its rows say": ("billed_milliseconds",)},
    "ledger_billrow": {
        AS_SENT: (
            *("line", "kind", "category", "charge_class", "starts_at", "ends_at", "service"),
            *("usage_type", "description", "sku", "resource_id", "region", "sub_account"),
            *("pricing_category", "commitment_id", "commitment_status", "invoice_id"),
            *("consumed_quantity", "consumed_unit", "pricing_quantity", "pricing_unit"),
            *("list_unit_price", "contracted_unit_price", "tags", "more"),
        ),
        FINGERPRINT: ("digest", "traits"),
    },
    "ledger_runday": {"of hours without requests, as gateways reported them": ("is_unasked",)},
    "ledger_runfigures": {
        "by GPUs' peaks and other runs": ("mfu_ratio", "mfu_doubt", "scaling_ratio"),
        "of its jobs, as schedulers reported them": ("gpu_model", "jobs", "team_id"),
        WHEN: ("folded_at", "computed_at"),
    },
    "ledger_apicost": {WORDS: ("reason",)},
    "ledger_apihour": {WORDS: ("reason",)},
    "ledger_vendorcost": {
        "a vendor's report as it was sent": ("vendor", "day", "item", "project", "currency"),
        WHEN: ("told_at",),
    },
    "ledger_servicecount": {"hours it sums, as gateways reported them": ("hours",)},
    "ledger_servicetotal": {"requests of hours without a line": ("costless_requests",)},
}
"""Columns that nothing else tells, by table and by why."""

WHICH = {"ledger_servicecount": "part <> 3"}
"""The rows that are in sums, where not all are."""
BY_CHANCE = WHICH | {
    "ledger_chargepiece": "charge_id IN (SELECT id FROM ledger_charge WHERE part <> 4)",
    "ledger_settlement": "superseded_at IS NULL",
}
"""The rows that chance picks from: not pieces of what does not ride on GPUs, nor settlements of before."""
EXCUSED_IN_SOME_ROWS: dict[str, tuple[str, ...]] = {
    "ledger_apicost": ("price",),
    "ledger_chargepiece": ("commitment_id",),
    "ledger_runday": ("energy_joules", "tensor_seconds"),
}
"""Columns that something else says of some rows only: where there is no price, no commitment, a report."""
BY_NUMBER = "id"
"""The number of a row is a name: what refers to it is compared by it."""
ROWS_TRIED = 4


@pytest.fixture(scope="module")
def _planted(of_module: None, tmp_path_factory: pytest.TempPathFactory) -> None:
    make_world(tmp_path_factory.mktemp("bills"))


@pytest.fixture(autouse=True)
def _world(_planted: None, db: None) -> None:
    """The world as it was planted: what a test does to it is undone."""


def tables() -> dict[str, Any]:
    """The ledger's, and those of the parts of its lines."""
    return tables_of("ledger") | tables_of("unit_economics")


def of_money() -> list[str]:
    """Every one of them but those that hold no amounts."""
    return sorted(tables().keys() - NO_MONEY)


def excused(table: str) -> set[str]:
    """The columns of a table that nothing else tells."""
    return {name for names in EXCUSED.get(table, {}).values() for name in names}


def is_found(*columns: Column, row: str = "") -> bool:
    """Whether the audit tells one unit changed in each, and where, or the database refuses it to begin with."""
    (table,) = {column.table for column in columns}
    undo = transaction.savepoint()
    try:
        which = row or WHICH.get(table, "true")
        for column in columns:
            assert tamper(column, which) == 1, f"{column} has no row"
        node, charge = next(places_told(table), (None, None))
    except (IntegrityError, DataError):
        return True
    finally:
        transaction.savepoint_rollback(undo)
    return bool(node or charge)


def places_told(table: str) -> Iterator[tuple[str | None, int | None]]:
    """The node and the charge of each place that checks of this table name.

    Closed months are held against their digests last: that takes longest.
    """
    with connection.cursor() as cursor:
        cursor.execute(BOUNDS, {"from": None, "to": None})
        since, until, zone = cursor.fetchone()
        span = {"from": since, "to": until, "zone": zone, "shown": 1}
        for check in (each for each in CHECKS if table in each.query.text):
            cursor.execute(check.query.text, span)
            yield from ((node, charge) for charge, node, *_ in cursor.fetchall())
    probes = [probe for probe in PROBES if table in probe.tables]
    for place in audit_in_transaction((), None, None, probes).places:
        yield place.node, place.charge


def names_found(columns: list[Column]) -> set[str]:
    """Those of them that are found; at once, where that is none."""
    if not columns or not is_found(*columns):
        return set()
    return {column.name for column in columns if is_found(column)}


def test_the_world_adds_up_and_nothing_of_it_waits() -> None:
    found = audit_here()

    assert found.places == ()
    assert found.pending_days == ()
    assert len(found.closed_months) == 1


@pytest.mark.parametrize("table", of_money())
def test_one_unit_changed_is_found_in_every_column_that_has_no_excuse(table: str) -> None:
    columns = [column for column in columns_of(table) if column.name != BY_NUMBER]
    without_check = [column for column in columns if column.name in excused(table)]

    found = {column.name for column in columns if column not in without_check and is_found(column)}
    found |= names_found(without_check)

    assert {column.name for column in columns} - found == excused(table)


def tried(table: str) -> list[Column]:
    """The columns of a table that something else tells."""
    left_out = {BY_NUMBER, *excused(table), *EXCUSED_IN_SOME_ROWS.get(table, ())}
    return [column for column in columns_of(table) if column.name not in left_out]


def random_cells(table: str, seed: int, rows: int) -> list[tuple[Column, str]]:
    """Every column that is tried, in random rows of open, closed and corrected months."""
    found = rows_of(table, BY_CHANCE.get(table, "true"), seed, rows)
    return [(column, row) for row in found for column in tried(table)]


@pytest.mark.proof
@pytest.mark.parametrize("table", of_money())
def test_one_unit_in_random_rows_is_found_in_every_column(table: str) -> None:
    seed = randbelow(10**6)

    cells = random_cells(table, seed, ROWS_TRIED)
    missed = [(str(column), row) for column, row in cells if not is_found(column, row=row)]

    assert not missed, f"seed {seed}"


def test_no_table_is_forgotten_and_no_excuse_is_left_over() -> None:
    assert NO_MONEY.keys() | EXCUSED.keys() <= tables().keys()
    assert not [
        table
        for table in NO_MONEY
        for column in columns_of(table)
        if column.name.endswith(("micros", "amount", "_cost", "residual"))
    ]


def test_the_docs_say_what_has_an_excuse() -> None:
    said = (Path(__file__).parents[3] / "docs" / "concepts" / "audit.md").read_text()

    columns_by_reason: dict[str, list[str]] = {}
    for table, names_by_reason in EXCUSED.items():
        for reason, names in names_by_reason.items():
            columns = columns_by_reason.setdefault(reason, [])
            columns.extend(f"`{table}.{name}`" for name in names)
    for reason, columns in columns_by_reason.items():
        assert f"| {', '.join(columns)} | {reason} |" in said
