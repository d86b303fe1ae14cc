"""What is answered when nothing of a delivery can be taken; the same through either door."""

import gzip
import io
import json
import zlib
from typing import Any

import pytest
from django.core.handlers.wsgi import WSGIRequest
from django.test import Client
from django.utils import timezone

from apps.accounts.actions import revoke_token
from apps.files.limits import LARGEST, BodyKind
from apps.telemetry.actions import wire
from apps.telemetry.api.bodies import MOST_INFLATED_BYTES
from apps.telemetry.api.senders import BELIEVED_SECONDS
from apps.telemetry.models import Batch, TelemetryWindow
from tests.apps.telemetry.doors import Door, through_django, through_the_front_door, with_token
from tests.apps.telemetry.sending import URL, Sending, batch, gzipped, make_sending, now, window
from tests.make import make_node, make_token

pytestmark = pytest.mark.django_db


@pytest.fixture(params=[through_django, through_the_front_door], ids=["django", "front door"])
def door(request: pytest.FixtureRequest) -> Door:
    """Batches come past Django's middleware, or through it: the answers are the same."""
    return request.param


@pytest.fixture
def sending() -> Sending:
    return make_sending()


def test_a_good_batch_is_taken_by_either_door(door, sending):
    status, headers, answer = door(
        json.dumps(batch([window()])).encode(), **with_token(sending.secret)
    )
    assert (status, answer["accepted"], headers["Content-Type"]) == (200, 1, "application/json")


@pytest.mark.parametrize("header", [None, "Bearer", "Bearer rr_unknown", "Basic YTpi"])
def test_without_a_valid_token_it_is_401_and_says_how_to_come_in(door, header):
    given = {"CONTENT_TYPE": "application/json"} | (
        {"HTTP_AUTHORIZATION": header} if header else {}
    )
    status, headers, answer = door(b"{}", **given)
    assert (status, headers["WWW-Authenticate"]) == (401, "Bearer")
    assert (headers["Content-Type"], answer["status"]) == ("application/problem+json", 401)


def test_a_token_for_jobs_may_not_send_batches(door):
    status, _, answer = door(b"{}", **with_token(make_token("jobs").secret))
    assert (status, answer["title"]) == (403, "Token lacks scope")


def test_a_token_no_agent_enrolled_with_has_no_node_to_write(door):
    make_node()
    status, _, answer = door(b"{}", **with_token(make_token("ingest").secret))
    assert (status, answer["title"]) == (403, "Token without agent")
    assert "invite an agent" in answer["detail"]


def test_a_revoked_token_is_refused_within_ten_seconds(door, sending, monkeypatch):
    from apps.accounts.models import AccessToken

    body = json.dumps(batch([window()])).encode()
    assert door(body, **with_token(sending.secret))[0] == 200
    revoke_token(token_id=AccessToken.objects.get().id, at=now())
    clock = now().timestamp() + BELIEVED_SECONDS
    monkeypatch.setattr(timezone, "now", lambda: now().fromtimestamp(clock, tz=now().tzinfo))
    assert door(body, **with_token(sending.secret))[0] == 401


@pytest.mark.parametrize(
    ("body", "field"),
    [
        (b"not json", ""),
        (b"\xff\xfe", ""),
        (b"[" * 100_000, ""),
        (b"[]", ""),
        (b'{"boot": 1', ""),
        (json.dumps(batch([window()], format=2)).encode(), "format"),
        (json.dumps(batch([window()], boot=None)).encode(), "boot"),
        (json.dumps(batch([window()], sequence=-1)).encode(), "sequence"),
        (json.dumps(batch([window()], sequence=2**62)).encode(), "sequence"),
        (json.dumps(batch([window()], devices={})).encode(), "devices"),
        (json.dumps(batch([window()], holders="")).encode(), "holders"),
        (json.dumps(batch([window()], windows=None)).encode(), "windows"),
        (json.dumps(batch([window()], windows={"device": []})).encode(), "windows.starts_at_ms"),
        (
            json.dumps(
                batch([], windows={"device": [], "starts_at_ms": [], "seconds": []})
            ).encode(),
            "windows",
        ),
        (
            json.dumps(
                batch([], windows={"device": [0], "starts_at_ms": [0, 0], "seconds": [60]})
            ).encode(),
            "windows.starts_at_ms",
        ),
    ],
)
def test_a_body_of_which_nothing_can_be_read_is_400_and_names_the_field(door, sending, body, field):
    status, _, answer = door(body, **with_token(sending.secret))
    assert (status, answer["title"]) == (400, "Batch unreadable")
    assert [each["field"] for each in answer["errors"]] == [field]
    assert not Batch.objects.exists()


