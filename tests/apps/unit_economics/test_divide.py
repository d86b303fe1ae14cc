"""A day is divided over runs and services once its lines are summed, and whenever facts of these come."""

from collections.abc import Sequence
from datetime import date, datetime

import pytest
from django.db import models, transaction

from apps.economics.run_time import Bucket
from apps.fleet import actions as fleet
from apps.fleet.queries import pools
from apps.ledger import actions as ledger
from apps.ledger.actions import close
from apps.ledger.models import LedgerDay
from apps.ledger.queries.closes.checklist import checklist
from apps.ledger.queries.closes.months import late_facts
from apps.marks.actions import Mark, mark
from apps.marks.models import ChangedHour
from apps.marks.queries import Pass
from apps.unit_economics.actions.divide import divide_day
from apps.unit_economics.models import RunDay, RunFigures, ServiceCount, ServiceDay, ServiceTotal
from apps.workloads.actions.requests import CountedRequests, RequestTeller, record_requests
from apps.workloads.models import OwnershipRule, RunHour
from controlplane.ledger_audit import audit_here
from tests import make
from tests.apps.ledger import scene
from tests.apps.ledger.test_close import EVERYTHING, IN_APRIL
from tests.apps.unit_economics import run_scene
from tests.apps.unit_economics import service_scene as services

pytestmark = pytest.mark.django_db

MARCH = date(2026, 3, 1)
MIDNIGHT = scene.TEN.replace(hour=0)
DIVIDED = (RunDay, RunFigures, ServiceDay, ServiceCount, ServiceTotal)


@pytest.fixture(scope="module")
def service(of_module: None) -> int:
    """A job that carried a run, and a service's job, of an hour of March; all settled."""
    make.make_organisation()
    make.make_cluster()
    team = make.make_team()
    scene.make_rule("research", team)
    chat = services.make_service(team)
    OwnershipRule.objects.create(
        priority=20, account="chat", team_id=team, workload_id=chat, period=(None, None)
    )
    node_id = scene.make_priced_node()
    fleet.end_node(
        node_id=node_id, ended_at=scene.TEN + scene.HOUR, reason="given back", at=scene.LATER
    )
    job_id = scene.make_job("1", node_id, gpus=4)
    scene.make_job("2", node_id, gpus=4, account="chat")
    run_id = run_scene.make_run("llama", (job_id, scene.TEN, scene.TEN + scene.HOUR), tokens=9)
    run_scene.tell(run_id, job_id, {Bucket.PRODUCTIVE: 60})
    services.count(chat, feature="ask", requests=3, prompt_tokens=9, output_tokens=9)
    scene.settle_all(IN_APRIL)
    return chat


def divided() -> list[tuple[str, ...]]:
    """All that the pass writes, but for ids and when it was written."""
    return [tuple(sorted(map(repr, _rows(table)))) for table in DIVIDED]


def _rows(table: type[models.Model]) -> Sequence[tuple[object, ...]]:
    kept = [
        field.attname
        for field in table._meta.concrete_fields
        if field.attname not in ("id", "computed_at")
    ]
    return list(table._default_manager.values_list(*kept))


def waiting() -> set[tuple[Pass, datetime]]:
    return {(Pass(each.pass_id), each.hour) for each in ChangedHour.objects.all()}


def mark_days(pass_: Pass) -> None:
    with transaction.atomic():
        mark([Mark(pass_, pool_id, MIDNIGHT) for pool_id in pools()])


def count_more(chat: int) -> None:
    told = CountedRequests("gateway", "another", "chat-api", scene.TEN, 1, feature="sum", requests=7,
                   succeeded=7, prompt_tokens=90, output_tokens=9)  # fmt: skip
    (taken,) = record_requests(counted=[told], teller=RequestTeller(), at=IN_APRIL)
    assert taken.workload_id == chat


def test_a_day_that_is_summed_and_not_divided_waits_and_its_month_stays_open(service: int) -> None:
    before = divided()
    assert all(before)
    for table in DIVIDED:
        table.objects.all().delete()
    mark_days(Pass.ROLLUP)

    ledger.roll_up_day(first_hour=MIDNIGHT)

    assert not any(divided())
    assert waiting() == {(Pass.DIVIDE, MIDNIGHT)}
    assert audit_here(scene.TEN, scene.TEN + scene.HOUR).places == ()
    assert {item.code: item.count for item in checklist(MARCH)}["unsummed"] == 1
    asked = close.CloseRequest(month=MARCH, person_id=None, accepted=EVERYTHING)
    with pytest.raises(close.MonthNotReady, match="summed or divided"):
        close.close_month(request=asked, at=IN_APRIL)

    divide_day(first_hour=MIDNIGHT, at=IN_APRIL)

    assert waiting() == set()
    assert divided() == before
    assert audit_here(scene.TEN, scene.TEN + scene.HOUR).adds_up
    close.close_month(request=asked, at=IN_APRIL)


def test_requests_that_come_late_are_divided_and_nothing_is_summed_again(service: int) -> None:
    summed, before = list(LedgerDay.objects.order_by("id").values()), divided()
    count_more(service)
    assert waiting() == {(Pass.DIVIDE, MIDNIGHT)}

    scene.settle_all(IN_APRIL)

    assert list(LedgerDay.objects.order_by("id").values()) == summed
    assert set(ServiceDay.objects.values_list("feature", flat=True)) == {"ask", "sum"}
    after = divided()
    assert after != before
    mark_days(Pass.ROLLUP)
    scene.settle_all(IN_APRIL)
    assert divided() == after


def test_a_closed_month_keeps_how_it_was_divided_and_says_that_facts_came(service: int) -> None:
    asked = close.CloseRequest(month=MARCH, person_id=None, accepted=EVERYTHING)
    close.close_month(request=asked, at=IN_APRIL)
    before = divided()
    RunHour.objects.update(bucket_ms=[0] * len(Bucket))
    mark_days(Pass.DIVIDE)

    assert divide_day(first_hour=MIDNIGHT, at=IN_APRIL).is_kept
    scene.settle_all(IN_APRIL)

    assert divided() == before
    assert (late_facts(MARCH).hours, late_facts(MARCH).days) == (0, 1)
    close.reopen_month(month=MARCH, reason="late reports", person_id=None, at=IN_APRIL)
    scene.settle_all(IN_APRIL)
    assert divided() != before
    assert late_facts(MARCH).days == 0
