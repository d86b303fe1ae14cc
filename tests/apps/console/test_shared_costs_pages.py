"""Shared costs by browser: what each team carries, and what a change would move before it is made."""

from datetime import UTC, datetime, timedelta
from decimal import Decimal
from typing import Any

import pytest
from django.test import Client
from django.utils import timezone

from apps.ledger.models import Charge, Close
from apps.pricing import actions
from apps.pricing.models import SharedCost
from tests import make
from tests.apps.console.people import confirmed, signed_in, words_of
from tests.apps.ledger import scene

pytestmark = pytest.mark.django_db
AT = datetime(2026, 3, 3, 12, tzinfo=UTC)


@pytest.fixture(autouse=True)
def research(monkeypatch: pytest.MonkeyPatch) -> int:
    """Research holds half of a node in one hour of March; it is the third of that month."""
    monkeypatch.setattr(timezone, "now", lambda: AT)
    make.make_organisation()
    team_id = make.make_team("Research")
    scene.make_rule("research", team_id)
    node_id = scene.make_priced_node(pool_id=make.make_pool("h100"))
    uuids = scene.make_gpus(node_id)
    scene.make_job("1", node_id, gpus=4, uuids=uuids[:4])
    return team_id


def share(method: str = "by_cost", **given: Any) -> int:
    values = {"starts_at": scene.TEN, "ends_at": scene.TEN + scene.HOUR} | given
    return actions.add_shared_cost(
        cost=actions.EnteredSharedCost(
            name="Support", amount=Decimal(744), currency="USD", method=method, **values
        ),
        at=AT,
    )


def test_the_page_says_what_each_team_carried_and_how() -> None:
    share(ends_at=None)
    scene.settle(AT)
    finance = signed_in("finance")

    page = words_of(finance.get("/shared-costs"))

    assert "1 cost is shared: $1.00 so far this month." in page
    assert "Support $744.00 by direct cost – $1.00" in page
    assert "Support Platform – $0.50" in page
    assert "Support Research – $0.50" in page
    rows = finance.get("/shared-costs.csv").content.decode().splitlines()
    assert rows[1].startswith(
        "Support,744.000000000,USD,by direct cost,,2026-03-02T10:00:00Z,,In force"
    )
    teams = finance.get("/shared-costs.csv?table=teams").content.decode().splitlines()
    assert "Support,Research,,0.500000,USD" in teams
    line = Charge.objects.get(kind="shared").lines.order_by("id")[0]
    behind = words_of(finance.get(f"/costs/lines/2026-03/{line.id}"))
    assert "Shared cost Support Spread by direct cost." in behind


def test_a_cost_is_entered_after_what_it_moves_was_looked_at(research: int) -> None:
    scene.settle(AT)
    finance = signed_in("finance")
    asked = {
        "name": "Storage",
        "amount": "744",
        "method": "weighted",
        "starts_at": "2026-03-01T00:00",
        f"weight-{research}": "3",
        f"weight-{scene.platform()}": "1",
    }

    looked = words_of(finance.get("/shared-costs/new", asked))

    assert "60 hours of March 2026 are charged again: +$60.00." in looked
    assert "In open months teams are allocated Research +$45.00 and Platform +$15.00." in looked
    assert not SharedCost.objects.exists()
    done = words_of(confirmed(finance, "/shared-costs/new", asked, follow=True))
    assert "Storage is shared; past hours are charged again." in done
    assert "by stated weights of teams: Platform 1, Research 3" in done


def test_what_goes_by_cost_is_told_by_the_sums_of_the_months() -> None:
    scene.settle(AT)

    looked = words_of(
        signed_in("platform").get(
            "/shared-costs/new",
            {
                "name": "Storage",
                "amount": "744",
                "starts_at": "2026-03-02T10:00",
                "ends_at": "2026-03-02T12:00",
            },
        )
    )

    assert "2 hours of March 2026 are charged again: +$2.00." in looked
    assert "By the sums of open months, teams are allocated about " in looked
    assert "Research +$1.00" in looked
    assert "Platform +$1.00" in looked


def test_a_closed_month_waits_for_corrections() -> None:
    Close.objects.create(
        month="2026-03-01", version=1, closed_at=AT, cut_off=AT, digest="0" * 64, lines=0, totals={}
    )

    looked = words_of(
        signed_in("finance").get(
            "/shared-costs/new",
            {"name": "Storage", "amount": "744", "starts_at": "2026-03-02T10:00"},
        )
    )

    assert "26 hours of March 2026, which is closed, wait for corrections" in looked


