"""Recommendations go from week to week, are claimed, done, settled, dismissed and snoozed; no dollar is added up twice."""

from datetime import UTC, datetime, timedelta
from typing import Any

import pytest
from hypothesis import given
from hypothesis import strategies as st

from apps.accounts.models import Organisation
from apps.accounts.queries import Viewer, viewer_of_user
from apps.economics.moves.choice import WeighedMove
from apps.economics.moves.saving import SavingRange
from apps.economics.refusal import Refusal
from apps.review import actions
from apps.review.actions.recommending import NOT_SEEN
from apps.review.models import Recommendation, RecommendationState, RecommendationVerb
from apps.review.queries.recommendations import (
    MeasuredSaving,
    RecommendationFact,
    RecommendationsWanted,
    counted_recommendations,
    latest_recommendation_detection_run,
    open_recommendations,
    proven_savings,
    recommendation_by_id,
    recommendation_steps,
    recommendations,
)
from apps.review.queries.recommending.counting import counted_matters
from apps.review.queries.recommending.kinds import KINDS
from tests import make
from tests.apps.placement import move_scene
from tests.apps.review.recommended import AT, DOLLAR, WEEK, look, looked, proposal, zombies

pytestmark = pytest.mark.django_db
DAY = timedelta(days=1)
Verb = RecommendationVerb


@pytest.fixture
def petra() -> Viewer:
    make.make_organisation()
    return viewer_of_user(make.make_person("petra@example.org", name="Petra", role="platform"))


def fact(recommendation_id: int) -> RecommendationFact:
    found = recommendation_by_id(recommendation_id, None)
    assert found is not None
    return found


def say(recommendation_id: int, verb: Verb, by: Viewer, days: int = 0, **said: Any) -> None:
    if verb == Verb.CLAIMED:
        said = {"owner_id": by.person_id, "due_on": WEEK + 30 * DAY} | said
    actions.answer_recommendation(
        recommendation_id=recommendation_id,
        answer=actions.RecommendationAnswer(verb, **said),
        by=by,
        at=AT + days * DAY,
    )


def verbs(recommendation_id: int) -> list[str]:
    return [each.verb for each in recommendation_steps(recommendation_id)]


def test_a_matter_is_one_from_week_to_week(petra: Viewer) -> None:
    (known,) = looked(proposal(likely=1_000))
    assert look(proposal(likely=1_200), weeks=1) == 1
    (told,) = open_recommendations(AT + 7 * DAY)
    assert (told.id, told.saving.likely, told.state) == (known, 1_200 * DOLLAR, "open")
    assert (told.first_week, told.last_week) == (WEEK, WEEK + 7 * DAY)
    assert verbs(known) == ["proposed"], "told anew is no step"
    assert told.is_counted

    look(weeks=2, **{"7:2": "it answered requests"})
    assert (fact(known).state, fact(known).state_reason) == ("closed", "it answered requests")
    look(proposal(likely=900), weeks=3)
    assert (fact(known).state, fact(known).saving.likely) == ("open", 900 * DOLLAR)
    look(weeks=4)
    assert fact(known).state_reason == NOT_SEEN
    assert verbs(known) == ["proposed", "closed", "proposed_again", "closed"]


def test_a_week_is_looked_at_once_and_says_what_was_looked_at(petra: Viewer) -> None:
    look(proposal(), proposal("9:2", likely=0))
    with pytest.raises(Refusal, match="kept already"):
        look(proposal("8:2"))
    told = latest_recommendation_detection_run(AT)
    assert told is not None
    assert told.counted_micros == 1_000 * DOLLAR
    assert told.kinds == [
        {
            "kind": "zombie",
            "looked_at": 3,
            "looked_at_words": "services",
            "proposed": 1,
            "not_looked": "",
            "passed_over": [
                {"why": "it answered requests", "count": 1},
                {"why": "it saves too little", "count": 1},
            ],
        }
    ]


def test_what_could_not_be_looked_at_stays_as_it_is(petra: Viewer) -> None:
    (known,) = looked(proposal())
    look(weeks=1, not_looked="no requests are on record")
    assert fact(known).state == "open"
    assert fact(known).last_week == WEEK


