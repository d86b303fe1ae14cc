"""Batches that arrive at once, while hours are rolled up, or while the database is away."""

import json
import threading
from collections.abc import Callable
from concurrent.futures import ThreadPoolExecutor
from typing import Any

import pytest
from django.db import IntegrityError, connection, connections, transaction

from apps.marks.actions import Mark, mark
from apps.marks.models import ChangedHour
from apps.marks.queries import Pass
from apps.telemetry import api
from apps.telemetry.actions import storing
from apps.telemetry.actions.partitions import ensure_days
from apps.telemetry.actions.rollup import roll_up_hour
from apps.telemetry.actions.wire import BatchUnreadable
from apps.telemetry.api import AuthenticationRefused
from apps.telemetry.models import Batch, TelemetryWindow, UsageHour
from tests.apps.telemetry.doors import arriving, through_the_front_door, with_token
from tests.apps.telemetry.sending import Sending, batch, make_sending, this_hour, window
from tests.databases import somebody_waits, wait_until

pytestmark = pytest.mark.django_db(transaction=True)


def in_thread(work: Callable[[], Any]) -> Callable[[], Any]:
    """The same, with a connection of its own that is closed at the end."""

    def run() -> Any:
        try:
            return work()
        finally:
            connections.close_all()

    return run


def at_once(*works: Callable[[], Any]) -> list[Any]:
    with ThreadPoolExecutor(len(works)) as pool:
        return [each.result(30) for each in [pool.submit(in_thread(work)) for work in works]]


def test_of_identical_batches_at_once_exactly_one_is_stored():
    sending = make_sending()
    sent = batch([window(minute) for minute in range(5)])
    together = threading.Barrier(4)

    def post() -> dict[str, Any]:
        together.wait(20)
        return sending.post(sent).json()

    answers = at_once(post, post, post, post)
    assert sorted(each["duplicate"] for each in answers) == [False, True, True, True]
    assert {each["accepted"] for each in answers} == {5}
    assert (TelemetryWindow.objects.count(), Batch.objects.count()) == (5, 1)


def test_a_duplicate_waits_for_the_first_and_takes_its_place_if_that_fails():
    sending = make_sending()
    ensure_days([this_hour().date()])
    sent = batch([window()])
    with ThreadPoolExecutor(1) as pool:
        with transaction.atomic():
            assert sending.post(sent).json()["duplicate"] is False
            later = pool.submit(in_thread(lambda: sending.post(sent).json()))
            wait_until(somebody_waits)
            transaction.set_rollback(True)
        assert later.result(30)["duplicate"] is False
    assert TelemetryWindow.objects.count() == 1


def test_different_batches_at_once_are_all_stored():
    sendings = [make_sending(name) for name in ("gpu-01", "gpu-02", "gpu-03")]

    def post_ten(sending: Sending, place: int) -> None:
        devices = [{"uuid": f"GPU-{place}", "model": "NVIDIA L4"}]
        for sequence in range(10):
            sent = batch([window(sequence)], sequence=sequence, devices=devices)
            assert sending.post(sent).json()["accepted"] == 1

    at_once(
        *(
            lambda sending=sending, place=place: post_ten(sending, place)
            for place, sending in enumerate(sendings)
        )
    )
    assert TelemetryWindow.objects.count() == 30


def each_accepted(sending: Sending, sents: list[dict[str, Any] | bytes]) -> list[Any]:
    """How many windows of each were taken, and whether it was a duplicate; or what was raised."""
    answers = api.receive_batches([arriving(sending, sent) for sent in sents])
    return [
        type(answer) if isinstance(answer, Exception) else tuple(json.loads(answer).values())[:2]
        for answer in answers
    ]


def statements_of(work: Callable[[], Any]) -> int:
    """How many transactions the database saw begin for `work`."""
    seen: list[bytes] = []
    send = storing._Line.send

    def noted(line: Any, text: bytes) -> None:
        seen.append(text)
        send(line, text)

    with pytest.MonkeyPatch.context() as patch:
        patch.setattr(storing._Line, "send", noted)
        work()
    return len(seen)


def test_small_batches_that_arrive_together_share_a_transaction():
    sending = make_sending()
    sending.post(batch([window()], sequence=99))
    sents = [batch([window(1 + minute)], sequence=minute) for minute in range(20)]
    assert statements_of(lambda: each_accepted(sending, sents)) == 1
    assert TelemetryWindow.objects.count() == Batch.objects.count() == 21
    assert Batch.objects.get(sequence=7).accepted == 1


