"""The page of spot evidence: by source and by hour, with what is thin or not known said."""

from datetime import datetime, timedelta
from urllib.parse import urlencode

import numpy as np
import pytest
from django.core.cache import cache
from django.test import Client
from django.utils import timezone

from apps.economics.spot.trace import SpotTrace
from apps.fleet.actions.agent_reports import reclaim_node
from apps.placement.actions import SpotPlace, keep_spot_series
from tests import make
from tests.apps.console.people import csv_rows, signed_in, words_of

pytestmark = pytest.mark.django_db

AT = make.NOON + timedelta(hours=2)
BEGUN = AT - timedelta(hours=100)


@pytest.fixture(autouse=True)
def _clock(monkeypatch: pytest.MonkeyPatch) -> None:
    cache.clear()
    monkeypatch.setattr(timezone, "now", lambda: AT)


@pytest.fixture
def finance() -> Client:
    make.make_organisation()
    return signed_in("finance")


def imported(name: str, starts_at: datetime | None) -> None:
    starts = None if starts_at is None else starts_at.timestamp()
    trace = SpotTrace(name, 1.0, np.array([1.0, 1.0, 1.0, 0.0] * 30), starts)
    place = SpotPlace("aws", "us-west-2", "us-west-2b", "NVIDIA H100 80GB HBM3")
    keep_spot_series(name=name, trace=trace, place=place, source="looks", at=AT)


def own_nodes(name: str, notices: int) -> None:
    pool_id = make.make_pool(name, purchase_option="spot")
    for number in range(notices):
        node = make.make_node(f"{name}-{number}", pool_id=pool_id, at=BEGUN)
        reclaim_node(node_id=node, ended_at=BEGUN + timedelta(hours=12), at=AT)
    make.make_node(f"{name}-there", pool_id=pool_id, at=AT - timedelta(hours=24))


def test_with_nothing_seen_the_page_says_what_to_import_or_connect(finance: Client) -> None:
    page = words_of(finance.get("/placement/spot"))

    assert "Nothing is known of spot yet" in page
    assert "by import_spot_trace, from a file" in page
    assert "Connect own spot pools" in page
    assert csv_rows(finance.get("/placement/spot.csv")) == []
    assert csv_rows(finance.get("/placement/spot.csv?table=hours")) == []


def test_each_source_has_its_hours_its_rate_a_day_with_range_and_whether_it_is_thin(
    finance: Client,
) -> None:
    imported("west", AT - timedelta(days=6))
    own_nodes("taken", notices=2)
    page = words_of(finance.get("/placement/spot"))
    rows = {row["name"]: row for row in csv_rows(finance.get("/placement/spot.csv"))}

    assert "west is taken away the most: 8 times a day" in page
    assert "Thin: fewer than 5 seen" in page
    west, taken = rows["west"], rows["taken"]
    assert (west["source"], west["interruptions"], west["exposure_hours"]) == (
        "Imported series",
        "30",
        "90.0",
    )
    assert float(west["interruptions_per_day"]) == pytest.approx(30 / 90 * 24)
    assert float(west["low_per_day"]) < 30 / 90 * 24 < float(west["high_per_day"])
    assert (west["median_life_hours"], west["thin"]) == ("3.0", "Enough")
    assert (taken["source"], taken["interruptions"], taken["exposure_hours"]) == (
        "Own nodes",
        "2",
        "48.0",
    )
    assert (taken["median_life_hours"], taken["thin"]) == ("", "Thin: fewer than 5 seen")


def test_one_source_is_shown_by_hour_of_the_day(finance: Client) -> None:
    imported("west", AT - timedelta(days=6))
    own_nodes("taken", notices=2)
    asked = urlencode({"of": "own_nodes:taken"})
    most = words_of(finance.get("/placement/spot"))
    page = words_of(finance.get(f"/placement/spot?{asked}"))
    hours = csv_rows(finance.get(f"/placement/spot.csv?table=hours&{asked}"))

    assert "west was taken away 30 times in 90 hours" in most
    assert "taken was taken away 2 times in 48 hours" in page
    assert len(hours) == 24
    ended = (BEGUN + timedelta(hours=12) - timedelta(minutes=1)).hour
    assert {row["hour_utc"] for row in hours if row["interruptions"] != "0"} == {str(ended)}
    assert sum(float(row["exposure_hours"]) for row in hours) == pytest.approx(48)
    assert finance.get("/placement/spot?of=own_nodes:nobody").status_code == 404


def test_regions_are_mapped_by_hour_of_the_day_and_hatched_where_nothing_is_known(
    finance: Client,
) -> None:
    imported("west", AT - timedelta(days=6))
    own_nodes("quiet", notices=0)
    answer = finance.get("/placement/spot")
    page, markup = words_of(answer), answer.content.decode()
    rows = csv_rows(finance.get("/placement/spot.csv?table=region-hours"))
    west = [row for row in rows if row["source"] == "imported_series"]
    quiet = [row for row in rows if row["source"] == "own_nodes"]

    assert "By region and hour of the day" in page
    assert "not known: no notice was ever seen there" in markup
    assert "00:00 UTC: could be had 100 % of the time" in page
    # Of both kinds of a quiet pool, and of the six hours in which west was never up.
    assert markup.count('class="heat-unobserved"') == 54
    assert [row["hour_utc"] for row in west] == [str(hour) for hour in range(24)]
    assert {row["region"] for row in west} == {"us-west-2"}
    assert sum(int(row["interruptions"]) for row in west) == 30
    assert sum(float(row["exposure_hours"]) for row in west) == pytest.approx(90)
    assert {row["up_share"] for row in west} == {"0.000000", "1.000000"}
    assert {(row["interruptions_per_day"], float(row["exposure_hours"])) for row in quiet} == {
        ("", 0)
    }


def test_a_series_without_a_clock_has_no_hours_and_says_why(finance: Client) -> None:
    imported("undated", None)
    page = words_of(finance.get("/placement/spot?of=imported_series:undated"))

    assert "undated was imported without the time of its first look" in page
    assert csv_rows(finance.get("/placement/spot.csv?table=hours&of=imported_series:undated")) == []
    assert "by hour of the day" not in words_of(finance.get("/placement/spot"))


def test_nodes_without_a_notice_are_not_called_safe(finance: Client) -> None:
    own_nodes("quiet", notices=0)
    page = words_of(finance.get("/placement/spot"))

    assert "No interruption on spot was seen yet" in page
    assert "On quiet no notice was seen" in page
    assert "None seen" in page
    (row,) = csv_rows(finance.get("/placement/spot.csv"))
    assert (row["interruptions_per_day"], float(row["high_per_day"])) == ("", 3.0)


def test_evidence_is_shown_to_who_sees_prices(finance: Client) -> None:
    own_nodes("quiet", notices=0)
    lead = signed_in("lead")

    for path in (
        "/placement/spot",
        "/placement/spot.csv",
        "/placement/spot.csv?table=hours",
        "/placement/spot.csv?table=region-hours",
    ):
        assert lead.get(path).status_code in (302, 403)
