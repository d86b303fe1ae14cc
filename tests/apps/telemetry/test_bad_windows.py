"""A window that is not sound is named by index and field, and costs no other window."""

import json
from datetime import timedelta
from typing import Any

import pytest

from apps.telemetry.models import TelemetryWindow, WindowRejection
from apps.telemetry.queries.window_errors import RejectionCount, rejections_by_agent
from tests.apps.telemetry.sending import batch, gpu, make_sending, ms, now, window

pytestmark = pytest.mark.django_db

NAN, INFINITY = float("nan"), float("inf")

REFUSED: list[tuple[str, dict[str, Any], str]] = [
    ("device", {"device": 2}, "no such device in the batch"),
    ("device", {"device": -1}, "negative"),
    ("device", {"device": 0.5}, "not a whole number"),
    ("device", {"device": None}, "missing"),
    ("device", {"device": "GPU-0"}, "not a number"),
    ("holder", {"holder": 2}, "no such holder in the batch"),
    ("holder", {"holder": None}, "missing"),
    ("starts_at_ms", {"starts_at_ms": None}, "missing"),
    ("starts_at_ms", {"starts_at_ms": -5}, "older than 13 days"),
    ("starts_at_ms", {"starts_at_ms": ms(now()) - 60_000.5}, "not a whole number"),
    (
        "starts_at_ms",
        {"starts_at_ms": ms(now() - timedelta(days=13, minutes=1))},
        "older than 13 days",
    ),
    ("starts_at_ms", {"starts_at_ms": ms(now() + timedelta(days=1))}, "over 10 minutes ahead"),
    ("starts_at_ms", {"starts_at_ms": 2**64}, "over 10 minutes ahead"),
    ("starts_at_ms", {"starts_at_ms": True}, "not a number"),
    ("seconds", {"seconds": None}, "missing"),
    ("seconds", {"seconds": -60, "worked_seconds": None}, "negative"),
    (
        "seconds",
        {"seconds": 9, "worked_seconds": 1},
        "not 10 to 300 whole seconds that divide an hour",
    ),
    ("seconds", {"seconds": 70}, "not 10 to 300 whole seconds that divide an hour"),
    ("seconds", {"seconds": 360}, "not 10 to 300 whole seconds that divide an hour"),
    ("seconds", {"seconds": 60.5}, "not 10 to 300 whole seconds that divide an hour"),
    ("observed_seconds", {"observed_seconds": -1, "worked_seconds": None}, "negative"),
    ("observed_seconds", {"observed_seconds": 61}, "more than the window is long"),
    ("observed_seconds", {"observed_seconds": 2**64 - 1}, "more than the window is long"),
    ("observed_seconds", {"observed_seconds": NAN}, "not a finite number"),
    ("worked_seconds", {"worked_seconds": -0.1}, "negative"),
    ("worked_seconds", {"worked_seconds": 61}, "more than was observed"),
    ("worked_seconds", {"observed_seconds": 30, "worked_seconds": 31}, "more than was observed"),
    ("worked_seconds", {"worked_seconds": NAN}, "not a finite number"),
    ("worked_seconds", {"worked_seconds": INFINITY}, "not a finite number"),
    ("worked_seconds", {"worked_seconds": "N/A"}, "not a number"),
    ("worked_seconds", {"worked_seconds": [40]}, "not a number"),
    ("sm_ratio", {"sm_ratio": 1.2}, "more than 1"),
    ("sm_ratio", {"sm_ratio": 87}, "more than 1"),
    ("tensor_ratio", {"tensor_ratio": -0.5}, "negative"),
    ("dram_ratio", {"dram_ratio": -INFINITY}, "not a finite number"),
    ("energy_joules", {"energy_joules": -1}, "negative"),
    ("energy_joules", {"energy_joules": 20_000 * 60 + 1}, "more than 20 kW"),
    ("memory_used_bytes", {"memory_used_bytes": -1}, "negative"),
    ("memory_used_bytes", {"memory_used_bytes": 2**45}, "more than 16 TiB"),
]

