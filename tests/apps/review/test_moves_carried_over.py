"""Fleet moves of before are carried over into recommendations: open, closed, claimed and dismissed ones, with their dates."""

from collections.abc import Callable, Iterator
from datetime import UTC, date, datetime, timedelta
from typing import Any

import pytest
from django.db import connection
from django.db.migrations.executor import MigrationExecutor

from apps.accounts.queries import viewer_of_user
from apps.placement.queries.fleet_moves import closed_fleet_moves
from apps.review.actions import ANSWERS, RecommendationAnswer, answer_recommendation
from apps.review.actions.recommending import count_savings
from apps.review.models import Recommendation, RecommendationLook
from apps.review.queries.recommendations import (
    RecommendationFact,
    recommendation_by_id,
    recommendation_steps,
)
from tests import make
from tests.apps.console.people import signed_in, words_of

pytestmark = pytest.mark.django_db(transaction=True)
BEFORE = [("placement", "0014_quotes_that_ended"), ("review", "0007_spend_over_own_lines")]
AFTER = [
    ("placement", "0015_reasons_of_moves_in_looks"),
    ("review", "0008_moves_are_recommendations"),
]
FIRST = date(2026, 2, 2)
DOLLAR = 1_000_000


def week_of(number: int) -> date:
    return FIRST + timedelta(weeks=number)


def made_at(number: int) -> datetime:
    return datetime(2026, 2, 2, 6, tzinfo=UTC) + timedelta(weeks=number)


@pytest.fixture
def apps_of_before() -> Iterator[Callable[[], Any]]:
    """Models as they were while moves had a state of their own; the tables are as they are now at the end."""
    MigrationExecutor(connection).migrate(BEFORE)
    yield lambda: MigrationExecutor(connection).loader.project_state(BEFORE).apps
    executor = MigrationExecutor(connection)
    executor.migrate(executor.loader.graph.leaf_nodes())


def migrate() -> None:
    MigrationExecutor(connection).migrate(AFTER)


