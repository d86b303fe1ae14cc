"""Owners answer a review beside it: what they decide and say is kept with who and when, for those who may see it."""

from datetime import UTC, date, datetime
from decimal import Decimal

import pytest
from django.core.exceptions import ObjectDoesNotExist
from django.test import Client

from apps.accounts import actions as accounts
from apps.accounts.queries import Viewer, viewer_of_user
from apps.economics.refusal import Refusal
from apps.review import actions
from apps.review.queries.weekly.notes import decisions_of, notes_of, notes_of_workload
from apps.review.queries.weekly.review_list import listed_reviews, weeks_of_workload
from apps.workloads.actions.returns import state_score, state_value
from apps.workloads.actions.workloads import add_workload
from apps.workloads.queries.returns import EnteredScore, EnteredValue, values_of, values_on
from tests import make
from tests.apps.review.reviews import content, team, workload

pytestmark = pytest.mark.django_db
AT = datetime(2026, 7, 27, 9, tzinfo=UTC)
WEEK = "2026-W30"


class Reviewed:
    """A frozen week of two teams with a workload each; Lee leads the first."""

    def __init__(self) -> None:
        make.make_organisation()
        self.teams = make.make_team("search"), make.make_team("ads")
        self.workloads = tuple(
            add_workload(name=f"w{team_id}", team_id=team_id, kind="serving")
            for team_id in self.teams
        )
        rows = [workload(*both) for both in zip(self.workloads, self.teams, strict=True)]
        of_teams = tuple(map(team, self.teams))
        actions.freeze_review(content=content(*rows, teams=of_teams), at=AT)
        self.finn: Viewer = viewer_of_user(make.make_person("finn@example.org", role="finance"))
        lee = make.make_person("lee@example.org", name="Lee", role="lead")
        accounts.place_in_teams(person_id=lee, team_ids=[self.teams[0]])
        self.lee: Viewer = viewer_of_user(lee)

    def note(self, by: Viewer, **given: object) -> int:
        return actions.add_review_note(
            note=actions.EnteredReviewNote(WEEK, **given),  # type: ignore[arg-type]
            by=by,
            at=AT,
        )


@pytest.fixture
def reviewed() -> Reviewed:
    return Reviewed()


def test_the_newest_decision_counts_and_all_are_kept(reviewed: Reviewed) -> None:
    mine, _ = reviewed.workloads
    reviewed.note(reviewed.lee, workload_id=mine, decision="keep")
    reviewed.note(reviewed.lee, workload_id=mine, text="We looked again.")
    reviewed.note(reviewed.lee, workload_id=mine, decision="shrink", text="Two replicas go.")
    notes = notes_of(WEEK, reviewed.lee)
    assert [note.decision for note in notes] == ["keep", "", "shrink"]
    assert decisions_of(notes)[mine].text == "Two replicas go."
    assert {note.author_name for note in notes_of_workload(mine, reviewed.finn)} == {"Lee"}


def test_a_lead_reads_what_is_said_of_their_own_workloads_alone(reviewed: Reviewed) -> None:
    mine, theirs = reviewed.workloads
    reviewed.note(reviewed.finn, text="Of the whole week")
    reviewed.note(reviewed.finn, workload_id=theirs, text="Of theirs")
    reviewed.note(reviewed.finn, workload_id=mine, text="Of mine")
    assert [note.text for note in notes_of(WEEK, reviewed.lee)] == ["Of mine"]
    assert len(notes_of(WEEK, reviewed.finn)) == 3
    (listed,) = listed_reviews(reviewed.lee)
    assert (listed.cost_micros, dict(listed.verdicts)) == (10_000_000, {"unknown": 1})
    assert [each.week for each in weeks_of_workload(mine, reviewed.lee)] == [WEEK]
    assert [each.week for each in weeks_of_workload(theirs, reviewed.finn)] == [WEEK]
    assert weeks_of_workload(theirs, reviewed.lee) == [], "it was another team's then"