SENTINELS = [
    2**64 - 1,
    9223372036854775794,
    9223372036854775807,
    0xFFFFFFFF,
    0x7FFFFFF0,
    140737488355328.0,
    140737488355330.0,
]


@pytest.mark.parametrize(("field", "cell", "reason"), REFUSED)
def test_a_bad_window_is_refused_by_index_and_field_between_its_neighbours(field, cell, reason):
    answer = make_sending().post(batch([window(0), window(1, **cell), window(2)]))
    assert answer.status_code == 200
    assert answer.json() == {
        "accepted": 2,
        "duplicate": False,
        "rejected": [{"index": 1, "field": field, "reason": reason}],
        "ignored": [],
    }
    assert [row.worked_seconds for row in TelemetryWindow.objects.all()] == [40.0, 40.0]


@pytest.mark.parametrize("sentinel", SENTINELS)
@pytest.mark.parametrize(
    "field",
    [
        "worked_seconds",
        "sm_ratio",
        "tensor_ratio",
        "dram_ratio",
        "energy_joules",
        "memory_used_bytes",
    ],
)
def test_what_a_driver_says_instead_of_not_supported_is_stored_as_unknown(field, sentinel):
    answer = make_sending().post(batch([window(0, **{field: sentinel})])).json()
    assert answer["ignored"] == [{"index": 0, "field": field, "reason": "not-supported sentinel"}]
    assert (answer["accepted"], answer["rejected"]) == (1, [])
    assert getattr(TelemetryWindow.objects.get(), field) is None


def test_a_window_wrong_in_two_fields_is_told_both():
    answer = make_sending().post(batch([window(0, seconds=7, sm_ratio=3, worked_seconds=1)])).json()
    assert [(each["index"], each["field"]) for each in answer["rejected"]] == [
        (0, "seconds"),
        (0, "sm_ratio"),
    ]
    assert answer["accepted"] == 0


def test_what_only_rounding_put_over_a_bound_is_cut_to_the_bound():
    windows = [window(0, observed_seconds=60.4, worked_seconds=60.5, sm_ratio=1.004)]
    assert make_sending().post(batch(windows)).json()["accepted"] == 1
    stored = TelemetryWindow.objects.get()
    assert (stored.observed_seconds, stored.worked_seconds, stored.sm_ratio) == (60.0, 60.0, 1.0)


def test_a_device_that_cannot_be_read_costs_only_its_own_windows():
    devices = [gpu(0), {"uuid": 7}, gpu(1) | {"kind": "mig"}, gpu(2) | {"colour": "green"}]
    windows = [window(0), *(window(0, device=index) for index in (1, 2, 3))]
    answer = make_sending().post(batch(windows, devices=devices)).json()
    assert answer["accepted"] == 2
    assert answer["rejected"] == [
        {"index": None, "field": "devices[1].uuid", "reason": "Expected `str`, got `int`"},
        {
            "index": None,
            "field": "devices[2].parent",
            "reason": "a MIG slice names its GPU, and only a slice does",
        },
        {"index": 1, "field": "device", "reason": "no such device in the batch"},
        {"index": 2, "field": "device", "reason": "no such device in the batch"},
    ]
    assert answer["ignored"] == [
        {"index": None, "field": "devices[3].'colour'", "reason": "unknown field"}
    ]


def test_what_a_sender_makes_up_is_counted_under_few_names():
    sending = make_sending()
    for number in range(5):
        devices = [gpu(0), gpu(1) | {"kind": f"kind {number}"}, gpu(2) | {f"field {number}": 1}]
        sending.post(batch([window(0)], devices=devices, sequence=number + 1, **{f"b{number}": 1}))
    counted = WindowRejection.objects.order_by("field").values_list("field", "reason", "count")
    assert list(counted) == [
        ("devices[].kind", "not one of gpu, mig", 5),
        ("devices[].…", "unknown field", 5),
        ("…", "unknown field", 5),
    ]


def test_a_device_named_twice_counts_once():
    answer = make_sending().post(batch([window(0)], devices=[gpu(0), gpu(0)])).json()
    assert answer["accepted"] == 1
    assert [each["field"] for each in answer["rejected"]] == ["devices[1].uuid"]