def test_a_body_that_is_not_json_by_its_own_word_is_415(door, sending):
    status, _, _ = door(b"{}", **with_token(sending.secret) | {"CONTENT_TYPE": "text/csv"})
    assert status == 415


def test_an_encoding_nobody_agreed_on_is_415(door, sending):
    given = with_token(sending.secret) | {"HTTP_CONTENT_ENCODING": "br"}
    assert door(b"{}", **given)[0] == 415


def test_a_body_of_unknown_length_is_411(door, sending):
    assert door(b"{}", **with_token(sending.secret) | {"CONTENT_LENGTH": ""})[0] == 411


def test_a_body_over_five_megabytes_is_413(door, sending):
    status, _, answer = door(b" " * (LARGEST[BodyKind.TELEMETRY] + 1), **with_token(sending.secret))
    assert (status, answer["title"]) == (413, "Batch too large")


def test_a_body_that_inflates_without_end_is_413_and_never_whole_in_memory(door, sending):
    bomb = gzip.compress(bytes(MOST_INFLATED_BYTES * 4), compresslevel=9)
    status, _, _ = door(bomb, **with_token(sending.secret) | {"HTTP_CONTENT_ENCODING": "gzip"})
    assert status == 413


@pytest.mark.parametrize(
    "body",
    [b"{}", gzipped(batch([window()]))[:-9], zlib.compress(b"{}")],
    ids=["plain", "cut short", "zlib"],
)
def test_a_body_that_is_not_the_gzip_it_says_is_400(door, sending, body):
    given = with_token(sending.secret) | {"HTTP_CONTENT_ENCODING": "gzip"}
    assert door(body, **given)[0] == 400


def test_more_windows_than_one_batch_may_hold_is_413(door, sending, monkeypatch):
    monkeypatch.setattr(wire, "MAX_WINDOWS", 2)
    body = json.dumps(batch([window(minute) for minute in range(3)])).encode()
    assert door(body, **with_token(sending.secret))[0] == 413
    assert not TelemetryWindow.objects.exists()


@pytest.mark.parametrize("broken", [{}, {"weather": "rain"}], ids=["plain", "read tolerantly"])
@pytest.mark.parametrize(
    "many",
    [
        {"devices": [{"uuid": f"GPU-{number}"} for number in range(1_025)]},
        {"holders": [f"slurm/atlas/{number}" for number in range(10_001)]},
    ],
    ids=["devices", "holders"],
)
def test_more_devices_or_holders_than_a_node_has_use_for_is_413(door, sending, many, broken):
    body = json.dumps(batch([window(holder=0)], **many, **broken)).encode()
    assert door(body, **with_token(sending.secret))[0] == 413
    assert not TelemetryWindow.objects.exists()


def test_asking_for_batches_is_405():
    assert Client().get(URL).status_code == 405


def test_the_front_door_leaves_everything_else_to_django():
    from controlplane import wsgi

    said: list[Any] = []
    environ = WSGIRequest(
        {"REQUEST_METHOD": "GET", "PATH_INFO": "/healthz", "wsgi.input": io.BytesIO()}
    ).environ | {"SERVER_NAME": "localhost", "SERVER_PORT": "80"}
    body = b"".join(wsgi.application(environ, lambda *heard: said.extend(heard)))
    assert (said[0], body) == ("200 OK", b"ok\n")