def test_what_is_wrong_with_one_of_them_is_its_own():
    sending, other = make_sending(), make_sending("gpu-02")
    sending.post(batch([window(0)]))
    sents: list[dict[str, Any] | bytes] = [
        batch([window(1)], sequence=1),
        batch([window(0)]),
        b"{",
        batch([window(2), window(3, seconds=7)], sequence=2),
        batch([window(1)], sequence=1),
        batch([window(minute) for minute in range(10, 60)], sequence=3),
        batch([window(4)], sequence=4),
    ]
    assert each_accepted(sending, sents) == [
        (1, False),
        (1, True),
        BatchUnreadable,
        (1, False),
        (1, True),
        (50, False),
        (1, False),
    ]
    assert sorted(Batch.objects.values_list("sequence", "accepted")) == [
        (0, 1), (1, 1), (2, 1), (3, 50), (4, 1),
    ]  # fmt: skip
    assert TelemetryWindow.objects.count() == 54
    stranger = arriving(other, batch([window(5)], sequence=5)) | with_token("nobody's")
    good = arriving(sending, batch([window(6)], sequence=6))
    refused, answer = api.receive_batches([stranger, good])
    assert isinstance(refused, AuthenticationRefused)
    assert isinstance(answer, bytes)


def test_where_the_shared_transaction_fails_each_is_stored_by_itself():
    sending = make_sending()
    sending.post(batch([window(30)], sequence=99))
    with connection.cursor() as cursor:
        cursor.execute("ALTER TABLE telemetry_batch ADD CONSTRAINT not_three CHECK (sequence <> 3)")
    try:
        sents = [batch([window(minute)], sequence=minute) for minute in range(6)]
        answers = each_accepted(sending, sents)
    finally:
        with connection.cursor() as cursor:
            cursor.execute("ALTER TABLE telemetry_batch DROP CONSTRAINT not_three")
    assert answers == [(1, False)] * 3 + [IntegrityError] + [(1, False)] * 2
    assert TelemetryWindow.objects.count() == Batch.objects.count() == 6


def test_a_batch_that_commits_between_facts_and_marks_is_rolled_up_the_next_time():
    sending = make_sending()
    sending.post(batch([window(0)]))
    assert roll_up_hour(hour=this_hour()) == 1
    sending.post(batch([window(1)], sequence=1))
    with ThreadPoolExecutor(1) as pool:
        with transaction.atomic():
            # A batch on its way: its mark is laid, so the roll-up must wait to lift its own.
            mark([Mark(Pass.USAGE, sending.node_id, this_hour())])
            rolled = pool.submit(in_thread(lambda: roll_up_hour(hour=this_hour())))
            wait_until(somebody_waits)
            sending.post(batch([window(2)], sequence=2))
        assert rolled.result(30) == 1
    assert bytes(UsageHour.objects.get().observed)[:3] == bytes([240, 240, 0])
    assert ChangedHour.objects.filter(pass_id=Pass.USAGE).count() == 1
    assert roll_up_hour(hour=this_hour()) == 1
    assert bytes(UsageHour.objects.get().observed)[:3] == bytes([240, 240, 240])
    assert not ChangedHour.objects.filter(pass_id=Pass.USAGE).exists()


def test_two_roll_ups_of_an_hour_do_not_meet():
    sending = make_sending()
    sending.post(batch([window(0)]))
    with ThreadPoolExecutor(1) as pool, transaction.atomic():
        assert roll_up_hour(hour=this_hour()) == 1
        other = pool.submit(in_thread(lambda: roll_up_hour(hour=this_hour())))
        assert other.result(30) == 0
    assert UsageHour.objects.count() == 1


@pytest.mark.parametrize("sender_is_known", [True, False])
def test_while_the_database_is_away_a_batch_is_503_and_taken_later(sender_is_known, monkeypatch):
    sending = make_sending()
    sending.post(batch([window(0)]))
    if not sender_is_known:
        api.forget()
    sent = batch([window(1)], sequence=1)
    connection.close()
    with monkeypatch.context() as patch:
        patch.setitem(connection.settings_dict, "HOST", "127.0.0.1")
        patch.setitem(connection.settings_dict, "PORT", "1")
        answer = sending.post(sent)
    assert (answer.status_code, answer["Content-Type"]) == (503, "application/problem+json")
    assert int(answer["Retry-After"]) > 0
    again = sending.post(sent)
    assert (again.status_code, again.json()["duplicate"]) == (200, False)
    assert TelemetryWindow.objects.count() == 2


def test_a_connection_that_died_costs_one_retry_and_no_window():
    sending = make_sending()
    sending.post(batch([window(0)]))
    with connection.cursor() as cursor:
        cursor.execute("SELECT pg_backend_pid()")
        pid = cursor.fetchone()[0]

    def end_it() -> None:
        with connection.cursor() as cursor:
            cursor.execute("SELECT pg_terminate_backend(%s, 5000)", [pid])

    at_once(end_it)
    body = json.dumps(batch([window(1)], sequence=1)).encode()
    given = with_token(sending.secret)
    assert [through_the_front_door(body, **given)[0] for _ in range(2)] == [503, 200]
    assert TelemetryWindow.objects.count() == 2
