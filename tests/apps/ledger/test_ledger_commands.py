"""`manage.py settle` and `audit_ledger`, as a person or a script runs them."""

import json
import re
from collections.abc import Callable, Sequence
from concurrent.futures import Future
from contextlib import nullcontext
from datetime import UTC, datetime, timedelta
from typing import Any

import pytest
from django.core.management import CommandError, call_command
from django.db import OperationalError, transaction
from django.db.models import F

from apps.fleet.models import Node
from apps.ledger.actions import calls, split
from apps.ledger.models import Line
from apps.ledger.queries.tables import Row
from apps.marks.actions import Mark, mark
from apps.marks.models import ChangedHour, ChangedRange
from apps.marks.queries import Pass
from apps.telemetry.actions import rollup
from controlplane.management.commands import settle
from tests import make
from tests.apps.ledger import scene
from tests.apps.ledger.test_audit import make_settled

pytestmark = pytest.mark.django_db(transaction=True)

HOUR = timedelta(hours=1)


@pytest.fixture
def began_at() -> datetime:
    """A node has lived since three hours ago."""
    make.make_organisation()
    now = datetime.now(UTC)
    began_at = now.replace(minute=0, second=0, microsecond=0) - timedelta(hours=3)
    scene.make_priced_node(started_at=began_at, at=now)
    return began_at


def figures(capsys: pytest.CaptureFixture[str], command: str, *given: str) -> dict[str, Any]:
    call_command(command, *given, "--json")
    found: dict[str, Any] = json.loads(capsys.readouterr().out.splitlines()[-1])
    return found


def test_settle_leaves_nothing_waiting_and_the_audit_agrees(
    began_at: datetime, capsys: pytest.CaptureFixture[str]
) -> None:
    settled = figures(capsys, "settle")
    audited = figures(capsys, "audit_ledger")

    assert settled["charges"] == settled["settlements"] == settled["hours"] == 4
    assert settled["pending"] == 0
    assert audited["node_hours"] == 4
    assert (audited["residual_micros"], audited["missing"], audited["places"]) == (0, 0, [])


def test_settling_again_does_only_the_hour_that_runs(
    began_at: datetime, capsys: pytest.CaptureFixture[str]
) -> None:
    figures(capsys, "settle")
    again = figures(capsys, "settle")

    assert (again["hours"], again["lines"]) == (0, 0)


def test_a_span_settles_its_own_hours_only(
    began_at: datetime, capsys: pytest.CaptureFixture[str]
) -> None:
    until = began_at + timedelta(hours=1)

    settled = figures(capsys, "settle", "--from", began_at.isoformat(), "--to", until.isoformat())

    assert (settled["hours"], settled["charges"]) == (1, 1)


def test_an_hour_that_raises_is_named_and_the_others_are_settled(
    began_at: datetime,
    capsys: pytest.CaptureFixture[str],
    monkeypatch: pytest.MonkeyPatch,
    caplog: pytest.LogCaptureFixture,
) -> None:
    poisoned = began_at + timedelta(hours=1)
    real = split.copy_in

    def break_off(query: str, rows: Sequence[Row]) -> None:
        if rows[0][2] == str(poisoned):
            raise KeyError("a charge")
        real(query, rows)

    with monkeypatch.context() as patched:
        patched.setattr(split, "copy_in", break_off)
        named = f"split of {poisoned.isoformat()}: KeyError"
        with pytest.raises(CommandError, match=re.escape(named)) as stopped:
            call_command("settle", "--json")

    assert stopped.value.returncode == 1
    told = json.loads(capsys.readouterr().out.splitlines()[-1])
    assert (told["settlements"], told["pending"]) == (3, 1)
    assert any(
        each.exc_info and f"SPLIT hour={poisoned}" in each.getMessage() for each in caplog.records
    )
    assert figures(capsys, "settle")["pending"] == 0


