"""The admissions log: which jobs were warned of or denied, by which limit, and who let one pass."""

import re
from datetime import timedelta
from decimal import Decimal

import pytest
from django.contrib.auth import get_user_model
from django.core.cache import cache
from django.test import Client
from django.utils import timezone

from apps.accounts.queries import viewer_of_user
from apps.placement.actions import make_offer_book, request_admission, use_override
from apps.placement.models import JobAdmission
from apps.placement.queries.admission_limits import AdmissionJob
from apps.planning.actions import EnteredBudget, EnteredGpuQuota, add_budget, add_gpu_quota
from apps.planning.queries.budgets import BudgetStep
from tests import make
from tests.apps.console.people import confirmed, csv_rows, signed_in, words_of

pytestmark = pytest.mark.django_db

AT = make.NOON + timedelta(hours=2)
LOG = "/placement/admissions"


@pytest.fixture(autouse=True)
def _clock(monkeypatch: pytest.MonkeyPatch) -> None:
    cache.clear()
    monkeypatch.setattr(timezone, "now", lambda: AT)


@pytest.fixture
def pool_id() -> int:
    """On demand, priced, without nodes."""
    make.make_organisation()
    make.make_person("asker@example.org", name="Slurm", role="platform")
    pool = make.make_pool("rented", cluster_id=make.make_cluster())
    make.make_rate("55.04")
    make_offer_book(at=AT)
    return pool


@pytest.fixture
def finance(pool_id: int) -> Client:
    """Of finance, with a pool on record."""
    return signed_in("finance")


def limit(name: str, amount: str, *, is_hard: bool = False, team: int | None = None) -> int:
    first = AT.date().replace(day=1)
    scope, key = ("organisation", "") if team is None else ("team", str(team))
    steps = (BudgetStep(first, Decimal(amount)),)
    budget = EnteredBudget(
        name, scope, key, "money", "monthly", first, None, steps, is_hard=is_hard
    )
    return add_budget(budget=budget, at=AT)


def asked(team: int, pool_id: int, days_ago: int = 0) -> int:
    """8 GPUs for 48 h, 2,641.92 at 55.04 for a node."""
    job = AdmissionJob(team, 8, gpu_hours=384, pool_id=pool_id)
    by = viewer_of_user(get_user_model().objects.get(email="asker@example.org").pk)
    return request_admission(job=job, by=by, at=AT - timedelta(days=days_ago))


def rows_of(client: Client, **asking: str) -> list[dict[str, str]]:
    return csv_rows(client.get(f"{LOG}.csv", asking))


def test_before_anybody_asked_it_says_how_a_scheduler_does(finance: Client) -> None:
    page = words_of(finance.get(LOG))

    assert "No job has asked yet" in page
    assert "/api/v1/admissions" in page


def test_the_title_counts_and_each_row_has_the_limit_that_decided(
    finance: Client, pool_id: int
) -> None:
    research, vision = make.make_team("Research"), make.make_team("Vision")
    asked(vision, pool_id)
    limit("Research, monthly", "1000", is_hard=True, team=research)
    for _ in range(2):
        asked(research, pool_id)
    limit("Vision, monthly", "500", team=vision)
    asked(vision, pool_id)
    page = words_of(finance.get(LOG))

    assert "2 of 4 jobs were denied in the last 30 days, none overridden" in page
    assert "Research, monthly: $2,641.92 needed, $1,000.00 left" in page
    assert "Vision, monthly: $2,641.92 needed, $500.00 left" in page
    assert "no limit counts it" in page
    assert [row["verdict"] for row in rows_of(finance)] == ["warn", "deny", "deny", "allow"]
    first = rows_of(finance)[1]
    assert (first["limit"], first["needed"], first["left_now"], first["unit"]) == (
        "Research, monthly",
        "2641.920000",
        "1000.000000",
        "USD",
    )
    assert first["is_admitted"] == "false"


