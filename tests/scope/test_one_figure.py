"""One figure has one value: of a closed month every page, its files, REST and the rows themselves say the same.

The pages are those of Django's own table, so that a new one is walked as soon as it is there. A figure is known by its
name: two pages that say another number by the same name, of the same thing and the same days, contradict each other.
"""

import csv
import io
import re
from collections import defaultdict
from collections.abc import Iterator, Mapping
from dataclasses import dataclass
from datetime import UTC, datetime, timedelta
from decimal import Decimal
from functools import partial
from html import unescape
from pathlib import Path
from typing import Any, LiteralString

import pytest
from django.contrib.auth import get_user_model
from django.db import connection
from django.test import Client

from apps.ledger.actions import close
from apps.ledger.actions.calls import price_waiting
from apps.ledger.solvers.api_pricing import books
from apps.show.amounts import gpu_hours, per_cent
from apps.show.money import rounded_amount, short_amount
from apps.workloads.actions.usage import Call, take_calls
from apps.workloads.models import Workload
from tests import make
from tests.apps.ledger import audited_world, scene
from tests.planted import undone
from tests.scope.addresses import PARAMETER, TeachTheWalker, every_address

pytestmark = pytest.mark.django_db
WINDOW = "2026-04"
CLOSED_AT = datetime(2026, 5, 2, 12, tzinfo=UTC)
LINES: LiteralString = """
    FROM ledger_line AS line LEFT JOIN fleet_pool AS pool ON pool.id = line.pool_id
    WHERE line.hour >= '2026-04-01' AND line.hour < '2026-05-01' AND line.flags & 64 = 0
"""
"""The month's; idle that was shared out stands beside its pool's owner's, and is left aside."""
FIGURE = re.compile(
    r'<article class="figure">\s*<h2[^>]*>(?:<a [^>]*>)?(.*?)(?:</a>)?</h2>'
    r'.*?<span class="number[^"]*">(.*?)</span>',
    re.DOTALL,
)
ORGANISATION = ("organisation",)
NO_TWIN = frozenset(
    {
        "A million tokens", "Active", "Agents", "Backlogged", "Cost of lost GPU time", "Coverage",
        "Errors (429/5xx)", "GPUs", "Held now", "Incidents", "Lost in outages, cost", "Missing GPUs",
        "Open", "Queue wait, p50", "Requests", "Unhealthy", "Waited, GPU-hours", "Waits, cost",
        "Without a price", "Most to gain in a month", "Not known", "Not counted", "Experiments a week",
        "Cost per model version", "Cost per million tokens", "1,000 requests", "A million input tokens",
        "A million output tokens", "Goodput", "Not productive", "Active share of held time",
        "Commitment coverage", "No requests",
    }
)  # fmt: skip
"""Figures that are no sum of the month's lines: each is held to its own arithmetic in the tests of its page."""


@dataclass(frozen=True, slots=True)
class Walked:
    """A figure as a page shows it: its name, what it is of, and where."""

    title: str
    scope: tuple[str, ...]
    number: str
    page: str


@pytest.fixture(scope="module", params=[False, pytest.param(True, marks=pytest.mark.proof)])
def planted(
    request: pytest.FixtureRequest, of_module: None, tmp_path_factory: pytest.TempPathFactory
) -> Iterator[Mapping[str, Any]]:
    """A month of every kind of charge, closed; what fills the addresses.

    Hardware that is charged to the month's end, and a fee of all its hours, are in the proof.
    """
    with undone():
        make_month(tmp_path_factory.mktemp("bills"), is_whole=request.param)
        found: dict[str, LiteralString] = {
            "team_id": "accounts_team WHERE name = 'Research'",
            "workload_id": "workloads_workload WHERE name = 'llm'",
            "service_id": "workloads_workload WHERE kind = 'serving'",
            "run_id": "workloads_run WHERE key = 'llama'",
            "job_id": "workloads_job WHERE raw_id = '21'",
            "pool_id": "fleet_pool WHERE name = 'trained on'",
            "node_id": "fleet_node WHERE name = 'open-01'",
            "bill_id": "ledger_bill",
            "close_id": "ledger_close WHERE month = '2026-04-01'",
            "commitment_id": "pricing_commitment",
        }
        ids = {
            name: one(f"SELECT min(id) FROM {table}")  # noqa: S608  # tables named above
            for name, table in found.items()
        }
        yield {**ids, "month": WINDOW, "day": "2026-04-01"}


