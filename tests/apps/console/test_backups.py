"""Backups on a schedule: one at a time, kept by day, week and month, shown with their age, and told of when they fail."""

from datetime import UTC, datetime, timedelta
from pathlib import Path
from typing import Any

import pytest
from django.core.cache import cache
from django.db import connection, connections
from django.test import override_settings

from apps.files import list_files, open_file
from apps.review.models import Alert
from apps.web.queries.backups import (
    FAILURE,
    BackupCopy,
    BackupPlan,
    backup_plan,
    backup_state,
    copies_to_keep,
    is_due,
    is_old,
    request_backup,
)
from controlplane.copies import schedule
from controlplane.copies.archive import CopyReader
from controlplane.copies.of_settings import this_installation
from controlplane.copies.refusal import CopyRefused
from controlplane.tasks import make_backups
from tests import make

AT = datetime(2026, 6, 1, 12, tzinfo=UTC)
DAILY = BackupPlan(timedelta(hours=24), 7, 4, 6)
pytestmark = pytest.mark.django_db(transaction=True)


@pytest.fixture(autouse=True)
def home(tmp_path: Path, settings: Any) -> Path:
    """Files of its own, and a schedule of a day."""
    cache.clear()
    settings.HOME, settings.FILES, settings.BACKUP_EVERY_HOURS = tmp_path, "", 24
    make.make_organisation()
    return tmp_path


def back_up(at: datetime = AT, plan: BackupPlan = DAILY) -> BackupCopy | None:
    return schedule.make_backup_if_due(this_installation(), plan, at)


def copies_of(*days: int) -> list[BackupCopy]:
    """A copy of each of these days before AT."""
    moments = [AT - timedelta(days=day) for day in days]
    return [BackupCopy(f"backups/runrate-{at:%Y%m%dT%H%M%SZ}.copy", at, 1) for at in moments]


def test_a_copy_is_made_when_one_is_due_and_not_before() -> None:
    made = back_up()
    assert made is not None
    assert back_up(AT + timedelta(hours=23)) is None
    assert back_up(AT + timedelta(hours=24)) is not None
    assert len(backup_state().copies) == 2
    with open_file(made.name) as file:
        reader = CopyReader(file)
        assert list(reader.members())
        assert reader.digests["tables"]["accounts_team"]["rows"] == 2
    assert cache.get("backup:progress") is None