def document(likely: int, team: str = "Research") -> dict[str, Any]:
    return {
        "subject": f"llm of {team}",
        "source": "on demand",
        "target": "spot, aws:us-east-1",
        "spend_micros": 5_000 * DOLLAR,
        "saving": {"low": likely * DOLLAR // 2, "likely": likely * DOLLAR, "high": likely * DOLLAR * 2},
        "one_time": {"egress_micros": 3 * DOLLAR, "restart_micros": 9 * DOLLAR, "effort_hours": 8, "effort_micros": None},
        "one_time_micros": 12 * DOLLAR,
        "payback_months": None,
        "disruption": {
            "level": "medium", "reason": "about 5 interruptions", "interruptions_per_month": 5.0, "restart_hours_per_month": 1.5,
        },
        "confidence": "medium",
        "doubts": ["the ledger has 2 of 4 weeks"],
        "why": "Its runs save checkpoints.",
        "evidence": [
            {"kind": "run", "ref": "41", "words": "its newest run", "is_price": False},
            {"kind": "offer", "ref": "market:7", "words": "2.0000 a GPU-hour", "is_price": True},
        ],
        "cells": [f"{likely}:2"],
        "worth_micros": likely * DOLLAR - DOLLAR,
    }  # fmt: skip


def keep_moves(apps: Any) -> None:
    """Four weeks of looks: one move open all along, one closed in the third week, one closed once and back, one that is closed at once."""
    look_model = apps.get_model("placement", "FleetMoveLook")
    looks = [
        look_model.objects.create(
            week=week_of(number), made_at=made_at(number), seen_from=week_of(number - 4), weeks=4, addressable_micros=0,
            counted_micros=0, kinds=[], digest="",
        )
        for number in range(4)
    ]  # fmt: skip
    proposed = {"open": (0, 1, 2, 3), "gone": (0, 1), "back": (0, 2, 3), "brief": (1,)}
    closed = {"gone": (2, "it saves too little"), "brief": (2, "on spot already")}
    for place, (name, weeks) in enumerate(proposed.items(), start=1):
        week, reason = closed.get(name, (None, ""))
        move = apps.get_model("placement", "FleetMove").objects.create(
            key=f"to_spot:{name}", kind="to_spot", opened_week=week_of(weeks[0]), closed_reason=reason,
            closed_week=None if week is None else week_of(week),
        )  # fmt: skip
        for number in weeks:
            apps.get_model("placement", "FleetMoveProposal").objects.create(
                look=looks[number], move=move, place=place, exclusive_group=place, is_counted=True,
                document=document(1_000 * place + number),
            )  # fmt: skip


def fact_of(name: str) -> RecommendationFact:
    row = Recommendation.objects.get(matter=f"to_spot:{name}")
    fact = recommendation_by_id(row.pk, None)
    assert fact is not None
    return fact


def steps_of(name: str) -> list[tuple[datetime, str, str]]:
    return [(step.at, step.verb, step.why) for step in recommendation_steps(fact_of(name).id)]


def test_moves_without_a_recommendation_become_one_with_state_dates_and_evidence(
    apps_of_before: Callable[[], Any],
) -> None:
    make.make_organisation()
    keep_moves(apps_of_before())
    migrate()

    still = fact_of("open")
    assert (still.state, still.first_week, still.last_week) == ("open", FIRST, week_of(3))
    assert (still.saving.likely, still.spend_micros) == (1_003 * DOLLAR, 5_000 * DOLLAR)
    assert (still.title, still.effort_hours, still.risk) == (
        "Run llm of Research on spot",
        8,
        "medium",
    )
    assert [(one.label, one.figure, one.ref, one.link) for one in still.evidence[1:]] == [
        ("Run", "its newest run", "41", "/runs/41"),
        ("Offer", "2.0000 a GPU-hour", "market:7", ""),
    ]
    assert still.move is not None
    assert (still.move.source, still.move.egress_micros, still.move.restart_micros) == (
        "on demand", 3 * DOLLAR, 9 * DOLLAR,
    )  # fmt: skip
    assert steps_of("open") == [(made_at(0), "proposed", "")]

    gone = fact_of("gone")
    assert (gone.state, gone.state_reason, gone.state_at) == (
        "closed", "it saves too little", made_at(2),
    )  # fmt: skip
    assert (gone.first_week, gone.last_week, gone.saving.likely) == (
        FIRST,
        week_of(1),
        2_001 * DOLLAR,
    )
    assert steps_of("gone") == [
        (made_at(0), "proposed", ""),
        (made_at(2), "closed", "it saves too little"),
    ]
    # Why it was closed before it came back was overwritten then, and is not made up.
    assert steps_of("back") == [
        (made_at(0), "proposed", ""),
        (made_at(1), "closed", ""),
        (made_at(2), "proposed_again", ""),
    ]
    finance = signed_in("finance")
    steps_page = finance.get(f"/recommendations/{fact_of('back').id}")
    assert "no longer proposed Runrate not recorded" in words_of(steps_page)
    assert fact_of("back").state == "open"
    assert [(each.key, each.closed_week, each.closed_reason) for each in closed_fleet_moves()] == [
        ("to_spot:gone", week_of(2), "it saves too little"),
        ("to_spot:brief", week_of(2), "on spot already"),
    ]
    # Nothing is added up twice meanwhile; the next look or answer counts what may be.
    assert not Recommendation.objects.filter(is_counted=True).exists()
    not_yet = "from the next weekly analysis on, unless it overlaps with another"
    page = words_of(finance.get(f"/recommendations/{still.id}"))
    assert f"Not yet: {not_yet}" in page
    assert "No: it overlaps" not in page
    RecommendationLook.objects.create(
        week=week_of(3), made_at=made_at(3), counted_micros=0, kinds=[]
    )
    listed = words_of(finance.get("/recommendations?kind=moves"))
    assert "added up from the next weekly analysis on" in listed
    assert "overlaps with" not in listed
    count_savings()
    counted_page = words_of(finance.get(f"/recommendations/{still.id}"))
    assert "Yes: it overlaps with no other in the total" in counted_page
    counted = Recommendation.objects.filter(is_counted=True).values_list("matter", flat=True)
    assert set(counted) == {"to_spot:open", "to_spot:back"}
    person = make.make_person("petra@example.org", role="platform")
    reply = RecommendationAnswer(ANSWERS["dismiss"], "not on spot")
    answer_recommendation(
        recommendation_id=still.id, answer=reply, by=viewer_of_user(person), at=made_at(4)
    )
    assert fact_of("open").state == "dismissed"


@pytest.mark.parametrize(
    ("state", "at", "likely"),
    [
        ("open", 1, 1_003),
        ("snoozed", 1, 1_003),
        ("claimed", 1, 1_001),
        ("done", 1, 1_001),
        ("verified", 0, 1_000),
        ("failed", 2, 1_002),
        ("dismissed", 2, 1_002),
        ("closed", 1, 1_001),
    ],
)
def test_a_recommendation_that_there_is_keeps_its_state_and_gets_the_terms_of_its_week(
    apps_of_before: Callable[[], Any], state: str, at: int, likely: int
) -> None:
    make.make_organisation()
    person = make.make_person("petra@example.org", role="platform")
    apps = apps_of_before()
    keep_moves(apps)
    proposals = apps.get_model("placement", "FleetMoveProposal").objects
    for row in proposals.filter(move__key="to_spot:open").select_related("look"):
        row.document["target"] = f"spot for {row.document['saving']['likely'] // DOLLAR}"
        row.save()
    move_id = apps.get_model("placement", "FleetMove").objects.get(key="to_spot:open").pk
    told = document(1_001)
    kept = {
        name: told[name]
        for name in ("subject", "spend_micros", "saving", "one_time_micros", "doubts", "why", "cells", "worth_micros")
    } | {
        "title": "Run it on spot", "effort_hours": 8, "risk": "medium", "risk_reason": "", "computed": "",
        "evidence": [
            {"label": "Run", "figure": "its newest run", "link": "/runs/41", "is_price": False},
            {"label": "The move, week by week", "figure": "since", "link": f"/placement/moves/{move_id}", "is_price": False},
        ],
        "frees_gpu_hours": None, "baseline": {}, "range_basis": "measured",
    }  # fmt: skip
    is_done = state in ("done", "verified", "failed")
    is_claimed = is_done or state == "claimed"
    row = apps.get_model("review", "Recommendation").objects.create(
        matter="to_spot:open", kind="to_spot", proposal=kept, exclusive_group=7, is_counted=True, first_week=week_of(1),
        last_week=week_of(3), state=state, state_at=made_at(at) + timedelta(hours=1), state_name="Petra",
        state_reason="said so", owner_id=person if is_claimed else None,
        claimed_at=made_at(at) + timedelta(hours=1) if is_claimed else None,
        done_at=made_at(at) + timedelta(hours=2) if is_done else None,
        snoozed_until=made_at(9) if state == "snoozed" else None,
    )  # fmt: skip
    apps.get_model("review", "RecommendationStep").objects.create(
        recommendation=row, at=made_at(1), verb="proposed"
    )
    migrate()

    fact = fact_of("open")
    assert (fact.id, fact.state, fact.state_name, fact.state_reason) == (
        row.pk, state, "Petra", "said so",
    )  # fmt: skip
    assert (fact.saving.likely, fact.exclusive_group, fact.is_counted) == (1_001 * DOLLAR, 7, True)
    # The page of the move that its evidence named is its own now: it leads to the look that its proposal is of.
    look_week = week_of(likely - 1_000)
    look_page = f"/recommendations/fleet-looks?week={look_week}"
    assert [(one.label, one.figure, one.ref, one.link) for one in fact.evidence] == [
        ("Run", "its newest run", "41", "/runs/41"),
        ("Weekly fleet analysis", "since 2 February 2026", "", look_page),
    ]
    finance = signed_in("finance")
    opened = finance.get(look_page, follow=True)
    assert (opened.status_code, opened.redirect_chain) == (200, [])
    evidence_csv = finance.get(f"/recommendations/{fact.id}.csv?table=evidence").content.decode()
    assert "Run,its newest run,/runs/41,41" in evidence_csv
    assert look_page in evidence_csv
    # As early as its move was proposed, and with the terms of the look that its proposal is of.
    assert fact.first_week == FIRST
    assert fact.move is not None
    assert fact.move.target == f"spot for {likely}"
    assert steps_of("open") == [(made_at(1), "proposed", "")]


def test_the_way_back_has_the_states_of_moves_again(apps_of_before: Callable[[], Any]) -> None:
    make.make_organisation()
    keep_moves(apps_of_before())
    moves = apps_of_before().get_model("placement", "FleetMove").objects
    before = list(moves.order_by("id").values())
    proposals = apps_of_before().get_model("placement", "FleetMoveProposal").objects
    proposed_before = list(proposals.order_by("id").values())
    migrate()
    MigrationExecutor(connection).migrate(BEFORE)
    moves = apps_of_before().get_model("placement", "FleetMove").objects
    assert list(moves.order_by("id").values()) == before
    proposals = apps_of_before().get_model("placement", "FleetMoveProposal").objects
    assert list(proposals.order_by("id").values()) == proposed_before
    rows = apps_of_before().get_model("review", "Recommendation").objects
    assert all("move" not in row.proposal for row in rows.all())
    assert {row.matter: row.proposal["evidence"][0]["link"] for row in rows.all()} == {
        move["key"]: f"/placement/moves/{move['id']}" for move in before
    }