def test_an_hour_whose_usage_or_calls_raise_is_named_and_the_others_are_settled(
    began_at: datetime, capsys: pytest.CaptureFixture[str], monkeypatch: pytest.MonkeyPatch
) -> None:
    poisoned = began_at + timedelta(hours=1)
    units = {Pass.USAGE: Node.objects.get().id, Pass.CALLS: 0}
    with transaction.atomic():
        mark(Mark(pass_, units[pass_], began_at + k * HOUR) for pass_ in units for k in range(3))

    def raising(real: Callable[..., Any]) -> Callable[..., Any]:
        def break_off(hour: datetime, *given: Any) -> Any:
            if hour == poisoned:
                raise KeyError("a call")
            return real(hour, *given)

        return break_off

    with monkeypatch.context() as patched:
        patched.setattr(rollup, "_lift_marks", raising(rollup._lift_marks))
        patched.setattr(calls, "_sum_hour", raising(calls._sum_hour))
        with pytest.raises(CommandError) as stopped:
            call_command("settle", "--json")

    named = [f"{pass_.name.lower()} of {poisoned.isoformat()}" for pass_ in units]
    assert str(stopped.value).splitlines()[1:] == [f"{each}: KeyError: 'a call'" for each in named]
    told = json.loads(capsys.readouterr().out.splitlines()[-1])
    assert (told["settlements"], told["pending"]) == (4, 2)
    assert figures(capsys, "settle")["pending"] == 0


@pytest.mark.parametrize(
    ("problem", "status"), [(OperationalError("deadlock detected"), 0), (KeyError("a charge"), 1)]
)
def test_what_a_further_process_leaves_as_it_breaks_off_is_settled_here(
    began_at: datetime,
    problem: Exception,
    status: int,
    capsys: pytest.CaptureFixture[str],
    monkeypatch: pytest.MonkeyPatch,
    caplog: pytest.LogCaptureFixture,
) -> None:
    class BreaksOff(Future[None]):
        def result(self, timeout: float | None = None) -> None:
            scene.recharge(began_at)
            raise problem

    class Others(nullcontext[None]):
        def submit(self, *work: object, **given: object) -> BreaksOff:
            return BreaksOff()

        def __enter__(self) -> None:
            return None

    monkeypatch.setattr(settle, "ProcessPoolExecutor", lambda *given, **named: Others())
    expected = pytest.raises(CommandError, match="broke off") if status else nullcontext()
    with expected as stopped:
        call_command("settle", "--processes", "2", "--json")

    printed = capsys.readouterr()
    assert repr(problem) in printed.err
    told = json.loads(printed.out.splitlines()[-1])
    assert (told["settlements"], told["pending"]) == (4, 0)
    assert (stopped.value.returncode if stopped else 0) == status
    logged = [each.exc_info for each in caplog.records if "settle_process" in each.msg]
    assert [each[1] for each in logged if each] == [problem] * status


def test_a_node_hour_without_a_charge_is_missing_and_fails(
    began_at: datetime, capsys: pytest.CaptureFixture[str]
) -> None:
    ChangedHour.objects.all().delete()
    ChangedRange.objects.all().delete()
    with pytest.raises(SystemExit) as stopped:
        call_command("audit_ledger", "--to", (began_at + timedelta(hours=2)).isoformat(), "--json")

    found = json.loads(capsys.readouterr().out)
    assert stopped.value.code == 1
    assert found["missing"] == 2
    assert found["places"][0]["node"] == "gpu-01"


@pytest.mark.parametrize(
    "given", [["--from", "soon"], ["--from", "2026-03-02T10:00Z", "--to", "2026-03-01"]]
)
def test_spans_that_are_none_are_refused(began_at: datetime, given: list[str]) -> None:
    with pytest.raises(CommandError, match="--from"):
        call_command("settle", *given)


def test_one_micro_unit_more_on_one_line_is_found(capsys: pytest.CaptureFixture[str]) -> None:
    make_settled()
    last = Line.objects.order_by("-id")[:1]
    Line.objects.filter(id__in=last.values("id")).update(effective_micros=F("effective_micros") + 1)

    with pytest.raises(SystemExit) as stopped:
        call_command("audit_ledger", json=True)

    figures = json.loads(capsys.readouterr().out.splitlines()[-1])
    assert stopped.value.code == 1
    assert figures["residual_micros"] == 1
    assert {place["check"] for place in figures["places"]} == {
        "lines sum to their charge",
        "roll-ups by node sum to the lines",
        "roll-ups by user sum to the lines",
        "roll-ups sum to the lines",
        "settlements are what their lines come to",
    }
    assert figures["places"][0]["difference"] == 1