def test_what_is_claimed_stays_as_it_was_promised(petra: Viewer) -> None:
    (known,) = looked(proposal(likely=1_000))
    say(known, Verb.CLAIMED, petra, reason="with the next release")
    look(proposal(likely=5_000, title="Something else"), weeks=1)
    assert (fact(known).saving.likely, fact(known).title) == (1_000 * DOLLAR, "Stop 7:2")
    look(weeks=2)
    told = fact(known)
    assert (told.state, told.owner_id, told.due_on) == ("claimed", petra.person_id, WEEK + 30 * DAY)
    say(known, Verb.DONE, petra, days=15)
    look(proposal(likely=4_000), weeks=3)
    assert (fact(known).state, fact(known).saving.likely) == ("done", 1_000 * DOLLAR)
    assert [(each.verb, each.who) for each in recommendation_steps(known)] == [
        ("proposed", ""),
        ("claimed", "Petra"),
        ("done", "Petra"),
    ]


def measured(likely: int) -> MeasuredSaving:
    amount = likely * DOLLAR
    return MeasuredSaving(
        saving=SavingRange(amount - DOLLAR, amount, amount + DOLLAR),
        spend_micros=100 * DOLLAR,
        counterfactual_micros=100 * DOLLAR + amount,
        counterfactual="the hours of the weeks before the claim, at today's price",
        first_day=WEEK + 7 * DAY,
        last_day=WEEK + 34 * DAY,
    )


@pytest.mark.parametrize("is_verified", [True, False])
def test_what_was_done_is_settled_and_may_come_back(petra: Viewer, is_verified: bool) -> None:
    (known,) = looked(proposal(likely=1_000))
    say(known, Verb.CLAIMED, petra)
    with pytest.raises(Refusal, match="it is claimed"):
        actions.settle_recommendation(
            recommendation_id=known, measured=measured(900), is_verified=True, at=AT
        )
    say(known, Verb.DONE, petra, days=3)
    actions.settle_recommendation(
        recommendation_id=known, measured=measured(900), is_verified=is_verified, at=AT + 35 * DAY
    )
    assert fact(known).state == ("verified" if is_verified else "failed")
    (proven,) = proven_savings(AT + 36 * DAY)
    assert proven.measured == measured(900)
    assert (proven.promised.likely, proven.is_verified) == (1_000 * DOLLAR, is_verified)
    assert proven_savings(AT + 30 * DAY) == []
    # The weeks before it was done are seen for four weeks on; afterwards it is a matter again.
    look(proposal(likely=700), weeks=5)
    assert fact(known).state == ("verified" if is_verified else "failed")
    look(proposal(likely=700), weeks=6)
    assert (fact(known).state, fact(known).owner_id) == ("open", None)
    assert len(proven_savings(AT + 60 * DAY)) == 1


def test_dismissed_and_snoozed(petra: Viewer) -> None:
    known, other = looked(proposal(), proposal("8:2"))
    say(known, Verb.DISMISSED, petra, reason="the launch needs it")
    say(other, Verb.SNOOZED, petra, until=AT + 10 * DAY)
    look(proposal(likely=3_000), proposal("8:2", likely=2_000), weeks=1)
    assert fact(known).state == "dismissed"
    assert (fact(other).state, fact(other).saving.likely) == ("snoozed", 2_000 * DOLLAR)
    assert [fact(known).is_counted, fact(other).is_counted] == [False, False]
    assert actions.wake_recommendations(at=AT + 9 * DAY) == 0
    assert actions.wake_recommendations(at=AT + 10 * DAY) == 1
    assert (fact(other).state, fact(other).is_counted) == ("open", True)
    say(known, Verb.REOPENED, petra)
    assert fact(known).state == "open"
    assert verbs(other) == ["proposed", "snoozed", "woken"]


