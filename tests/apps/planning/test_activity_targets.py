"""Targets of activity against the last four whole weeks: share, gap in GPU-hours and money, and who sets them."""

import csv
import io
from datetime import UTC, datetime, timedelta
from decimal import Decimal
from typing import Any

import pytest
from django.core.cache import cache
from django.db import connection
from django.utils import timezone

from apps.economics.hours import HOUR_MS
from apps.economics.refusal import Refusal
from apps.planning import actions
from apps.planning.queries.targets import (
    TargetFigures,
    activity_targets,
    last_weeks,
    target_figures,
)
from bench.pages_ask import counted_statements
from tests import make
from tests.apps.console.people import confirmed, signed_in, text_of
from tests.apps.ledger import scene
from tests.rest import with_token
from tests.table_lists import assert_listed_as_on_page

pytestmark = pytest.mark.django_db

AT = datetime(2026, 3, 10, 10, tzinfo=UTC)
HELD_MICROS = 4 * 12_290_000
"""Four GPUs of eight for an hour of 98.32."""


@pytest.fixture(autouse=True)
def _clock(monkeypatch: pytest.MonkeyPatch) -> None:
    cache.clear()
    monkeypatch.setattr(timezone, "now", lambda: AT)


@pytest.fixture(scope="module")
def world(of_module: None) -> dict[str, int]:
    """For an hour of the week before, Red holds four GPUs, active in half of it, SM active 40 %."""
    make.make_organisation()
    cluster = make.make_cluster("atlas")
    pool = make.make_pool("h100", cluster_id=cluster)
    node_id = scene.make_priced_node(pool_id=pool)
    red = make.make_team("Red")
    scene.make_rule("red", red)
    uuids = scene.make_gpus(node_id)
    scene.make_job("1", node_id, gpus=4, uuids=uuids[:4], account="red")
    for device_id in scene.device_ids(uuids[:4]):
        scene.make_usage(device_id, [120] * 60)
        with connection.cursor() as cursor:
            cursor.execute(
                "UPDATE telemetry_usagehour SET sm_seconds = 1440, sm_observed_seconds = 3600"
                " WHERE device_id = %s",
                [device_id],
            )
    scene.settle()
    return {"cluster": cluster, "pool": pool, "team": red}


def figures(world: dict[str, int], scope: str, measure: str, share: str) -> TargetFigures:
    target = actions.EnteredActivityTarget(scope, world[scope], measure, Decimal(share))
    actions.set_activity_target(target=target, at=AT)
    (found,) = target_figures(activity_targets(), AT)
    return found


@pytest.mark.parametrize("scope", ["team", "pool", "cluster"])
def test_the_gap_is_the_share_that_lacks_of_what_was_held(
    world: dict[str, int], scope: str
) -> None:
    found = figures(world, scope, "active", "0.8")
    assert found.actual_ratio == pytest.approx(0.5)
    assert found.held_milliseconds == 4 * HOUR_MS
    assert found.held_micros == HELD_MICROS
    assert found.gap_milliseconds == round(0.3 * 4 * HOUR_MS)
    assert found.gap_micros == pytest.approx(0.3 * HELD_MICROS, abs=1)


def test_sm_active_is_its_own_share_and_a_target_that_is_met_lacks_nothing(
    world: dict[str, int],
) -> None:
    found = figures(world, "team", "sm_active", "0.35")
    assert found.actual_ratio == pytest.approx(0.4)
    assert (found.gap_milliseconds, found.gap_micros) == (0, 0)


def test_weeks_are_whole_and_begin_as_the_organisations(world: dict[str, int]) -> None:
    weeks = last_weeks(AT)
    assert (f"{weeks.first_day:%a %d}", f"{weeks.end_day:%a %d}") == ("Mon 09", "Mon 09")
    assert weeks.end_day - weeks.first_day == timedelta(days=28)


def test_what_nobody_observed_is_not_known(world: dict[str, int]) -> None:
    blue = {"team": make.make_team("Blue")}
    found = figures(blue, "team", "active", "0.8")
    assert (found.actual_ratio, found.gap_milliseconds, found.gap_micros) == (None, None, None)
    assert found.held_milliseconds == 0


