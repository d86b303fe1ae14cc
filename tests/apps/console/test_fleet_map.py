"""The heat map of nodes: active, idle and not observed are three things, the idlest node first."""

import re
from dataclasses import replace
from datetime import UTC, datetime, timedelta

import pytest

from apps.console.pages.fleet import heat_map
from tests import make
from tests.apps.console.people import signed_in
from tests.apps.ledger import scene

pytestmark = pytest.mark.django_db
HOUR = timedelta(hours=1)


class World:
    """Three nodes since three hours: gpu-01 works, gpu-02 idles for one hour, of gpu-03 nothing."""

    def __init__(self) -> None:
        make.make_organisation()
        self.now = datetime.now(UTC)
        self.began_at = self.now.replace(minute=0, second=0, microsecond=0) - 3 * HOUR
        self.pool_id = make.make_pool("h100")
        self.ids = {name: self._node(name) for name in ("gpu-01", "gpu-02", "gpu-03")}
        for hour in range(3):
            self.told("gpu-01", hour, [240] * 60)
        self.told("gpu-02", 0, [60] * 60)
        self.told("gpu-02", 1, [0] * 60, observed=bytes([240] * 30 + [0] * 30))

    def _node(self, name: str) -> int:
        node_id = make.make_node(
            name, pool_id=self.pool_id, started_at=self.began_at, at=self.now, units=1
        )
        scene.make_gpus(node_id, 1, seen_from=self.began_at)
        return node_id

    def told(self, name: str, hour: int, worked: list[int], **given: bytes) -> None:
        node_id, at = self.ids[name], self.began_at + hour * HOUR
        (device_id,) = scene.device_ids([f"GPU-{node_id}-0"])
        scene.make_usage(device_id, worked, hour=at, **given)
        scene.make_busy(node_id, at)


@pytest.fixture(scope="module")
def world(of_module: None) -> World:
    return World()


def page(role: str = "finance", address: str = "/fleet") -> str:
    answer = signed_in(role).get(address)
    assert answer.status_code == 200
    return answer.content.decode().replace("\N{NO-BREAK SPACE}", " ")


def the_map(told: str) -> str:
    return told[told.index('id="map"') : told.index('id="pools"')]


def test_its_title_says_how_many_idled_and_of_how_much_nothing_is_known(world):
    said = "1 of 3 nodes was mostly idle in the last 24 hours; 4 of "
    assert said in the_map(page())
    assert "node-hours were not observed" in the_map(page("platform"))


def test_the_node_that_idled_most_comes_first_and_the_unknown_one_is_not_idle(world):
    told = the_map(page())
    places = [told.index(f">{name}</a>") for name in ("gpu-02", "gpu-03", "gpu-01")]
    assert places == sorted(places)
    assert "nothing was measured in the last 24 hours" in told
    assert " GPU-hours observed in the last 24 hours were idle; 1 hour not observed" in told
    assert '<span class="unknown">unknown</span>' in told


def test_each_hour_is_worked_idle_or_not_observed(world):
    told = the_map(page())
    assert told.count('class="heat-4"') == 3 + 1
    assert ": active 25 %</title>" in told
    assert ": active 0 % of the 50 % observed</title>" in told
    assert told.count(": not observed</title>") == 4
    assert told.count(": not there</title>") == 3 * 20


def test_its_sheet_has_every_full_hour_and_leaves_unknown_work_empty(world):
    lines = page("viewer", "/fleet.csv?table=hours").splitlines()
    assert lines[0] == "node,pool,hour,gpu_hours,observed_gpu_hours,active_gpu_hours"
    hours = {name: [line for line in lines if line.startswith(name)] for name in world.ids}
    assert [len(each) for each in hours.values()] == [3, 3, 3]
    assert hours["gpu-02"][0].endswith("Z,1.000000,1.000000,0.250000")
    assert hours["gpu-02"][1].endswith("Z,1.000000,0.500000,0.000000")
    assert hours["gpu-03"][0].endswith("Z,1.000000,0.000000,")


@pytest.mark.parametrize("role", ["finance", "platform", "lead", "viewer"])
def test_whoever_sees_nodes_sees_how_they_worked(world, role):
    assert f'href="/fleet/nodes/{world.ids["gpu-02"]}"' in the_map(page(role))


def test_the_map_follows_the_filter_and_its_own_order(world):
    make.make_node("lab-01", pool_id=make.make_pool("lab"), started_at=world.began_at, units=1)
    told = the_map(page(address="/fleet?pool=lab"))
    assert "Nothing was measured of 1 node in the last 24 hours" in told
    assert ">gpu-01</a>" not in told
    turned = the_map(page("platform", "/fleet?map=name"))
    assert turned.index(">gpu-01</a>") < turned.index(">gpu-02</a>")


def test_forty_nodes_are_shown_at_once(world, monkeypatch):
    monkeypatch.setattr(heat_map, "MAP", replace(heat_map.MAP, per_page=2))
    first, second = (
        the_map(page(role, f"/fleet?map-page={number}"))
        for number, role in ((1, "finance"), (2, "platform"))
    )
    assert (">gpu-02</a>" in first, ">gpu-01</a>" in first) == (True, False)
    assert (">gpu-02</a>" in second, ">gpu-01</a>" in second) == (False, True)


def test_where_no_node_fits_it_says_what_would_be_there(world):
    told = the_map(page(address="/fleet?show=ended"))
    assert "No node with GPUs was there in the last 24 hours" in told
    assert "Nodes in service with GPUs that match the filter" in told


def test_active_is_one_figure_of_all_gpu_time_and_the_map_has_no_other(world):
    """The map's share of observed time beside the list's of all time read as a contradiction."""
    told = page()
    headings = re.findall(r"<th[^>]*>(?:<a[^>]*>)?([^<]+)", the_map(told))
    assert [each.strip(" ↓↑") for each in headings if "ctive" in each] == []
    assert "orked" not in re.sub(r"<[^>]+>", "", told[told.index("<h1") :])
    assert told.count("active is of all GPU time, held or not") == 1
