"""Quotas of GPUs at once: used now, at most lately, headroom; entered on the page, read over REST."""

import csv
import io
from datetime import UTC, date, datetime, timedelta
from typing import Any

import pytest
from django.core.cache import cache
from django.utils import timezone

from apps.economics.refusal import Refusal
from apps.fleet import actions as fleet
from apps.planning import actions
from apps.planning.queries.gpu_quotas import GpuQuotaUse, gpu_quota_use, gpu_quotas, most_at_once
from tests import make
from tests.apps.console.people import confirmed, signed_in, text_of
from tests.rest import with_token

pytestmark = pytest.mark.django_db

AT = datetime(2026, 3, 10, 10, tzinfo=UTC)
DAY = timedelta(days=1)


@pytest.fixture(autouse=True)
def _clock(monkeypatch: pytest.MonkeyPatch) -> None:
    cache.clear()
    monkeypatch.setattr(timezone, "now", lambda: AT)


@pytest.fixture(scope="module")
def pools(of_module: None) -> dict[str, int]:
    """Two regions of one cloud: in the first two nodes of eight GPUs, of which a third follows on one that ended."""
    make.make_organisation()
    ids = {
        region: make.make_pool(region, provider="aws", region=region)
        for region in ("us-east-1", "eu-west-1")
    }
    ended = make.make_node(
        "old", pool_id=ids["us-east-1"], units=8, started_at=AT - 20 * DAY, at=AT
    )
    fleet.end_node(node_id=ended, ended_at=AT - 10 * DAY, reason="returned", at=AT)
    for name, began_at in (("first", AT - 15 * DAY), ("second", AT - 10 * DAY)):
        make.make_node(name, pool_id=ids["us-east-1"], units=8, started_at=began_at, at=AT)
    make.make_node("far", pool_id=ids["eu-west-1"], units=8, started_at=AT - 40 * DAY, at=AT)
    return ids


def new_quota(**given: Any) -> actions.EnteredGpuQuota:
    """24 GPUs in the first region."""
    values: dict[str, Any] = {
        "provider": "aws", "region": "us-east-1", "gpu_model": "", "most_gpus": 24, "lead_days": 14,
    }  # fmt: skip
    return actions.EnteredGpuQuota(**values | given)


def use_of(**given: Any) -> GpuQuotaUse:
    actions.add_gpu_quota(quota=new_quota(**given), at=AT)
    (found,) = gpu_quota_use(gpu_quotas(), AT)
    return found


def test_what_ends_makes_room_for_what_begins_at_the_same_moment(pools) -> None:
    found = use_of()
    assert (found.used_gpus, found.peak_gpus_28_days, found.headroom_gpus) == (16, 16, 8)
    assert most_at_once([(AT, 8), (AT + DAY, -8), (AT + DAY, 4), (AT, 2)]) == 10
    assert most_at_once([]) == 0


def test_an_empty_region_is_any_and_headroom_may_be_gone(pools) -> None:
    found = use_of(region="", most_gpus=20)
    assert (found.used_gpus, found.peak_gpus_28_days, found.headroom_gpus) == (24, 24, -4)


@pytest.mark.parametrize(
    ("field", "given"),
    [
        ("provider", {"provider": "moon"}),
        ("most_gpus", {"most_gpus": 0}),
        ("lead_days", {"lead_days": 731}),
        ("asked_gpus", {"asked_gpus": 32}),
        ("asked_gpus", {"asked_gpus": 24, "asked_on": date(2026, 3, 1)}),
    ],
)
def test_what_is_wrong_is_refused_by_its_field(pools, field: str, given: dict[str, Any]) -> None:
    with pytest.raises(Refusal) as refused:
        actions.add_gpu_quota(quota=new_quota(**given), at=AT)
    assert refused.value.field == field


def test_a_quota_is_entered_after_a_look_changed_and_removed(pools) -> None:
    finance = signed_in("finance")
    entered = {"provider": "aws", "region": "us-east-1", "gpu_model": "", "most_gpus": "24",
               "lead_days": "14", "raised_by": "Petra"}  # fmt: skip
    looked = text_of(finance.get("/headroom/quotas/new", entered).content.decode())
    assert "Of aws us-east-1 at most 24 GPUs at once." in looked
    assert "16 GPUs are alive now, 16 at most in the last 28 days." in looked
    done = confirmed(finance, "/headroom/quotas/new", entered, follow=True)
    assert "The quota of aws us-east-1 is entered." in text_of(done.content.decode())
    again = text_of(finance.get("/headroom/quotas/new", entered).content.decode())
    assert "There is a quota of aws us-east-1 already." in again
    (quota,) = gpu_quotas()
    assert not quota.is_hard
    asked = entered | {"asked_gpus": "64", "asked_on": "2026-03-02", "is_hard": "hard"}
    done = confirmed(finance, f"/headroom/quotas/{quota.id}/change", asked, follow=True)
    assert "64 GPUs on 2 March, expected 16 March" in text_of(done.content.decode())
    (row,) = csv.DictReader(io.StringIO(finance.get("/headroom/quotas.csv").content.decode()))
    assert (row["most_gpus"], row["used_gpus"], row["expected_on"]) == ("24", "16", "2026-03-16")
    assert (row["limit"], [each.is_hard for each in gpu_quotas()]) == ("deny", [True])
    confirmed(finance, f"/headroom/quotas/{quota.id}/remove", {"look": "yes"})
    assert gpu_quotas() == []


def test_programs_read_what_is_left_of_a_quota_where_they_read_prices(pools) -> None:
    use_of(asked_gpus=48, asked_on=date(2026, 3, 2))
    (row,) = with_token("read", name="all").get("gpu-quotas").json()["results"]
    assert (row["used_gpus"], row["headroom_gpus"], row["expected_on"]) == (16, 8, "2026-03-16")
    own = with_token("read", name="one", team_id=make.make_team("Red"))
    assert own.get("gpu-quotas").status_code == 403