@pytest.mark.parametrize(
    ("field", "given"),
    [
        ("of", {"scope": "planet"}),
        ("of", {"key": 999_999}),
        ("measure", {"measure": "busy"}),
        ("target", {"target": Decimal("1.01")}),
        ("target", {"target": Decimal("NaN")}),
    ],
)
def test_what_is_wrong_is_refused_by_its_field(
    world: dict[str, int], field: str, given: dict[str, Any]
) -> None:
    values: dict[str, Any] = {
        "scope": "team", "key": world["team"], "measure": "active", "target": Decimal("0.5"),
    }  # fmt: skip
    target = actions.EnteredActivityTarget(**values | given)
    with pytest.raises(Refusal) as refused:
        actions.set_activity_target(target=target, at=AT)
    assert refused.value.field == field


def test_a_target_is_set_after_a_look_set_again_and_removed(world: dict[str, int]) -> None:
    finance = signed_in("finance")
    entered = {"of": f"team:{world['team']}", "measure": "active", "target": "80"}
    looked = text_of(finance.get("/headroom/targets/new", entered).content.decode())
    assert "80 % of what team Red holds is to be active." in looked
    assert "In the last four whole weeks it was 50 % of 4.00 GPU-hours." in looked
    confirmed(finance, "/headroom/targets/new", entered)
    done = confirmed(finance, "/headroom/targets/new", entered | {"target": "90"}, follow=True)
    assert "The target of team Red is set." in text_of(done.content.decode())
    (row,) = csv.DictReader(io.StringIO(finance.get("/headroom/targets.csv").content.decode()))
    assert (row["of"], row["target_ratio"], row["actual_ratio"]) == ("Red", "0.900000", "0.500000")
    assert (row["gap_gpu_hours"], row["gap_cost"]) == ("1.600000", "19.664000")
    (target,) = activity_targets()
    confirmed(finance, f"/headroom/targets/{target.id}/remove", {"look": "yes"})
    assert activity_targets() == []
    assert finance.get(f"/headroom/targets/{target.id}/remove").status_code == 404


def test_more_targets_ask_no_more_of_the_database(world: dict[str, int]) -> None:
    finance = signed_in("finance")

    def asked() -> int:
        finance.get("/headroom/targets")
        with counted_statements() as count:
            finance.get("/headroom/targets")
        return count()

    for scope in ("team", "pool", "cluster"):
        target = actions.EnteredActivityTarget(scope, world[scope], "active", Decimal("0.5"))
        actions.set_activity_target(target=target, at=AT)
    of_three = asked()
    target = actions.EnteredActivityTarget("team", world["team"], "sm_active", Decimal("0.5"))
    actions.set_activity_target(target=target, at=AT)
    assert asked() == of_three


def test_programs_read_what_is_lacking_where_they_read_prices(world) -> None:
    found = figures(world, "pool", "active", "0.75")
    (row,) = with_token("read", name="all").get("activity-targets").json()["results"]
    assert (row["scope"], row["key"], row["target_ratio"]) == ("pool", world["pool"], 0.75)
    assert (row["actual_ratio"], row["held_gpu_hours"], row["gap_gpu_hours"]) == (0.5, 4.0, 1.0)
    assert row["gap_cost"]["amount"] == f"{Decimal(found.gap_micros or 0) / 1_000_000:.6f}"
    own = with_token("read", name="one", team_id=world["team"])
    assert own.get("activity-targets").status_code == 403


def test_the_list_is_the_table_of_the_page(world: dict[str, int]) -> None:
    for scope, ratio in (("team", "0.9"), ("pool", "0.25"), ("cluster", "0.5")):
        target = actions.EnteredActivityTarget(scope, world[scope], "active", Decimal(ratio))
        actions.set_activity_target(target=target, at=AT)
    machine = with_token("read", name="all")
    assert_listed_as_on_page(
        machine,
        "activity-targets",
        page=signed_in("finance"),
        file="/headroom/targets.csv?targets=-target_ratio",
        sort="-target_ratio",
    )
    rows = machine.get("activity-targets", sort="-target_ratio").json()["results"]
    assert [row["scope"] for row in rows] == ["team", "cluster", "pool"]
