"""A correction of a closed month moves the day that it is of, and nothing of the days since."""

from collections import Counter
from collections.abc import Iterator
from datetime import UTC, date, datetime
from importlib import import_module
from typing import Any

import pytest
from django.apps import apps
from django.db import connection, models, transaction
from django.db.models import Sum

from apps.economics.hours import first_hour
from apps.economics.run_time import Bucket
from apps.fleet.queries import pools
from apps.ledger.actions import close
from apps.ledger.actions.close.corrections import Corrected
from apps.ledger.models import (
    Charge,
    LedgerDay,
    LedgerJobDay,
    LedgerMonth,
    LedgerNodeDay,
    LedgerPoolDay,
    LedgerTeamDay,
    LedgerUserDay,
    Line,
)
from apps.ledger.queries.closes.checklist import checklist
from apps.ledger.queries.closes.contents import digest_of_month
from apps.ledger.queries.closes.months import late_facts, month_standings
from apps.ledger.queries.costs import Basis
from apps.ledger.queries.cube import CubeQuestion, explore
from apps.ledger.queries.spend_days import BY_CHARGE, BY_POOL, BY_TEAM, BY_WORKLOAD, spend_by_day
from apps.ledger.queries.windows import Window
from apps.marks.actions import Mark, mark
from apps.marks.models import ChangedHour
from apps.marks.queries import Pass
from apps.unit_economics.actions.runs import write_run_figures
from apps.unit_economics.models import RunDay, RunFigures, ServiceCount, ServiceDay, ServiceTotal
from apps.unit_economics.queries.unit_costs import UnitFilter, unit_cost_groups
from apps.workloads.models import Run
from controlplane.ledger_audit import audit_here
from tests.apps.ledger import scene
from tests.apps.ledger.corrected_world import (
    APRIL,
    AT,
    MARCH,
    CorrectedWorld,
    close_march,
    cut_the_price,
    make_corrected_world,
)
from tests.apps.ledger.scene import HOUR, TEN
from tests.apps.ledger.test_close import EVERYTHING

pytestmark = pytest.mark.django_db

MAY = date(2026, 5, 1)
DAY = TEN.date()
OF_DAYS: tuple[type[models.Model], ...] = (
    *(LedgerDay, LedgerJobDay, LedgerNodeDay, LedgerPoolDay, LedgerTeamDay, LedgerUserDay),
    *(RunDay, ServiceDay, ServiceTotal),
)


@pytest.fixture(scope="module")
def world(of_module: None) -> CorrectedWorld:
    """Two hours of March and of April alike; March is closed."""
    world = make_corrected_world()
    close_march()
    return world


def correct(world: CorrectedWorld) -> Corrected:
    cut_the_price(world)
    posted = close.post_corrections(month=MARCH, at=AT + HOUR)
    scene.settle_all(AT + 2 * HOUR)
    return posted


def rows_of(table: type[models.Model], **which: Any) -> list[dict[str, Any]]:
    return list(table._default_manager.filter(**which).order_by("id").values())


def april_rows() -> dict[str, list[dict[str, Any]]]:
    return {table.__name__: rows_of(table, day__gte=APRIL) for table in OF_DAYS} | {
        "ServiceCount": rows_of(ServiceCount, day__gte=APRIL),
        "LedgerMonth": rows_of(LedgerMonth, month=APRIL),
    }


def window_of_days(first: date, end: date) -> Window:
    return Window("", first, end, "UTC")


def april_figures(world: CorrectedWorld) -> Iterator[object]:
    """What pages and reports of April's days are made of."""
    window = window_of_days(APRIL, MAY)
    for by in ("team", "workload", "pool", "kind", "status", "day", "week", "month"):
        yield by, explore(CubeQuestion(window, (by,))).rows
    for by in (BY_TEAM, BY_WORKLOAD, BY_POOL, BY_CHARGE):
        yield by, spend_by_day(window, by)
    for by in ("service", "feature", "day"):
        yield by, unit_cost_groups(UnitFilter(window, Basis.EFFECTIVE), (by,))


def total(table: type[models.Model], **which: Any) -> int:
    found = table._default_manager.filter(**which).aggregate(micros=Sum("effective_micros"))
    return int(found["micros"] or 0)


