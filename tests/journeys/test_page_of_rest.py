"""Each example in docs/reference/api.md is sent to a real server, as a shell reads it, and answered as the page shows.

An example is a block of `sh` with one `curl`, and the block of `http` after it: the status, the
headers that are shown, and of the body at least what is shown. Numbers, moments and texts with
a digit in them are of an installation, so only their kind is held; every other text is the very one.
"""

import http.client
import json
import os
import re
import subprocess
from argparse import ArgumentParser
from dataclasses import dataclass
from datetime import UTC, datetime, timedelta
from itertools import pairwise
from pathlib import Path
from typing import Any
from urllib.parse import urlsplit

import pytest
from django.core.cache import cache
from django.utils import timezone

from apps.ledger.actions.partitions import ensure_month
from tests.apps.unit_economics import service_scene
from tests.contract.world import World, make_world

PAGE = Path(__file__).resolve().parents[2] / "docs" / "reference" / "api.md"
FENCES = re.compile(r"^```(\w*)\n(.*?)^```$", re.MULTILINE | re.DOTALL)
KEPT = re.compile(r"^# \$(\w+) below is the answer's (\S+)$", re.MULTILINE)
SPOKEN = "curl() { printf '%s\\0' \"$@\"; }\n"
"""What a shell hands to curl, one argument after the other."""


@dataclass(frozen=True, slots=True)
class Answer:
    """What came back, or what the page shows of it."""

    status: int
    headers: dict[str, str]
    body: str