def test_it_is_narrowed_by_answer_team_limit_and_span(finance: Client, pool_id: int) -> None:
    research = make.make_team("Research")
    below = make.make_team("Speech", parent_id=research)
    vision = make.make_team("Vision")
    whole = limit("all", "1000000")
    mine = limit("Vision, monthly", "1", is_hard=True, team=vision)
    ids = {
        "below": asked(below, pool_id),
        "vision": asked(vision, pool_id),
        "old": asked(research, pool_id, days_ago=45),
    }

    def found(**asking: str) -> set[str]:
        kept = {str(number): name for name, number in ids.items()}
        return {kept[row["id"]] for row in rows_of(finance, **asking)}

    assert found() == {"below", "vision"}
    assert found(window="90d") == {"below", "vision", "old"}
    assert found(answer="deny") == {"vision"}
    assert found(team="Research", window="90d") == {"below", "old"}
    assert found(limit=f"budget:{mine}") == {"vision"}
    assert found(limit=f"budget:{whole}") == {"below", "vision"}
    page = words_of(finance.get(LOG, {"answer": "deny", "limit": "budget:987", "team": "Nobody"}))
    assert "There is no limit 'budget:987'" in page
    assert "There is no team named 'Nobody'" in page
    assert "1 of 2 jobs was denied" in page


def test_one_shows_every_limit_with_its_figures(finance: Client, pool_id: int) -> None:
    research = make.make_team("Research")
    budget_id = limit("Research, monthly", "1000", is_hard=True, team=research)
    quota = EnteredGpuQuota("aws", "us-east-1", "", 4, 14)
    add_gpu_quota(quota=quota, at=AT)
    made = asked(research, pool_id)
    answer = finance.get(f"{LOG}/{made}")
    page = words_of(answer)

    assert (
        "8 GPUs in rented for Research were denied: "
        "Research, monthly: $2,641.92 needed, $1,000.00 left" in page
    )
    assert "8 more GPUs are needed, 4 may be started now" in page
    assert "8 GPUs" in page
    assert f'href="/budgets/{budget_id}"' in answer.content.decode()
    limits = csv_rows(finance.get(f"{LOG}/{made}.csv"))
    assert [(row["kind"], row["verdict"], row["is_hard"]) for row in limits] == [
        ("budget", "deny", "true"),
        ("gpu_quota", "warn", "false"),
    ]
    assert finance.get(f"{LOG}/987654").status_code == 404


def test_a_denied_job_is_let_pass_after_a_look_with_a_reason(finance: Client, pool_id: int) -> None:
    research = make.make_team("Research")
    limit("Research, monthly", "1000", is_hard=True, team=research)
    made = asked(research, pool_id)
    form = f"{LOG}/{made}/override"
    assert "Say why it may start" in words_of(finance.get(form, {"reason": "", "look": "yes"}))
    reason = {"reason": "The paper is due on Friday"}
    look = finance.get(form, reason)
    assert "It goes over Research, monthly" in words_of(look)
    assert finance.post(form, reason).status_code == 409
    assert JobAdmission.objects.get().overridden_at is None

    assert confirmed(finance, form, reason).status_code == 302

    page = finance.get(f"{LOG}/{made}")
    assert "let it pass" in words_of(page)
    assert "The paper is due on Friday" in words_of(page)
    (trail,) = re.findall(r'href="(/people/audit\?[^"]*)"', page.content.decode())
    assert "override of an admission" in words_of(finance.get(trail))
    assert "1 of 1 job was denied in the last 30 days, one overridden" in words_of(finance.get(LOG))
    assert "There is nothing to override" in words_of(finance.get(form))
    one = f"{LOG}/{made}"
    assert "by no job yet; by one, within 7 days" in words_of(finance.get(one))
    assert use_override(admission_id=made, by="task:4c4c", at=AT)
    assert "by a task of SkyPilot (4c4c); no other passes by it" in words_of(finance.get(one))
    assert finance.post(form, reason | {"seen": "x"}).status_code == 409


def test_a_budget_says_what_it_does_to_jobs_and_leads_to_those_that_asked(
    finance: Client, pool_id: int
) -> None:
    hard, soft = limit("hard one", "1000", is_hard=True), limit("soft one", "1000")
    page = finance.get(f"/budgets/{hard}")

    assert "Enforcement deny" in words_of(page)
    assert f'href="{LOG}?limit=budget:{hard}"' in page.content.decode()
    assert "Enforcement warn" in words_of(finance.get(f"/budgets/{soft}"))
    assert LOG not in signed_in("lead").get(f"/budgets/{soft}").content.decode()


def test_it_is_not_for_leads(finance: Client, pool_id: int) -> None:
    made = asked(make.make_team("Research"), pool_id)
    lead = signed_in("lead")

    for path in (LOG, f"{LOG}.csv", f"{LOG}/{made}", f"{LOG}/{made}/override"):
        assert lead.get(path).status_code == 403