def make_month(folder: Path, *, is_whole: bool) -> None:
    with pytest.MonkeyPatch.context() as patched:
        # All of the month is over by then, and no hour of it is provisional.
        patched.setattr(audited_world, "NOW", CLOSED_AT)
        if not is_whole:
            brief = partial(scene.make_owned_plan, ends_at=audited_world.OPEN + timedelta(days=1))
            patched.setattr(scene, "make_owned_plan", brief)
            patched.setattr(audited_world, "_share_fee", lambda folder: None)
        audited_world.make_world(folder)
    _call_of_a_workload()
    asked = close.CloseRequest(
        month=audited_world.APRIL, person_id=None, accepted=audited_world.EVERYTHING
    )
    close.close_month(request=asked, at=CLOSED_AT)


def _call_of_a_workload() -> None:
    """Charged to it as a whole, and to no job of it: $4.00 for two million tokens."""
    workload = Workload.objects.get(name="llm")
    call = Call(
        source="rest:0",
        key="of a workload",
        at=audited_world.OPEN,
        vendor="openai",
        model="gpt-4.1",
        team_id=workload.team_id,
        workload_id=workload.id,
        input_tokens=2_000_000,
        cached_tokens=0,
        cache_write_tokens=0,
        output_tokens=0,
        reasoning_tokens=0,
    )
    take_calls(calls=[call], at=CLOSED_AT)
    price_waiting(before=CLOSED_AT, book=books)
    scene.settle_all(CLOSED_AT)


@pytest.fixture
def petra() -> Client:
    person_id = make.make_person("petra@example.org", name="Petra", role="platform")
    client = Client()
    client.force_login(get_user_model().objects.get(pk=person_id))
    return client


def one(query: LiteralString, **given: Any) -> Any:
    """The only value of a statement that shares nothing with the service's own."""
    with connection.cursor() as cursor:
        cursor.execute(query, given)
        ((value,),) = cursor.fetchall()
    return value


def of_lines(more: LiteralString = "", **given: Any) -> int:
    """Micro-units of the month's lines, or of some of them."""
    return int(one(f"SELECT coalesce(sum(line.effective_micros), 0) {LINES} {more}", **given))


def figures(client: Client, planted: Mapping[str, Any]) -> Iterator[Walked]:
    """Every figure of every page that can be asked about the month."""
    for address in every_address():
        if address.is_rest:
            continue
        try:
            path = address.filled(planted)
        except TeachTheWalker:
            continue
        answer = client.get(path, {"window": WINDOW})
        if answer.status_code != 200 or answer.streaming:
            continue
        scope = tuple(PARAMETER.findall(address.pattern)) or ORGANISATION
        for found in FIGURE.findall(answer.content.decode(errors="replace")):
            title, number = (unescape(each).replace("\N{NO-BREAK SPACE}", " ") for each in found)
            yield Walked(title.strip(), scope, number.strip(), address.pattern)


def shown(text: str) -> str:
    return text.replace("\N{NO-BREAK SPACE}", " ")


def rest(client: Client, path: str, **more: str) -> Any:
    answer = client.get(f"/api/v1/{path}", {"window": WINDOW, **more})
    assert answer.status_code == 200, (path, answer.content)
    return answer.json()


def micros(money: Mapping[str, str]) -> int:
    return int(Decimal(money["amount"]) * 1_000_000)


