"""What is recommended of calls to model APIs: prompts from a cache, and a cheaper model that is in use too."""

from datetime import timedelta
from typing import Any

import pytest

from apps.ledger.models import ApiHour
from apps.review.queries.recommending.model_routing import detect_routing
from apps.review.queries.recommending.prompt_caching import detect_uncached_prompts
from apps.review.queries.recommending.proposal import DetectedKind, RecommendationProposal
from apps.workloads.models import Workload
from tests import make
from tests.apps.placement.move_scene import AT, MONDAY

pytestmark = pytest.mark.django_db
DAY = timedelta(days=1)
DAYS = 28
MONTH = 730 / (DAYS * 24)
PRICES = {"opus": (15.0, 1.5, 18.75, 75.0), "haiku": (1.0, 0.1, 1.25, 5.0)}
"""Micro-units of a token: a plain one, one from a cache, one written there, one answered."""


@pytest.fixture(autouse=True)
def team_id() -> int:
    make.make_organisation()
    return make.make_team("Assistants")


def work(team_id: int, name: str) -> int:
    return Workload.objects.create(name=name, team_id=team_id, kind="other").pk


def plant_calls(workload_id: int | None, model: str, **given: Any) -> int:
    """A hundred calls a day of 2,000 tokens and 200 answered, for four weeks; what they cost in all."""
    values: dict[str, Any] = {
        "feature": "summaries",
        "requests": 100,
        "cached": 0.0,
        "written": 0.0,
        "failed": 0,
    } | given
    team_id = Workload.objects.values_list("team_id", flat=True)[0]
    total, rows = 0, []
    for place in range(DAYS):
        # Not the same proportion every day, as in life.
        prompt = values["requests"] * (2_000 + 50 * (place % 7))
        answered = values["requests"] * (200 + 30 * (place % 5))
        read = round(prompt * min(0.95, values["cached"] * (0.9 + 0.02 * (place % 11))))
        written = round(read * values["written"] * (0.9 + 0.02 * (place % 9)))
        of = (prompt - read - written, read, written, answered)
        micros = round(sum(n * price for n, price in zip(of, PRICES[model], strict=True)))
        total += micros
        rows.append(
            ApiHour(
                hour=MONDAY - (place + 1) * DAY, vendor="anthropic", model=model, team_id=team_id, workload_id=workload_id,
                feature=values["feature"], requests=values["requests"], server_errors=values["failed"], input_tokens=prompt,
                cached_tokens=read, cache_write_tokens=written, output_tokens=answered, micros=micros, list_micros=micros,
            )
        )  # fmt: skip
    ApiHour.objects.bulk_create(rows)
    return total


def only(found: DetectedKind) -> RecommendationProposal:
    (proposal,) = found.proposals
    assert found.looked_at == 1 + found.passed_over.total()
    assert max(proposal.saving.low, proposal.saving.high) <= proposal.spend_micros
    return proposal


def test_prompts_are_to_be_cached_as_others_on_that_model_do(team_id: int) -> None:
    plain, half, most = (work(team_id, name) for name in ("plain", "half", "most"))
    cost = plant_calls(plain, "opus")
    plant_calls(half, "opus", cached=0.5, written=0.1)
    plant_calls(most, "opus", cached=0.8, written=0.1)
    found = detect_uncached_prompts(AT)
    proposal = only(found)
    assert (proposal.workload_id, proposal.cells) == (plain, frozenset([f"api:{plain}"]))
    tokens = ApiHour.objects.filter(workload_id=plain)
    prompt = sum(row.input_tokens for row in tokens)
    # From 0 to about half: each such token costs 13.5 less, less a tenth of what writing costs more.
    expected = prompt * 0.5 * (13.5 - 0.1 * 3.75) * MONTH
    assert proposal.saving.low == pytest.approx(expected, rel=0.05)
    assert proposal.saving.low < proposal.saving.high < proposal.spend_micros
    assert proposal.spend_micros == pytest.approx(cost * MONTH, rel=1e-6)
    assert "only 2 others" in proposal.doubts[1]
    assert found.passed_over == {"it reads about as much from a cache as others on that model": 2}


def test_what_could_be_cached_is_not_guessed(team_id: int) -> None:
    plant_calls(work(team_id, "alone"), "opus")
    plant_calls(work(team_id, "few"), "haiku", requests=5)
    plant_calls(None, "haiku", feature="x")
    found = detect_uncached_prompts(AT)
    assert found.proposals == []
    assert found.passed_over == {
        "no other work calls that model with prompts alike: how much could be cached is not known": 1,
        "fewer than 500 calls were made for it": 1,
        "its calls name no workload": 1,
    }


def test_calls_are_to_go_to_the_cheaper_model_that_is_in_use_for_the_same(team_id: int) -> None:
    chat = work(team_id, "chat")
    dear, cheap = plant_calls(chat, "opus"), plant_calls(chat, "haiku")
    proposal = only(detect_routing(AT))
    saved = (dear - cheap) * MONTH
    saving = proposal.saving
    assert [saving.low, saving.likely, saving.high] == pytest.approx(
        [saved / 4, saved / 2, saved], rel=1e-6
    )
    assert proposal.title == "Send more of chat, summaries to haiku"
    assert proposal.risk == "high"
    assert proposal.doubts


@pytest.mark.parametrize(
    ("models", "why"),
    [
        ({"opus": {}}, "one model alone is in use for it"),
        ({"opus": {}, "haiku": {"failed": 3}}, "its cheaper model fails more often"),
        ({"opus": {}, "haiku": {"requests": 5}}, "fewer than 500 calls were made for it"),
        (
            {"opus": {"feature": ""}, "haiku": {"feature": ""}},
            "its calls name no feature: whether they ask for the same is not known",
        ),
    ],
)
def test_calls_stay_where_nothing_says_that_another_model_does_as_well(
    team_id: int, models: dict[str, dict[str, Any]], why: str
) -> None:
    chat = work(team_id, "chat")
    for model, given in models.items():
        plant_calls(chat, model, **given)
    found = detect_routing(AT)
    assert (found.proposals, found.passed_over) == ([], {why: 1})
