"""Tell a filled installation's money by names: run by `bench.compare_commits` in the tree of either commit.

Its one argument is JSON: the columns of each table to tell of, or {} for all there are. Prints one
line of JSON. It stands on nothing but tables, REST addresses and `make_token`, which both commits have.
"""

import json
import os
import sys
from datetime import UTC, datetime
from typing import Any

TABLES = (
    "ledger_charge",
    "ledger_line",
    "ledger_ledgerday",
    "ledger_ledgerjobday",
    "ledger_ledgerteamday",
    "ledger_meterday",
    "ledger_runday",
    "ledger_serviceday",
    "ledger_apihour",
)
NAMES = {
    "team_id": "(SELECT name FROM accounts_team WHERE id = told.team_id)",
    "pool_id": "(SELECT name FROM fleet_pool WHERE id = told.pool_id)",
    "node_id": "(SELECT name FROM fleet_node WHERE id = told.node_id)",
    "workload_id": "(SELECT name FROM workloads_workload WHERE id = told.workload_id)",
    "run_id": "(SELECT key FROM workloads_run WHERE id = told.run_id)",
}
# Numbers, and what is made of them, are given out in the order in which agents happened to come.
NUMBERS = {"id", "digest", "tags"}
PASSING = (
    "clock_offset_ms",
    "id",
    "_id",
    "_ids",
    "_at",
    "cursor",
    "next",
    "previous",
    "url",
    "digest",
    "version",
)


def main(columns: dict[str, list[str]]) -> None:
    """Print tables, their columns and REST answers."""
    os.environ.setdefault("DJANGO_SETTINGS_MODULE", "controlplane.settings")
    from controlplane.embedded_postgres import database_for
    from controlplane.env import environment

    chosen = environment()
    with database_for(chosen.home, chosen.database_url):
        import django

        django.setup()
        columns = columns or _columns()
        tables = {name: _table(name, columns[name]) for name in columns}
        print(json.dumps({"columns": columns, "tables": tables, "answers": _answers()}))


def _columns() -> dict[str, list[str]]:
    from django.db import connection

    with connection.cursor() as cursor:
        cursor.execute(
            "SELECT table_name, array_agg(column_name::text ORDER BY column_name)"
            " FROM information_schema.columns WHERE table_name = ANY(%s) GROUP BY table_name",
            [list(TABLES)],
        )
        return {
            name: [each for each in found if each not in NUMBERS and _is_told(each)]
            for name, found in cursor.fetchall()
        }


def _is_told(column: str) -> bool:
    return column in NAMES or not column.endswith("_id")


def _table(name: str, columns: list[str]) -> dict[str, Any]:
    """How many rows, their digest in an order of their own, and the sum of each amount."""
    from django.db import connection

    cells = ", ".join(f"{_cell(each)} AS {each}" for each in columns)
    sums = [each for each in columns if each.endswith(("_micros", "_milliseconds"))]
    totals = ", ".join(f"'{each}', sum({each})" for each in sums)
    with connection.cursor() as cursor:
        cursor.execute(
            f"WITH cells AS (SELECT {cells} FROM {name} AS told),"  # names of ours
            " rows AS (SELECT md5(cells::text) AS row FROM cells)"
            " SELECT (SELECT count(*) FROM rows),"
            " (SELECT md5(coalesce(string_agg(row, '' ORDER BY row), '')) FROM rows),"
            f" (SELECT json_build_object({totals}) FROM cells)"
        )
        rows, digest, amounts = cursor.fetchone()
    return {"rows": rows, "digest": digest, "sums": amounts}


def _cell(column: str) -> str:
    """By name; what was added up in binary to six digits, for the order of adding is not kept."""
    if column.endswith(("_joules", "_seconds", "_bytes")):
        return f"told.{column}::real"
    return NAMES.get(column, f"told.{column}")


def _answers() -> dict[str, Any]:
    """Every REST list that needs no number in its address, by names, in an order of its own."""
    from django.test import Client
    from drf_spectacular.generators import SchemaGenerator

    from apps.accounts.actions import make_token

    at = datetime.now(UTC)
    token = make_token(name="compare", scopes=("read",), expires_at=None, at=at)
    client = Client(headers={"Authorization": f"Bearer {token.secret}"}, SERVER_NAME="127.0.0.1")
    generator: Any = SchemaGenerator
    paths = generator().get_schema(public=True)["paths"]
    asked = sorted(path for path, item in paths.items() if "get" in item and "{" not in path)
    answers = {}
    for path in asked:
        answer = client.get(path)
        is_json = "json" in answer.headers.get("Content-Type", "")
        body = _by_names(answer.json()) if is_json else None
        answers[path] = {"status": answer.status_code, "body": body}
    return answers


def _by_names(told: Any) -> Any:
    if isinstance(told, dict):
        return {key: _by_names(each) for key, each in told.items() if not key.endswith(PASSING)}
    if isinstance(told, float):
        return round(told, 1)
    if isinstance(told, list):
        return sorted(
            (_by_names(each) for each in told), key=lambda each: json.dumps(each, sort_keys=True)
        )
    return told


if __name__ == "__main__":
    main(json.loads(sys.argv[1]))
