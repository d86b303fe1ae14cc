"""What people keep for each other: views of pages, and notes on charts."""

from datetime import timedelta

from apps.accounts import actions as accounts
from apps.accounts.queries import organisation, person_of_address, viewer_of_user
from apps.ledger.queries.calendar import local_day
from apps.review import actions as review
from controlplane.demo.company import Company
from controlplane.demo.database import SIGN_IN

PRICES_CUT, PAPER_DUE = timedelta(days=21), timedelta(days=9)


def keep_views(company: Company) -> None:
    """Finance keeps a view of waste for everybody."""
    at = company.week.at
    finance = viewer_of_user(person_of_address(SIGN_IN) or 0)
    for name, address, is_for_everybody in (
        ("Last month against the month before", "/?window=lastmonth", True),
        ("Costs by GPU model and state", "/costs?window=month&group_by=gpu_model,state", True),
        ("What model APIs cost this month", "/api-spend?window=month", False),
    ):
        entry = accounts.SavedViewEntry(name, is_for_everybody=is_for_everybody)
        accounts.save_view(owner_id=finance.person_id or 0, address=address, entry=entry, at=at)


def keep_notes(company: Company) -> None:
    """Finance notes what a chart cannot know."""
    at = company.week.at
    finance = viewer_of_user(person_of_address(SIGN_IN) or 0)
    today = local_day(at, organisation().zone)
    for days_ago, text, team in (
        (PRICES_CUT, "Capacity review with the platform team", None),
        (PAPER_DUE, "Paper deadline: evaluations run day and night", "Language models"),
    ):
        team_id = None if team is None else company.team(team)
        note = review.EnteredChartNote(today - days_ago, text, team_id)
        review.add_chart_note(note=note, viewer=finance, at=at)
