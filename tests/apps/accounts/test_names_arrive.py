"""A name that was taken out does not come back, whatever door brings it."""

from collections.abc import Callable
from datetime import UTC, datetime, timedelta
from pathlib import Path
from typing import Any

import pytest
from django.core.management import call_command
from django.test import override_settings

from apps.accounts.queries.pseudonyms import pseudonym_of
from apps.fleet import actions as fleet
from apps.fleet.models import AgentStatus
from apps.ledger.actions.vendor_costs import take_vendor_costs
from apps.ledger.models import BillRow, RejectedBillRow, VendorCost
from apps.personal.names import words_of
from apps.telemetry.actions import interning
from apps.telemetry.models import HolderKey
from apps.workloads.actions.imports import RejectedJobRow, open_batch, reject_rows
from apps.workloads.actions.report_shapes import RunEventIn, RunReportIn
from apps.workloads.actions.request_statements import CountedRequests
from apps.workloads.actions.requests import RequestTeller, record_requests
from apps.workloads.actions.run_reports import Reporter, record_reports
from apps.workloads.actions.set_aside import set_spans_aside
from apps.workloads.actions.slos import record_change
from apps.workloads.actions.usage import Call, take_calls
from apps.workloads.actions.workloads import add_workload
from apps.workloads.models import (
    RejectedRow,
    RequestHour,
    Run,
    RunAttempt,
    SetAsideSpan,
    UsageEvent,
    WorkloadChange,
)
from apps.workloads.queries.requests import EnteredChange
from apps.workloads.queries.set_aside import AsideSpan
from tests import make
from tests.apps.accounts.test_personal_fields import rows_naming
from tests.apps.ledger import bill_files
from tests.make import NOON, take_names_out

pytestmark = pytest.mark.django_db
NAMES = ("ghopper", "Grace M. Hopper", "o'neil")
HERS, WHOLE, OTHER = map(pseudonym_of, NAMES)


@pytest.fixture(scope="module")
def taken_out(of_module: None, tmp_path_factory: pytest.TempPathFactory) -> None:
    """Names that are out before anything arrives."""
    make.make_organisation()
    with override_settings(HOME=tmp_path_factory.mktemp("home")):
        take_names_out(*NAMES)


@pytest.fixture(autouse=True)
def _home(taken_out: None, settings: Any, tmp_path: Path) -> None:
    settings.HOME = tmp_path


def nothing_names_them() -> bool:
    return not [table for text in ("ghopper", "Hopper", "neil") for table in rows_naming(text)]


def holder_keys(_: Path) -> None:
    keys = ["slurm/atlas/7", "proc/ghopper", "k8s/GHOPPER/trainer", "proc/grace m. hopper"]
    first = dict(interning.holder_ids(keys=keys))
    kept = set(HolderKey.objects.exclude(key="").values_list("key", flat=True))
    assert kept == {"slurm/atlas/7", f"proc/{HERS}", f"k8s/{HERS}/trainer", f"proc/{WHOLE}"}
    # Another process finds the same.
    interning.forget()
    assert {key: interning.holder_ids(keys=keys)[key] for key in keys} == {
        key: first[key] for key in keys
    }


def calls(_: Path) -> None:
    team = make.make_team("Research")
    call = Call(
        "openai", "gpt-5", NOON, source="rest:0", key="1", team_id=team, feature="asked by o’neil"
    )
    take_calls(calls=[call], at=NOON)
    assert take_calls(calls=[call], at=NOON).new == 0
    assert UsageEvent.objects.get().feature == f"asked by {OTHER}"


def spans(_: Path) -> None:
    span = AsideSpan(source="otel:0", key="1", parent_id="", content={"user": "ghopper"})
    set_spans_aside(spans=[span], table_version="1", at=NOON)
    assert SetAsideSpan.objects.count() == 1


def bill_rows(folder: Path) -> None:
    row = bill_files.hour_row(
        "55.04",
        ChargeDescription="machine of Grace M. Hopper",
        Tags='{"owner": "ghopper", "page": "x?user%3Dghopper"}',
    )
    unread = bill_files.hour_row("of ghopper")
    path = bill_files.write(folder / "july.csv", [row, unread])
    call_command("import_focus", str(path), json=True)
    kept = BillRow.objects.get()
    assert kept.description == f"machine of {WHOLE}"
    assert kept.tags == {"owner": HERS, "page": f"x?user%3D{HERS}"}
    assert HERS in RejectedBillRow.objects.get().reason


