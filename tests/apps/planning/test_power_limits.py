"""Power and cooling of rooms: drawn now and at the peak by meters, what is left, how many more GPUs fit."""

import csv
import io
from datetime import UTC, datetime
from decimal import Decimal
from typing import Any

import pytest
from django.core.cache import cache
from django.db import connection
from django.test.utils import CaptureQueriesContext
from django.utils import timezone

from apps.accounts.queries.reading import reading_once
from apps.economics.hours import HOUR
from apps.economics.refusal import Refusal
from apps.fleet import queries as fleet
from apps.planning import actions
from apps.planning.queries.power_limits import PowerUse, power_limits, power_use
from tests import make
from tests.apps.console.people import confirmed, signed_in, text_of
from tests.apps.ledger import scene
from tests.planted import undone
from tests.rest import with_token
from tests.table_lists import assert_listed_as_on_page

pytestmark = pytest.mark.django_db

TEN = datetime(2026, 3, 9, 10, tzinfo=UTC)
NOON = TEN + 2 * HOUR
FULL = NOON + HOUR / 2
"""Half past: the hour from noon on is not over."""


@pytest.fixture(autouse=True)
def _clock(monkeypatch: pytest.MonkeyPatch) -> None:
    cache.clear()
    monkeypatch.setattr(timezone, "now", lambda: FULL)


def drew(device_id: int, hour: datetime, watts: float, minutes: int = 60) -> None:
    """The meter of a GPU told of so many minutes of the hour."""
    observed = bytes([240] * minutes + [0] * (60 - minutes))
    scene.make_usage(device_id, observed, hour=hour, observed=observed)
    with connection.cursor() as cursor:
        cursor.execute(
            "UPDATE telemetry_usagehour SET energy_joules = %s WHERE device_id = %s AND hour = %s",
            [watts * 60 * minutes, device_id, hour],
        )


@pytest.fixture(scope="module")
def pools(of_module: None) -> dict[str, int]:
    """Two nodes of eight H100, one of which no meter tells of; in a pool that is owned, one of 10.2 kW."""
    make.make_organisation()
    began = TEN - 24 * HOUR
    scene.make_owned_plan("ours", pool="owned", starts_at=began)
    ids = {name: make.make_pool(name) for name in ("rented", "silent")}
    ids |= {pool.name: pool.id for pool in fleet.pools().values()}
    nodes = {
        name: make.make_node(name, pool_id=ids[pool], units=8, started_at=began, at=NOON)
        for name, pool in (("gpu-01", "rented"), ("gpu-02", "rented"), ("own-01", "owned"))
    }
    for name in ("gpu-01", "own-01"):
        for device_id in scene.device_ids(scene.make_gpus(nodes[name])):
            drew(device_id, TEN, 500)
            drew(device_id, TEN + HOUR, 300, minutes=30)
            drew(device_id, NOON, 700)
    return ids


def new_room(pool_ids: list[int], **given: Any) -> actions.EnteredPowerLimit:
    values: dict[str, Any] = {
        "name": "Hall", "power_kilowatts": Decimal(20), "pue": Decimal("1.25"),
    }  # fmt: skip
    return actions.EnteredPowerLimit(pool_ids=tuple(pool_ids), **values | given)


def use_of(pool_ids: list[int], **given: Any) -> PowerUse:
    actions.add_power_limit(limit=new_room(pool_ids, **given), at=FULL)
    (found,) = power_use(power_limits(), FULL)
    return found


def test_a_whole_room_is_its_meters_and_its_hosts_by_plate_times_pue(pools) -> None:
    """Host 10,200 − 8 × 700 = 4,600 W; at ten 8 × 500 + 4,600 = 8,600 W, at eleven 7,000 W."""
    found = use_of([pools["owned"]], cooling_kilowatts=Decimal(12))
    assert found.now is not None
    assert found.peak is not None
    assert (found.now.hour, found.peak.hour) == (TEN + HOUR, TEN)
    assert (found.now.draw.watts, found.peak.draw.watts) == (7_000, 8_600)
    assert found.is_whole
    assert found.peak.watts == 10_750
    assert (found.power_left, found.cooling_left) == (9_250, 3_400)
    (more,) = found.more
    # One takes 500 W and an eighth of the host, 575 W; of 700 W by its data sheet. Power left is 7,400 W
    # at the machines, cooling 3,400 W: 3,400 ÷ 1,075 and ÷ 1,275.
    assert (more.measured_watts, more.rated_watts) == (1_075, 1_275)
    assert (more.as_measured, more.as_rated) == (3, 2)


def test_power_is_the_tighter_limit_where_cooling_is_ample(pools) -> None:
    (more,) = use_of([pools["owned"]], cooling_kilowatts=Decimal(100)).more
    assert (more.as_measured, more.as_rated) == (6, 5)


def test_what_no_meter_told_is_named_and_makes_it_at_least(pools) -> None:
    """Of gpu-02 nothing is known, of gpu-01 the GPUs alone."""
    found = use_of([pools["rented"]])
    assert found.peak is not None
    assert found.peak.draw.watts == 4_000
    assert found.peak.draw.unmeasured == ("gpu-02",)
    assert found.peak.draw.without_host == ("gpu-01", "gpu-02")
    assert not found.is_whole