def test_no_figure_of_the_days_since_moves(world: CorrectedWorld) -> None:
    rows, figures = april_rows(), list(april_figures(world))
    assert all(rows.values())

    posted = correct(world)

    assert posted.effective_micros < 0
    assert april_rows() == rows
    assert list(april_figures(world)) == figures
    assert audit_here().places == ()


def test_posting_touches_no_row_and_leaves_no_mark_of_the_closed_month(
    world: CorrectedWorld,
) -> None:
    own = {table: rows_of(table, posting_month=MARCH) for table in (*OF_DAYS, LedgerMonth)}
    counted, digest = rows_of(ServiceCount), digest_of_month(MARCH, "UTC")

    correct(world)

    assert {table: rows_of(table, posting_month=MARCH) for table in own} == own
    assert (rows_of(ServiceCount), digest_of_month(MARCH, "UTC")) == (counted, digest)
    assert not ChangedHour.objects.exists()
    assert (late_facts(MARCH).hours, late_facts(MARCH).days) == (0, 0)


def test_the_day_that_it_is_of_costs_what_it_does_now(world: CorrectedWorld) -> None:
    before = {table: total(table, day=DAY) for table in OF_DAYS if table is not ServiceTotal}
    shares = {bucket: total(RunDay, run=world.march_run, bucket=bucket) for bucket in Bucket}
    figures = RunFigures.objects.get(run=world.march_run).effective_micros

    posted = correct(world)

    moved = {table: total(table, day=DAY) - micros for table, micros in before.items()}
    assert {moved[table] for table in (LedgerDay, LedgerNodeDay, LedgerPoolDay, LedgerTeamDay)} == {
        posted.effective_micros
    }
    assert moved[LedgerUserDay] == posted.effective_micros
    assert moved[LedgerJobDay] < moved[RunDay] < 0
    assert moved[ServiceDay] < 0
    assert total(LedgerMonth, month=MARCH, posting_month=APRIL) == posted.effective_micros
    # The run's corrections go where its own hour went: three quarters of it worked.
    lost = {
        bucket: total(RunDay, run=world.march_run, bucket=bucket) - micros
        for bucket, micros in shares.items()
    }
    assert lost[Bucket.PRODUCTIVE] == pytest.approx(3 * lost[Bucket.DATA_WAIT], abs=3)
    now = RunFigures.objects.get(run=world.march_run).effective_micros
    assert (now or 0) - (figures or 0) == sum(lost.values())


def test_a_service_costs_less_on_that_day_and_answered_what_it_did(world: CorrectedWorld) -> None:
    chosen = UnitFilter(window_of_days(MARCH, APRIL), Basis.EFFECTIVE)
    (before,) = unit_cost_groups(chosen)

    correct(world)

    (after,) = unit_cost_groups(chosen)
    assert (after.told, after.worked) == (before.told, before.worked)
    assert after.unit_milliseconds == before.unit_milliseconds
    assert (after.parts.answered or 0) < (before.parts.answered or 0)
    of_features = unit_cost_groups(chosen, ("feature",))
    assert sum(cost.parts.answered or 0 for cost in of_features) == after.parts.answered


def test_books_read_the_month_that_posted_it_and_days_the_day(world: CorrectedWorld) -> None:
    books = {each.month: each.effective_micros for each in month_standings()}
    days = explore(CubeQuestion(window_of_days(MARCH, MAY), ("month",)))
    of_days = {row.keys[0].value: row.sums.micros for row in days.rows}
    assert of_days == books

    posted = correct(world).effective_micros

    now = {each.month: each.effective_micros for each in month_standings()}
    assert now == {MARCH: books[MARCH], APRIL: (books[APRIL] or 0) + posted}
    days = explore(CubeQuestion(window_of_days(MARCH, MAY), ("month",)))
    assert {row.keys[0].value: row.sums.micros for row in days.rows} == {
        MARCH: (books[MARCH] or 0) + posted,
        APRIL: books[APRIL],
    }


def test_a_month_cannot_be_closed_while_what_it_posts_waits_to_be_summed(
    world: CorrectedWorld,
) -> None:
    cut_the_price(world)
    close.post_corrections(month=MARCH, at=AT + HOUR)

    assert {item.code: item.count for item in checklist(APRIL)}["unsummed"] == 1
    found = audit_here()
    assert (found.places, found.pending_days) == ((), (DAY,))

    scene.settle_all(AT + 2 * HOUR)
    assert {item.code: item.count for item in checklist(APRIL)}["unsummed"] == 0


