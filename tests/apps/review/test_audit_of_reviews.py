"""The audit of frozen reviews: what is changed or taken away behind the database's back is found."""

from collections.abc import Iterator
from contextlib import contextmanager
from datetime import UTC, datetime

import pytest
from django.db import DataError, IntegrityError, ProgrammingError, connection, transaction

from apps.review import actions
from apps.review.models import WeeklyReview, WeeklyReviewWorkload
from apps.review.queries.audit_reviews import REVIEWS
from apps.workloads.actions.workloads import add_workload
from controlplane.ledger_audit import audit_here
from tests import make
from tests.apps.ledger.tampering import Column, columns_of, tamper
from tests.apps.review.reviews import content, workload

pytestmark = pytest.mark.django_db
AT = datetime(2026, 7, 27, 5, tzinfo=UTC)
NOT_TOLD = {
    "review_weeklyreview": {"made_at", "made_by_id", "reason"},
    "review_weeklyreviewworkload": {"id"},
}
"""When and why an edition was made, and by whom: nothing else says so."""


@pytest.fixture(autouse=True)
def _frozen() -> None:
    """A week of two workloads, and a further edition of it."""
    make.make_organisation()
    make.make_person()
    teams = make.make_team("search"), make.make_team("ads")
    works = [
        workload(add_workload(name=f"w{team_id}", team_id=team_id, kind="serving"), team_id)
        for team_id in teams
    ]
    actions.freeze_review(content=content(*works), at=AT)
    actions.freeze_review(content=content(*works, title="Again"), at=AT, reason="a bill since")


@contextmanager
def unguarded() -> Iterator[None]:
    """Without the triggers that refuse it; undone afterwards."""
    undo = transaction.savepoint()
    with connection.cursor() as cursor:
        cursor.execute("SET session_replication_role = replica")
        try:
            yield
        finally:
            transaction.savepoint_rollback(undo)


def found() -> set[str | None]:
    return {place.basis for place in audit_here().places if place.check == REVIEWS}


def is_found(column: Column) -> bool:
    with unguarded():
        try:
            assert tamper(column) == 1
        except (IntegrityError, DataError):
            return True
        return bool(found())


def test_what_is_as_it_was_frozen_is_no_place() -> None:
    assert audit_here().places == ()


@pytest.mark.parametrize("table", NOT_TOLD)
def test_one_unit_changed_in_any_column_of_a_review_is_found(table: str) -> None:
    missed = {column.name for column in columns_of(table) if not is_found(column)}

    assert missed == NOT_TOLD[table]


def test_a_workload_or_an_edition_taken_away_is_found() -> None:
    with unguarded():
        WeeklyReviewWorkload.objects.filter(place=0).order_by("id").delete()
        assert found() >= {"digest", "place of a workload"}
    with unguarded():
        first = WeeklyReview.objects.get(edition=1)
        WeeklyReviewWorkload.objects.filter(review=first).delete()
        WeeklyReview.objects.filter(pk=first.pk).delete()
        assert found() == {"edition"}


@pytest.mark.parametrize("table", [WeeklyReviewWorkload, WeeklyReview])
def test_no_part_of_a_review_is_taken_away(table: type[WeeklyReview]) -> None:
    with pytest.raises(ProgrammingError, match="Cannot update or delete"), transaction.atomic():
        table.objects.all().delete()