@pytest.mark.parametrize("key", ["nul\0", "x" * 513, "half \ud83d", 5, None])
def test_a_holder_that_cannot_be_stored_costs_only_its_own_windows(key):
    sent = batch([window(0, holder=0), window(1, holder=1)], holders=["", key])
    answer = make_sending().post(sent).json()
    assert answer["accepted"] == 1
    assert [(each["index"], each["field"]) for each in answer["rejected"]] == [
        (None, "holders[1]"),
        (1, "holder"),
    ]


def test_fields_nobody_knows_are_named_and_left_out():
    sent = batch([window(0, temperature=55)], weather="rain")
    answer = make_sending().post(sent).json()
    assert (answer["accepted"], answer["rejected"]) == (1, [])
    assert [each["field"] for each in answer["ignored"]] == ["'weather'", "windows.'temperature'"]


def test_columns_that_are_no_lists_are_left_out_where_the_window_can_do_without():
    sent = batch([window(0)])
    sent["windows"]["sm_ratio"] = 0.5
    answer = make_sending().post(sent).json()
    assert answer["ignored"] == [
        {"index": None, "field": "windows.sm_ratio", "reason": "not a list"}
    ]
    assert answer["accepted"] == 1


def test_a_batch_without_holders_is_one_of_idle_devices():
    sent = batch([window(0)])
    del sent["holders"], sent["windows"]["holder"]
    assert make_sending().post(sent).json()["accepted"] == 1
    assert TelemetryWindow.objects.get().holder_id == 0


def test_a_sending_time_that_cannot_be_read_leaves_the_windows_where_they_were():
    sent = batch([window(0)], sent_at_ms="now")
    answer = make_sending().post(sent).json()
    assert (answer["accepted"], answer["rejected"]) == (1, [])
    assert answer["ignored"] == [
        {"index": None, "field": "sent_at_ms", "reason": "not a whole number"}
    ]
    assert TelemetryWindow.objects.get().flags == 0


def test_a_number_of_thousands_of_digits_is_one_bad_cell():
    text = json.dumps(batch([window(0), window(1, worked_seconds=77.7125)]))
    answer = make_sending().post(text.replace("77.7125", "9" * 5_000).encode()).json()
    assert (answer["accepted"], answer["rejected"]) == (
        1,
        [{"index": 1, "field": "worked_seconds", "reason": "not a finite number"}],
    )


def test_a_batch_of_nothing_but_bad_windows_is_taken_and_remembered():
    sending = make_sending()
    sent = batch([window(0, seconds=7, worked_seconds=1)])
    first, again = sending.post(sent).json(), sending.post(sent).json()
    assert (first["accepted"], first["duplicate"]) == (0, False)
    assert again == first | {"duplicate": True}


def test_what_was_refused_and_left_out_is_counted_by_agent_and_day():
    sending = make_sending()
    for sequence in range(2):
        windows = [window(0, sm_ratio=2**64 - 1), window(1, seconds=7, worked_seconds=1)]
        sending.post(batch(windows, sequence=sequence))
    reason = "not 10 to 300 whole seconds that divide an hour"
    last_at = WindowRejection.objects.get(field="seconds").last_at
    assert rejections_by_agent(now().date()) == [
        RejectionCount(sending.agent_id, "gpu-01", "seconds", reason, False, 2, last_at),
        RejectionCount(
            sending.agent_id, "gpu-01", "sm_ratio", "not-supported sentinel", True, 2, last_at
        ),
    ]


def test_windows_are_taken_for_a_day_less_than_they_are_kept(settings):
    settings.KEEP_WINDOW_DAYS = 100
    # Within an hour: a window over its end is two rows.
    old, older = (ms((now() - timedelta(days=days)).replace(minute=30)) for days in (98, 100))
    answer = make_sending().post(
        batch([window(0, starts_at_ms=old), window(1, starts_at_ms=older)])
    )
    assert answer.json()["accepted"] == 1
    assert [each["reason"] for each in answer.json()["rejected"]] == ["older than 99 days"]
    assert TelemetryWindow.objects.count() == 1