def test_what_a_month_posted_is_frozen_with_it(world: CorrectedWorld) -> None:
    correct(world)
    in_may = datetime(2026, 5, 2, 9, tzinfo=UTC)
    asked = close.CloseRequest(month=APRIL, person_id=None, accepted=EVERYTHING)
    close.close_month(request=asked, at=in_may)
    posted = {table: rows_of(table, posting_month=APRIL) for table in (*OF_DAYS, LedgerMonth)}

    close.reopen_month(month=MARCH, reason="to see", person_id=None, at=in_may)
    scene.settle_all(in_may)

    assert {table: rows_of(table, posting_month=APRIL) for table in posted} == posted
    assert total(LedgerDay, day=DAY, posting_month=MAY) == -total(
        LedgerDay, day=DAY, posting_month=APRIL
    )
    assert audit_here().places == ()


def test_a_correction_keeps_the_hour_and_is_in_the_books_of_the_open_month(
    world: CorrectedWorld,
) -> None:
    correct(world)

    corrections = Charge.objects.exclude(corrects=None)
    assert set(corrections.values_list("posting_month", flat=True)) == {APRIL}
    assert all(each.hour == each.corrects.hour for each in corrections.select_related("corrects"))
    assert set(Line.objects.filter(charge__in=corrections).values_list("hour", flat=True)) == {
        TEN,
        TEN + HOUR,
    }


def put_where_posted() -> None:
    """As versions before posted them: in the hour of `post_corrections`, which its day sums."""
    then = AT.replace(minute=0) + HOUR
    moved = Charge.objects.exclude(corrects=None)
    Line.objects.filter(charge__in=moved).update(hour=then)
    moved.update(hour=then, through=then + HOUR)
    for table in OF_DAYS:
        table._default_manager.filter(day=DAY, posting_month=APRIL).delete()
    LedgerMonth.objects.filter(month=MARCH, posting_month=APRIL).delete()
    write_run_figures(run_ids=set(Run.objects.values_list("id", flat=True)), at=AT)
    with transaction.atomic():
        day = first_hour(then.date(), "UTC")
        mark(Mark(Pass.ROLLUP, pool_id, day) for pool_id in (0, *pools()))
    scene.settle_all(AT + 2 * HOUR)


def upgrade() -> None:
    migration = import_module("apps.ledger.migrations.0031_corrections_on_their_day")
    with connection.schema_editor() as editor:
        migration.move_corrections(apps, editor)


def all_sums() -> dict[str, Counter[str]]:
    """Every roll-up, but for the numbers of its rows."""
    return {
        table.__name__: Counter(
            repr({name: kept for name, kept in row.items() if name != "id"})
            for row in rows_of(table)
        )
        for table in (*OF_DAYS, LedgerMonth)
    }


def test_the_upgrade_moves_what_open_months_posted_to_its_hour(world: CorrectedWorld) -> None:
    correct(world)
    sums = all_sums()
    put_where_posted()
    assert total(LedgerDay, day__gte=date(2026, 4, 3)) < 0
    assert audit_here().corrections_where_posted

    upgrade()

    assert audit_here().places == ()
    scene.settle_all(AT + 2 * HOUR)
    assert all_sums() == sums
    found = audit_here()
    assert (found.places, found.pending_days, found.corrections_where_posted) == ((), (), 0)


def test_the_upgrade_leaves_what_closed_months_posted_and_the_audit_counts_it(
    world: CorrectedWorld,
) -> None:
    correct(world)
    put_where_posted()
    in_may = datetime(2026, 5, 2, 9, tzinfo=UTC)
    asked = close.CloseRequest(month=APRIL, person_id=None, accepted=EVERYTHING)
    close.close_month(request=asked, at=in_may)
    sums = all_sums()

    upgrade()
    scene.settle_all(in_may)

    assert all_sums() == sums
    found = audit_here()
    assert found.places == ()
    assert found.corrections_where_posted == Charge.objects.exclude(corrects=None).count()