@pytest.mark.parametrize(
    "said", [{}, {"decision": "keep"}, {"workload_id": 0, "decision": "keep"}, {"decision": "sell"}]
)
def test_a_note_that_says_nothing_is_refused(reviewed: Reviewed, said: dict[str, object]) -> None:
    with pytest.raises(Refusal):
        reviewed.note(reviewed.finn, **said)


def test_a_week_without_a_review_takes_no_note(reviewed: Reviewed) -> None:
    note = actions.EnteredReviewNote("2026-W29", text="Nothing there")
    with pytest.raises(ObjectDoesNotExist):
        actions.add_review_note(note=note, by=reviewed.finn, at=AT)


def test_the_value_of_the_latest_day_counts_and_the_history_stays(reviewed: Reviewed) -> None:
    mine, _ = reviewed.workloads
    for day, low in ((1, "0.8"), (20, "1.1"), (10, "0.9")):
        value = EnteredValue(mine, "week", Decimal(low), Decimal(2), date(2026, 7, day))
        state_value(value=value, by=reviewed.lee, at=AT)
    assert values_on(date(2026, 7, 15))[mine].low == Decimal("0.9")
    assert values_on(date(2026, 7, 26))[mine].low == Decimal("1.1")
    gone = EnteredValue(mine, "week", None, None, date(2026, 7, 25))
    state_value(value=gone, by=reviewed.lee, at=AT)
    assert mine not in values_on(date(2026, 7, 26))
    assert len(values_of(mine)) == 4


def test_what_no_value_and_no_score_can_be_is_refused(reviewed: Reviewed) -> None:
    mine, _ = reviewed.workloads
    for low, high in ((None, Decimal(1)), (Decimal(-1), Decimal(1)), (Decimal(2), Decimal(1))):
        value = EnteredValue(mine, "week", low, high, date(2026, 7, 1))
        with pytest.raises(Refusal):
            state_value(value=value, by=reviewed.lee, at=AT)
    for number, day in ((float("nan"), 1), (0.5, 28)):
        score = EnteredScore(mine, "accuracy", number, True, date(2026, 7, day))
        with pytest.raises(Refusal):
            state_score(score=score, by=reviewed.lee, at=AT, today=AT.date())


def test_the_pages_show_the_week_and_take_a_decision_after_a_look(
    reviewed: Reviewed, client: Client
) -> None:
    mine, theirs = reviewed.workloads
    client.login(username="lee@example.org", password="correct horse battery")
    page = client.get(f"/weekly-reviews/{WEEK}")
    assert page.status_code == 200
    assert f"workload {mine}" in page.content.decode()
    assert f"workload {theirs}" not in page.content.decode()
    rows = client.get(f"/weekly-reviews/{WEEK}.csv?table=workloads").content.decode().splitlines()
    assert len(rows) == 2
    assert client.get(f"/weekly-reviews/{WEEK}/workloads/{theirs}").status_code == 404
    address = f"/weekly-reviews/{WEEK}/workloads/{mine}/decide"
    looked = client.get(address, {"decision": "shrink", "text": "Soon"})
    assert "decides: shrink" in looked.content.decode()
    assert not notes_of(WEEK, reviewed.finn)


def test_a_decision_that_would_be_refused_is_refused_at_the_look(
    reviewed: Reviewed, client: Client
) -> None:
    mine, _ = reviewed.workloads
    later = add_workload(name="later", team_id=reviewed.teams[0], kind="serving")
    client.login(username="lee@example.org", password="correct horse battery")
    for workload_id, decision, refused in (
        (mine, "", "Say something, or decide"),
        (later, "keep", f"The review of {WEEK} has no such workload"),
    ):
        address = f"/weekly-reviews/{WEEK}/workloads/{workload_id}/decide"
        looked = client.get(address, {"decision": decision, "text": ""}).content.decode()
        assert refused in looked
        assert "The review stays as it was frozen" not in looked