@pytest.mark.parametrize(
    ("verb", "said", "why"),
    [
        (Verb.CLAIMED, {"owner_id": 0}, "owner"),
        (Verb.CLAIMED, {"due_on": WEEK - DAY}, "due_on"),
        (Verb.DISMISSED, {"reason": "  "}, "reason"),
        (Verb.SNOOZED, {"until": AT}, "until"),
        (Verb.DONE, {}, "it is open"),
        (Verb.REOPENED, {}, "it is open"),
    ],
)
def test_answers_are_whole_and_in_order(
    petra: Viewer, verb: Verb, said: dict[str, Any], why: str
) -> None:
    (known,) = looked(proposal())
    with pytest.raises(Refusal, match=why):
        say(known, verb, petra, **said)
    assert verbs(known) == ["proposed"]


def test_every_state_has_a_way_out_and_none_leads_nowhere() -> None:
    reached = {to for _, to in actions.recommendations.TRANSITIONS.values()}
    assert reached == set(RecommendationState) - {RecommendationState.CLOSED}
    for answer in actions.ANSWERS.values():
        froms, _ = actions.recommendations.TRANSITIONS[answer]
        assert RecommendationState.CLOSED not in froms


def test_of_one_group_the_next_best_counts_when_the_best_is_dismissed(petra: Viewer) -> None:
    best, next_best = looked(
        proposal("a", likely=1_000, cells=frozenset(["7:2"])),
        proposal("b", likely=600, cells=frozenset(["7:2"])),
    )
    assert (fact(best).is_counted, fact(next_best).is_counted) == (True, False)
    assert fact(best).exclusive_group == fact(next_best).exclusive_group
    say(best, Verb.DISMISSED, petra, reason="not now")
    assert (fact(best).is_counted, fact(next_best).is_counted) == (False, True)
    say(best, Verb.REOPENED, petra)
    say(next_best, Verb.CLAIMED, petra)
    assert (fact(best).is_counted, fact(next_best).is_counted) == (False, True), (
        "a claim goes first"
    )


def test_a_week_begins_where_the_organisation_is(petra: Viewer) -> None:
    """Seven on Monday in Tokyo is still Sunday by UTC."""
    Organisation.objects.update(zone="Asia/Tokyo")
    at = datetime(2026, 3, 1, 22, tzinfo=UTC)
    (known,) = looked(proposal(), at=at)
    assert fact(known).first_week == WEEK
    assert [each.id for each in open_recommendations(at)] == [known]
    assert [each.id for each in counted_recommendations(at, None, 3)] == [known]


def test_a_team_sees_its_own_and_no_prices(petra: Viewer) -> None:
    team = make.make_team("Research")
    (own, _) = looked(proposal(team_id=team), proposal("8:2"))
    (seen,) = recommendations(RecommendationsWanted(frozenset([team])))
    assert seen.id == own
    assert [each.label for each in seen.evidence] == ["Requests"]
    assert [each.label for each in fact(own).evidence] == ["Requests", "Rate"]
    assert recommendation_by_id(own, frozenset()) is None


def test_fleet_moves_are_recommended_with_their_evidence(petra: Viewer) -> None:
    workload_id, pool_id = move_scene.make_work()
    run_id = move_scene.plant_training(workload_id)
    move_scene.keep_one_move(workload_id, pool_id, run_id, AT)
    assert actions.detect_recommendations_if_due(at=AT) == 1
    assert actions.detect_recommendations_if_due(at=AT + DAY) == 0
    (told,) = open_recommendations(AT)
    assert (told.matter, told.title) == (f"to_spot:{workload_id}:{pool_id}", "Run llm on spot")
    assert (told.saving.likely, told.spend_micros) == (2_600 * DOLLAR, 4_700 * DOLLAR)
    assert (told.risk, told.effort_hours, told.is_counted) == ("medium", 8, True)
    assert Recommendation.objects.get().proposal["cells"] == [f"{workload_id}:{pool_id}"]
    kinds = {each["kind"]: each for each in latest_recommendation_detection_run(AT).kinds}  # type: ignore[union-attr]
    assert (kinds["to_spot"]["looked_at"], kinds["to_spot"]["proposed"]) == (2, 1)
    assert kinds["to_spot"]["passed_over"] == [{"why": "on spot already", "count": 1}]
    assert kinds["to_api"]["not_looked"]


