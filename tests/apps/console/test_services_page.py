"""The pages of services: what their units cost, hours without requests, and what is not counted."""

from datetime import UTC, datetime

import pytest
from django.core.cache import cache
from django.test import Client
from django.utils import timezone

from apps.fleet.models import Node
from apps.ledger.actions.partitions import ensure_month
from apps.workloads.models import ServiceObjective
from tests import make
from tests.apps.console.people import confirmed, csv_rows, signed_in, words_of
from tests.apps.ledger import scene
from tests.apps.unit_economics import service_scene as services
from tests.apps.unit_economics.service_scene import DOLLAR, HOUR

pytestmark = pytest.mark.django_db

NEXT_DAY = datetime(2026, 3, 3, 12, tzinfo=UTC)
DAY = 24 * HOUR


@pytest.fixture(autouse=True)
def team(monkeypatch: pytest.MonkeyPatch) -> int:
    cache.clear()
    monkeypatch.setattr(timezone, "now", lambda: NEXT_DAY)
    make.make_organisation()
    ensure_month(month=scene.TEN.date().replace(day=1))
    return make.make_team()


@pytest.fixture
def chat(team: int) -> int:
    """Two days: an hour by two features, one without requests, one that nobody counted.

    The second day's requests are answered by half as much.
    """
    make.make_node(at=scene.TEN - 90 * DAY)
    pool, chat = make.make_pool(), services.make_service(team, "chat")
    for day, dollars in ((scene.TEN - DAY, 4), (scene.TEN, 2)):
        ensure_month(month=day.date().replace(day=1))
        for place in range(3):
            services.make_line(pool, team, chat, hour=day + place * HOUR, kind="service",
                               micros=dollars * DOLLAR)  # fmt: skip
        services.count(
            chat, day, feature="ask", requests=1_000, succeeded=900, prompt_tokens=10_000,
            cached_tokens=0, output_tokens=2_500, latency_bounds_seconds=[1.0, 4.0],
            latency_counts=[500, 400, 100],
        )  # fmt: skip
        services.count(chat, day, feature="sum", requests=100, prompt_tokens=20_000,
                       cached_tokens=0, output_tokens=0)  # fmt: skip
        services.count(chat, day + HOUR, feature="ask", requests=0, prompt_tokens=0,
                       cached_tokens=0, output_tokens=0)  # fmt: skip
        services.roll_up(pool, day=day.replace(hour=0))
    services.promise(chat)
    services.change(chat, "chat 2.4.0", scene.TEN)
    return chat


def test_without_services_the_page_says_how_requests_are_counted(team: int) -> None:
    found = words_of(signed_in("finance").get("/services"))

    assert "No service cost anything in the last 30 days" in found
    assert "/api/v1/request-hours" in found


def test_every_share_in_the_finding_is_of_the_cost_in_it(chat: int) -> None:
    page = signed_in("finance").get("/services")

    found = words_of(page)
    assert "1 service cost $18.00 in the last 30 days and answered 2,000 requests" in found
    # $6 of $18: not of the $12 in hours that were counted.
    assert "33 % of the cost was hours without requests" in found
    assert "33 % of the cost" in found
    assert f'href="/services/{chat}"' in page.content.decode()


def test_a_service_says_what_a_thousand_requests_cost_against_before(chat: int) -> None:
    found = words_of(signed_in("finance").get(f"/services/{chat}?window=2026-03-02"))

    # Two hours at $2, one of them idle, for 1,000 answers; $8 the day before.
    assert "chat answers 1,000 requests for $4.00, 50 % cheaper than in 1 March" in found
    assert "33 % of its cost was hours without requests" in found
    assert "In hours of 33 % of its cost nobody counted requests" in found


def test_a_span_before_anything_was_known_compares_with_nothing(chat: int) -> None:
    """The first day's node lived for some of the span before: that is no measure for a whole one."""
    finn = signed_in("finance")
    Node.objects.update(period=(scene.TEN - DAY + HOUR, None))
    for address in (f"/services/{chat}?window=2026-03-02", "/services?window=2026-03-02"):
        found = words_of(finn.get(address))
        assert "cheaper" not in found
        assert "−50 %" not in found


COMPARED = ("cost", "compared_cost", "before_cost", "difference", "change",
            "compared_cost_per_1000_requests", "before_cost_per_1000_requests")  # fmt: skip


def compared_row(finn: Client, window: str, compare: str) -> list[str]:
    (row,) = csv_rows(finn.get("/services.csv", {"window": window, "compare": compare}))
    return [row[name] for name in COMPARED]