@pytest.mark.django_db(transaction=True)
def test_every_example_of_the_page_is_answered_as_it_shows(
    live_server: Any, settings: Any, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    cache.clear()
    _leave_hours_of_the_month(monkeypatch)
    settings.HOME = tmp_path
    made = make_world()
    _a_line_of_yesterday(made)
    known = {name.removesuffix("_id").upper(): str(value) for name, value in made.paths.items()}
    known |= {"RUNRATE": live_server.url, "TOKEN": made.secret}
    wrong = []
    for script, shown in examples():
        answer = asked(script, known)
        wrong += [f"{script}{fault}" for fault in differences(shown, answer)]
        for name, key in KEPT.findall(script):
            known[name] = str(json.loads(answer.body)[key])
    assert not wrong, "\n".join(wrong)


def test_the_page_has_no_call_without_its_answer() -> None:
    kinds = [kind for kind, _ in FENCES.findall(PAGE.read_text())]
    assert "" not in kinds
    calls = [
        place
        for place, (kind, text) in enumerate(FENCES.findall(PAGE.read_text()))
        if "curl " in text
    ]
    assert [kinds[place : place + 2] for place in calls] == [["sh", "http"]] * kinds.count("http")


@pytest.mark.parametrize(
    ("shown", "came", "is_alike"),
    [
        ({"state": "open"}, {"state": "open", "id": 4}, True),
        ({"state": "open"}, {"state": "done"}, False),
        ({"state": "open"}, {}, False),
        ({"id": 1}, {"id": 17}, True),
        ({"id": 1}, {"id": None}, False),
        ({"id": None}, {"id": 1}, False),
        ({"is_hard": True}, {"is_hard": False}, False),
        ({"at": "2026-03-02T12:00:00Z"}, {"at": "2026-11-24T03:00:00Z"}, True),
        ([{"id": 1}], [], False),
    ],
)
def test_what_is_shown_is_held_against_what_came(shown: Any, came: Any, is_alike: bool) -> None:
    assert (body_differences(shown, came) == []) is is_alike


def _leave_hours_of_the_month(monkeypatch: pytest.MonkeyPatch) -> None:
    """Set the server's clock back in a month's last hours: the page shows a budget of which hours are left."""
    now = datetime.now(UTC)
    back = timedelta(hours=3)
    if (now + back).month != now.month:
        monkeypatch.setattr(timezone, "now", lambda: datetime.now(UTC) - back)


def _a_line_of_yesterday(made: World) -> None:
    """So that there is something to compare, also at the beginning of a day."""
    midnight = datetime.now(UTC).replace(hour=0, minute=0, second=0, microsecond=0)
    yesterday = midnight - timedelta(days=1)
    pool_id, team_id, service_id = (
        made.paths[f"{what}_id"] for what in ("pool", "team", "service")
    )
    ensure_month(month=yesterday.date().replace(day=1))
    service_scene.make_line(pool_id, team_id, service_id, hour=yesterday, kind="service")
    service_scene.roll_up(pool_id, day=yesterday)


def examples() -> list[tuple[str, Answer]]:
    """Every script of the page, and what it shows as its answer."""
    blocks = FENCES.findall(PAGE.read_text())
    pairs = pairwise(blocks)
    return [(script, as_shown(text)) for (_, script), (kind, text) in pairs if kind == "http"]


def as_shown(text: str) -> Answer:
    """A block of `http`."""
    head, _, body = text.partition("\n\n")
    status, *headers = head.strip().splitlines()
    told = dict(line.split(": ", 1) for line in headers)
    return Answer(int(status.split()[1]), told, body.strip())


def asked(script: str, known: dict[str, str]) -> Answer:
    """What the server answers to the one curl of a script."""
    words = subprocess.run(
        ["bash", "-euc", SPOKEN + script],
        env=known | {"PATH": os.environ["PATH"]},
        capture_output=True,
        check=True,
    ).stdout.decode()
    parser = ArgumentParser(allow_abbrev=False, exit_on_error=False)
    parser.add_argument("--header", "-H", action="append", default=[])
    parser.add_argument("--request", "-X")
    parser.add_argument("--json")
    parser.add_argument("address")
    given = parser.parse_args(words.split("\0")[:-1])
    headers = dict(line.split(": ", 1) for line in given.header)
    if given.json is not None:
        headers |= {"Content-Type": "application/json", "Accept": "application/json"}
    place = urlsplit(given.address)
    wire = http.client.HTTPConnection(place.netloc, timeout=60)
    method = given.request or ("GET" if given.json is None else "POST")
    wire.request(method, f"{place.path}?{place.query}", given.json, headers)
    came = wire.getresponse()
    answer = Answer(came.status, dict(came.getheaders()), came.read().decode())
    wire.close()
    return answer


def differences(shown: Answer, came: Answer) -> list[str]:
    """What of the page is not so."""
    if shown.status != came.status:
        return [f"{came.status} instead of {shown.status}"]
    wrong = [
        f"{name}: {came.headers.get(name)}"
        for name, value in shown.headers.items()
        if body_differences(value, came.headers.get(name))
    ]
    if "json" in came.headers.get("Content-Type", ""):
        return wrong + body_differences(json.loads(shown.body), json.loads(came.body))
    return wrong + [
        f"no line {line}" for line in shown.body.splitlines()[:1] if line not in came.body
    ]


def body_differences(shown: Any, came: Any, place: str = "") -> list[str]:
    """Where a value that is shown is not there, or of another kind, or is another word."""
    if type(shown) is not type(came):
        return [f"{place}: {came!r} is shown as {shown!r}"]
    if isinstance(shown, dict):
        return [
            fault
            for name, value in shown.items()
            for fault in body_differences(value, came.get(name, ...), f"{place}/{name}")
        ]
    if isinstance(shown, list):
        if bool(shown) != bool(came):
            return [f"{place}: {came!r} is shown as {shown!r}"]
        return [
            fault
            for value in shown
            for fault in min(
                (body_differences(value, each, f"{place}[]") for each in came), key=len
            )
        ]
    is_of_here = isinstance(shown, int | float) and not isinstance(shown, bool)
    is_of_here = is_of_here or (isinstance(shown, str) and re.search(r"\d|…", shown) is not None)
    return [] if is_of_here or shown == came else [f"{place}: {came!r} is shown as {shown!r}"]