def vendor_costs(_: Path) -> None:
    began = int(datetime(2026, 3, 1, tzinfo=UTC).timestamp())
    amount = {"value": 3.5, "currency": "usd"}
    result = {"amount": amount, "line_item": "gpt-5", "project_id": "ghopper"}
    report = {"data": [{"start_time": began, "results": [result]}]}
    take_vendor_costs(vendor="openai", report=report, at=NOON)
    assert VendorCost.objects.get().project == HERS


def run_reports(_: Path) -> None:
    team = make.make_team("Research")
    began = int(NOON.timestamp() * 1000)
    score = RunEventIn("score", began, metric=0.5, name="loss of o'neil")
    report = RunReportIn(
        "ghopper/first", "a", began, 0, workload="of ghopper", model={"by": "ghopper"},
        tags={"owner": "GHopper"}, events=(score,),
    )  # fmt: skip
    record_reports(reports=[report], teller=Reporter(team_id=team), at=NOON)
    (again,) = record_reports(reports=[report], teller=Reporter(team_id=team), at=NOON)
    assert getattr(again, "is_changed", None) is False
    attempt = RunAttempt.objects.get()
    assert Run.objects.get().key == f"{HERS}/first"
    assert (attempt.tags, attempt.model) == ({"owner": HERS}, {"by": HERS})
    assert attempt.workload_named == f"of {HERS}"


def request_hours(_: Path) -> None:
    counted = CountedRequests(
        "gateway", "ghopper", "answers of ghopper", NOON, 1, feature="ghopper", requests=5
    )
    record_requests(counted=[counted], teller=RequestTeller(), at=NOON + timedelta(hours=2))
    kept = RequestHour.objects.get()
    assert (kept.source_key, kept.service_named, kept.feature) == (HERS, f"answers of {HERS}", HERS)


def problems_of_agents(_: Path) -> None:
    agent_id = make.make_agent(node_id=make.make_node("gpu-01"))
    told = ({"code": "spool", "detail": "the disk of ghopper is full"},)
    fleet.note_status(
        agent_id=agent_id, status=fleet.ReportedStatus(boot=1, sequence=1, problems=told), at=NOON
    )
    assert AgentStatus.objects.get().problems[0]["detail"] == f"the disk of {HERS} is full"


def rejected_rows(_: Path) -> None:
    batch_id = open_batch(kind="csv", name="jobs.csv", digest="0" * 64, at=NOON)
    row = RejectedJobRow(line=2, field="user", message="'ghopper' is nobody")
    reject_rows(batch_id=batch_id, rows=[row])
    assert RejectedRow.objects.get().reason == f"'{HERS}' is nobody"


def changes_of_workloads(_: Path) -> None:
    service = add_workload(name="answers", team_id=make.make_team("Research"), kind="serving")
    told = EnteredChange(service, "asked by ghopper", "deploy", "build of o'neil", NOON)
    first, again = record_change(change=told), record_change(change=told)
    assert (first[0], first[1], again[1]) == (again[0], True, False)
    kept = WorkloadChange.objects.get()
    assert (kept.feature, kept.name) == (f"asked by {HERS}", f"build of {OTHER}")


DOORS = (
    holder_keys, calls, spans, bill_rows, vendor_costs, run_reports, request_hours,
    problems_of_agents, rejected_rows, changes_of_workloads,
)  # fmt: skip


@pytest.mark.parametrize("door", DOORS)
def test_what_arrives_is_kept_without_names_that_were_taken_out(
    door: Callable[[Path], None], tmp_path: Path
) -> None:
    door(tmp_path)
    assert nothing_names_them()


@pytest.mark.parametrize(
    ("text", "name"),
    [
        ("by Grace M. Hopper. Now", "Grace M. Hopper"),
        ("of o’neil.", "o’neil"),
        ("next=%2Fcosts%3Fuser%253Dghopper", "ghopper"),
        ("Grace+Hopper", "Grace Hopper"),
        ("'ghopper'", "ghopper"),
        ("ghopper's", "ghopper"),
    ],
)
def test_what_may_be_a_name_is_found_within_a_text(text: str, name: str) -> None:
    assert name in set(words_of(text))