def test_no_dollar_is_recommended_twice_where_a_move_and_another_kind_are_for_it(
    petra: Viewer,
) -> None:
    workload_id, pool_id = move_scene.make_work()
    run_id = move_scene.plant_training(workload_id)
    move_scene.keep_one_move(workload_id, pool_id, run_id, AT)
    cell = frozenset([f"{workload_id}:{pool_id}"])
    others = zombies(
        [
            proposal("same", likely=2_000, cells=cell),
            proposal("pool", likely=1_500, cells=frozenset([f"pool:{pool_id}"])),
            proposal("else", likely=100, cells=frozenset(["api:1"])),
        ]
    )
    move_kind = next(kind for kind in KINDS if kind.key == "to_spot")
    actions.detect_recommendations(week=WEEK, at=AT, kinds=(move_kind, others))

    def counted() -> dict[str, int]:
        wanted = RecommendationsWanted(None, ("open", "claimed"))
        listed = [each for each in recommendations(wanted) if each.is_counted]
        return {each.matter: each.saving.likely // DOLLAR for each in listed}

    move = f"to_spot:{workload_id}:{pool_id}"
    assert counted() == {move: 2_600, "zombie:else": 100}
    ids = dict(Recommendation.objects.values_list("matter", "id"))
    of_these = [fact(ids[matter]) for matter in (move, "zombie:same", "zombie:pool")]
    assert len({each.exclusive_group for each in of_these}) == 1
    # What is claimed for the same dollars takes the move's place, in whichever order they are answered.
    say(ids["zombie:same"], Verb.CLAIMED, petra)
    assert counted() == {"zombie:same": 2_000, "zombie:else": 100}
    say(ids[move], Verb.CLAIMED, petra)
    assert sum(counted().values()) <= 2_600 + 100
    say(ids[move], Verb.DISMISSED, petra, reason="not on spot")
    assert counted() == {"zombie:same": 2_000, "zombie:else": 100}
    # A look a week later that proposes all of them again adds none of these dollars up twice.
    later = AT + 7 * DAY
    move_scene.keep_one_move(workload_id, pool_id, run_id, later)
    actions.detect_recommendations(week=WEEK + 7 * DAY, at=later, kinds=(move_kind, others))
    assert counted() == {"zombie:same": 2_000, "zombie:else": 100}


CELLS = st.sampled_from(["1:1", "2:1", "1:2", "3:2", "pool:1", "pool:2", "commitment:1"])
SPENT = {"1:1": 90, "2:1": 40, "1:2": 70, "3:2": 10, "commitment:1": 50}
OF_POOL = {"pool:1": {"1:1", "2:1"}, "pool:2": {"1:2", "3:2"}}


def dollars_of(cells: frozenset[str]) -> int:
    """What is spent there, each dollar once."""
    own = {part for cell in cells for part in OF_POOL.get(cell, {cell})}
    return sum(SPENT[cell] for cell in own)


@given(
    st.lists(st.tuples(st.frozensets(CELLS, min_size=1, max_size=3), st.floats(0, 1), st.booleans()), max_size=12)
)  # fmt: skip
def test_counted_savings_are_never_more_than_is_spent_there(
    drawn: list[tuple[frozenset[str], float, bool]],
) -> None:
    moves = [
        WeighedMove(str(place), cells, part * dollars_of(cells))
        for place, (cells, part, _) in enumerate(drawn)
    ]
    claimed = [move for move, each in zip(moves, drawn, strict=True) if each[2]]
    others = [move for move, each in zip(moves, drawn, strict=True) if not each[2]]
    found = counted_matters(others, claimed)
    kept = [move for move in moves if move.key in found.counted]
    touched = frozenset(cell for move in kept for cell in move.cells)
    assert sum(move.worth for move in kept) <= dollars_of(touched) + 1e-9
    assert set(found.groups) == {move.key for move in moves}
    for one in kept:
        assert all(
            found.groups[one.key] == found.groups[other.key]
            for other in moves
            if one.cells & other.cells
        )
    # What is claimed goes first: an open one is counted only where no counted claim touches its dollars.
    first = {cell for move in claimed if move.key in found.counted for cell in move.cells}
    assert not any(move.cells & first for move in others if move.key in found.counted)
