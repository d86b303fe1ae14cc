"""A day of a node: who held each GPU, what was not seen of it, what slowed it, what else it did."""

from datetime import UTC, datetime, timedelta
from zoneinfo import ZoneInfo

import pytest
from django.urls import reverse

from apps.console.pages.fleet import timeline_bars as bars
from apps.console.pages.fleet.timeline import hour_ticks
from apps.console.pages.lanes import Span
from apps.telemetry.models import DeviceHour, Incident, NodeReportHour
from apps.telemetry.queries import DeviceMinutes
from tests import make
from tests.apps.console.people import signed_in
from tests.apps.ledger import scene

pytestmark = pytest.mark.django_db
HOUR, MINUTE = timedelta(hours=1), timedelta(minutes=1)
DAY = datetime(2026, 3, 2, tzinfo=UTC)


class World:
    """gpu-01 on 2 March: Research's job on GPU 0 from 10:00 to 12:00, Quay's on any from 11:00."""

    def __init__(self) -> None:
        make.make_organisation()
        self.research, self.quay = make.make_team("Zebra research"), make.make_team("Quay")
        scene.make_rule("research", self.research)
        scene.make_rule("quay", self.quay)
        self.node_id = make.make_node("gpu-01", started_at=DAY + 9 * HOUR, at=scene.LATER, units=2)
        self.gpus = scene.make_gpus(self.node_id, 2, seen_from=DAY + 9 * HOUR)
        first = [self.gpus[0]]
        scene.make_job("4711", self.node_id, gpus=1, uuids=first, to=scene.TEN + 2 * HOUR)
        scene.make_job("812", self.node_id, gpus=1, account="quay", from_=scene.TEN + HOUR,
                       to=scene.TEN + 3 * HOUR)  # fmt: skip
        self.ids = scene.device_ids(self.gpus)
        for hour in range(9, 24):
            seen = bytes([240] * 20 + [0] * 25 + [240] * 15) if hour == 13 else bytes([240] * 60)
            scene.make_usage(self.ids[0], [120] * 60, hour=DAY + hour * HOUR, observed=seen)
            scene.make_usage(self.ids[1], [0] * 60, hour=DAY + hour * HOUR)

    def happened(self, kind: str, at: datetime, **given: object) -> None:
        values = {"started_at": at, "last_at": at, "ended_at": at} | given
        Incident.objects.create(node_id=self.node_id, kind=kind, **values)

    def address(self, table: str = "", day: str = "2026-03-02") -> str:
        of_table = f".csv?table={table}&" if table else "?"
        return f"{reverse('node-day', args=[self.node_id])}{of_table}day={day}"


@pytest.fixture(scope="module")
def world(of_module: None) -> World:
    return World()


def told(role: str, address: str, *team_ids: int) -> str:
    answer = signed_in(role, *team_ids).get(address)
    assert answer.status_code == 200
    return answer.content.decode().replace("\N{NO-BREAK SPACE}", " ")


def the_line(page: str) -> str:
    return page[page.index("<h1>") : page.index('id="bottlenecks"')]


@pytest.mark.parametrize("role", ["finance", "platform"])
def test_each_gpu_says_who_held_it_and_when(world, role):
    line = the_line(told(role, world.address()))
    assert "<title>held by job 4711, 10:00 UTC to 12:00 UTC</title>" in line
    assert "<title>held by job 812 (1 GPU), 11:00 UTC to 13:00 UTC</title>" in line
    assert "jobs that may use any of its GPUs" in line
    assert "Mon 2 March 2026" in line


def test_a_lead_sees_their_own_and_of_others_only_the_time(world):
    page = told("lead", world.address(), world.research)
    line = the_line(page)
    assert "held by job 4711, 10:00" in line
    assert "<title>held by another team (1 GPU), 11:00 UTC to 13:00 UTC</title>" in line
    assert "812" not in line
    sheet = told("viewer", world.address("happenings"))
    assert "GPU 0,held,another team,2026-03-02T10:00:00Z,2026-03-02T12:00:00Z,7200" in sheet
    assert "4711" not in sheet


def test_what_was_not_observed_is_a_gap_to_the_minute_and_not_idle_time(world):
    line = the_line(told("finance", world.address()))
    assert "<title>not observed, 13:20 UTC to 13:45 UTC</title>" in line
    assert "25 min of GPU time not observed" in line
    assert line.count("heat-unobserved") == 1
    rows = told("platform", world.address("happenings"))
    assert "GPU 0,not observed,,2026-03-02T13:20:00Z,2026-03-02T13:45:00Z,1500" in rows


def test_incidents_are_said_in_words_with_what_to_do(world):
    at = DAY + 14 * HOUR
    world.happened("xid", at, device_id=world.ids[0], uuid=world.gpus[0], code=79, count=2)
    world.happened("driver_unresponsive", at, ended_at=None)
    line = the_line(told("finance", world.address()))
    assert (
        "<h1>2 GPUs of gpu-01 on Mon 2 March 2026: 2 incidents, 25 min of GPU time not observed.</h1>"
        in line
    )
    assert "XID 79: The GPU has fallen off the bus" in line
    assert "(2 times)" in line
    assert "Driver does not answer" in line
    assert "ongoing" in line
    assert "<dd>Drain the node; reset the GPUs or reboot.</dd>" in line