def test_a_room_that_no_meter_told_of_is_not_known(pools) -> None:
    found = use_of([pools["silent"]])
    assert (found.now, found.peak, found.power_left, found.more) == (None, None, None, ())


def test_now_is_not_known_where_the_newest_reading_is_old(pools) -> None:
    actions.add_power_limit(limit=new_room([pools["owned"]]), at=FULL)
    (found,) = power_use(power_limits(), NOON + 5 * HOUR)
    assert found.now is None
    assert found.peak is not None
    assert found.peak.hour == NOON


@pytest.mark.parametrize(
    ("field", "given"),
    [
        ("name", {"name": " "}),
        ("power_kilowatts", {"power_kilowatts": Decimal(0)}),
        ("power_kilowatts", {"power_kilowatts": Decimal("0.0001")}),
        ("power_kilowatts", {"power_kilowatts": Decimal("NaN")}),
        ("cooling_kilowatts", {"cooling_kilowatts": Decimal(-1)}),
        ("pue", {"pue": Decimal("0.9")}),
        ("pool_ids", {"pool_ids": ()}),
        ("pool_ids", {"pool_ids": (0,)}),
    ],
)
def test_what_is_wrong_is_refused_by_its_field(pools, field: str, given: dict[str, Any]) -> None:
    values: dict[str, Any] = {
        "name": "Hall", "pool_ids": (pools["owned"],), "power_kilowatts": Decimal(20), "pue": Decimal(1),
    }  # fmt: skip
    with pytest.raises(Refusal) as refused:
        actions.add_power_limit(limit=actions.EnteredPowerLimit(**values | given), at=FULL)
    assert refused.value.field == field


def test_a_pool_stands_in_one_room(pools) -> None:
    actions.add_power_limit(limit=new_room([pools["owned"]]), at=FULL)
    with pytest.raises(Refusal, match="owned stands in Hall already"):
        actions.add_power_limit(limit=new_room([pools["owned"]], name="Lab"), at=FULL)
    with pytest.raises(Refusal, match="there is a room 'Hall' already"):
        actions.add_power_limit(limit=new_room([pools["rented"]]), at=FULL)


def test_a_room_is_entered_after_a_look_changed_and_removed(pools) -> None:
    finance = signed_in("finance")
    entered = {
        "name": "Hall",
        "pool_ids": [str(pools["rented"])],
        "power_kilowatts": "20",
        "pue": "1.25",
    }
    looked = text_of(finance.get("/headroom/rooms/new", entered).content.decode())
    assert "Hall feeds 20.0 kW at a PUE of 1.25." in looked
    assert "drew at least 5.00 kW at the peak of the last 28 days" in looked
    assert "which leaves at most 15.0 kW" in looked
    assert "not measured: gpu-02; GPUs alone of gpu-01" in looked
    done = text_of(confirmed(finance, "/headroom/rooms/new", entered, follow=True).content.decode())
    assert "Hall is entered." in done
    assert "at least 5.00 kW" in done
    (room,) = power_limits()
    changed = entered | {"cooling_kilowatts": "4"}
    done = confirmed(finance, f"/headroom/rooms/{room.id}/change", changed, follow=True)
    assert "The peak takes all of it" in done.content.decode()
    (row,) = csv.DictReader(io.StringIO(finance.get("/headroom/rooms.csv").content.decode()))
    assert (row["power_kilowatts"], row["peak_kilowatts"]) == ("20.000", "5.000")
    assert (row["power_left_kilowatts"], row["cooling_left_kilowatts"]) == ("15.000", "0.000")
    assert row["peak_unknown"] == "not measured: gpu-02; GPUs alone of gpu-01"
    confirmed(finance, f"/headroom/rooms/{room.id}/remove", {"look": "yes"})
    assert power_limits() == []


def test_programs_read_what_is_left_of_a_room_where_they_read_prices(pools) -> None:
    use_of([pools["owned"]])
    (row,) = with_token("read", name="all").get("power-limits").json()["results"]
    assert row["peak_28_days"]["kilowatts"] == 10.75
    assert (row["power_left_kilowatts"], row["cooling_left_kilowatts"]) == (9.25, None)
    assert [each["as_rated"] for each in row["more_gpus"]] == [5]
    own = with_token("read", name="one", team_id=make.make_team("Red"))
    assert own.get("power-limits").status_code == 403


def test_the_list_is_the_table_of_the_page(pools: dict[str, int]) -> None:
    use_of([pools["owned"]])
    machine = with_token("read", name="all")
    assert_listed_as_on_page(
        machine,
        "power-limits",
        page=signed_in("finance"),
        file="/headroom/rooms.csv?rooms=-power_left_kilowatts",
        sort="-power_left_kilowatts",
    )


def test_more_rooms_take_no_more_statements(pools: dict[str, int]) -> None:
    def statements(*rooms: list[int]) -> int:
        with undone():
            for number, of_room in enumerate(rooms):
                actions.add_power_limit(limit=new_room(of_room, name=f"Hall {number}"), at=FULL)
            with reading_once(), CaptureQueriesContext(connection) as asked:
                use = power_use(power_limits(), FULL)
            assert all(each.peak is not None for each in use)
            return len(asked)

    assert statements([pools["rented"]], [pools["owned"]]) == statements([pools["rented"]])