def twins(client: Client, planted: Mapping[str, Any]) -> dict[tuple[tuple[str, ...], str], str]:
    """By what it is of and its name, what each figure of money has to be, by REST and by the rows."""
    whole = rest(client, "costs")["totals"]
    assert micros(whole["cost"]) == of_lines()
    states = {
        row.get("state"): row["cost"] for row in rest(client, "costs", group_by="state")["results"]
    }
    idle = of_lines("AND line.state IN (2, 4, 5, 6)")
    wasted = sum(micros(states[name]) for name in NOT_WORKED if states.get(name))
    assert wasted == idle
    active = of_lines("AND line.state = 1")
    assert micros(states["active"]) == active
    cost, unpriced = short_amount(of_lines(), "USD"), gpu_hours(_unpriced_ms())
    active_share = per_cent(active / of_lines())
    calls = sum(micros(row["cost"]) for row in rest(client, "api-spend")["results"] if row["cost"])
    of_run = of_lines("AND line.job_id = %(job)s", job=planted["job_id"])
    unused = of_lines(
        "AND line.charge_id IN (SELECT id FROM ledger_charge WHERE kind = 'commitment_unused')"
    )
    services = of_lines("AND line.workload_id = %(id)s", id=planted["service_id"])
    found = {
        (ORGANISATION, "Spend"): cost,
        (ORGANISATION, "Cost"): cost,
        (ORGANISATION, "Active share of spend"): active_share,
        (ORGANISATION, "Active share of cost"): active_share,
        (ORGANISATION, "Idle or not held by a job"): short_amount(idle, "USD"),
        (ORGANISATION, "Waste"): short_amount(idle, "USD"),
        (ORGANISATION, "Not priced or not observed"): f"{unpriced} GPU-hours",
        (ORGANISATION, "Not priced, observed or owned"): f"{unpriced} GPU-hours",
        (ORGANISATION, "Cost of calls"): short_amount(calls, "USD"),
        (ORGANISATION, "Cost of runs"): short_amount(of_run, "USD"),
        (ORGANISATION, "Cost of services"): short_amount(services, "USD"),
        (ORGANISATION, "Not used"): short_amount(unused, "USD"),
        (("run_id",), "Cost"): short_amount(of_run, "USD"),
    }
    for key, column in OF_ONE.items():
        condition: LiteralString = f"AND {column} = %(id)s"
        of_one = of_lines(condition, id=planted[key])
        busy = of_lines(f"{condition} AND line.state = 1", id=planted[key])
        lost = of_lines(f"{condition} AND line.state IN (2, 4, 5, 6)", id=planted[key])
        found |= {
            ((key,), "Cost"): short_amount(of_one, "USD"),
            ((key,), "Active share of cost"): per_cent(busy / of_one),
            ((key,), "Idle or not held by a job"): short_amount(lost, "USD"),
            ((key,), "Not priced or not observed"): "Nothing",
        }
    return {key: shown(number) for key, number in found.items()}


NOT_WORKED = ("held_idle", "unallocated", "stranded", "out_of_service")
OF_ONE: Mapping[str, LiteralString] = {
    "team_id": "line.team_id",
    "workload_id": "line.workload_id",
    "job_id": "line.job_id",
}


def _unpriced_ms() -> int:
    return int(
        one(
            f"SELECT coalesce(sum(line.unit_milliseconds), 0) {LINES}"
            " AND line.effective_micros IS NULL AND pool.unit = 'gpu'"
        )
    )


def test_no_name_has_two_values_and_each_is_what_rest_and_the_rows_say(
    petra: Client, planted: Mapping[str, Any]
) -> None:
    by_name: dict[tuple[tuple[str, ...], str], dict[str, list[str]]] = defaultdict(dict)
    for each in figures(petra, planted):
        by_name[each.scope, each.title].setdefault(each.number, []).append(each.page)
    contradicting = {key: numbers for key, numbers in by_name.items() if len(numbers) > 1}
    assert contradicting == {}
    expected = twins(petra, planted)
    said = {key: next(iter(numbers)) for key, numbers in by_name.items()}
    assert {key: said.get(key) for key in expected} == expected
    untaught = {key for key in said if key not in expected and key[1] not in NO_TWIN | OWN}
    assert untaught == set(), "say what these are, and what they have to be"
    assert (
        len({each for numbers in by_name.values() for pages in numbers.values() for each in pages})
        > 12
    )


