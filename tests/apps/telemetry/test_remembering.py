"""A web process that begins anew knows its fleet before the fleet comes."""

from datetime import timedelta

import pytest
from django.db import connection
from django.test.utils import CaptureQueriesContext
from django.utils import timezone

from apps.accounts.actions import revoke_token
from apps.fleet.models import Agent, Device
from apps.telemetry import api
from apps.telemetry.actions import interning
from apps.telemetry.models import TelemetryWindow
from tests.apps.telemetry.sending import batch, gpu, make_sending, window

pytestmark = pytest.mark.django_db


def begin_anew() -> None:
    api.forget()
    interning.forget()


def test_a_batch_of_a_known_agent_asks_nothing_that_was_asked_at_the_start() -> None:
    sending = make_sending()
    devices = [gpu(0), gpu(1)]
    sending.post(batch([window(1)], devices=devices))
    begin_anew()
    api.remember()
    with CaptureQueriesContext(
        connection,
    ) as asked:
        answer = sending.post(batch([window(2)], devices=devices, sequence=1))
    assert answer.json()["accepted"] == 1
    about_devices = [each["sql"] for each in asked if "fleet_device" in each["sql"]]
    # What is stored of the hour is looked for once a process: other processes may have stored it.
    assert [sql for sql in about_devices if "AS named\nJOIN fleet_device_fact" not in sql] == []
    assert len(about_devices) == 1
    assert not [each for each in asked if "digest" in each["sql"]]


def test_a_token_revoked_meanwhile_is_refused_as_soon_as_any_other(monkeypatch) -> None:
    sending = make_sending()
    sending.post(batch([window(1)]))
    begin_anew()
    api.remember()
    token_id = Agent.objects.get(id=sending.agent_id).token_id
    revoke_token(token_id=token_id, at=timezone.now())
    later = timezone.now() + timedelta(seconds=11)
    monkeypatch.setattr(timezone, "now", lambda: later)
    assert sending.post(batch([window(2)], sequence=1)).status_code == 401


def test_a_gpu_that_is_described_otherwise_is_looked_up_as_ever() -> None:
    sending = make_sending()
    sending.post(batch([window(1)], devices=[gpu(0)]))
    begin_anew()
    api.remember()
    assert sending.post(batch([window(2, device=1)], devices=[gpu(0), gpu(1)], sequence=1)).json()[
        "accepted"
    ]
    assert Device.objects.count() == 2
    assert TelemetryWindow.objects.values("device_id").distinct().count() == 2