def test_a_partition_that_is_dropped_meanwhile_is_no_failure(
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    """The copy is written anew; what was sent of the first stays nowhere."""
    with connection.cursor() as cursor:
        cursor.execute(
            "CREATE TABLE zz_last PARTITION OF telemetry_window"
            " FOR VALUES FROM ('2031-01-01') TO ('2031-01-02')"
        )
    tries: list[str] = []

    class Dropping:
        def __call__(self, words: str, share: float) -> None:
            if not tries:
                tries.append(words)
                beside = connections["default"].copy()
                with beside.cursor() as cursor:
                    cursor.execute("DROP TABLE zz_last")
                beside.close()

    monkeypatch.setattr(schedule, "_KeptProgress", Dropping)
    made = back_up()
    assert tries
    assert made is not None
    assert backup_state().failure == ""
    with open_file(made.name) as file:
        assert list(CopyReader(file).members())


def test_without_a_schedule_one_is_made_when_somebody_asks() -> None:
    never = BackupPlan(None, 7, 4, 6)
    assert back_up(plan=never) is None
    request_backup()
    assert back_up(plan=never) is not None
    assert not is_due(backup_state(), never, AT + timedelta(days=400))


def test_one_host_makes_it_at_a_time() -> None:
    other = connections["default"].copy()
    with other.cursor() as cursor:
        cursor.execute("SELECT pg_advisory_lock(%s)", [schedule.LOCK])
        assert back_up() is None
        cursor.execute("SELECT pg_advisory_unlock(%s)", [schedule.LOCK])
    other.close()
    assert back_up() is not None


def test_the_newest_of_days_weeks_and_months_are_kept() -> None:
    plan = BackupPlan(timedelta(hours=6), daily=2, weekly=2, monthly=3)
    # 1 June 2026 is a Monday: the day before is of the week before, and of May.
    copies = copies_of(0, 0.25, 1, 2, 8, 31, 32, 62, 93)  # type: ignore[arg-type]  # parts of days
    kept = copies_to_keep(copies, plan)
    assert [copy in kept for copy in (each.name for each in copies)] == [
        True,  # the newest; of its day, week and month
        False,
        True,  # of its day, the week before, and May
        False,
        False,
        False,  # 1 May: May has a later one
        True,  # 30 April
        False,
        False,
    ]
    assert copies_to_keep(copies, BackupPlan(None, 0, 0, 0)) == {copies[0].name}


def test_what_is_no_longer_kept_is_deleted(monkeypatch: pytest.MonkeyPatch) -> None:
    one = BackupPlan(timedelta(hours=1), 1, 1, 1)
    back_up(AT, one)
    newer = back_up(AT + timedelta(hours=2), one)
    assert newer is not None
    assert [entry.name for entry in list_files("backups")] == [newer.name]


def test_a_failure_is_told_kept_and_over_with_the_next_copy(
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    def fail(*given: object) -> None:
        raise CopyRefused("the disk is full")

    with monkeypatch.context() as patch:
        patch.setattr(schedule, "write_copy", fail)
        assert make_backups() == 0
    assert list_files("backups") == []
    alert = Alert.objects.get(matter="backup:failed")
    assert (alert.state, alert.title) == ("open", "The last backup failed")
    assert ["Why", "the disk is full"] in alert.facts
    page = signed_in_page()
    assert "failed: the disk is full" in page
    assert "none yet" in page

    assert make_backups() == 0, "tried again only after a while"
    cache.set(FAILURE, {"at": AT.isoformat(), "why": "the disk is full"})
    assert make_backups() == 1
    alert.refresh_from_db()
    assert alert.state == "resolved"


def test_one_that_grows_old_is_told_and_shown() -> None:
    back_up(datetime.now(UTC) - timedelta(days=5))
    state = backup_state()
    assert is_old(state, DAILY, datetime.now(UTC))
    cache.set(FAILURE, {"at": datetime.now(UTC).isoformat(), "why": "the bucket does not answer"})
    make_backups()
    alert = Alert.objects.get(matter="backup:old")
    assert (alert.severity, alert.title) == ("urgent", "The newest backup is 5 days old")
    assert "5 d old, which is older than it should be" in signed_in_page()


def signed_in_page() -> str:
    with connection.cursor() as cursor:
        cursor.execute("SELECT count(*) FROM accounts_user WHERE email = 'finance@example.org'")
        assert cursor.fetchone() == (0,)
    client = signed_in_again()
    return str(client.get("/people/retention").content.decode())


def signed_in_again() -> Any:
    from django.test import Client

    from apps.accounts.models import User

    client = Client()
    person = make.make_person("finance@example.org", name="Fin", role="finance")
    client.force_login(User.objects.get(pk=person))
    return client


def test_a_click_asks_for_one() -> None:
    client = signed_in_again()
    with override_settings(BACKUP_EVERY_HOURS=0):
        page = client.get("/people/retention").content.decode()
        assert "never by themselves" in page
        assert make_backups() == 0
        assert client.post("/people/retention/back-up").status_code == 302
        assert make_backups() == 1
        assert backup_plan().every is None
        assert backup_state().newest is not None


def test_a_clock_that_ran_ahead_keeps_no_copy_from_being_made_or_kept() -> None:
    """A copy of ten years from now is neither the newest nor in time."""
    ahead = back_up(AT + timedelta(days=3650))
    assert ahead is not None
    assert is_due(backup_state(), DAILY, AT)
    only_one = BackupPlan(timedelta(hours=24), 1, 0, 0)
    made = back_up(AT, only_one)
    assert made is not None
    assert made.name in {copy.name for copy in backup_state().copies}
    assert not is_due(backup_state(), only_one, AT + timedelta(hours=1))
    assert is_old(backup_state(), only_one, AT + timedelta(days=3))
