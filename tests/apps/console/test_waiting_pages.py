"""Waiting and outages on the page, as CSV and over REST: what it cost, what is not known, and whose it is."""

import pytest
from django.core.cache import cache
from django.utils import timezone

from tests.apps.console.people import csv_rows, signed_in, text_of
from tests.apps.planning.waiting_scene import AT, policy, waiting_world
from tests.rest import with_token
from tests.table_lists import assert_listed_as_on_page

pytestmark = pytest.mark.django_db

PAGE, DAY = "/headroom/waiting", "?window=2026-03-02"


@pytest.fixture(autouse=True)
def _clock(monkeypatch: pytest.MonkeyPatch) -> None:
    cache.clear()
    monkeypatch.setattr(timezone, "now", lambda: AT)


@pytest.fixture(scope="module")
def world(of_module: None) -> dict[str, int]:
    return waiting_world()


def test_the_page_says_what_waiting_cost_and_what_would_make_the_rest_known(world) -> None:
    finance = signed_in("finance")
    text = text_of(finance.get(PAGE + DAY).content.decode())
    assert (
        "Jobs waited 12.0 GPU-hours on 2 March 2026, and no policy says what an hour of it costs; "
        "outages took 12.0 GPU-hours, which cost $147"
    ) in text
    assert "no headroom policy says what an hour of being short costs in h100." in text
    assert "1 job never started, so nobody says for how many GPUs" in text
    assert "Of 1 job nobody said when they were submitted" in text
    assert "Add a policy" in text
    policy("h100", "pool", str(world["pool"]), "6")
    page = finance.get(PAGE + DAY).content.decode()
    text = text_of(page)
    assert "Jobs waited 12.0 GPU-hours on 2 March 2026, worth $72.00; outages took" in text
    assert "Most waited and lost: Red, 12.0 GPU-hours." in text
    assert "Add a policy" not in text
    for job in ("red_job", "blue_job", "queued_job"):
        assert f'href="/costs/jobs/{world[job]}' in page
    assert f'href="/nodes/{world["second"]}' in page or f"/{world['second']}" in page


def test_each_table_is_a_file_too_and_by_what_is_asked(world) -> None:
    policy("h100", "pool", str(world["pool"]), "6")
    finance = signed_in("finance")
    rows = {row["of"]: row for row in csv_rows(finance.get(f"{PAGE}.csv{DAY}"))}
    red, blue = rows["Red"], rows["Blue"]
    assert (red["jobs"], red["still_waiting"], red["undated_jobs"]) == ("2", "1", "1")
    assert (red["waited_for_capacity_gpu_hours"], red["lost_held_gpu_hours"]) == (
        "8.000000", "4.000000",
    )  # fmt: skip
    assert (red["wait_cost"], red["lost_cost"], red["cost"]) == (
        "48.000000",
        "49.160000",
        "97.160000",
    )
    assert (blue["waited_for_outages_gpu_hours"], blue["cost"]) == ("4.000000", "24.000000")
    assert (blue["median_wait_seconds"], blue["ninth_decile_wait_seconds"]) == ("3600", "3600")
    by_pool = csv_rows(finance.get(f"{PAGE}.csv{DAY}&by=pool"))
    assert [row["of"] for row in by_pool] == ["h100", "Not started yet: not known where"]
    assert (by_pool[1]["wait_cost"], by_pool[1]["cost"]) == ("", "")
    of_blue = csv_rows(finance.get(f"{PAGE}.csv{DAY}&team=Blue&by=workload"))
    assert [(row["of"], row["team"]) for row in of_blue] == [("No workload", "Blue")]
    below = csv_rows(finance.get(f"{PAGE}.csv{DAY}&team=Red"))
    assert {row["of"] for row in below} == {"Red", "Blue"}, "a team is those below it too"
    jobs = csv_rows(finance.get(f"{PAGE}.csv{DAY}&table=jobs"))
    assert [row["raw_id"] for row in jobs] == ["1", "2", "4"]
    assert [row["gpu_hours"] for row in jobs] == ["8.000000", "4.000000", ""]
    outages = csv_rows(finance.get(f"{PAGE}.csv{DAY}&table=outages"))
    assert [(row["node"], row["held_by"], row["lost_gpu_hours"]) for row in outages] == [
        ("first", "1 job", "4.000000"), ("second", "no job", "8.000000"),
    ]  # fmt: skip


def test_a_team_sees_its_own_and_those_below_it_alone(world) -> None:
    lead = signed_in("lead", world["blue"])
    text = text_of(lead.get(PAGE + DAY).content.decode())
    assert "Jobs waited 4.00 GPU-hours" in text
    assert "Red" not in text
    assert "Policies" not in text, "the pages beside it are for who reads prices"
    assert "first" not in [
        row["node"] for row in csv_rows(lead.get(f"{PAGE}.csv{DAY}&table=outages"))
    ]
    assert [row["raw_id"] for row in csv_rows(lead.get(f"{PAGE}.csv{DAY}&table=jobs"))] == ["2"]
    assert "There is no team named" in text_of(lead.get(f"{PAGE}{DAY}&team=Red").content.decode())
    grey = signed_in("viewer", world["grey"])
    assert "Nothing waited, and nothing was out" in text_of(grey.get(PAGE + DAY).content.decode())


def test_programs_read_the_same_and_no_other_teams(world) -> None:
    policy("h100", "pool", str(world["pool"]), "6")
    reads = with_token("read", name="all")
    rows = reads.get(f"waiting-costs{DAY}").json()["results"]
    by_team = {row["team"]["name"]: row for row in rows}
    red = by_team["Red"]
    assert (red["waited_for_capacity_gpu_hours"], red["wait_cost"]["amount"]) == (8.0, "48.000000")
    assert (red["lost_held_gpu_hours"], red["cost"]["amount"]) == (4.0, "97.160000")
    assert (red["median_wait_seconds"], red["ninth_decile_wait_seconds"]) == (3600, None)
    (row,) = reads.get(f"waiting-costs{DAY}&group_by=workload&team=Blue").json()["results"]
    assert (row["workload"], row["team"]["name"]) == (None, "Blue")
    pools = reads.get(f"waiting-costs{DAY}&group_by=pool").json()["results"]
    assert [row["pool"] and row["pool"]["name"] for row in pools] == [None, "h100"]
    assert pools[0]["waited_for_capacity_gpu_hours"] is None
    assert "Red" in reads.get(f"waiting-costs{DAY}", accept="text/csv").content.decode()
    own = with_token("read", name="blue", team_id=world["blue"])
    assert [row["team"]["name"] for row in own.get(f"waiting-costs{DAY}").json()["results"]] == [
        "Blue"
    ]
    refused = own.get(f"waiting-costs{DAY}&team=Red")
    assert (refused.status_code, refused.json()["errors"][0]["field"]) == (400, "team")
    assert reads.get("waiting-costs?group_by=planet").status_code == 400
    assert_listed_as_on_page(
        reads,
        "waiting-costs",
        page=signed_in("finance"),
        file=f"{PAGE}.csv{DAY}&waiting=-wait_cost",
        sort="-wait_cost",
        window="2026-03-02",
    )


def test_where_nothing_waited_the_page_says_what_it_needs(world) -> None:
    text = text_of(signed_in("platform").get(f"{PAGE}?window=2026-01").content.decode())
    assert "Nothing waited, and nothing was out, in January 2026" in text
    assert "Show the last 90 days" in text
    assert "Add a policy" in text
