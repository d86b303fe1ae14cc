"""A batch becomes windows in the database."""

import pytest

from apps.fleet.models import Device
from apps.marks.models import ChangedHour
from apps.telemetry.models import Batch, HolderKey, TelemetryWindow
from tests.apps.telemetry.sending import batch, gzipped, make_sending, this_hour, window

pytestmark = pytest.mark.django_db


def test_a_batch_is_stored_and_its_hour_is_marked():
    sending = make_sending()
    answer = sending.post(batch([window(0), window(1, worked_seconds=None)]))
    assert (answer.status_code, answer.json()) == (
        200,
        {"accepted": 2, "duplicate": False, "rejected": [], "ignored": []},
    )
    stored = list(TelemetryWindow.objects.order_by("starts_at"))
    assert [row.worked_seconds for row in stored] == [40.0, None]
    assert {HolderKey.objects.get(id=row.holder_id).key for row in stored} == {"slurm/atlas/4711"}
    assert {Device.objects.get(id=row.device_id).uuid for row in stored} == {"GPU-0"}
    assert ChangedHour.objects.filter(pass_id=1).values_list("unit", "hour").get() == (
        sending.node_id,
        this_hour(),
    )
    assert Batch.objects.get().accepted == 2


def test_a_gzipped_batch_is_stored():
    answer = make_sending().post(gzipped(batch([window()])), **{"Content-Encoding": "gzip"})
    assert answer.json()["accepted"] == 1


def test_a_batch_sent_again_is_answered_the_same_and_stored_once():
    sending = make_sending()
    sent = batch([window(0), window(1, seconds=7, worked_seconds=5)])
    first, again = sending.post(sent).json(), sending.post(sent).json()
    assert again == first | {"duplicate": True}
    assert first["rejected"] == [
        {
            "index": 1,
            "field": "seconds",
            "reason": "not 10 to 300 whole seconds that divide an hour",
        }
    ]
    assert TelemetryWindow.objects.count() == 1