def test_rest_says_of_each_team_workload_run_and_service_what_the_rows_do(
    petra: Client, planted: Mapping[str, Any]
) -> None:
    """Every row of the lists, not the one that a page is opened of; and what several lists have of one thing is one sum."""
    said: dict[str, list[tuple[int | None, Mapping[str, str]]]] = {
        "line.team_id": _rows(petra, "costs", "team", group_by="team"),
        "line.workload_id": _rows(petra, "costs", "workload", group_by="workload"),
    }
    said["line.workload_id"] += [
        (row["id"], row["cost"]) for row in rest(petra, "services")["results"]
    ]
    said["line.job_id"] = [
        (job, row["cost"]) for row in rest(petra, "runs")["results"] for job in row["job_ids"]
    ]
    service = rest(petra, f"services/{planted['service_id']}")
    said["line.workload_id"].append((service["id"], service["cost"]))
    found = {column: [(key, micros(cost)) for key, cost in rows] for column, rows in said.items()}
    assert found == {
        column: [(key, _of_one(column, key)) for key, _ in rows] for column, rows in said.items()
    }
    assert all(len(rows) > 0 for rows in found.values())
    of_teams: dict[int, int] = defaultdict(int)
    for key, cost in _rows(petra, "team-work", "team"):
        of_teams[int(key or 0)] += micros(cost)
    assert of_teams == dict(found["line.team_id"])


def _rows(
    client: Client, path: str, name: str, **more: str
) -> list[tuple[int | None, Mapping[str, str]]]:
    rows = rest(client, path, **more)["results"]
    return [((row[name] or {}).get("id"), row["cost"]) for row in rows if row["cost"]]


def _of_one(column: LiteralString, key: int | None) -> int:
    return of_lines(f"AND {column} IS NOT DISTINCT FROM %(id)s", id=key)


OWN = frozenset({"Savings rate of commitments", "Commitment utilization"})
"""Ratios of a commitment's own books: of what it covered, 2 × 98.32 less 80; of two nodes for two hours, half."""

FILES: Mapping[str, tuple[str, LiteralString]] = {
    "costs.csv?table=by-team": ("cost", ""),
    "costs/teams/<team_id>.csv?table=by-workload": ("cost", "AND line.team_id = %(team_id)s"),
    "costs/workloads/<workload_id>.csv?table=by-job": (
        "cost",
        "AND line.workload_id = %(workload_id)s",
    ),
    "costs/workloads/<workload_id>.csv?table=by-day": (
        "cost",
        "AND line.workload_id = %(workload_id)s",
    ),
    "costs/teams/<team_id>.csv?table=by-day": ("cost", "AND line.team_id = %(team_id)s"),
    "team-work.csv?table=table": ("cost", ""),
}
"""Files of a page's tables: what column of theirs comes to which of the month's lines."""


@pytest.mark.parametrize("name", FILES)
def test_the_rows_of_a_file_come_to_the_figure_of_its_page(
    petra: Client, planted: Mapping[str, Any], name: str
) -> None:
    column, condition = FILES[name]
    path = PARAMETER.sub(lambda found: str(planted[found[1]]), name)
    answer = petra.get(f"/{path}&window={WINDOW}")
    assert answer.status_code == 200, name
    rows = list(csv.DictReader(io.StringIO(answer.getvalue().decode("utf-8-sig"))))
    cost = sum(Decimal(row[column]) for row in rows if row[column])
    assert int(cost * 1_000_000) == of_lines(condition, **planted)


@pytest.mark.parametrize("key", ["team_id", "workload_id"])
def test_the_title_the_figure_and_the_total_of_a_table_are_one(
    petra: Client, planted: Mapping[str, Any], key: str
) -> None:
    """What is charged to a workload and to no job of it is in all three: here a call to a model."""
    what = {"team_id": "teams", "workload_id": "workloads"}[key]
    page = petra.get(f"/costs/{what}/{planted[key]}", {"window": WINDOW}).content.decode()
    page = shown(unescape(page))
    whole = of_lines(f"AND {OF_ONE[key]} = %(id)s", id=planted[key])
    no_job: LiteralString = f"AND {OF_ONE[key]} = %(id)s AND line.job_id IS NULL"
    assert of_lines(no_job, id=planted[key]) > 3_000_000
    (title,) = re.findall(r"<h1>(.*?)</h1>", page)
    assert shown(rounded_amount(whole, "USD")) in title
    (total,) = re.findall(r"<tfoot>.*?</tfoot>", page, re.DOTALL)[:1]
    assert shown(rounded_amount(whole, "USD")) in total or f"{whole / 1_000_000:,.2f}" in total