def test_ending_a_cost_says_who_carries_less() -> None:
    cost_id = share(ends_at=None)
    scene.settle(AT)
    finance = signed_in("finance")

    looked = words_of(finance.get(f"/shared-costs/{cost_id}/end", {"ended_at": "2026-03-02T10:30"}))

    assert "hours of March 2026 are charged again" in looked
    confirmed(finance, f"/shared-costs/{cost_id}/end", {"ended_at": "2026-03-02T10:30"})
    assert SharedCost.objects.get().period.upper == scene.TEN + timedelta(minutes=30)
    late = words_of(finance.get(f"/shared-costs/{cost_id}/end", {"ended_at": "2026-03-02T11:00"}))
    assert "It is over by then." in late
    early = words_of(finance.get(f"/shared-costs/{cost_id}/end", {"ended_at": "2026-03-01T11:00"}))
    assert "It begins only then, or later." in early


def test_new_weights_say_who_carries_more_and_begin_another_cost(research: int) -> None:
    cost_id = share("weighted", weights={research: Decimal(1)}, ends_at=scene.TEN + scene.HOUR)
    share_hour = {"starts_at": "2026-03-02T10:00"}
    scene.settle(AT)
    finance = signed_in("finance")
    asked = {
        "starts_at": "2026-03-02T11:00",
        f"weight-{research}": "",
        f"weight-{scene.platform()}": "1",
    }

    over = words_of(finance.get(f"/shared-costs/{cost_id}/weights", asked))
    begun = words_of(finance.get(f"/shared-costs/{cost_id}/weights", asked | share_hour))

    assert "It is over by then." in over
    assert "It begins only then, or later." in begun
    SharedCost.objects.filter(id=cost_id).delete()
    cost_id = share("weighted", weights={research: Decimal(1)}, ends_at=None)
    scene.settle(AT, ends_at=scene.TEN + 2 * scene.HOUR)
    looked = words_of(finance.get(f"/shared-costs/{cost_id}/weights", asked))
    assert "are charged again; the sum stays." in looked
    assert "Research -$1.00" in looked or "Research −$1.00" in looked
    done = words_of(confirmed(finance, f"/shared-costs/{cost_id}/weights", asked, follow=True))
    assert "Support goes on with these weights." in done
    assert SharedCost.objects.count() == 2


@pytest.mark.parametrize(
    ("entered", "said"),
    [
        ({"name": "", "amount": "1"}, "A shared cost has a name."),
        ({"name": "x", "amount": "much"}, "Say an amount in figures"),
        ({"name": "x", "amount": "-1"}, "is not an amount of 0 or more"),
        ({"name": "x", "amount": "1", "method": "weighted"}, "Say what at least one team weighs."),
        ({"name": "x", "amount": "1", "method": "by_mood"}, "Choose one of the list."),
        (
            {
                "name": "x",
                "amount": "1",
                "starts_at": "2026-03-02T10:00",
                "ends_at": "2026-03-01T10:00",
            },
            "is not after",
        ),
    ],
)
def test_what_cannot_be_shared_says_why_by_its_field(entered: dict[str, str], said: str) -> None:
    answer = signed_in("finance").post("/shared-costs/new", entered)

    assert said in words_of(answer)
    assert not SharedCost.objects.exists()


def test_only_finance_and_platform_see_shared_costs_and_the_way_to_them() -> None:
    cost_id = share()
    finance, lead = signed_in("finance"), signed_in("lead")

    assert 'href="/shared-costs"' in finance.get("/").content.decode()
    assert 'href="/shared-costs"' not in lead.get("/").content.decode()
    for path in ("", ".csv", ".csv?table=teams", "/new", f"/{cost_id}/end", f"/{cost_id}/weights"):
        assert finance.get(f"/shared-costs{path}").status_code == 200
        assert lead.get(f"/shared-costs{path}").status_code == 403
        assert Client().get(f"/shared-costs{path}").status_code == 302
    assert finance.get("/shared-costs/987654321/end").status_code == 404


def test_the_page_asks_no_more_for_more_costs(django_assert_max_num_queries: Any) -> None:
    for name in ("Support", "Storage", "Network", "Licences"):
        scene.make_shared_cost(name, starts_at=scene.TEN)
    scene.settle(AT)
    finance = signed_in("finance")
    finance.get("/shared-costs")

    with django_assert_max_num_queries(15):
        assert finance.get("/shared-costs").status_code == 200