def test_services_are_held_against_the_span_before_or_days_of_ones_own(chat: int) -> None:
    finn = signed_in("finance")
    before = ["6.000000", "6.000000", "12.000000", "-6.000000", "-0.500000", "4.000000", "8.000000"]
    assert compared_row(finn, "2026-03-02", "") == before
    assert compared_row(finn, "2026-03-02", "2026-03-01/2026-03-02") == before
    later = ["12.000000", "12.000000", "6.000000", "6.000000", "1.000000", "8.000000", "4.000000"]
    assert compared_row(finn, "2026-03-01", "2026-03-02/2026-03-03") == later
    found = words_of(finn.get("/services?window=2026-03-02"))
    assert "of 1 service; on 1 March: $12.00" in found
    own = "window=2026-03-01&compare=2026-03-02/2026-03-03"
    of_one = words_of(finn.get(f"/services/{chat}?{own}"))
    assert "chat answers 1,000 requests for $8.00, 100 % dearer than in 2 March" in of_one
    assert "on 2 March: $4.00" in of_one


@pytest.mark.parametrize("compare", ["lastyear", "2020-01-01/2020-01-02"])
def test_services_are_not_held_against_days_of_which_nothing_was_known(
    chat: int, compare: str
) -> None:
    finn = signed_in("finance")
    assert compared_row(finn, "2026-03-02", compare) == ["6.000000", *[""] * 6]
    for path in ("/services", f"/services/{chat}"):
        found = words_of(finn.get(f"{path}?window=2026-03-02&compare={compare}"))
        assert "no whole span before to compare with" in found
        assert "−50 %" not in found


def test_days_in_which_no_service_cost_anything_are_said_and_no_unit_cost_is_made_of_them(
    chat: int,
) -> None:
    own, finn = "2026-02-01/2026-02-02", signed_in("finance")
    assert compared_row(finn, "2026-03-02", own) == [
        "6.000000", "6.000000", "0.000000", "6.000000", "", "4.000000", ""
    ]  # fmt: skip
    asked = f"window=2026-03-02&compare={own}"
    assert "on 1 February no service cost anything" in words_of(finn.get(f"/services?{asked}"))
    of_one = words_of(finn.get(f"/services/{chat}?{asked}"))
    assert "on 1 February nothing was charged" in of_one
    assert "cheaper" not in of_one
    wrong = words_of(finn.get("/services?window=2026-03-02&compare=sometime"))
    assert "The period is not understood" in wrong
    assert "of 1 service; on 1 March: $12.00" in wrong, "the span before in its place"


def test_a_unit_cost_of_compared_days_that_is_not_known_or_undefined_says_which(
    chat: int, team: int
) -> None:
    pool, day = make.make_pool("more"), scene.TEN - 9 * DAY
    ensure_month(month=day.date().replace(day=1))
    for place in range(2):
        hour = day + place * DAY
        services.make_line(pool, team, chat, hour=hour, kind="service", micros=3 * DOLLAR)
        if place:
            services.count(chat, hour, requests=0, prompt_tokens=0, output_tokens=0)
        services.roll_up(pool, day=hour.replace(hour=0))
    finn = signed_in("finance")
    for first, said in ((21, "on 21 February not known"), (22, "on 22 February undefined")):
        own = f"compare=2026-02-{first}/2026-02-{first + 1}"
        assert said in words_of(finn.get(f"/services/{chat}?window=2026-03-02&{own}"))


def test_a_service_that_cost_something_in_the_compared_days_alone_is_named(
    chat: int, team: int
) -> None:
    pool, old = make.make_pool("old"), services.make_service(team, "old")
    hour = scene.TEN - DAY
    services.make_line(pool, team, old, hour=hour, kind="service", micros=7 * DOLLAR)
    services.count(old, hour, requests=10)
    services.roll_up(pool, day=hour.replace(hour=0))
    finn = signed_in("finance")
    found = words_of(finn.get("/services?window=2026-03-02"))
    assert "1 service more cost $7.00 on 1 March, and nothing now" in found
    assert "on 1 March: $19.00" in found
    assert "nothing now" not in words_of(finn.get("/services"))


def test_batch_work_that_nobody_counts_is_left_out_and_said(chat: int, team: int) -> None:
    pool, nightly = make.make_pool("nights"), services.make_service(team, "nightly", "batch")
    counted = services.make_service(team, "embed", "batch")
    for workload_id in (nightly, counted):
        services.make_line(pool, team, workload_id, micros=50 * DOLLAR)
    services.count(counted, requests=10)
    services.roll_up(pool)
    finn = signed_in("finance")

    found = words_of(finn.get("/services"))
    every = words_of(finn.get("/services?show=all"))

    assert "2 services cost $68.00" in found
    assert "Left out: 1 batch workload of which nobody counts requests, $50.00." in found
    assert {row["service"] for row in csv_rows(finn.get("/services.csv"))} == {"chat", "embed"}
    assert "3 services cost $118" in every
    assert "Left out" not in every
    assert len(csv_rows(finn.get("/services.csv?show=all"))) == 3


def test_features_and_what_no_feature_has_sum_to_the_service(chat: int) -> None:
    rows = csv_rows(signed_in("finance").get(f"/services/{chat}.csv?window=2026-03-02"))

    assert [(row["feature"], row["part"], row["cost"]) for row in rows] == [
        ("ask", "answered", "1.000000"),
        ("sum", "answered", "1.000000"),
        ("", "idle", "2.000000"),
        ("", "uncounted", "2.000000"),
    ]
    assert [row["cost_per_1000_requests"] for row in rows] == ["1.111111", "10.000000", "", ""]