def test_what_slowed_a_gpu_is_said_by_reason_and_what_was_never_told_is_not(world):
    given = {"power_capped_seconds": 1800, "thermal_seconds": 120, "hardware_slowed_seconds": None}
    hour = DAY + 15 * HOUR
    DeviceHour.objects.create(
        device_id=world.ids[1], hour=hour, source=1, observed_seconds=3600, **given
    )
    line = the_line(told("finance", world.address()))
    assert "<small>held back by its power cap for 30 min, slowed by heat for 2 min</small>" in line
    assert 'class="slowed" x="62.500%" width="4.167%" y="50%" height="50%"' in line
    assert "slowed by its hardware" not in line
    assert "1 GPU slowed down at times" in line
    rows = told("platform", world.address("happenings"))
    assert "GPU 1,slowed,slowed by heat,2026-03-02T15:00:00Z,2026-03-02T16:00:00Z,120" in rows


def test_a_day_without_anything_says_so(world):
    line = the_line(told("finance", world.address(day="2026-02-01")))
    assert "No agent named a GPU of gpu-01 on Sun 1 February 2026." in line
    assert "is unknown" in line
    assert 'href="/fleet/nodes/' in line


@pytest.mark.parametrize("day", ["soon", "2026-02-30", "9999-12-31", "0001-01-01"])
def test_a_day_that_is_none_is_said_and_the_last_24_hours_shown(world, day):
    page = the_line(told("finance", world.address(day=day)))
    assert "last 24 hours" in page
    assert 'role="status"' in page


def test_a_day_of_a_zone_that_turns_its_clocks_has_its_23_hours():
    zone = ZoneInfo("Europe/Berlin")
    span = Span(
        datetime(2026, 3, 28, 23, tzinfo=UTC), datetime(2026, 3, 29, 22, tzinfo=UTC),
        datetime(2026, 3, 29, 22, tzinfo=UTC), zone,
    )  # fmt: skip
    assert hour_ticks(span)[1] == ("50.00%", "12:30 CEST")


def test_a_gap_that_crosses_hours_is_one_and_the_last_minutes_are_still_arriving():
    until = DAY + 3 * HOUR + 30 * MINUTE
    span = Span(DAY, DAY + 24 * HOUR, until, ZoneInfo("UTC"))
    seen = {
        DAY: bytes([240] * 30 + [0] * 30),
        DAY + 2 * HOUR: bytes([0] * 10 + [240] * 50),
        DAY + 3 * HOUR: bytes([240] * 27 + [0] * 33),
    }
    hours = {hour: DeviceMinutes(1, hour, each, bytes(60)) for hour, each in seen.items()}
    lived = (DAY - HOUR, DAY + 24 * HOUR)
    assert bars.gaps(hours, lived, span) == [(DAY + 30 * MINUTE, DAY + 2 * HOUR + 10 * MINUTE)]
    assert bars.gaps({}, (DAY + HOUR, DAY + 2 * HOUR), span) == [(DAY + HOUR, DAY + 2 * HOUR)]


def test_jobs_that_share_a_gpu_lie_under_one_another():
    span = Span(DAY, DAY + 10 * HOUR, DAY + 10 * HOUR, ZoneInfo("UTC"))
    stretches = [
        (DAY, DAY + 5 * HOUR),
        (DAY + HOUR, DAY + 2 * HOUR),
        (DAY + 5 * HOUR, DAY + 6 * HOUR),
    ]
    placed = bars.side_by_side(
        [(each, bars.bar(each, "held-0", "held", span)) for each in stretches]
    )
    assert [each.top for each in placed] == ["0.00%", "50.00%", "0.00%"]


def test_what_else_a_node_did_has_units_and_hours_that_waited_are_marked(world):
    given = {"fabric_bytes": 4.5e12, "fabric_peak": 3e10, "fabric_errors": 3, "disk_read_bytes": 0}
    NodeReportHour.objects.create(
        node_id=world.node_id, hour=DAY + 10 * HOUR, source=1, observed_seconds=3600,
        io_stalled_seconds=720, **given,
    )  # fmt: skip
    page = told("finance", world.address())
    told_of = page[page.index('id="bottlenecks"') :]
    assert "Stalled a tenth of the time or more on disks in 1 hour" in told_of
    for said in ("4.50 TB<small>peak 30.0 GB/s</small>", "3 errors", ">0 B<", ">20 %<", "stalled<"):
        assert said in told_of, said
    (row,) = told("platform", world.address("bottlenecks")).splitlines()[1:]
    assert row.startswith("2026-03-02T10:00:00Z,3600.000,4500000000000.000,30000000000.000,3.000,,")
    assert row.endswith(",720.000,")


def test_where_no_report_came_the_node_says_what_one_would_tell(world):
    page = told("viewer", world.address())
    assert "Nothing is known of network, disks and stalls" in page
    assert "Its agent sent no reports in this time." in page


def test_a_day_of_a_node_asks_little(world, django_assert_max_num_queries):
    world.happened("xid", DAY + 14 * HOUR, device_id=world.ids[0], code=79)
    client = signed_in("lead", world.research)
    client.get(world.address())
    for table in ("", "happenings", "bottlenecks"):
        with django_assert_max_num_queries(15):
            client.get(world.address(table))


def test_the_page_of_a_node_leads_to_its_day(world):
    node = reverse("node", args=[world.node_id])
    day = reverse("node-day", args=[world.node_id])
    assert f'href="{day}"' in told("viewer", node)
    assert f'href="{node}"' in told("finance", day)