def test_latency_promises_and_changes_stand_beside(chat: int) -> None:
    found = words_of(signed_in("finance").get(f"/services/{chat}?window=2026-03-02"))

    assert "Whole answer gateway 1,000 1 s 4 s over 4 s over 4 s" in found
    assert "95 %: whole answer within 2 s" in found
    assert "chat 2.4.0" in found
    assert "of it over" in found


def test_an_objective_is_looked_at_made_and_ended(chat: int) -> None:
    finn = signed_in("finance")
    here = f"/services/{chat}/objectives/new"
    entered = {"measure": "availability", "target": "99.9", "budget_days": "7",
               "feature": "", "within_seconds": "", "starts_at": "2026-03-01T00:00"}  # fmt: skip

    assert "Add an objective" in words_of(finn.get(f"/services/{chat}"))
    looked = words_of(finn.get(here, entered))
    assert "99.9 %: answered without an error. Of 2,200 requests" in looked
    assert ServiceObjective.objects.count() == 1
    assert "It is more than 0" in words_of(finn.post(here, entered | {"target": "0"}))
    assert confirmed(finn, here, entered).status_code == 302
    assert "The same is promised then already" in words_of(confirmed(finn, here, entered))
    made = ServiceObjective.objects.get(measure="availability")
    assert (made.target_ratio, made.budget_days, made.within_seconds) == (0.999, 7, None)
    assert "99.9 %: answered without an error" in words_of(finn.get(f"/services/{chat}"))

    end = f"/services/{chat}/objectives/{made.id}/end"
    assert confirmed(finn, end, {"ended_at": "2026-03-02T00:00"}).status_code == 302
    made.refresh_from_db()
    assert made.period.upper == datetime(2026, 3, 2, tzinfo=UTC)
    assert signed_in("viewer").post(end).status_code == 403


def test_a_change_is_noted_beside_the_figures(chat: int) -> None:
    finn = signed_in("finance")
    here = f"/services/{chat}/changes/new"
    entered = {"kind": "prompt", "name": "shorter answers", "feature": "", "at": "2026-03-02T09:00"}
    assert "Say what it is called." in words_of(finn.post(here, entered | {"name": ""}))
    assert confirmed(finn, here, entered).status_code == 302
    assert "shorter answers" in words_of(finn.get(f"/services/{chat}"))


def test_usage_and_other_costs_can_be_asked_for(chat: int) -> None:
    finn = signed_in("finance")

    usage = words_of(finn.get(f"/services/{chat}?allocation=usage&load=direct"))
    odd = words_of(finn.get("/services?load=heavy&allocation=none&basis=free"))

    assert "without shared costs; units carry what was active of it" in usage
    assert "There is no cost named 'heavy'." in odd
    assert "Units cannot carry 'none'." in odd


def test_tables_are_told_as_csv(chat: int) -> None:
    finn = signed_in("finance")

    (row,) = csv_rows(finn.get("/services.csv"))
    days = csv_rows(finn.get(f"/services/{chat}.csv?table=days"))

    assert (row["service"], row["cost"], row["idle_cost"]) == ("chat", "18.000000", "6.000000")
    assert [day["day"] for day in days] == ["2026-03-01", "2026-03-02"]
    assert days == [each | {} for each in csv_rows(finn.get("/services.csv?table=days"))]


def test_another_teams_service_is_as_if_it_were_not_there(chat: int, team: int) -> None:
    stranger = signed_in("viewer", make.make_team("Elsewhere"))

    assert "No service cost anything" in words_of(stranger.get("/services"))
    for address in (
        f"/services/{chat}",
        f"/services/{chat}.csv",
        f"/services/{chat}.csv?table=days",
    ):
        assert stranger.get(address).status_code == 404
    assert signed_in("lead", team).get(f"/services/{chat}").status_code == 200


def test_a_service_that_nobody_counted_has_no_unit_cost(team: int) -> None:
    pool, silent = make.make_pool(), services.make_service(team, "silent")
    services.make_line(pool, team, silent, kind="service")
    services.roll_up(pool)
    finn = signed_in("finance")

    assert "their requests were not counted" in words_of(finn.get("/services"))
    found = words_of(finn.get(f"/services/{silent}"))
    assert "silent cost $1.00 in the last 30 days; nobody counted what it answered" in found
    assert "Not known" in found


def test_a_list_of_services_asks_the_database_as_often_for_many_as_for_one(
    chat: int, team: int, django_assert_max_num_queries: object
) -> None:
    pool = make.make_pool("more")
    for place in range(5):
        services.make_line(pool, team, services.make_service(team, f"s{place}"), kind="service")
    services.roll_up(pool)
    finn = signed_in("finance")
    for address in ("/services", f"/services/{chat}"):
        finn.get(address)
        with django_assert_max_num_queries(15):
            finn.get(address)
    assert "6 services" in words_of(finn.get("/services"))
